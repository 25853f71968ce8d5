//! Digests: what identifies a step.

use crate::tape_support::{CALL, Stage, last, request};
use papertape_core::json;
use papertape_core::message::{
    Message, ModelReply, ModelRequest, ProviderNote, ResponseSchema, ToolCall, ToolChoice, ToolSpec,
};
use papertape_core::tape::{
    CallOptions, ContentDoc, Ctx, RequestChain, ScopeKey, Step, StepClass, StepPath, expand_request,
};
use papertape_testkit::host::Act;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

fn full() -> ModelRequest {
    let call = |id: &str| ToolCall {
        id: id.to_owned(),
        name: "get_price".to_owned(),
        arguments: json!({ "symbol": "AAPL", "limit": 3 }),
    };
    let answer = |id: &str, content: &str| Message::Tool {
        call_id: id.to_owned(),
        name: "get_price".to_owned(),
        content: content.to_owned(),
    };
    let mut request = request("Please analyze and update today's (2012-06-01) positions.");
    request.messages.extend([
        Message::Assistant {
            content: "Let me see.".to_owned(),
            tool_calls: vec![call("c1"), call("c2")],
            provider: None,
        },
        answer("c1", "{\"price\":569.16}"),
        answer("c2", "{\"price\":570}"),
    ]);
    request.tools = vec![ToolSpec {
        name: "get_price".to_owned(),
        description: "The newest price".to_owned(),
        parameters: json!({ "type": "object", "properties": { "symbol": { "type": "string" } } }),
    }];
    request.sampling.temperature = Some(0.2);
    request.sampling.max_tokens = Some(1_024);
    request.sampling.seed = Some(7);
    request
}

// Goal: the digest of a fixed request never changes within a format version. If this fails, every existing
// tape would diverge: increment FORMAT_VERSION, do not change the hash here.
#[test]
fn the_digest_of_format_version_1_is_what_it_was() {
    assert_eq!(papertape_core::message::FORMAT_VERSION, 1);
    assert_eq!(full().digest().to_hex(), "32c9041d35dd3ad4c0ec5054ce3dcbce32f849665c8499bf4795c00696ecdc6f");
    let local = Step::new(StepPath::new("solo#1/read#1"), StepClass::Local, &json!({ "tool": "get_price" }));
    assert_eq!(local.digest.to_hex(), "7404f86902f0a119065cb0ba37ff76a80e794d9af24ae5e91ded92aef1ca0641");
}

// Goal: everything that determines a response is in the digest.
#[test]
fn what_decides_an_answer_changes_the_digest() {
    type Change = fn(&mut ModelRequest);
    let changes: Vec<(&str, Change)> = vec![
        ("nothing", |_| {}),
        ("provider", |r| r.model.provider = "azure".to_owned()),
        ("model", |r| r.model.model = "gpt-5-mini".to_owned()),
        ("house version", |r| r.house_version = Some(1)),
        ("another house version", |r| r.house_version = Some(2)),
        ("instructions", |r| r.instructions = Some("Trade better.".to_owned())),
        ("no instructions", |r| r.instructions = None),
        ("empty instructions", |r| r.instructions = Some(String::new())),
        ("temperature", |r| r.sampling.temperature = Some(0.3)),
        ("no temperature", |r| r.sampling.temperature = None),
        ("top_p", |r| r.sampling.top_p = Some(0.5)),
        ("max_tokens", |r| r.sampling.max_tokens = Some(1_025)),
        ("seed", |r| r.sampling.seed = Some(8)),
        ("stop", |r| r.sampling.stop = vec!["END".to_owned()]),
        ("reasoning effort", |r| r.sampling.reasoning_effort = Some("low".to_owned())),
        ("tool choice", |r| r.tool_choice = ToolChoice::Required),
        ("no tool choice", |r| r.tool_choice = ToolChoice::None),
        ("tool name", |r| r.tools[0].name.push('2')),
        ("tool description", |r| r.tools[0].description.push('.')),
        ("tool parameters", |r| r.tools[0].parameters["required"] = json!(["symbol"])),
        ("no tools", |r| r.tools.clear()),
        ("response schema", |r| {
            let schema = json!({ "type": "object" });
            r.response_schema = Some(ResponseSchema { name: "decision".to_owned(), schema });
        }),
        ("text", |r| r.messages[0] = Message::user("Go.")),
        ("a message more", |r| r.messages.push(Message::user("Go on."))),
        ("a message less", |r| drop(r.messages.pop())),
        ("the order of messages", |r| r.messages.swap(2, 3)),
        ("the same text in another role", |r| {
            let content = r.messages[0].content().to_owned();
            r.messages[0] = Message::Assistant { content, tool_calls: Vec::new(), provider: None };
        }),
        ("a call's arguments", |r| match &mut r.messages[1] {
            Message::Assistant { tool_calls, .. } => tool_calls[0].arguments["limit"] = json!(4),
            _ => unreachable!(),
        }),
        ("which call is answered", |r| match &mut r.messages[2] {
            Message::Tool { call_id, .. } => *call_id = "c2".to_owned(),
            _ => unreachable!(),
        }),
    ];
    let digests: BTreeMap<_, _> = changes
        .iter()
        .map(|(name, change)| {
            let mut request = full();
            change(&mut request);
            (request.digest(), *name)
        })
        .collect();
    let names: BTreeSet<&str> = digests.values().copied().collect();
    let missing: Vec<&str> = changes.iter().map(|(name, _)| *name).filter(|n| !names.contains(n)).collect();
    assert_eq!(missing, Vec::<&str>::new(), "these share a digest with another");
}

