//! What readers think of a session: a score and a note. They may change at any time, so no hash, fingerprint, prompt or
//! canonical export contains them.

use crate::label::{LabelError, checked_note};
use crate::time::Timestamp;
use papertape_redact::{Redact, RedactionPass};

/// The lowest score.
pub const MIN_SCORE: u8 = 1;
/// The highest score.
pub const MAX_SCORE: u8 = 5;

/// A session's score and note.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionReview {
    /// From [`MIN_SCORE`], bad, to [`MAX_SCORE`], good.
    pub score: Option<u8>,
    /// The note.
    pub note: Option<String>,
    /// When one of them last changed; `None` without both.
    pub updated_at: Option<Timestamp>,
    /// The name of the token that changed it last; `None` if no token was required.
    pub updated_by: Option<String>,
}

/// Changes to a session's review. `None` leaves a field as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewChanges {
    /// The new score; `Some(None)` removes it.
    pub score: Option<Option<u8>>,
    /// The new note; an empty text removes it.
    pub note: Option<String>,
}

impl ReviewChanges {
    /// Whether nothing is to be changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The changes with the note as it is stored: without white space at its end.
    ///
    /// # Errors
    /// A score out of range; a note that is too long or contains a control character.
    pub fn checked(&self) -> Result<Self, LabelError> {
        if let Some(Some(score)) = self.score
            && !(MIN_SCORE..=MAX_SCORE).contains(&score)
        {
            let message = format!("{score} is out of range; expected {MIN_SCORE} to {MAX_SCORE}");
            return Err(LabelError { field: "score", message });
        }
        let note = self.note.as_deref().map(checked_note).transpose()?;
        Ok(Self { score: self.score, note })
    }
}

impl Redact for ReviewChanges {
    fn redact(self, wash: &mut RedactionPass<'_>) -> Self {
        Self { score: self.score, note: self.note.map(|note| wash.text(note)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: every limit is enforced at its exact value, the error names the field, and a note loses only the white space
    /// at its end.
    #[test]
    fn limits_are_enforced() {
        let check = |changes: ReviewChanges| changes.checked().map_err(|error| error.field);
        let score = |score| ReviewChanges { score: Some(score), ..ReviewChanges::default() };
        for allowed in [None, Some(1), Some(5)] {
            assert_eq!(check(score(allowed)), Ok(score(allowed)));
        }
        for rejected in [0, 6, 255] {
            assert_eq!(check(score(Some(rejected))), Err("score"));
        }
        let note = |text: &str| ReviewChanges { note: Some(text.to_owned()), ..ReviewChanges::default() };
        assert_eq!(check(note("  two\nlines \n")), Ok(note("  two\nlines")));
        assert_eq!(check(note("   ")), Ok(note("")));
        assert_eq!(check(note(&"é".repeat(5_000))), Ok(note(&"é".repeat(5_000))));
        assert_eq!(check(note(&"é".repeat(5_001))), Err("note"));
        assert_eq!(check(note("\u{202e}desrever")), Err("note"));
    }
}
