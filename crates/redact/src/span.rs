//! Spans of a text and the placeholders that replace them.

use std::ops::Range;

const OPEN: &str = "[redacted:";
/// Maximum length of a placeholder's label, in bytes.
pub(super) const MAX_LABEL: usize = 48;

/// A secret's span in a text, in bytes, and the label that replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SecretSpan<'a> {
    pub(super) range: Range<usize>,
    pub(super) label: &'a str,
}

/// The placeholder for a secret with this label.
pub(super) fn placeholder(label: &str) -> String {
    format!("{OPEN}{label}]")
}

/// Sorts spans and merges those that overlap; the first one's label is used.
pub(super) fn merge(spans: &mut Vec<SecretSpan<'_>>) {
    spans.retain(|span| span.range.start < span.range.end);
    spans.sort_by_key(|span| span.range.start);
    spans.dedup_by(|next, kept| {
        let joins = next.range.start < kept.range.end;
        if joins {
            kept.range.end = kept.range.end.max(next.range.end);
        }
        joins
    });
}

/// Replaces merged spans; `None` if one does not fit the text.
pub(super) fn apply(text: &str, spans: &[SecretSpan<'_>]) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for span in spans {
        out.push_str(text.get(at..span.range.start)?);
        out.push_str(&placeholder(span.label));
        at = span.range.end;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}

/// The first placeholder at or after `from` whose label is known.
pub(super) fn find_placeholder(
    text: &str,
    mut from: usize,
    is_label: impl Fn(&str) -> bool,
) -> Option<Range<usize>> {
    loop {
        let start = from + text.get(from..)?.find(OPEN)?;
        let label = start + OPEN.len();
        let window = &text.as_bytes()[label..text.len().min(label + MAX_LABEL + 1)];
        if let Some(length) = window.iter().position(|byte| *byte == b']')
            && text.get(label..label + length).is_some_and(&is_label)
        {
            return Some(start..label + length + 1);
        }
        from = label;
    }
}

/// The parts of the text between placeholders.
pub(super) fn pieces(text: &str, is_label: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(found) = find_placeholder(text, at, &is_label) {
        if found.start > at {
            out.push(at..found.start);
        }
        at = found.end;
    }
    if at < text.len() {
        out.push(at..text.len());
    }
    out
}

/// The nearest char boundary at or before `at`.
pub(super) fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
