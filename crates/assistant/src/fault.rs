//! Why something is not done, in both of the languages that people read: what a model got wrong is told to the
//! person as well, in the action log and in the reply's summary.

use papertape_core::action::Language;

/// A sentence in both languages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    english: String,
    chinese: String,
}

impl Fault {
    /// The sentence in English and in Chinese.
    #[must_use]
    pub fn new(english: impl Into<String>, chinese: impl Into<String>) -> Self {
        Self { english: english.into(), chinese: chinese.into() }
    }

    /// The sentence in a language.
    #[must_use]
    pub fn text(&self, language: Language) -> &str {
        match language {
            Language::En => &self.english,
            Language::Zh => &self.chinese,
        }
    }
}
