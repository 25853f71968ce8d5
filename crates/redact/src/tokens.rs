//! Layer 4: tokens with a fixed prefix. Each is a line of `token_shapes.txt`.

use super::patterns;
use super::span::SecretSpan;
use std::sync::LazyLock;

struct Token {
    prefix: &'static str,
    label: &'static str,
    parts: Vec<TokenPart>,
}

enum TokenPart {
    /// A literal.
    Literal(&'static str),
    /// `min` to `max` characters of a set.
    Of { set: u8, min: usize, max: usize },
}

static TOKENS: LazyLock<Vec<Token>> = LazyLock::new(|| {
    let lines = include_str!("token_shapes.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(token).collect()
});

fn token(line: &'static str) -> Option<Token> {
    let mut columns = line.split_ascii_whitespace();
    let (prefix, label, tail) = (columns.next()?, columns.next()?, columns.next()?);
    let label = super::keys::LABELS.iter().find(|known| **known == label)?;
    Some(Token { prefix, label, parts: parts(tail)? })
}

fn parts(tail: &'static str) -> Option<Vec<TokenPart>> {
    let mut parts = Vec::new();
    let mut rest = tail;
    while let Some(open) = rest.find('{') {
        let close = rest.find('}')?;
        if open > 0 {
            parts.push(TokenPart::Literal(&rest[..open]));
        }
        let inside = &rest[open + 1..close];
        let set = inside.bytes().next()?;
        if set == b'G' {
            for (at, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
                parts.extend((at > 0).then_some(TokenPart::Literal("-")));
                parts.push(TokenPart::Of { set: b'H', min: length, max: length });
            }
        } else {
            let counts = &inside[1..];
            let (min, max) = match (counts.strip_suffix('+'), counts.split_once('-')) {
                (Some(min), _) => (min.parse().ok()?, usize::MAX),
                (None, Some((min, max))) => (min.parse().ok()?, max.parse().ok()?),
                (None, None) => (counts.parse().ok()?, counts.parse().ok()?),
            };
            parts.push(TokenPart::Of { set, min, max });
        }
        rest = &rest[close + 1..];
    }
    if !rest.is_empty() {
        parts.push(TokenPart::Literal(rest));
    }
    Some(parts)
}

fn is_in(set: u8, byte: u8) -> bool {
    let more: &[u8] = match set {
        b'H' => return byte.is_ascii_hexdigit(),
        b'U' => return byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        b'C' => b"_",
        b'N' => b"-",
        b'I' => b".",
        b'W' => b"_-",
        b'E' => b"_-=",
        b'D' => b"_-=.",
        b'B' => b"+/=_-,",
        b'F' => b"+/@_-",
        _ => b"",
    };
    byte.is_ascii_alphanumeric() || more.contains(&byte)
}

/// The prefixes, in the order of the tokens.
pub(super) fn literals() -> impl Iterator<Item = &'static str> {
    TOKENS.iter().map(|token| token.prefix)
}

/// Adds the token if it matches in full.
pub(super) fn find(which: usize, text: &str, at: usize, spans: &mut Vec<SecretSpan<'_>>) {
    let token = &TOKENS[which];
    if !text[at..].starts_with(token.prefix) || !patterns::has_boundary(text, at) {
        return;
    }
    let begin = at + token.prefix.len();
    let bytes = text.as_bytes();
    let near =
        end_of(&token.parts, bytes, begin, patterns::NEAR).filter(|end| is_mixed(token, &text[begin..*end]));
    let Some(end) = near.and_then(|_| end_of(&token.parts, bytes, begin, patterns::MAX_SHAPE)) else {
        return;
    };
    spans.push(SecretSpan { range: at..end, label: token.label });
}

/// A name made of words is not a token, nor is a number.
fn is_mixed(token: &Token, tail: &str) -> bool {
    let has_letter = tail.bytes().any(|byte| byte.is_ascii_alphabetic());
    let has_digit = tail.bytes().any(|byte| byte.is_ascii_digit());
    // Parts of fixed lengths are sufficient evidence.
    let is_exact = token.parts.len() > 4 && has_digit && !super::heuristics::is_placeholder(tail);
    has_letter && (is_exact || patterns::mixed(tail))
}

/// The end of a token's tail, with no run longer than `most`.
fn end_of(parts: &[TokenPart], bytes: &[u8], mut at: usize, most: usize) -> Option<usize> {
    for (n, part) in parts.iter().enumerate() {
        match part {
            TokenPart::Literal(text) => {
                if !bytes[at..].starts_with(text.as_bytes()) {
                    return None;
                }
                at += text.len();
            }
            TokenPart::Of { set, min, max } => {
                let mut run = bytes[at..].iter().take(most).take_while(|byte| is_in(*set, **byte)).count();
                let is_last = n + 1 == parts.len();
                // A sentence's period is not part of it.
                while is_last && run > *min && matches!(bytes[at + run - 1], b'.' | b',' | b'-') {
                    run -= 1;
                }
                // A longer run is something else. Only the last part needs the check; the others are followed
                // by a literal.
                if run < *min || is_last && run > *max {
                    return None;
                }
                at += run.min(*max);
            }
        }
    }
    let continues = bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let is_open = matches!(parts.last(), Some(TokenPart::Of { max: usize::MAX, .. }));
    (is_open || !continues).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: no line of the table is skipped, and none falls short of what the table's header promises.
    #[test]
    fn every_line_is_a_shape() {
        let lines = include_str!("token_shapes.txt").lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(TOKENS.len(), lines);
        for token in TOKENS.iter() {
            let length = |part: &TokenPart| match part {
                TokenPart::Literal(text) => text.len(),
                TokenPart::Of { min, .. } => *min,
            };
            let fewest: usize = token.parts.iter().map(length).sum();
            assert!(token.prefix.len() >= 3 && fewest >= 16, "{}", token.prefix);
        }
    }
}
