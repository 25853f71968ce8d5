//! `papertape profile show`

use super::super::output::{json, note, say, terminal_width};
use super::super::{Common, Outcome};
use super::files::{files, read_file, unreadable};
use super::waterfall::{Style, waterfall};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// The width of a waterfall if stdout is not a terminal.
const DEFAULT_WIDTH: usize = 100;

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// Trace files of Papertape or TradingAgents, or directories of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub(super) fn show(common: &Common, args: &ShowArgs) -> Outcome {
    let style = style();
    let mut traces = Vec::new();
    let files = files(&args.files)?;
    if files.is_empty() {
        note!("no traces: the directories have no .json files");
    }
    for (index, path) in files.into_iter().enumerate() {
        let trace = read_file(&path).map_err(|reason| unreadable(&[(path, reason)]))?;
        if common.json {
            traces.push(trace);
            continue;
        }
        if index > 0 {
            say("")?;
        }
        say(waterfall(&trace, style))?;
    }
    match (common.json, traces.as_slice()) {
        (false, _) => {}
        // One file is one object, as it is in the file.
        (true, [trace]) => json(trace)?,
        (true, traces) => json(traces)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The terminal's width, and color in a terminal unless `NO_COLOR` is set.
pub(super) fn style() -> Style {
    let width = terminal_width();
    // https://no-color.org: any value that is not empty.
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    Style { width: width.unwrap_or(DEFAULT_WIDTH), color: width.is_some() && !no_color }
}
