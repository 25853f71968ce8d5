//! Finds agents and prices in a folder.

use papertape_core::time::{Date, parse_date};
use std::io;
use std::path::{Path, PathBuf};

/// The content of a folder.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Its agents, by name.
    pub agents: Vec<AgentFolder>,
    /// The price files, by name: the vendor's if there are any, else `merged.jsonl`.
    pub prices: Vec<PathBuf>,
    /// Files that are not read, with the reason.
    pub skipped: Vec<(String, String)>,
}

/// An agent's folder.
#[derive(Clone, Debug)]
pub struct AgentFolder {
    /// The agent's name.
    pub name: String,
    /// The path of `position.jsonl`.
    pub positions: PathBuf,
    /// The agent's logs, by date.
    pub logs: Vec<LogFile>,
}

/// A day's `log.jsonl`.
#[derive(Clone, Debug)]
pub struct LogFile {
    /// The day, from the folder's name.
    pub date: Date,
    /// The file.
    pub path: PathBuf,
    /// The path as shown to users.
    pub name: String,
}

/// Scans a folder: AI-Trader's `data`, or one that contains `agent_data` or agents.
///
/// # Errors
/// An I/O error.
pub fn find(dir: &Path) -> io::Result<Layout> {
    let mut layout = Layout::default();
    let nested = dir.join("agent_data");
    let of_agents = if nested.is_dir() { nested } else { dir.to_owned() };
    for path in entries(&of_agents)? {
        let positions = path.join("position").join("position.jsonl");
        let has_logs = path.join("log").is_dir();
        if !path.is_dir() || !(positions.exists() || has_logs) {
            continue;
        }
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            layout.skipped.push((path.display().to_string(), "its name is not UTF-8".to_owned()));
            continue;
        };
        let is_valid = !name.trim().is_empty() && name.len() <= 200 && !name.chars().any(char::is_control);
        if !is_valid {
            let reason = "an agent's name must have 1 to 200 characters";
            layout.skipped.push((path.display().to_string(), reason.to_owned()));
            continue;
        }
        if !positions.exists() {
            let reason = "it has no position/position.jsonl, so the starting cash is unknown";
            layout.skipped.push((path.display().to_string(), reason.to_owned()));
            continue;
        }
        let logs = logs(&path.join("log"), &mut layout.skipped)?;
        layout.agents.push(AgentFolder { name: name.to_owned(), positions, logs });
    }
    layout.prices = prices(dir, &mut layout.skipped)?;
    Ok(layout)
}

fn logs(dir: &Path, skipped: &mut Vec<(String, String)>) -> io::Result<Vec<LogFile>> {
    let mut logs = Vec::new();
    if !dir.is_dir() {
        return Ok(logs);
    }
    for path in entries(dir)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let file = path.join("log.jsonl");
        match parse_date(&name) {
            Ok(date) if file.is_file() => {
                logs.push(LogFile { date, name: file.display().to_string(), path: file });
            }
            Ok(_) => skipped.push((path.display().to_string(), "it has no log.jsonl".to_owned())),
            Err(reason) => skipped.push((path.display().to_string(), reason)),
        }
    }
    Ok(logs)
}

/// The vendor's files include the newest day's close, which `merged.jsonl` omits.
fn prices(dir: &Path, skipped: &mut Vec<(String, String)>) -> io::Result<Vec<PathBuf>> {
    let merged = dir.join("merged.jsonl");
    for folder in [dir.to_owned(), dir.join("raw")] {
        if !folder.is_dir() {
            continue;
        }
        let of_vendor = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("daily_prices_") && name.ends_with(".json")
        };
        let files: Vec<PathBuf> = entries(&folder)?.into_iter().filter(of_vendor).collect();
        if !files.is_empty() {
            if merged.is_file() {
                let reason = "the vendor's files have the same prices and the newest close";
                skipped.push((merged.display().to_string(), reason.to_owned()));
            }
            return Ok(files);
        }
    }
    Ok(if merged.is_file() { vec![merged] } else { Vec::new() })
}

/// The entries of a folder, without hidden files, by name.
pub(super) fn entries(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", dir.display()));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(named)? {
        let entry = entry.map_err(named)?;
        if !entry.file_name().to_string_lossy().starts_with('.') {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}
