//! The summary of actions at the end of a reply.

use papertape_core::action::ActionSummary;
use papertape_core::language::Language;
use std::fmt::Write as _;

/// Max characters of an action's message in the paragraph.
const MESSAGE_CHARS: usize = 160;

/// The paragraph that summarizes the actions; `None` if there were none.
#[must_use]
pub fn paragraph(actions: &[ActionSummary], language: Language) -> Option<String> {
    if actions.is_empty() {
        return None;
    }
    let mut text = match language {
        Language::Zh => "动作摘要：".to_owned(),
        Language::En => "Actions:".to_owned(),
    };
    for action in actions {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n{}. {}", action.order, action.display);
        let message = action.message.as_deref().unwrap_or_default();
        let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
        if !line.is_empty() {
            let mut cut: String = line.chars().take(MESSAGE_CHARS).collect();
            if cut.len() < line.len() {
                cut.push('…');
            }
            let _ = match language {
                Language::Zh => write!(text, "（{cut}）"),
                Language::En => write!(text, " ({cut})"),
            };
        }
    }
    Some(text)
}