// Goal: random provider values, and the formatting of JSON, are not in it.
#[test]
fn what_does_not_decide_does_not_change_the_digest() {
    let text =
        full().to_json().to_string().replace("\"c1\"", "\"call_9fH3\"").replace("\"c2\"", "\"call_K2\"");
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    value.as_object_mut().expect("an object").remove("format");
    let renamed: ModelRequest = serde_json::from_value(value).expect("a request");
    assert_ne!(renamed.to_json(), full().to_json());
    assert_eq!(renamed.digest(), full().digest(), "ids that a provider gave");

    let mut reordered = full();
    reordered.tools[0].parameters =
        serde_json::from_str(r#"{"properties":{"symbol":{"type":"string"}},"type":"object"}"#).expect("JSON");
    assert_eq!(reordered.digest(), full().digest(), "the order of keys");
}

// Goal: deadlines and retries are not part of a step, nor is the place of a call in the program.
#[test]
fn deadlines_and_paths_are_not_in_it() {
    let ask = |timeout: u64, max_attempts: u32| {
        async move |ctx: Ctx| {
            let mut child = ctx.child(ScopeKey::node("A"))?;
            let options = CallOptions { timeout: Duration::from_secs(timeout), max_attempts };
            child.model(&full(), options).await
        }
    };
    let stage = Stage::new();
    stage.run(stage.host(), ask(1, 1)).0.expect("an end").expect("an answer");
    let (result, host) = stage.run(stage.host(), ask(99, 9));
    result.expect("the same step").expect("an answer");
    assert!(host.calls().is_empty());
    assert_eq!(stage.kept().step("A#1/model#1").expect("kept").digest, full().digest());
    let at = |path: &str| Step::new(StepPath::new(path), StepClass::Local, &json!({ "q": 1 })).digest;
    assert_eq!(at("read#1"), at("AAPL/Trader#2/read#9"));
    assert_ne!(at("read#1"), at("order#1"), "another kind asks for another thing");
}

// Goal: the requests of a conversation of N turns take O(N) bytes, and each is read back as it was sent.
#[test]
fn chained_requests_take_linear_space_and_read_back() {
    let talk = |turns: usize| {
        let stage = Stage::new();
        let host = stage
            .host_with(|_, request| Act::text(format!("{} {}", "so I think ".repeat(40), last(request))));
        let (result, _) = stage.run(host, async |mut ctx: Ctx| {
            let mut request = full();
            let mut sent = Vec::new();
            for turn in 0..turns {
                sent.push(request.to_json());
                let reply: ModelReply = ctx.model(&request, CALL).await?.expect("an answer");
                request.messages.push(reply.to_message());
                request.messages.push(Message::user(format!("turn {turn}")));
            }
            Ok(sent)
        });
        let kept = stage.kept();
        for (turn, sent) in result.expect("an end").iter().enumerate() {
            let step = kept.step(&format!("model#{}", turn + 1)).expect("kept");
            assert_eq!(kept.document(step.request_ref).as_ref(), Some(sent));
        }
        kept.texts.values().map(String::len).sum::<usize>()
    };
    let (few, many) = (talk(10), talk(40));
    assert!(many < few * 5, "{few} bytes for 10 turns, {many} for 40");
}

// Goal: a digest computed turn by turn equals that of the whole: the hash of its canonical JSON in which
// calls have numbers in place of IDs.
#[test]
fn a_growing_conversation_has_the_digest_of_the_whole() {
    let whole = full();
    let mut chain = None;
    for turns in 0..=whole.messages.len() {
        let request = ModelRequest { messages: whole.messages[..turns].to_vec(), ..full() };
        let mut numbered = request.to_json();
        let mut ids: Vec<String> = Vec::new();
        for message in numbered["messages"].as_array_mut().expect("is a list") {
            let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
            let own = calls.iter().map(|call| &call["id"]).chain([&message["call_id"]]);
            let own: Vec<String> = own.filter_map(|id| id.as_str().map(str::to_owned)).collect();
            for id in &own {
                if !ids.contains(id) {
                    ids.push(id.clone());
                }
            }
            let number = |id: &serde_json::Value| {
                let at = ids.iter().position(|known| id == known).expect("was seen");
                json!((at + 1).to_string())
            };
            for at in 0..calls.len() {
                message["tool_calls"][at]["id"] = number(&calls[at]["id"]);
            }
            if message["call_id"].is_string() {
                message["call_id"] = number(&message["call_id"].clone());
            }
        }
        let (next, _) = RequestChain::link(chain.take(), &request);
        assert_eq!(next.digest, request.digest(), "after {turns} turns");
        assert_eq!(next.digest, json::hash(&numbered), "after {turns} turns");
        chain = Some(next);
    }
}

// Goal: a request with a different head, or with different earlier messages, starts its own chain.
#[test]
fn a_changed_conversation_starts_a_chain_of_its_own() {
    let (first, mut texts) = RequestChain::link(None, &full());
    let mut cut = full();
    cut.messages.remove(0);
    let mut warmer = full();
    warmer.sampling.temperature = Some(1.0);
    for request in [cut, warmer, full()] {
        let (chain, more) = RequestChain::link(Some(first.clone()), &request);
        texts.extend(more);
        assert_eq!(chain.digest, request.digest());
        let lookup = |hash| texts.iter().find(|text| text.hash == hash).map(|text| text.body.clone());
        assert_eq!(expand_request(chain.at, &lookup).expect("all texts"), request.to_json());
    }
    // With one text missing it cannot be read, and the error names the text.
    for gone in [first.at, ContentDoc::of(&json::to_value(&full().messages[0])).hash] {
        let kept = texts.iter().filter(|text| text.hash != gone);
        let lookup = |hash| kept.clone().find(|text| text.hash == hash).map(|text| text.body.clone());
        assert_eq!(expand_request(first.at, &lookup).expect_err("a text is gone").0, gone);
    }
}

// Goal: provider state affects the response only where it is sent back: it is in the digest of a request to
// the model that returned it, and of no other.
#[test]
fn a_providers_note_counts_where_it_is_sent() {
    let noted = |to: &str, note: Option<(&str, &str)>| {
        let mut request = request("?");
        request.model = to.parse().expect("a model's name");
        let provider = note.map(|(model, content)| ProviderNote {
            model: model.parse().expect("a model's name"),
            content: json!({ "signature": content }),
        });
        let (content, tool_calls) = ("I think.".to_owned(), Vec::new());
        request.messages.push(Message::Assistant { content, tool_calls, provider });
        request.digest()
    };
    let (own, other) = ("anthropic::a", "anthropic::b");
    assert_ne!(noted(own, None), noted(own, Some((own, "x"))));
    assert_ne!(noted(own, Some((own, "y"))), noted(own, Some((own, "x"))));
    assert_eq!(noted(own, None), noted(own, Some((other, "x"))));
}
