//! Replaces names, dates and figures in texts.

mod chinese;
mod dates;
mod entities;
mod figures;
mod month_names;
mod span;

pub(super) use entities::{Entities, Entity, Form, FormKind};

use papertape_core::id::Symbol;
use papertape_core::market::MaskKind;
use papertape_core::time::Date;
use span::Span;

/// Replaces what a mask hides in texts about a dataset. It can be built only for the source, and knows both worlds:
/// agents must never reach it.
#[derive(Debug)]
pub struct TextMask {
    kind: MaskKind,
    shift_days: i32,
    entities: Entities,
    /// The reference of dates without a year in a text without a date.
    last_day: Date,
}

impl TextMask {
    pub(super) fn new(kind: MaskKind, shift_days: i32, entities: Entities, last_day: Date) -> Self {
        Self { kind, shift_days, entities, last_day }
    }

    /// The masked form of a text without a date, such as an agent's instructions.
    #[must_use]
    pub fn apply(&self, text: &str) -> String {
        self.apply_about(text, None, &[])
    }

    /// The masked form of a text of a day about some symbols, all real.
    #[must_use]
    pub fn apply_about(&self, text: &str, date: Option<Date>, symbols: &[Symbol]) -> String {
        let mut spans = Vec::new();
        if self.kind.replaces_entities() {
            spans.extend(self.entities.find(text));
            spans.extend(figures::find(text, &self.entities, symbols));
        }
        if self.kind.shifts_dates() {
            let reference = date.unwrap_or(self.last_day);
            spans.extend(dates::find(text, self.shift_days, reference));
            spans.extend(chinese::find(text, self.shift_days, reference));
        }
        replace(text, spans)
    }
}

/// Replaces spans: of those that overlap, the first, and of those that begin together, the longest.
fn replace(text: &str, mut spans: Vec<Span>) -> String {
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut masked = String::with_capacity(text.len());
    let mut done = 0;
    for span in spans {
        if span.start >= done {
            masked.push_str(&text[done..span.start]);
            masked.push_str(&span.replacement);
            done = span.end;
        }
    }
    masked.push_str(&text[done..]);
    masked
}

#[cfg(test)]
mod tests;
