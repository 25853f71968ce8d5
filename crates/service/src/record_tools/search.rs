//! Full text search of transcripts, with the text around each match.

use super::args::Args;
use super::{object, page};
use crate::app::App;
use crate::error::ServiceError;
use crate::view;
use papertape_protocol::reasoning::{MessageResponse, ReasoningQuery};
use papertape_protocol::sessions::MessagesQuery;
use papertape_store::query_words;
use serde_json::{Value, json};

/// Matching messages listed per session.
const MAX_MATCHES: usize = 5;
/// Messages of a session that are searched.
const MAX_MESSAGES: usize = 5_000;
const MESSAGE_PAGE: u32 = 500;
/// Characters before and after the first word that is found.
const CONTEXT_CHARS: usize = 240;

/// Sessions in which one message has all the words, each with the first such messages.
pub(super) async fn search(app: &App, args: &Args) -> Result<Value, ServiceError> {
    let asked = args.text("query")?.unwrap_or_default();
    let words = query_words(asked);
    if words.is_empty() {
        return Err(ServiceError::invalid("query", "it has no words"));
    }
    let mut query: ReasoningQuery = args.without(&["query"]).query(&[])?;
    query.q = Some(asked.to_owned());
    let node = query.node.clone();
    let found = match view::reasoning(app, query).await {
        Err(ServiceError::NotFound(_)) => return Ok(page("sessions", Vec::new(), None)),
        found => found?,
    };
    let mut rows = Vec::with_capacity(found.sessions.len());
    for session in found.sessions {
        let (matches, has_more) = matches(app, session.session_id, node.as_ref(), &words).await?;
        rows.push(json!({
            "session_id": session.session_id, "job_id": session.job_id, "model": session.model,
            "date": object(session.date)?, "matches": matches, "has_more": has_more,
        }));
    }
    Ok(page("sessions", rows, found.next_cursor))
}

/// The first matching messages of a session, and whether there may be more.
async fn matches(
    app: &App,
    session: i64,
    node: Option<&String>,
    words: &[String],
) -> Result<(Vec<Value>, bool), ServiceError> {
    let (mut found, mut read) = (Vec::new(), 0);
    let mut query =
        MessagesQuery { node: node.cloned(), limit: Some(MESSAGE_PAGE), ..MessagesQuery::default() };
    loop {
        let part = view::messages(app, session, query.clone()).await?;
        read += part.messages.len();
        for message in &part.messages {
            let Some(excerpt) = excerpt(&message.content, words) else { continue };
            if found.len() == MAX_MATCHES {
                return Ok((found, true));
            }
            found.push(row(message, &excerpt)?);
        }
        match part.next_cursor {
            Some(_) if read >= MAX_MESSAGES => return Ok((found, true)),
            None => return Ok((found, false)),
            cursor => query.cursor = cursor,
        }
    }
}

fn row(message: &MessageResponse, excerpt: &str) -> Result<Value, ServiceError> {
    Ok(json!({
        "message_index": message.message_index, "role": object(message.role)?, "node": message.node,
        "tool_name": message.tool_name, "path": message.path, "excerpt": excerpt,
        "total_chars": message.content.chars().count(),
    }))
}

/// The text around the first word, if the text has all of them.
fn excerpt(text: &str, words: &[String]) -> Option<String> {
    let lower = text.to_lowercase();
    if !words.iter().all(|word| lower.contains(word.as_str())) {
        return None;
    }
    let first = words.iter().filter_map(|word| position(text, word)).min().unwrap_or_default();
    let start = text[..first].char_indices().rev().nth(CONTEXT_CHARS - 1).map_or(0, |(at, _)| at);
    let end = text[first..].char_indices().nth(CONTEXT_CHARS).map_or(text.len(), |(at, _)| first + at);
    let (before, after) = (if start > 0 { "…" } else { "" }, if end < text.len() { "…" } else { "" });
    Some(format!("{before}{}{after}", &text[start..end]))
}

/// Where a word in lower case begins in a text. Lower case can have another length, so its offsets are not the text's.
fn position(text: &str, word: &str) -> Option<usize> {
    let begins = |rest: &str| {
        let mut lower = rest.chars().flat_map(char::to_lowercase);
        word.chars().all(|wanted| lower.next() == Some(wanted))
    };
    text.char_indices().map(|(at, _)| at).find(|at| begins(&text[*at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: a match shows the words with their surroundings, whatever the script and however long the text; a text
    /// that lacks a word is not a match.
    #[test]
    fn excerpts_surround_the_first_word() {
        let words = query_words("Margin CALL");
        let text = format!("{}İİ The margin call came.{}", "x ".repeat(400), " y".repeat(400));
        let found = excerpt(&text, &words).expect("it matches");
        assert!(
            found.starts_with('…') && found.ends_with('…') && found.contains("The margin call came."),
            "{found}"
        );
        assert_eq!(found.chars().count(), 2 * CONTEXT_CHARS + 2);
        assert_eq!(excerpt("a margin of safety", &words), None);
        assert_eq!(excerpt("Call: MARGIN", &words).as_deref(), Some("Call: MARGIN"));
        let words = query_words("保证金");
        assert_eq!(excerpt("追加保证金。", &words).as_deref(), Some("追加保证金。"));
    }
}
