//! `papertape completions`

use super::output::Stdout;
use super::{Cli, Outcome};
use anyhow::Context as _;
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use std::io::Write as _;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(super) fn completions(args: &CompletionsArgs) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "papertape", &mut script);
    let mut out = Stdout::open();
    out.write_all(&script).and_then(|()| out.flush()).context("cannot write to stdout")?;
    Ok(ExitCode::SUCCESS)
}
