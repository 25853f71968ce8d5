//! Values below their name, as in YAML: literal blocks (`|`), folded blocks (`>`), and a value on the next
//! line. Line ends can be escaped (`\\n`), as in a text within JSON.

use super::span;
use std::ops::Range;

/// Maximum bytes of a block.
const MAX_BLOCK: usize = 16 * 1024;
/// Maximum bytes of a comment after a block indicator.
const MAX_COMMENT: usize = 256;

/// A value below its name.
pub(super) struct Block {
    pub(super) range: Range<usize>,
    /// Whether it has a block indicator; otherwise it is one line.
    pub(super) is_block: bool,
}

/// The block after the colon at `at`; `name` is the position of its name.
pub(super) fn block(text: &str, name: usize, at: usize) -> Option<Block> {
    let bytes = text.as_bytes();
    let mut here = spaces(bytes, at);
    // A tag and an anchor: `!!str |`, `&key >-`.
    for _ in 0..2 {
        if matches!(bytes.get(here), Some(b'!' | b'&')) {
            let is_tag = |byte: &&u8| byte.is_ascii_graphic() && **byte != b'\\';
            here += bytes[here..].iter().take(64).take_while(is_tag).count();
            here = spaces(bytes, here);
        }
    }
    let is_block = matches!(bytes.get(here), Some(b'|' | b'>'));
    if is_block {
        here += 1;
        here +=
            bytes[here..].iter().take(2).take_while(|byte| matches!(byte, b'+' | b'-' | b'1'..=b'9')).count();
        here = spaces(bytes, here);
        if bytes.get(here) == Some(&b'#') {
            here = line_end(&bytes[..bytes.len().min(here + MAX_COMMENT)], here, false);
        }
    }
    // Within a JSON string a quote is the end.
    let is_quoted = bytes.get(here) == Some(&b'\\');
    let mut at = here + line_break(bytes, here)?;
    let column = column(text, name);
    let limit = span::floor(text, at + MAX_BLOCK);
    let mut range: Option<Range<usize>> = None;
    while at < limit {
        let first = spaces(bytes, at);
        let end = line_end(&bytes[..limit], first, is_quoted);
        let is_blank = first >= end;
        if !is_blank && first - at <= column {
            break;
        }
        if !is_blank {
            range = Some(range.map_or(first, |range| range.start)..end);
            if !is_block {
                break;
            }
        }
        let Some(length) = line_break(bytes, end) else {
            break;
        };
        at = end + length;
    }
    let range = range?;
    let range = range.start..range.start + text.get(range.clone())?.trim_end().len();
    (!range.is_empty()).then_some(Block { range, is_block })
}

/// The indentation of the name's line; a list's dash counts.
fn column(text: &str, name: usize) -> usize {
    let from = span::floor(text, name.saturating_sub(256));
    let head = &text[from..name];
    let begin = head.rfind('\n').map_or(0, |at| at + 1).max(head.rfind("\\n").map_or(0, |at| at + 2));
    let line = &head[begin..];
    line.bytes().take_while(|byte| matches!(byte, b' ' | b'-' | b'\t')).count()
}

fn spaces(bytes: &[u8], mut at: usize) -> usize {
    let limit = at + MAX_COMMENT;
    while at < limit && matches!(bytes.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    at
}

/// The length of a line end that begins here, escaped or not.
fn line_break(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    match rest {
        [b'\r', b'\n', ..] => Some(2),
        [b'\n', ..] => Some(1),
        [b'\\', ..] => {
            let slashes = rest.iter().take(16).take_while(|byte| **byte == b'\\').count();
            match rest.get(slashes)? {
                b'n' => Some(slashes + 1),
                b'r' => line_break(bytes, at + slashes + 1).map(|length| slashes + 1 + length),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The end of the line that contains `at`: a line end, or the quote around the whole text.
fn line_end(bytes: &[u8], at: usize, is_quoted: bool) -> usize {
    let mut end = at;
    while let Some(byte) = bytes.get(end) {
        if matches!(byte, b'\n' | b'\r') || *byte == b'\\' && line_break(bytes, end).is_some() {
            break;
        }
        if is_quoted && *byte == b'"' && bytes[end - 1] != b'\\' {
            break;
        }
        end += 1;
    }
    end
}
