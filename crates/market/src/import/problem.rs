//! Problems of rows, reported by kind: one sentence with a count and the first places, however many rows are
//! affected.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// How many places are listed per kind.
const PLACES: usize = 3;
/// The maximum number of kinds. Reasons that all differ are not grouped.
const MAX_KINDS: usize = 200;

/// A kind of problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The reason, as reported for the first row.
    pub reason: String,
    /// The number of rows.
    pub count: u64,
    /// The locations of the first rows.
    pub places: Vec<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = self.count.saturating_sub(self.places.len() as u64);
        match (self.count, self.places.split_last()) {
            (1, Some((one, _))) => write!(f, "{one}: {}", self.reason),
            (count, Some((last, others))) => {
                let others = others.join("; ");
                write!(f, "{count} times, as here: {} ({others}; {last}", self.reason)?;
                if more > 0 { write!(f, "; {more} more)") } else { f.write_str(")") }
            }
            (count, None) => write!(f, "{count} times: {}", self.reason),
        }
    }
}

/// Problems by kind, in order of first occurrence.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    kinds: BTreeMap<String, usize>,
    list: Vec<Problem>,
}

impl Problems {
    /// Adds a problem.
    pub fn add(&mut self, place: impl fmt::Display, reason: &str) {
        let mut kind = kind(reason);
        if self.list.len() >= MAX_KINDS && !self.kinds.contains_key(&kind) {
            kind = String::new();
        }
        let next = self.list.len();
        let at = *self.kinds.entry(kind).or_insert(next);
        if at == next {
            self.list.push(Problem { reason: reason.to_owned(), count: 0, places: Vec::new() });
        }
        let problem = &mut self.list[at];
        problem.count += 1;
        if problem.places.len() < PLACES {
            problem.places.push(place.to_string());
        }
    }

    /// All kinds, most frequent first.
    #[must_use]
    pub fn into_list(mut self) -> Vec<Problem> {
        self.list.sort_by_key(|problem| std::cmp::Reverse(problem.count));
        self.list
    }
}

/// A reason without what is specific to its row: text between backticks, and numbers.
fn kind(reason: &str) -> String {
    let mut out = String::with_capacity(reason.len());
    let mut is_quoted = false;
    for letter in reason.chars() {
        match letter {
            '`' => {
                is_quoted = !is_quoted;
                out.push('`');
            }
            _ if is_quoted => {}
            letter if letter.is_ascii_digit() => {
                if !out.ends_with('#') {
                    out.push('#');
                }
            }
            '.' | '-' | ':' if out.ends_with('#') => {}
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_kind_are_one_sentence() {
        let mut problems = Problems::default();
        problems.add("a.csv, line 9", "there is no headline");
        for line in 2..=7 {
            problems.add(format_args!("a.csv, line {line}"), &format!("high: `x{line}` is not a number"));
        }
        problems.add("b.csv, line 2", "low 10.5 above high 9");
        problems.add("b.csv, line 3", "low 11 above high 9.25");
        let sentences: Vec<String> = problems.into_list().iter().map(ToString::to_string).collect();
        assert_eq!(
            sentences,
            [
                "6 times, as here: high: `x2` is not a number (a.csv, line 2; a.csv, line 3; a.csv, line 4; 3 more)",
                "2 times, as here: low 10.5 above high 9 (b.csv, line 2; b.csv, line 3)",
                "a.csv, line 9: there is no headline",
            ]
        );
    }
}
