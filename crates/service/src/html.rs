//! HTML that the program writes itself: the login page and reports.

use std::fmt::{Display, Write as _};

/// Escapes text for HTML, in elements and in quoted attributes.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    text.chars().for_each(|c| push_escaped(&mut escaped, c));
    escaped
}

fn push_escaped(out: &mut String, c: char) {
    match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        other => out.push(other),
    }
}

/// A document in progress. Markup must be known at compile time; everything else is escaped, so no text from a model, a
/// dataset or a file can become markup.
#[derive(Debug, Default)]
pub(crate) struct Html(String);

impl Html {
    /// Adds markup.
    pub(crate) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Adds text. Control characters and bidirectional overrides are written as `\u{1b}`, because they could hide or
    /// reorder what a reader sees.
    pub(crate) fn text(&mut self, text: impl Display) -> &mut Self {
        for c in text.to_string().chars() {
            if is_unsafe(c) {
                let _ = write!(self.0, "{}", c.escape_unicode());
            } else {
                push_escaped(&mut self.0, c);
            }
        }
        self
    }

    /// Adds a text from outside, isolated from the direction of the text around it. A text that is longer than
    /// `max_chars` is cut, and `note` follows with its whole length.
    pub(crate) fn quote(
        &mut self,
        text: &str,
        max_chars: usize,
        note: impl Fn(usize) -> String,
    ) -> &mut Self {
        self.raw("<bdi>");
        let end = text.char_indices().nth(max_chars).map(|(at, _)| at);
        self.text(&text[..end.unwrap_or(text.len())]).raw("</bdi>");
        if end.is_some() {
            self.raw(" <span class=\"cut\">").text(note(text.chars().count())).raw("</span>");
        }
        self
    }

    /// The document.
    pub(crate) fn finish(self) -> String {
        self.0
    }
}

fn is_unsafe(c: char) -> bool {
    let is_bidi =
        matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}');
    is_bidi || (c.is_control() && !matches!(c, '\n' | '\t'))
}

#[cfg(test)]
mod tests {
    use super::{Html, escape};

    /// Goal: text never becomes markup, in an element or in an attribute.
    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("<a href=\"x\" id='y'>&"), "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;");
        let mut html = Html::default();
        html.raw("<p>").text("<script>\u{202e}\u{0}").raw("</p>");
        assert_eq!(html.finish(), "<p>&lt;script&gt;\\u{202e}\\u{0}</p>");
    }

    /// Goal: a long text is cut between characters, and its length is reported.
    #[test]
    fn a_long_text_is_cut() {
        let quoted = |text: &str| {
            let mut html = Html::default();
            html.quote(text, 3, |length| format!("of {length}"));
            html.finish()
        };
        assert_eq!(quoted("买入的"), "<bdi>买入的</bdi>");
        assert_eq!(quoted("买入的理由"), "<bdi>买入的</bdi> <span class=\"cut\">of 5</span>");
    }
}
