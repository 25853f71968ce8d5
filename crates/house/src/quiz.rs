//! A memorization quiz: rules remember no prices, so they guess.

use super::Draft;
use papertape_core::id::ContentHash;
use papertape_core::message::{Message, ModelRequest};
use papertape_core::prompt::lines::QUIZ_TASK;

/// A letter of the question, picked by the question's hash; `None` when the request is for something else.
pub(super) fn draft(request: &ModelRequest) -> Option<Draft> {
    let is_quiz = request.instructions.as_deref().is_some_and(|text| text.starts_with(QUIZ_TASK));
    let Some(Message::User { content }) = request.messages.last().filter(|_| is_quiz) else { return None };
    let letters: Vec<&str> = content
        .lines()
        .filter_map(|line| line.split_once(") "))
        .map(|(letter, _)| letter)
        .filter(|letter| letter.len() == 1)
        .collect();
    let [first, second, ..] = *ContentHash::of(content.as_bytes()).as_bytes();
    let at = usize::from(u16::from_le_bytes([first, second])) % letters.len().max(1);
    letters.get(at).map(|letter| Draft::text((*letter).to_owned()))
}
