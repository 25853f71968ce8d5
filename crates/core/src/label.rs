//! What people call their jobs: a name, tags and a note. They may change at any time, so no hash, fingerprint, prompt
//! or canonical export contains them.

use crate::time::Timestamp;
use papertape_redact::{Redact, RedactionPass};
use std::collections::BTreeSet;

/// Maximum characters of a name.
pub const MAX_NAME_CHARS: usize = 200;
/// Maximum tags of a job.
pub const MAX_TAGS: usize = 20;
/// Maximum characters of a tag.
pub const MAX_TAG_CHARS: usize = 40;
/// Maximum bytes of a note.
pub const MAX_NOTE_BYTES: usize = 10_000;

/// A job's name, tags and note.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobLabels {
    /// Its name.
    pub name: Option<String>,
    /// Its tags.
    pub tags: BTreeSet<String>,
    /// Its note.
    pub note: Option<String>,
    /// When one of them last changed; `None`: never.
    pub updated_at: Option<Timestamp>,
    /// The name of the token that changed it last; `None` if no token was required.
    pub updated_by: Option<String>,
}

/// Changes to a job's labels. `None` leaves a field as it is; an empty text removes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelChanges {
    /// The new name.
    pub name: Option<String>,
    /// The new note.
    pub note: Option<String>,
    /// All tags, in place of the present ones.
    pub tags: Option<Vec<String>>,
    /// Tags to add, after `tags`.
    pub add_tags: Vec<String>,
    /// Tags to remove, after `add_tags`.
    pub remove_tags: Vec<String>,
}

/// Why labels or a review are rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LabelError {
    /// The invalid field.
    pub field: &'static str,
    /// Why.
    pub message: String,
}

impl LabelChanges {
    /// Whether nothing is to be changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Redact for LabelChanges {
    fn redact(self, wash: &mut RedactionPass<'_>) -> Self {
        let mut all =
            |texts: Vec<String>| -> Vec<String> { texts.into_iter().map(|text| wash.text(text)).collect() };
        let (tags, add_tags, remove_tags) =
            (self.tags.map(&mut all), all(self.add_tags), all(self.remove_tags));
        Self {
            name: self.name.map(|name| wash.text(name)),
            note: self.note.map(|note| wash.text(note)),
            tags,
            add_tags,
            remove_tags,
        }
    }
}

impl JobLabels {
    /// These labels with the changes applied. White space around a name or a tag is dropped.
    ///
    /// # Errors
    /// A text or the number of tags exceeds its limit, or a text contains a control character.
    pub fn changed(&self, changes: &LabelChanges) -> Result<Self, LabelError> {
        let mut next = self.clone();
        if let Some(name) = &changes.name {
            next.name = Some(line("name", name, MAX_NAME_CHARS)?).filter(|name| !name.is_empty());
        }
        if let Some(note) = &changes.note {
            next.note = Some(checked_note(note)?).filter(|note| !note.is_empty());
        }
        if let Some(tags) = &changes.tags {
            next.tags = tags.iter().map(|text| tag("tags", text)).collect::<Result<_, _>>()?;
        }
        for text in &changes.add_tags {
            next.tags.insert(tag("add_tags", text)?);
        }
        for text in &changes.remove_tags {
            next.tags.remove(text.trim());
        }
        if next.tags.len() > MAX_TAGS {
            let field = if changes.tags.is_some() { "tags" } else { "add_tags" };
            return Err(error(field, format!("{} tags; a job has at most {MAX_TAGS}", next.tags.len())));
        }
        Ok(next)
    }
}

fn tag(field: &'static str, text: &str) -> Result<String, LabelError> {
    let tag = line(field, text, MAX_TAG_CHARS)?;
    if tag.is_empty() { Err(error(field, "a tag is empty")) } else { Ok(tag) }
}

/// One line of text.
fn line(field: &'static str, text: &str, max_chars: usize) -> Result<String, LabelError> {
    let text = text.trim();
    without_control(field, text, |_| false)?;
    if text.chars().nth(max_chars).is_some() {
        return Err(error(field, format!("more than {max_chars} characters")));
    }
    Ok(text.to_owned())
}

