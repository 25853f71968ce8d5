//! Detects the language of a reply.

use crate::confirm::is_yes;
use papertape_core::language::Language;

/// The language in which to reply to a message: its own if it shows one, otherwise the conversation's. A plain
/// yes shows none.
#[must_use]
pub fn reply_language(text: &str, usual: Language) -> Language {
    match Language::detect(text) {
        Language::En if is_yes(text) || !text.chars().any(|c| c.is_ascii_lowercase()) => usual,
        found => found,
    }
}
