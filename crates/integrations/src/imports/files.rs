//! Finds files in a folder and reads them, without trusting either: links are not followed, sizes are limited, and a
//! file that cannot be read is a problem with its file and line.

use super::report::{RowPlace, RunReport};
use rust_decimal::Decimal;
use serde::de::DeserializeOwned;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The maximum size of a file that is read as a whole.
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;
/// The maximum depth of folders.
const MAX_DEPTH: usize = 16;
/// The maximum number of entries of a folder and its subfolders.
const MAX_ENTRIES: usize = 1_000_000;

/// Whether a path is a folder and not a link to one.
#[must_use]
pub fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// The files below a folder that `is_wanted` accepts by their path, sorted. Links, and wanted names that are not files,
/// go into the report. Hidden entries are ignored.
///
/// # Errors
/// An I/O error, or too many entries.
pub fn find(
    root: &Path,
    is_wanted: impl Fn(&Path) -> bool,
    report: &mut RunReport,
) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![(root.to_owned(), 0)];
    let mut entries = 0;
    while let Some((folder, depth)) = folders.pop() {
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", folder.display()));
        for entry in fs::read_dir(&folder).map_err(named)? {
            let entry = entry.map_err(named)?;
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            entries += 1;
            if entries > MAX_ENTRIES {
                return Err(io::Error::other(format!("{}: more than {MAX_ENTRIES} entries", root.display())));
            }
            let path = entry.path();
            let kind = entry.file_type().map_err(named)?;
            let shown = path.display().to_string();
            if kind.is_symlink() {
                report.skip(&shown, "a symbolic link; links are not followed");
            } else if kind.is_dir() && is_wanted(&path) {
                report.problem(RowPlace { file: shown, line: 1 }, "it is a folder, not a file");
            } else if kind.is_dir() && depth >= MAX_DEPTH {
                report.skip(&shown, "folders are nested too deeply");
            } else if kind.is_dir() {
                folders.push((path, depth + 1));
            } else if kind.is_file() && is_wanted(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// A file's name.
#[must_use]
pub fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// A file's text, without a byte order mark.
///
/// # Errors
/// The line, and what is wrong: it is empty, too large, or not UTF-8.
pub fn text(path: &Path) -> Result<String, (u64, String)> {
    let whole = |reason: String| (1, reason);
    let size = fs::metadata(path).map_err(|error| whole(error.to_string()))?.len();
    if size > MAX_FILE_BYTES {
        return Err(whole(format!("it has {size} bytes; the limit is {MAX_FILE_BYTES}")));
    }
    let bytes = fs::read(path).map_err(|error| whole(error.to_string()))?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    if bytes.trim_ascii().is_empty() {
        return Err(whole("the file is empty".to_owned()));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => {
            let before = &bytes[..error.valid_up_to()];
            let lines = before.iter().filter(|byte| **byte == b'\n').count() as u64;
            Err((lines + 1, "it is not UTF-8".to_owned()))
        }
    }
}

/// A file as JSON.
///
/// # Errors
/// As [`text`]; the line at which the JSON is wrong, and why.
pub fn json<T: DeserializeOwned>(path: &Path) -> Result<T, (u64, String)> {
    parse_json(&text(path)?)
}

/// A text as JSON.
///
/// # Errors
/// The line at which it is wrong, and why.
pub fn parse_json<T: DeserializeOwned>(text: &str) -> Result<T, (u64, String)> {
    serde_json::from_str(text)
        .map_err(|error| (error.line().max(1) as u64, format!("not the expected JSON: {error}")))
}

/// A finite number of a JSON document or a table, exactly.
///
/// # Errors
/// Why it is none.
pub fn number(text: &str) -> Result<Decimal, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("it is missing".to_owned());
    }
    let is_scientific = text.contains(['e', 'E']);
    let parsed = if is_scientific { Decimal::from_scientific(text) } else { Decimal::from_str_exact(text) };
    // A double has up to 17 digits, of which those after the 28th place are noise.
    let parsed = parsed.or_else(|_| text.parse::<Decimal>());
    parsed.map_err(|_| format!("`{}` is not a number", text.chars().take(60).collect::<String>()))
}

/// The line on which a text first has a key of a JSON object, from 1.
#[must_use]
pub fn line_of_key(text: &str, key: &str) -> u64 {
    let quoted = format!("\"{key}\":");
    text.lines().zip(1..).find(|(line, _)| line.contains(&quoted)).map_or(1, |(_, number)| number)
}