/// A note without white space at its end.
///
/// # Errors
/// It is too long, or contains a control character other than line breaks and tabs.
pub(crate) fn checked_note(text: &str) -> Result<String, LabelError> {
    let text = text.trim_end();
    without_control("note", text, |c| matches!(c, '\n' | '\r' | '\t'))?;
    if text.len() > MAX_NOTE_BYTES {
        return Err(error("note", format!("more than {MAX_NOTE_BYTES} bytes")));
    }
    Ok(text.to_owned())
}

/// Rejects control characters, and characters that change the direction of the text after them: in a terminal or a
/// list, they make a text look like another.
fn without_control(
    field: &'static str,
    text: &str,
    is_allowed: impl Fn(char) -> bool,
) -> Result<(), LabelError> {
    let is_bad = |c: &char| {
        (c.is_control() || matches!(*c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')) && !is_allowed(*c)
    };
    match text.chars().find(is_bad) {
        Some(found) => {
            Err(error(field, format!("it contains the control character U+{:04X}", u32::from(found))))
        }
        None => Ok(()),
    }
}

fn error(field: &'static str, message: impl Into<String>) -> LabelError {
    LabelError { field, message: message.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(tags: &[&str]) -> Vec<String> {
        tags.iter().map(|tag| (*tag).to_owned()).collect()
    }

    /// Goal: an absent field stays, an empty text removes, and tags are replaced before they are added and removed.
    #[test]
    fn changes_apply_field_by_field() {
        let first = LabelChanges {
            name: Some(" Autumn ".to_owned()),
            tags: Some(tags(&["b", "a", "a"])),
            ..LabelChanges::default()
        };
        let labels = JobLabels::default().changed(&first).expect("is valid");
        assert_eq!(labels.name.as_deref(), Some("Autumn"));
        assert_eq!(labels.tags, BTreeSet::from(["a".to_owned(), "b".to_owned()]));
        let second = LabelChanges {
            name: Some(String::new()),
            add_tags: tags(&["c"]),
            remove_tags: tags(&["a", "c", "not there"]),
            ..LabelChanges::default()
        };
        let labels = labels.changed(&second).expect("is valid");
        assert_eq!((labels.name, labels.tags), (None, BTreeSet::from(["b".to_owned()])));
    }

    /// Goal: every limit is enforced, at its exact value, and the error names the field.
    #[test]
    fn limits_are_enforced() {
        let many = |count: usize| Some((0..count).map(|n| format!("t{n}")).collect::<Vec<_>>());
        let check = |changes: LabelChanges| {
            JobLabels::default().changed(&changes).map(drop).map_err(|error| error.field)
        };
        let none = LabelChanges::default;
        for (changes, expected) in [
            (LabelChanges { name: Some("n".repeat(200)), ..none() }, Ok(())),
            (LabelChanges { name: Some("n".repeat(201)), ..none() }, Err("name")),
            (LabelChanges { name: Some("two\nlines".to_owned()), ..none() }, Err("name")),
            (LabelChanges { name: Some("\u{202e}desrever".to_owned()), ..none() }, Err("name")),
            (LabelChanges { note: Some("two\nlines".to_owned()), ..none() }, Ok(())),
            (LabelChanges { note: Some("é".repeat(5_000)), ..none() }, Ok(())),
            (LabelChanges { note: Some("é".repeat(5_001)), ..none() }, Err("note")),
            (LabelChanges { tags: many(20), ..none() }, Ok(())),
            (LabelChanges { tags: many(21), ..none() }, Err("tags")),
            (LabelChanges { tags: many(20), add_tags: tags(&["more"]), ..none() }, Err("tags")),
            (LabelChanges { add_tags: tags(&[" "]), ..none() }, Err("add_tags")),
            (LabelChanges { add_tags: vec!["t".repeat(41)], ..none() }, Err("add_tags")),
        ] {
            assert_eq!(check(changes.clone()), expected, "{changes:?}");
        }
    }
}
