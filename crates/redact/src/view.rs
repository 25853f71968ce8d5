//! A text as its reader understands it, with a map back to the original. Rules run on a view; what they find
//! is removed from the text itself.

use std::ops::Range;

/// A rewritten text, with the origin of each of its bytes.
pub(super) struct View {
    pub(super) text: String,
    /// For each byte of the text, and for its end, where its source piece begins.
    places: Vec<usize>,
}

impl View {
    /// Copies `text` and rewrites it at the positions that `next` finds: `unit` appends the replacement of
    /// the piece that begins there and returns the piece's length; on `None` one character is copied. `None`
    /// when nothing is rewritten.
    pub(super) fn of(
        text: &str,
        next: fn(&str) -> Option<usize>,
        unit: impl Fn(&str, &mut String) -> Option<usize>,
    ) -> Option<Self> {
        let mut view = Self { text: String::with_capacity(text.len()), places: Vec::new() };
        view.places.reserve(text.len() + 1);
        let mut at = 0;
        let mut is_changed = false;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let plain = next(rest).unwrap_or(rest.len());
            view.text.push_str(&rest[..plain]);
            view.places.extend(at..at + plain);
            at += plain;
            let Some(letter) = rest[plain..].chars().next() else {
                break;
            };
            let length = unit(&rest[plain..], &mut view.text);
            is_changed |= length.is_some();
            let length = length.unwrap_or_else(|| {
                view.text.push(letter);
                letter.len_utf8()
            });
            view.places.resize(view.text.len(), at);
            at += length;
        }
        view.places.push(text.len());
        is_changed.then_some(view)
    }

    /// The same view, relative to the text that `outer` is a view of.
    pub(super) fn over(mut self, outer: &Self) -> Self {
        for place in &mut self.places {
            *place = outer.places[*place];
        }
        self
    }

    /// The source of a part of the view: every piece that one of its bytes comes from.
    pub(super) fn source(&self, part: &Range<usize>) -> Range<usize> {
        let last = part.end.saturating_sub(1).max(part.start);
        let piece = self.places[last];
        let behind = self.places[last..].iter().find(|place| **place > piece);
        self.places[part.start]..*behind.unwrap_or(&piece)
    }
}
