//! Truncates payloads of action-log rows and errors. Messages, tape and state are never truncated.

use serde_json::Value;

/// Longer strings are truncated; the note counts towards the limit.
const MAX_CHARS: usize = 4096;
/// Longer arrays are truncated; the note counts as one item.
const MAX_ITEMS: usize = 50;

/// Truncates in place; returns whether anything was removed. Redaction has already bounded the depth.
pub(super) fn truncate(value: &mut Value) -> bool {
    match value {
        Value::String(text) => cut_text(text),
        Value::Array(items) => {
            let long = items.len() > MAX_ITEMS;
            if long {
                let note = format!("[cut: {} items in all]", items.len());
                items.truncate(MAX_ITEMS - 1);
                items.push(note.into());
            }
            items.iter_mut().fold(long, |any, item| truncate(item) | any)
        }
        Value::Object(map) => map.values_mut().fold(false, |any, item| truncate(item) | any),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn cut_text(text: &mut String) -> bool {
    if text.len() <= MAX_CHARS {
        return false;
    }
    let total = text.chars().count();
    if total <= MAX_CHARS {
        return false;
    }
    let note = format!("… [cut: {total} characters in all]");
    let keep = MAX_CHARS - note.chars().count();
    let mut end = text.char_indices().nth(keep).map_or(text.len(), |(at, _)| at);
    // Half a placeholder would look like ordinary text.
    let tail = super::span::floor(text, end.saturating_sub(64));
    if let Some(open) = text[tail..end].rfind("[redacted:")
        && !text[tail + open..end].contains(']')
    {
        end = tail + open;
    }
    text.truncate(end);
    text.push_str(&note);
    true
}
