//! The four parts of a round's summary: parsed, checked, written, and truncated so that all four remain.

use papertape_core::fence::is_blank;
use papertape_core::language::Language;
use papertape_core::prompt::lines::{self, Line};
use std::fmt::Write as _;

/// Maximum characters of a summary, labels included.
pub const SUMMARY_CHARS: usize = 600;
/// Of these, the maximum for `[Risk]`, so that it stays complete wherever a summary is truncated.
pub const RISK_CHARS: usize = 300;

const LABELS: [Line; 4] = [lines::CONCLUSION, lines::POSITION, lines::RISK, lines::NEXT];
const RISK: usize = 2;

/// Conclusion, position, risk, next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundSummary([String; 4]);

/// Why a text is not a valid summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Parts are missing or empty.
    Missing(Vec<&'static str>),
    /// It has this many characters.
    TooLong(usize),
    /// `[Risk]` has this many characters.
    RiskTooLong(usize),
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing(parts) => write!(f, "missing: {}", parts.join(", ")),
            Self::TooLong(chars) => write!(f, "{chars} characters; the limit is {SUMMARY_CHARS}"),
            Self::RiskTooLong(chars) => write!(f, "[Risk] has {chars} characters; the limit is {RISK_CHARS}"),
        }
    }
}

impl RoundSummary {
    /// The parts in their order.
    #[must_use]
    pub fn new(parts: [String; 4]) -> Self {
        Self(parts.map(|part| one_line(&part)))
    }

    /// Parses a summary, in either language and with either kind of brackets; text before the first label is
    /// ignored.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str, language: Language) -> Result<Self, Problem> {
        let found = find(text);
        let missing: Vec<&'static str> =
            (0..4).filter(|at| found[*at].is_none()).map(|at| label(at, language)).collect();
        if !missing.is_empty() {
            return Err(Problem::Missing(missing));
        }
        let parts = Self(found.map(Option::unwrap_or_default));
        let risk = chars(&parts.0[RISK]);
        if risk > RISK_CHARS {
            return Err(Problem::RiskTooLong(risk));
        }
        let whole = chars(&parts.write(language));
        if whole > SUMMARY_CHARS { Err(Problem::TooLong(whole)) } else { Ok(parts) }
    }

    /// The summary in `text`, with missing parts taken from `facts` and long ones truncated.
    #[must_use]
    pub fn filled(text: &str, facts: &Self, language: Language) -> Self {
        let mut found = find(text);
        for (part, fact) in found.iter_mut().zip(&facts.0) {
            part.get_or_insert_with(|| fact.clone());
        }
        let mut parts = Self(found.map(Option::unwrap_or_default));
        parts.0[RISK] = cut(&parts.0[RISK], RISK_CHARS);
        parts.fit(language, SUMMARY_CHARS).unwrap_or(parts)
    }

    /// The summary as text, one part per line.
    #[must_use]
    pub fn write(&self, language: Language) -> String {
        let mut out = String::new();
        for (at, part) in self.0.iter().enumerate() {
            let end = if at == 3 { "" } else { "\n" };
            let _ = write!(out, "[{}] {part}{end}", label(at, language));
        }
        out
    }

    /// Truncates the summary to `most` characters: the risk stays complete, the other parts are shortened,
    /// the longest first, and none is dropped. `None` when there is not enough room.
    #[must_use]
    pub fn fit(&self, language: Language, most: usize) -> Option<Self> {
        let bodies = self.0.clone().map(|part| chars(&part));
        let labels = chars(&self.write(language)) - bodies.iter().sum::<usize>();
        let room = most.checked_sub(labels + bodies[RISK])?;
        let others: Vec<usize> = (0..4).filter(|at| *at != RISK).map(|at| bodies[at]).collect();
        if room < others.iter().map(|need| (*need).min(1)).sum() {
            return None;
        }
        let mut given = share(&others, room).into_iter();
        let mut parts = self.clone();
        for (at, part) in parts.0.iter_mut().enumerate() {
            if at != RISK {
                *part = cut(part, given.next().unwrap_or_default());
            }
        }
        Some(parts)
    }

    /// The minimum number of characters for [`Self::fit`].
    #[must_use]
    pub fn min_chars(&self, language: Language) -> usize {
        let labels = chars(&self.write(language)) - self.0.iter().map(|part| chars(part)).sum::<usize>();
        labels + chars(&self.0[RISK]) + 3
    }

    /// The conclusion.
    #[must_use]
    pub fn conclusion(&self) -> &str {
        &self.0[0]
    }

    /// What to verify next.
    #[must_use]
    pub fn next(&self) -> &str {
        &self.0[3]
    }
}

/// Parses a stored summary; `None` when it is not valid.
#[must_use]
pub fn parse_stored(summary: &str) -> Option<RoundSummary> {
    let found = find(summary);
    found.iter().all(Option::is_some).then(|| RoundSummary(found.map(Option::unwrap_or_default)))
}

/// Divides `total` among needs: none gets more than it needs, and unused amounts go to the others.
#[must_use]
pub fn share(needs: &[usize], total: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by_key(|at| (needs[*at], *at));
    let mut given = vec![0; needs.len()];
    let mut left = total;
    for (done, at) in order.iter().enumerate() {
        given[*at] = needs[*at].min(left / (needs.len() - done));
        left -= given[*at];
    }
    given
}

/// The first `most` characters, ending with `…` when something was cut off.
#[must_use]
pub fn cut(text: &str, most: usize) -> String {
    if chars(text) <= most {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    if most > 0 {
        short.push('…');
    }
    short
}

/// The length of a text in characters.
#[must_use]
pub fn chars(text: &str) -> usize {
    text.chars().count()
}

/// A text on one line, with runs of spaces collapsed.
#[must_use]
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn label(at: usize, language: Language) -> &'static str {
    match language {
        Language::En => LABELS[at].en,
        Language::Zh => LABELS[at].zh,
    }
}

/// The parts' texts; `None` for those that are missing or empty.
fn find(text: &str) -> [Option<String>; 4] {
    // (start of the label, start of its text, part)
    let mut marks: Vec<(usize, usize, usize)> = Vec::new();
    for (open, c) in text.char_indices().filter(|(_, c)| matches!(c, '[' | '【')) {
        let close = if c == '[' { ']' } else { '】' };
        let inside = open + c.len_utf8();
        let Some(length) = text[inside..].find(close) else { continue };
        let name = text[inside..inside + length].trim();
        let part = LABELS.iter().position(|label| name.eq_ignore_ascii_case(label.en) || name == label.zh);
        marks.extend(part.map(|part| (open, inside + length + close.len_utf8(), part)));
    }
    let mut found = [const { None }; 4];
    for (at, (_, begin, part)) in marks.iter().enumerate() {
        let end = marks.get(at + 1).map_or(text.len(), |next| next.0);
        let body = one_line(&text[*begin..end]);
        let body = body.trim_matches(|c: char| matches!(c, '*' | ':' | '：' | '#') || c.is_whitespace());
        // Of a repeated part, the first counts.
        if found[*part].is_none() && !is_blank(body) {
            found[*part] = Some(body.to_owned());
        }
    }
    found
}
