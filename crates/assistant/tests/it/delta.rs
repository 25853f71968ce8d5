//! Streaming of a reply's text.

use papertape_assistant::stream_text::MessageExtractor;
use proptest::prelude::*;
use serde_json::json;

fn heard(pieces: impl IntoIterator<Item = String>) -> String {
    let mut words = MessageExtractor::default();
    pieces.into_iter().map(|piece| words.push(&piece)).collect()
}

proptest! {
    /// Goal: however a response is split into chunks, the extracted text is its message: from the protocol's
    /// JSON, fenced or not, and from plain text.
    #[test]
    fn words_are_the_messages(message in "\\PC{0,80}", cut in 1_usize..9, fenced: bool) {
        let escaped = json!({ "actions": [], "llm_reply": { "other": 1, "message": message } }).to_string();
        let text = if fenced { format!("```json\n{escaped}\n```") } else { escaped };
        let pieces: Vec<char> = text.chars().collect();
        let pieces = pieces.chunks(cut).map(|piece| piece.iter().collect::<String>());
        prop_assert_eq!(heard(pieces), message);
    }
}

/// Goal: all kinds of escapes, including split surrogate pairs, and plain text are read.
#[test]
fn escapes_and_plain_text_are_read() {
    let check = |text: &str, words: &str| {
        assert_eq!(heard([text.to_owned()]), words, "{text}");
        assert_eq!(heard(text.chars().map(String::from)), words, "{text}");
    };
    check(r#"{"llm_reply": {"message": "a\n\"b\" \u4f60 \ud83d\ude00 c"}}"#, "a\n\"b\" 你 😀 c");
    check("Plain words.", "Plain words.");
    check(r#"{"actions": [{"name": "message", "x": "message"}], "llm_reply": {"message" : "ok"}}"#, "ok");
    check(r#"{"actions": []}"#, "");
}
