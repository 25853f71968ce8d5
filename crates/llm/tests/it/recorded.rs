//! Exchanges of each protocol, based on the examples in the providers' references: read unchanged, and
//! truncated, split and mutated. Any input gives the right response or a clean failure.

use papertape_core::message::{CallFailure, ModelName, ModelReply, Usage};
use papertape_llm::ProviderKind;
use papertape_llm::bounds;
use papertape_llm::wire::{self, StreamReader, WireError, sse::Flow};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

struct Exchange {
    name: String,
    kind: ProviderKind,
    is_stream: bool,
    bytes: Vec<u8>,
}

/// The result of reading a response.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Reply { reply: ModelReply, usage: Option<Usage> },
    Failed { failure: CallFailure, retry_after_secs: Option<u64>, usage: Option<Usage> },
}

fn exchanges() -> Vec<Exchange> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut all = Vec::new();
    let folders = [
        ("chat", ProviderKind::Openai),
        ("anthropic", ProviderKind::Anthropic),
        ("gemini", ProviderKind::Gemini),
    ];
    for (folder, kind) in folders {
        for entry in root.join(folder).read_dir().expect("the fixtures are there") {
            let path = entry.expect("an entry").path();
            let file = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
            let is_stream = file.ends_with(".sse");
            let bytes = std::fs::read(&path).expect("a fixture");
            all.push(Exchange { name: format!("{folder}/{file}"), kind, is_stream, bytes });
        }
    }
    all.sort_by(|one, other| one.name.cmp(&other.name));
    assert!(all.len() > 40, "{}", all.len());
    all
}

fn model() -> ModelName {
    "test::some-model".parse().expect("a name")
}

impl Exchange {
    /// Reads these bytes in its protocol, streams in the given chunks.
    fn read<'a>(&self, pieces: impl IntoIterator<Item = &'a [u8]>) -> (Outcome, String) {
        let mut text = String::new();
        let read = if self.is_stream {
            let mut reader = StreamReader::new(self.kind);
            let mut pieces = pieces.into_iter();
            let pushed = pieces
                .try_for_each(|piece| reader.push(piece, &mut |delta: &str| text.push_str(delta)).map(drop));
            pushed.and_then(|()| reader.finish())
        } else {
            let whole: Vec<u8> = pieces.into_iter().flatten().copied().collect();
            wire::read_whole(self.kind, &whole)
        };
        let answer = read.map_err(Box::from).and_then(|reply| reply.into_response(self.kind, &model()));
        let outcome = match answer {
            Ok(answer) => Outcome::Reply { reply: answer.reply, usage: answer.usage },
            Err(failed) => Outcome::Failed {
                failure: failed.failure,
                retry_after_secs: failed.retry_after.map(|pause| pause.as_secs()),
                usage: failed.usage,
            },
        };
        (outcome, text)
    }

    fn whole(&self) -> Outcome {
        self.read([self.bytes.as_slice()]).0
    }
}

/// Goal: every example is read with the meaning in its reference.
#[test]
fn examples_are_read() {
    let mut read: BTreeMap<String, Outcome> = BTreeMap::new();
    for exchange in exchanges() {
        let (outcome, text) = exchange.read([exchange.bytes.as_slice()]);
        if let (Outcome::Reply { reply, .. }, true) = (&outcome, exchange.is_stream) {
            assert_eq!(reply.text, text, "{}: the deltas add up", exchange.name);
        }
        read.insert(exchange.name, outcome);
    }
    insta::assert_json_snapshot!(read);
}

/// Goal: a stream gives the same result wherever the network splits it, down to single bytes.
#[test]
fn a_stream_may_be_split_anywhere() {
    for exchange in exchanges().iter().filter(|exchange| exchange.is_stream) {
        let whole = exchange.whole();
        for at in 0..=exchange.bytes.len() {
            let (first, second) = exchange.bytes.split_at(at);
            assert_eq!(exchange.read([first, second]).0, whole, "{} at {at}", exchange.name);
        }
        assert_eq!(exchange.read(exchange.bytes.chunks(1)).0, whole, "{}", exchange.name);
        // Other line endings work as well.
        let text = String::from_utf8(exchange.bytes.clone()).expect("text");
        for end in ["\r\n", "\r"] {
            let other = text.replace('\n', end).into_bytes();
            assert_eq!(exchange.read([other.as_slice()]).0, whole, "{} with {end:?}", exchange.name);
            assert_eq!(exchange.read(other.chunks(1)).0, whole, "{} with {end:?}", exchange.name);
        }
    }
}

