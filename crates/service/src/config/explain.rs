//! Readable configuration errors: which key, set where, and which key was probably meant.

use super::renamed;
use figment::error::Kind;

/// Names the key, where it was set, and for an unknown key the nearest known one.
pub(super) fn explain(error: figment::Error) -> anyhow::Error {
    let lines: Vec<String> = error.into_iter().map(line).collect();
    anyhow::anyhow!(lines.join("; ")).context("invalid configuration")
}

fn line(mut error: figment::Error) -> String {
    let source = error.metadata.as_ref().map(|metadata| match &metadata.source {
        Some(figment::Source::File(path)) => format!("in {}", path.display()),
        _ => format!("in {}", metadata.name),
    });
    let is_unknown = matches!(error.kind, Kind::UnknownField(..));
    if let Some(last) = error.path.last_mut().filter(|_| !is_unknown) {
        *last = renamed::key_of(last).to_owned();
    }
    let path = error.path.join(".");
    let text = match &error.kind {
        Kind::UnknownField(key, known) => unknown(key, known, &path),
        Kind::MissingField(key) => format!("missing key `{}`", within(&path, renamed::key_of(key))),
        Kind::InvalidType(found, expected) if !path.is_empty() => {
            format!("`{path}` is {found}; expected {expected}")
        }
        Kind::InvalidValue(found, expected) if !path.is_empty() => {
            format!("`{path}` is {found}; expected {expected}")
        }
        other if path.is_empty() => renamed::translate_message(&single_line(&other.to_string())),
        other => format!("`{path}`: {}", renamed::translate_message(&single_line(&other.to_string()))),
    };
    source.into_iter().chain([text]).collect::<Vec<_>>().join(": ")
}

fn unknown(key: &str, known: &[&str], path: &str) -> String {
    // The path of an unknown key includes the key only if figment knows it.
    let full = match path.rsplit('.').next() {
        Some(last) if last == key => path.to_owned(),
        _ => within(path, key),
    };
    let known: Vec<&str> = known.iter().map(|field| renamed::key_of(field)).collect();
    let nearest = known
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(key, candidate), *candidate))
        .min()
        .filter(|(distance, _)| *distance <= key.len().max(3) / 2 + 1)
        .map(|(_, nearest)| nearest);
    let stored = Some(renamed::key_of(key)).filter(|name| *name != key);
    match renamed::successor(&full).or(stored).or(nearest) {
        Some(name) => format!("unknown key `{full}`; did you mean `{name}`?"),
        None if known.is_empty() => format!("unknown key `{full}`"),
        None => format!("unknown key `{full}`; expected one of {}", known.join(", ")),
    }
}

fn within(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// TOML errors span several lines with a drawing of the source: the drawing is left out.
fn single_line(text: &str) -> String {
    let is_drawn =
        |line: &&str| line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start().starts_with('|');
    let parts = text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_drawn(line));
    parts.collect::<Vec<_>>().join(": ")
}
