//! Tool names, as servers spell them and as models may.
//!
//! A tool name for a model consists of letters, digits, `_` and `-`. Any other character of a server's name
//! is written `_xHEX_`, its code point in lower-case hexadecimal: `news.search` becomes `news_x2e_search`. An
//! underscore that would start such a group by chance is escaped too, so that every name maps back to exactly
//! one original.

/// The maximum length of a tool name that every provider accepts, including the server's name and `__`.
pub const MAX_CHARS: usize = 64;

/// The length of the separator between the server's name and the tool's.
const BETWEEN: usize = "__".len();

/// The name by which a model calls the tool.
#[must_use]
pub fn to_model(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for (at, c) in name.char_indices() {
        if is_plain(c) && !(c == '_' && begins_group(&name[at..])) {
            out.push(c);
        } else {
            out.push_str(&format!("_x{:x}_", u32::from(c)));
        }
    }
    out
}

/// The server's own name of the tool: the inverse of [`to_model`].
#[must_use]
pub fn to_server(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        let (c, used) = group(rest).unwrap_or((c, c.len_utf8()));
        out.push(c);
        rest = &rest[used..];
    }
    out
}

/// Whether the server's name plus this name exceeds the limit for a model's tool name.
#[must_use]
pub fn is_too_long(server: &str, name: &str) -> bool {
    server.chars().count() + BETWEEN + name.chars().count() > MAX_CHARS
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// Whether the text could be read as an escape group once it is written out.
fn begins_group(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("_x") else { return false };
    let after = rest.trim_start_matches(is_hex);
    after.len() < rest.len() && after.starts_with(|c| c == '_' || !is_plain(c))
}

/// The character that a group at the start encodes, and the group's length in bytes.
fn group(text: &str) -> Option<(char, usize)> {
    let rest = text.strip_prefix("_x")?;
    let digits = rest.len() - rest.trim_start_matches(is_hex).len();
    rest[digits..].strip_prefix('_')?;
    let code = u32::from_str_radix(&rest[..digits], 16).ok()?;
    Some((char::from_u32(code)?, "_x_".len() + digits))
}

fn is_hex(c: char) -> bool {
    matches!(c, '0'..='9' | 'a'..='f')
}
