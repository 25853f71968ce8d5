//! Normalization of texts before parsing.

use papertape_core::fence::is_invisible;

/// The text with full-width letters, digits and signs made half-width, curly quotes made straight, and
/// invisible characters removed.
pub(crate) fn half_width(text: &str) -> String {
    // ASCII has none of these characters.
    if text.is_ascii() {
        return text.to_owned();
    }
    let narrow = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{3000}' | '\u{a0}' | '\u{2009}' | '\u{202f}' => ' ',
        '’' | '‘' => '\'',
        '“' | '”' | '「' | '」' => '"',
        '−' | '‐' | '‑' => '-',
        other => other,
    };
    text.chars().filter(|c| !is_invisible(*c)).map(narrow).collect()
}

/// Uniform line ends, no invisible characters, no surrounding whitespace.
pub(super) fn clean(text: &str) -> String {
    if text.is_ascii() && !text.contains('\r') {
        return text.trim().to_owned();
    }
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars().filter(|c| !is_invisible(*c)).collect::<String>().trim().to_owned()
}

/// The start of a text, for a message.
pub(super) fn shorten(text: &str) -> String {
    text.trim().chars().take(60).collect()
}

/// Whether it is a mark of emphasis, a quotation mark or a bracket, which decorates a word without changing
/// its meaning. A question mark, a tilde (strikethrough) or a slash (a choice) does change it.
pub(super) const fn is_decoration(c: char) -> bool {
    c.is_whitespace() || matches!(c, '*' | '_' | '`' | '"' | '\'' | '[' | ']' | '【' | '】' | '『' | '』')
}
