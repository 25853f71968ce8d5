//! `papertape profile show`

use super::super::output::{json, say, terminal_width};
use super::super::{Common, Outcome};
use super::files::{files, read_file, unreadable};
use super::waterfall::{Look, waterfall};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// How wide a waterfall is where no terminal says.
const WIDTH: usize = 100;

/// Which trace.
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// Trace files of Papertape or TradingAgents, or directories of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Draws them.
pub(super) fn show(common: &Common, args: &ShowArgs) -> Outcome {
    let look = look();
    let mut traces = Vec::new();
    for (index, path) in files(&args.files)?.into_iter().enumerate() {
        let trace = read_file(&path).map_err(|reason| unreadable(&[(path, reason)]))?;
        if common.json {
            traces.push(trace);
            continue;
        }
        if index > 0 {
            say("")?;
        }
        say(waterfall(&trace, look))?;
    }
    match (common.json, traces.as_slice()) {
        (false, _) => {}
        // One file is one object, as it is in the file.
        (true, [trace]) => json(trace)?,
        (true, traces) => json(traces)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// As wide as the terminal, with colours where somebody sees them.
pub(super) fn look() -> Look {
    let width = terminal_width();
    // https://no-color.org: any value that is not empty.
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    Look { width: width.unwrap_or(WIDTH), colour: width.is_some() && !no_colour }
}
