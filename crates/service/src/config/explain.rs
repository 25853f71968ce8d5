//! Readable configuration errors: which key, set where, and which key was probably meant.

use super::renamed;
use figment::error::Kind;

/// Names each key, where it was set, and for an unknown key the nearest known one. Several errors are a line each.
pub(super) fn explain(errors: Vec<figment::Error>) -> anyhow::Error {
    let lines: Vec<String> = errors.into_iter().map(line).collect();
    match &lines[..] {
        [line] => anyhow::anyhow!("invalid configuration: {line}"),
        lines => anyhow::anyhow!("invalid configuration:\n  {}", lines.join("\n  ")),
    }
}

/// The path of the key that an error is about.
pub(super) fn path(error: &figment::Error) -> Vec<String> {
    let mut path = error.path.clone();
    // The path of an unknown or missing key includes the key only if figment knows it.
    if let Kind::UnknownField(key, _) = &error.kind
        && path.last() != Some(key)
    {
        path.push(key.clone());
    }
    if let Kind::MissingField(key) = &error.kind {
        path.push(key.to_string());
    }
    path
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
        Kind::MissingField(key) => format!("missing key `{}`", nested_key(&path, renamed::key_of(key))),
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
        _ => nested_key(path, key),
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

fn nested_key(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// TOML errors span several lines with a drawing of the source: the drawing is left out.
fn single_line(text: &str) -> String {
    let is_drawn =
        |line: &&str| line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start().starts_with('|');
    let parts = text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_drawn(line));
    parts.collect::<Vec<_>>().join(": ")
}
