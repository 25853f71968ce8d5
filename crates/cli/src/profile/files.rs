//! Trace files: found, read and written.

use super::super::failure::{not_found, usage};
use anyhow::{Context as _, Result};
use papertape_core::tape::ScopeKey;
use papertape_runtime::profile::read::read;
use papertape_runtime::profile::trace::Trace;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Files that cannot be read are named up to so many.
const MAX_TOLD: usize = 20;

/// Reads a trace from a file.
pub(super) fn read_file(path: &Path) -> Result<Trace, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    read(&text, &path.display().to_string()).map_err(|error| error.to_string())
}

/// The files that are meant: those named, and of each directory those that end with `.json`, sorted.
pub(super) fn files(inputs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for input in inputs {
        let about = |error: &std::io::Error| format!("{}: {error}", input.display());
        let kind = std::fs::metadata(input).map_err(|error| not_found(about(&error)))?;
        if !kind.is_dir() {
            files.push(input.clone());
            continue;
        }
        let listed = std::fs::read_dir(input).and_then(|entries| {
            entries.map(|entry| entry.map(|entry| entry.path())).collect::<std::io::Result<Vec<_>>>()
        });
        let mut listed = listed.map_err(|error| usage(about(&error)))?;
        listed.retain(|path| path.extension().is_some_and(|extension| extension == "json") && path.is_file());
        listed.sort_unstable();
        files.append(&mut listed);
    }
    Ok(files)
}

/// What is wrong with files, one a line.
pub(super) fn unreadable(files: &[(PathBuf, String)]) -> anyhow::Error {
    let mut told = match files.len() {
        1 => "a trace cannot be read:".to_owned(),
        count => format!("{count} traces cannot be read:"),
    };
    for (path, reason) in files.iter().take(MAX_TOLD) {
        let _ = write!(told, "\n  {}: {reason}", path.display());
    }
    if files.len() > MAX_TOLD {
        let _ = write!(told, "\n  and {} more", files.len() - MAX_TOLD);
    }
    anyhow::anyhow!(told)
}

/// A directory that traces are written to.
pub(super) struct Dump(PathBuf);

impl Dump {
    /// Makes the directory where it is not there.
    pub(super) fn new(dir: PathBuf) -> Result<Self> {
        std::fs::create_dir_all(&dir).with_context(|| format!("{} cannot be made", dir.display()))?;
        Ok(Self(dir))
    }

    /// Writes a trace as `<ticker>_<date>_<run_id>.json`, whole or not at all, and gives its path, which
    /// also stands in it.
    pub(super) fn write(&self, trace: &mut Trace) -> Result<String> {
        // A ticker may have characters that a path would take for its own; the run's id is made of such.
        let ticker = ScopeKey::Symbol(trace.ticker.clone()).to_string();
        let path = self.0.join(format!("{ticker}_{}_{}.json", trace.date, trace.run_id));
        let shown = path.display().to_string();
        trace.dump_path = Some(shown.clone());
        let text = serde_json::to_string_pretty(trace)? + "\n";
        let draft = super::super::export::beside(&path);
        std::fs::write(&draft, text)
            .and_then(|()| std::fs::rename(&draft, &path))
            .inspect_err(|_| drop(std::fs::remove_file(&draft)))
            .with_context(|| format!("{shown} cannot be written"))?;
        Ok(shown)
    }
}
