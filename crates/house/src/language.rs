//! The language of a response: that of the request.

/// A language of the texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    Chinese,
}

impl Language {
    /// Chinese where the text contains a Chinese character.
    pub(crate) fn of(text: &str) -> Self {
        let chinese = text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        if chinese { Self::Chinese } else { Self::English }
    }
}

/// One of two texts, by the language.
pub(crate) fn choose(language: Language, english: impl Into<String>, chinese: impl Into<String>) -> String {
    match language {
        Language::English => english.into(),
        Language::Chinese => chinese.into(),
    }
}
