//! Finds, reads and writes trace files.

use super::super::failure::{not_found, usage};
use anyhow::{Context as _, Result};
use papertape_core::tape::ScopeKey;
use papertape_runtime::profile::read::read;
use papertape_runtime::profile::trace::Trace;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// How many unreadable files an error lists.
const MAX_LISTED: usize = 20;

pub(super) fn read_file(path: &Path) -> Result<Trace, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    read(&text, &path.display().to_string()).map_err(|error| error.to_string())
}

/// The named files, and the `.json` files in the named directories, sorted.
pub(super) fn files(inputs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for input in inputs {
        let describe = |error: &std::io::Error| format!("{}: {error}", input.display());
        let metadata = std::fs::metadata(input).map_err(|error| not_found(describe(&error)))?;
        if !metadata.is_dir() {
            files.push(input.clone());
            continue;
        }
        let listed = std::fs::read_dir(input).and_then(|entries| {
            entries.map(|entry| entry.map(|entry| entry.path())).collect::<std::io::Result<Vec<_>>>()
        });
        let mut listed = listed.map_err(|error| usage(describe(&error)))?;
        listed.retain(|path| path.extension().is_some_and(|extension| extension == "json") && path.is_file());
        listed.sort_unstable();
        files.append(&mut listed);
    }
    Ok(files)
}

/// An error with one line per file.
pub(super) fn unreadable(files: &[(PathBuf, String)]) -> anyhow::Error {
    let mut text = match files.len() {
        1 => "cannot read a trace:".to_owned(),
        count => format!("cannot read {count} traces:"),
    };
    for (path, reason) in files.iter().take(MAX_LISTED) {
        let _ = write!(text, "\n  {}: {reason}", path.display());
    }
    if files.len() > MAX_LISTED {
        let _ = write!(text, "\n  and {} more", files.len() - MAX_LISTED);
    }
    anyhow::anyhow!(text)
}

/// A directory for traces.
pub(super) struct Dump(PathBuf);

impl Dump {
    /// Creates the directory if it is missing.
    pub(super) fn new(dir: PathBuf) -> Result<Self> {
        std::fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
        Ok(Self(dir))
    }

    /// Writes a trace atomically as `<ticker>_<date>_<run_id>.json`. Returns its path, which the trace also contains.
    pub(super) fn write(&self, trace: &mut Trace) -> Result<String> {
        // Escapes characters of tickers that have a meaning in paths. The run's ID has none.
        let ticker = ScopeKey::Symbol(trace.ticker.clone()).to_string();
        let path = self.0.join(format!("{ticker}_{}_{}.json", trace.date, trace.run_id));
        let display = path.display().to_string();
        trace.dump_path = Some(display.clone());
        let text = serde_json::to_string_pretty(trace)? + "\n";
        let draft = super::super::export::draft_path(&path);
        std::fs::write(&draft, text)
            .and_then(|()| std::fs::rename(&draft, &path))
            .inspect_err(|_| drop(std::fs::remove_file(&draft)))
            .with_context(|| format!("cannot write {display}"))?;
        Ok(display)
    }
}
