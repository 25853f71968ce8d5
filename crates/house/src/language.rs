//! The language of a response: that of the request.

pub(crate) use papertape_core::language::Language;

/// One of two texts, by the language.
pub(crate) fn choose(language: Language, english: impl Into<String>, chinese: impl Into<String>) -> String {
    match language {
        Language::En => english.into(),
        Language::Zh => chinese.into(),
    }
}