/// Goal: a response that breaks off is never taken for a shorter one.
#[test]
fn an_answer_cut_anywhere_is_whole_or_fails() {
    for exchange in exchanges() {
        let whole = exchange.whole();
        for at in 0..exchange.bytes.len() {
            let outcome = exchange.read([&exchange.bytes[..at]]).0;
            let failed = matches!(outcome, Outcome::Failed { .. });
            assert!(failed || outcome == whole, "{} at {at}: {outcome:?}", exchange.name);
        }
    }
}

/// A number generator with the same output on every platform.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % most.max(1)
    }
}

/// Fragments of JSON and events.
const TOKENS: [&[u8]; 16] = [
    b"null",
    b"-1",
    b"4000000000",
    b"1e400",
    b"{}",
    b"[]",
    b"\"",
    b"{",
    b"[",
    b"}",
    b"\n\n",
    b"data: ",
    b"\\u0000",
    b"\xff",
    b"true",
    b"18446744073709551616",
];

fn mutate(bytes: &mut Vec<u8>, numbers: &mut Numbers) {
    let at = numbers.below(bytes.len());
    let end = (at + 1 + numbers.below(24)).min(bytes.len());
    match numbers.below(6) {
        0 => bytes[at] = u8::try_from(numbers.below(256)).expect("a byte"),
        1 => drop(bytes.drain(at..end)),
        2 => {
            let copy = bytes[at..end].to_vec();
            bytes.splice(at..at, copy);
        }
        3 => drop(bytes.splice(at..at, TOKENS[numbers.below(TOKENS.len())].iter().copied())),
        4 => drop(bytes.splice(at..end, TOKENS[numbers.below(TOKENS.len())].iter().copied())),
        _ => {
            let other = numbers.below(bytes.len());
            bytes.swap(at, other);
        }
    }
    if bytes.is_empty() {
        bytes.push(b'{');
    }
}

/// Goal: no mutated response makes a reader panic, and what is still read is within the bounds.
#[test]
fn changed_answers_do_no_harm() {
    let mut numbers = Numbers(20_261_122);
    for exchange in exchanges() {
        for _ in 0..1_500 {
            let mut bytes = exchange.bytes.clone();
            for _ in 0..=numbers.below(4) {
                mutate(&mut bytes, &mut numbers);
            }
            match exchange.read([bytes.as_slice()]).0 {
                Outcome::Reply { reply, usage } => {
                    assert!(reply.text.len() <= bytes.len(), "{}", exchange.name);
                    assert!(reply.tool_calls.len() <= bounds::MAX_TOOL_CALLS, "{}", exchange.name);
                    let usage = usage.unwrap_or_default();
                    assert!(usage.input_tokens <= wire::MAX_TOKENS, "{}: {usage:?}", exchange.name);
                    assert!(usage.output_tokens <= wire::MAX_TOKENS, "{}: {usage:?}", exchange.name);
                }
                Outcome::Failed { failure, .. } => assert!(!failure.message.is_empty()),
            }
        }
    }
}

