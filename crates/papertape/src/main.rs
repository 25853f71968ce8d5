//! `papertape`: see `papertape --help`.

use clap::Parser as _;
use papertape::Papertape;
use papertape_cli::Cli;
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    papertape::redact_panics();
    papertape_cli::main(cli, Arc::new(Papertape::default()))
}
