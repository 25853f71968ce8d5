//! Detects a user's language.

use crate::confirm::is_yes;
use papertape_core::action::Language;

/// The language of a text: Chinese if it contains a Chinese character.
#[must_use]
pub fn of_text(text: &str) -> Language {
    let is_chinese = text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
    if is_chinese { Language::Zh } else { Language::En }
}

/// The language in which to reply to a message: its own if it shows one, otherwise the conversation's. A plain
/// yes shows none.
#[must_use]
pub fn of_message(text: &str, usual: Language) -> Language {
    match of_text(text) {
        Language::En if is_yes(text) || !text.chars().any(|c| c.is_ascii_lowercase()) => usual,
        found => found,
    }
}

/// The language of a tag such as `en-GB` or `zh_CN.UTF-8`; `None` for any other.
#[must_use]
pub fn of_tag(tag: &str) -> Option<Language> {
    let primary = tag.trim().split(['-', '_', '.', ';']).next().unwrap_or_default();
    match primary.to_ascii_lowercase().as_str() {
        "en" => Some(Language::En),
        "zh" => Some(Language::Zh),
        _ => None,
    }
}
