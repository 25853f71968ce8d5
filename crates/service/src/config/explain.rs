//! Readable configuration errors: which key, set where, and which key was probably meant.

use figment::error::Kind;

/// Names the key, where it was set, and for an unknown key the nearest known one.
pub(super) fn explain(error: figment::Error) -> anyhow::Error {
    let lines: Vec<String> = error.into_iter().map(line).collect();
    anyhow::anyhow!(lines.join("; ")).context("the configuration cannot be used")
}

fn line(error: figment::Error) -> String {
    let place = error.metadata.as_ref().map(|metadata| match &metadata.source {
        Some(figment::Source::File(path)) => format!("in {}", path.display()),
        _ => format!("in {}", metadata.name),
    });
    let path = error.path.join(".");
    let text = match &error.kind {
        Kind::UnknownField(key, known) => unknown(key, known, &path),
        Kind::MissingField(key) => format!("`{}` is missing", within(&path, key)),
        Kind::InvalidType(found, expected) if !path.is_empty() => {
            format!("`{path}` is {found}, and should be {expected}")
        }
        Kind::InvalidValue(found, expected) if !path.is_empty() => {
            format!("`{path}` is {found}, and should be {expected}")
        }
        other if path.is_empty() => single_line(&other.to_string()),
        other => format!("`{path}`: {}", single_line(&other.to_string())),
    };
    place.into_iter().chain([text]).collect::<Vec<_>>().join(": ")
}

fn unknown(key: &str, known: &[&str], path: &str) -> String {
    let nearest = known
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(key, candidate), *candidate))
        .min()
        .filter(|(distance, _)| *distance <= key.len().max(3) / 2 + 1);
    // The path of an unknown key includes the key only where figment knows it.
    let whole = match path.rsplit('.').next() {
        Some(last) if last == key => path.to_owned(),
        _ => within(path, key),
    };
    match nearest {
        Some((_, nearest)) => format!("there is no key `{whole}`; did you mean `{nearest}`?"),
        None if known.is_empty() => format!("there is no key `{whole}`"),
        None => format!("there is no key `{whole}`; there are: {}", known.join(", ")),
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
