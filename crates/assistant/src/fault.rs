//! Messages in both user languages: an error made by a model is also reported to the user, in the action log and
//! in the reply's summary.

use papertape_core::language::Language;

/// A message in both languages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalizedMessage {
    english: String,
    chinese: String,
}

impl LocalizedMessage {
    /// A message, in English and in Chinese.
    #[must_use]
    pub fn new(english: impl Into<String>, chinese: impl Into<String>) -> Self {
        Self { english: english.into(), chinese: chinese.into() }
    }

    /// The message in a language.
    #[must_use]
    pub fn text(&self, language: Language) -> &str {
        match language {
            Language::En => &self.english,
            Language::Zh => &self.chinese,
        }
    }
}
