//! `papertape`: see `papertape --help`.

use clap::Parser as _;
use papertape::cli::Cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    papertape::cli::main(Cli::parse())
}
