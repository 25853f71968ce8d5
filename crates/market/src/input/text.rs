//! A file as lines, and as one JSON document.

use super::fields::quote;
use super::format::ReadAbort;
use super::source::Source;
use serde_json::Value;
use std::io::{BufRead as _, Read as _};

/// The maximum length of a line.
const LINE_BYTES: u64 = 64 * 1024 * 1024;

/// Receives a line with its number from 1, or why it is unreadable.
pub type LineHandler<'a> = &'a mut dyn FnMut(u64, Result<&str, String>) -> Result<(), ReadAbort>;

/// Passes on every line that is not blank, with its number from 1, or why it is unreadable. A line that is
/// too long is skipped.
///
/// # Errors
/// An I/O error, or the error that `take` returns.
pub fn each_line(source: &Source, take: LineHandler<'_>) -> Result<(), ReadAbort> {
    let mut reader = source.open()?;
    let mut bytes = Vec::new();
    let mut number = 0;
    loop {
        bytes.clear();
        number += 1;
        if reader.by_ref().take(LINE_BYTES).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(());
        }
        let is_long = bytes.len() as u64 == LINE_BYTES && bytes.last() != Some(&b'\n');
        if is_long {
            reader.skip_until(b'\n')?;
            take(number, Err("a line of more than 64 MiB".to_owned()))?;
            continue;
        }
        let line = std::str::from_utf8(bytes.trim_ascii());
        match line {
            Ok("") => {}
            Ok(line) => take(number, Ok(line))?,
            Err(_) => {
                let text = String::from_utf8_lossy(&bytes);
                take(number, Err(format!("{} is not UTF-8", quote(&text))))?;
            }
        }
    }
}

/// The whole file as JSON.
pub(crate) fn whole_json(source: &Source) -> Result<Value, ReadAbort> {
    serde_json::from_slice(&source.all()?)
        .map_err(|error| ReadAbort::file(error.line() as u64, format!("it is not complete JSON: {error}")))
}