/// Goal: each bound allows its last value and nothing beyond it.
#[test]
fn bounds_are_where_they_are_said_to_be() {
    let chat = |body: String| wire::read_whole(ProviderKind::Openai, body.as_bytes());
    let exceeded = |read: Result<papertape_llm::RawReply, WireError>| match read {
        Err(WireError::Exceeded(bound)) => Some(bound),
        _ => None,
    };
    let message = |inner: &str| format!(r#"{{"choices":[{{"message":{{{inner}}}}}]}}"#);
    let call =
        |arguments: &str| format!(r#"{{"id":"c","function":{{"name":"f","arguments":"{arguments}"}}}}"#);
    let calls = |count: usize| message(&format!(r#""tool_calls":[{}]"#, vec![call(""); count].join(",")));
    assert_eq!(chat(calls(64)).expect("64 are allowed").tool_calls.len(), 64);
    assert_eq!(exceeded(chat(calls(65))), Some(bounds::Bound::ToolCalls));

    let arguments = |bytes: usize| message(&format!(r#""tool_calls":[{}]"#, call(&"a".repeat(bytes))));
    assert!(chat(arguments(bounds::MAX_ARGUMENT_BYTES)).is_ok());
    assert_eq!(exceeded(chat(arguments(bounds::MAX_ARGUMENT_BYTES + 1))), Some(bounds::Bound::Arguments));

    let nested = |levels: usize| {
        format!(r#"{{"choices":[],"x":{}{}}}"#, "[".repeat(levels - 1), "]".repeat(levels - 1))
    };
    assert!(chat(nested(64)).is_ok());
    assert_eq!(exceeded(chat(nested(65))), Some(bounds::Bound::Depth));
    assert_eq!(exceeded(chat(nested(500_000))), Some(bounds::Bound::Depth));

    let short = message(r#""content":"Hold.""#);
    let body = |bytes: usize| format!("{short}{}", " ".repeat(bytes - short.len()));
    assert!(chat(body(bounds::MAX_BODY_BYTES)).is_ok());
    assert_eq!(exceeded(chat(body(bounds::MAX_BODY_BYTES + 1))), Some(bounds::Bound::Body));

    let many =
        message(&format!(r#""tool_calls":[{}]"#, call(&format!(r#"{{\"a\":[{}0]}}"#, "0,".repeat(10_000)))));
    assert_eq!(exceeded(chat(many)), Some(bounds::Bound::Values));
    let choices = format!(r#"{{"choices":[{}{{}}]}}"#, "{},".repeat(bounds::MAX_ENTRIES));
    assert_eq!(exceeded(chat(choices)), Some(bounds::Bound::Entries));
}

/// Goal: a stream's bounds apply while it arrives, whatever the protocol.
#[test]
fn a_stream_is_stopped_at_its_bounds() {
    let kinds = [ProviderKind::Openai, ProviderKind::Anthropic, ProviderKind::Gemini];
    let stopped = |kind: ProviderKind, event: &str| {
        let mut reader = StreamReader::new(kind);
        for sent in 0..100_000_000 / event.len() {
            match reader.push(event.as_bytes(), &mut |_| {}) {
                Ok(Flow::Continue) => {}
                Ok(Flow::Done) => panic!("it has no end"),
                Err(WireError::Exceeded(bound)) => return (bound, sent),
                Err(error) => panic!("{kind:?}: {error:?}"),
            }
        }
        panic!("{kind:?} is never stopped")
    };
    for kind in kinds {
        assert_eq!(stopped(kind, "data: \n\n"), (bounds::Bound::Events, bounds::MAX_EVENTS));
        assert_eq!(stopped(kind, ": a comment without an end\n\n").0, bounds::Bound::Body);
        assert_eq!(stopped(kind, "data: and more of it").0, bounds::Bound::Event);
        assert_eq!(stopped(kind, "data: and more of it\n").0, bounds::Bound::Event);
    }
    let index = r#"data: {"choices":[{"delta":{"tool_calls":[{"index":4000000000,"function":{}}]}}]}"#;
    assert_eq!(stopped(ProviderKind::Openai, &format!("{index}\n\n")), (bounds::Bound::ToolCallIndex, 0));
    let start =
        r#"data: {"type":"content_block_start","index":4000000000,"content_block":{"type":"tool_use"}}"#;
    assert_eq!(stopped(ProviderKind::Anthropic, &format!("{start}\n\n")), (bounds::Bound::ToolCallIndex, 0));
    let call = r#"data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]}}]}"#;
    assert_eq!(stopped(ProviderKind::Gemini, &format!("{call}\n\n")), (bounds::Bound::ToolCalls, 64));
    let piece = "a".repeat(1_000);
    let piece = format!(
        r#"data: {{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"function":{{"arguments":"{piece}"}}}}]}}}}]}}"#
    );
    assert_eq!(stopped(ProviderKind::Openai, &format!("{piece}\n\n")), (bounds::Bound::Arguments, 262));
}
