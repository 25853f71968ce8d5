//! The model endpoint of external agents, for clients of every protocol.

use crate::model_endpoint_support::{
    CHAT, JSON, MESSAGES, PATHS, RESPONSES, SSE, World, message_events, question, read, streamed_text,
    text_of,
};
use papertape_core::external::DoorProtocol;
use papertape_core::message::{ModelName, Usage};
use papertape_testkit::model_server::{Broken, ScriptedAnswer};
use serde_json::{Value, json};
use tower::ServiceExt as _;

/// Goal: a house model answers clients of every protocol, whole and streamed, with the same text; the session's first model
/// is the default, and usage is reported.
#[tokio::test(flavor = "multi_thread")]
async fn a_house_model_answers_in_every_protocol() {
    let world = World::new(&["house::momentum", "house::contrarian"]).await;
    for path in PATHS {
        let body = question(path, "What is a good way to trade?");
        let whole = world.good(path, &body).await;
        let text = text_of(path, &whole);
        assert!(!text.is_empty());
        assert_eq!(whole["model"], "house::momentum");
        let mut named = body.clone();
        named["model"] = json!("contrarian");
        assert_eq!(world.good(path, &named).await["model"], "house::contrarian");
        named["model"] = json!("papertape");
        assert_eq!(world.good(path, &named).await, whole, "an equal request has an equal answer");
        let events = world.stream(path, body.clone()).await;
        assert_eq!(streamed_text(path, &events), text, "{path}");
        let last = events.last().expect("an event");
        match path {
            CHAT => assert_eq!(last, "[DONE]"),
            RESPONSES => {
                assert_eq!((&last["type"], &last["response"]), (&json!("response.completed"), &whole))
            }
            _ => {
                assert_eq!(last["type"], "message_stop");
                assert_eq!(events[events.len() - 2]["usage"], whole["usage"]);
            }
        }
    }
    let mut body = question(CHAT, "x");
    body["stream_options"] = json!({ "include_usage": true });
    let events = world.stream(CHAT, body).await;
    let usage = &events[events.len() - 2];
    assert!(usage["usage"]["prompt_tokens"].as_u64() > Some(0) && usage["choices"] == json!([]), "{usage}");
    let seen = world.seen();
    assert!(seen.iter().all(|(request, usage)| request.house_version.is_some() && usage.is_some()));
    assert!(seen.iter().all(|(request, _)| request.body.get("stream").is_none()));
    let free = world.app.services.models.cost(&seen[0].0.model, &seen[0].1.expect("usage"));
    assert_eq!(free, Some(rust_decimal::Decimal::ZERO));
}

/// Goal: a tool call of a provider reaches the client whole and as a stream with its ID and arguments, and the result goes
/// back to the provider as the client sent it; the client's key does not.
#[tokio::test(flavor = "multi_thread")]
async fn tools_make_a_round_trip() {
    let world = World::new(&["lab::one"]).await;
    let tool =
        json!({ "type": "function", "function": { "name": "look", "parameters": { "type": "object" } } });
    let mut body = question(CHAT, "How is IBM?");
    body["tools"] = json!([tool]);
    body["messages"][0]["cache_control"] = json!({ "type": "ephemeral" });
    for _ in 0..2 {
        world.provider.push(ScriptedAnswer::call("call_a", "look", r#"{"symbol":"IBM"}"#));
    }
    let whole = world.good(CHAT, &body).await;
    let call = &whole["choices"][0]["message"]["tool_calls"][0];
    assert_eq!(call["id"], "call_a");
    let events = world.stream(CHAT, body.clone()).await;
    let streamed = events.iter().find_map(|event| event.pointer("/choices/0/delta/tool_calls/0"));
    let streamed = streamed.expect("a call");
    assert_eq!(
        (&streamed["index"], &streamed["id"], &streamed["function"]),
        (&json!(0), &call["id"], &call["function"])
    );

    world.provider.push(ScriptedAnswer::text("IBM is up."));
    let messages = body["messages"].as_array_mut().expect("messages");
    messages.push(whole["choices"][0]["message"].clone());
    messages.push(json!({ "role": "tool", "tool_call_id": "call_a", "content": "209" }));
    let answer = world.good(CHAT, &body).await;
    assert_eq!(text_of(CHAT, &answer), "IBM is up.");
    let sent = world.provider.requests();
    assert_eq!(sent[2].body["messages"], body["messages"]);
    assert_eq!(sent[2].body["model"], "one");
    let (request, usage) = world.seen().pop().expect("a call");
    assert_eq!(usage, Some(Usage { input_tokens: 10, cached_tokens: 0, output_tokens: 5 }));
    assert_eq!(request.body["tools"], json!([tool]));
    for request in &sent {
        let all = format!("{:?}{}", request.headers, request.body);
        assert!(!all.contains(&world.token), "{all}");
    }
}

/// Goal: messages and responses of a provider reach clients of these protocols, with the recorded IDs in streams that begin
/// with the answer.
#[tokio::test(flavor = "multi_thread")]
async fn other_protocols_are_forwarded() {
    let world = World::new(&["openai::gpt", "claude::sonnet"]).await;
    world.provider.push(ScriptedAnswer::raw(SSE, message_events(&["I ", "hold."])));
    let events = world.stream(MESSAGES, question(MESSAGES, "What now?")).await;
    assert_eq!(streamed_text(MESSAGES, &events), "I hold.");
    assert_eq!(world.provider.request(1).await.path, MESSAGES);

    let item = json!({ "id": "msg_2", "type": "message", "status": "completed", "role": "assistant",
        "content": [{ "type": "output_text", "text": "I hold.", "annotations": [] }] });
    let call = json!({ "id": "fc_1", "type": "function_call", "status": "completed", "call_id": "c", "name": "f",
        "arguments": "{}" });
    let whole = json!({ "id": "resp_1", "object": "response", "status": "completed", "output": [item, call],
        "usage": { "input_tokens": 9, "output_tokens": 7 } });
    world.provider.push(ScriptedAnswer::raw(JSON, whole.to_string()));
    let events = world.stream(RESPONSES, question(RESPONSES, "What now?")).await;
    assert_eq!(streamed_text(RESPONSES, &events), "I hold.");
    let numbers: Vec<u64> = events.iter().filter_map(|event| event["sequence_number"].as_u64()).collect();
    assert!(numbers.iter().copied().eq(0..events.len() as u64), "{numbers:?}");
    let finished: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "response.output_item.done")
        .map(|event| &event["item"])
        .collect();
    assert_eq!(finished, [&item, &call]);
    assert_eq!(events.last().map(|event| &event["response"]), Some(&whole));
    // A model of a provider that does not speak the protocol.
    let mut body = question(CHAT, "x");
    body["model"] = json!("claude::sonnet");
    let (status, _, text) = world.ask(CHAT, &body).await;
    assert!(status == 400 && text.contains("`claude::sonnet` does not speak chat_completions"), "{text}");
}

/// Goal: words reach the client before the answer is complete; after an attempt that broke off, one that begins alike goes
/// on behind them, and one that does not ends the stream with an error.
#[tokio::test(flavor = "multi_thread")]
async fn words_come_early() {
    let long: String = (0..600).map(|n| format!("word{n} ")).collect();
    let world = World::new(&["lab::one"]).await;
    world.provider.push(ScriptedAnswer::text(long.clone()).broken(Broken::Stalled));
    let mut body = question(CHAT, "Tell me.");
    body["stream"] = json!(true);
    let mut response = world.post(CHAT, &body).send().await.expect("an answer");
    assert_eq!(response.status(), 200);
    let first = response.chunk().await.expect("words").expect("words");
    assert!(String::from_utf8_lossy(&first).contains("word0"), "{first:?}");
    assert_eq!(world.seen().len(), 0, "there is no answer yet");
    // The client leaves: the session is told, and so is the provider.
    drop(response);
    assert!(!world.provider.closed(1).await.answered);

    for (next, is_same) in [(long.clone(), true), (format!("Other words. {long}"), false)] {
        world.provider.push(ScriptedAnswer::text(long.clone()).broken(Broken::Cut));
        world.provider.push(ScriptedAnswer::text(next));
        let events = world.stream(CHAT, question(CHAT, "Tell me again.")).await;
        let text = streamed_text(CHAT, &events);
        let last = events.last().expect("an event");
        if is_same {
            assert_eq!((text, last), (long.clone(), &json!("[DONE]")));
        } else {
            assert!(long.starts_with(&text) && !text.is_empty());
            assert_eq!(last["error"]["code"], "bad_answer", "{last}");
        }
    }
    let ids = |events: &[Value]| -> std::collections::BTreeSet<String> {
        events.iter().filter_map(|event| event["id"].as_str()).map(str::to_owned).collect()
    };
    world.provider.push(ScriptedAnswer::text(long.clone()));
    assert_eq!(
        ids(&world.stream(CHAT, question(CHAT, "Once more.")).await).len(),
        1,
        "one ID for one stream"
    );
}

/// Goal: a failed call has its status and the error of its protocol, and tells the client not to retry.
#[tokio::test(flavor = "multi_thread")]
async fn failures_have_the_shape_of_the_protocol() {
    let world = World::new(&["openai::gpt", "claude::sonnet"]).await;
    for (status, code, expected, kind, of_claude) in [
        (429, "rate_limit_exceeded", 429, "rate_limit_error", "rate_limit_error"),
        (400, "invalid_request_error", 400, "invalid_request_error", "invalid_request_error"),
        (401, "invalid_api_key", 502, "server_error", "api_error"),
        (503, "overloaded", 502, "server_error", "api_error"),
    ] {
        for path in PATHS {
            for stream in [false, true] {
                world.provider.push(ScriptedAnswer::error(status, code));
                let mut body = question(path, "x");
                body["stream"] = json!(stream);
                let (got, retry, text) = world.ask(path, &body).await;
                assert_eq!((got, retry.as_deref()), (expected, Some("false")), "{path} {code}: {text}");
                let error: Value = serde_json::from_str(&text).expect("JSON");
                let kind = if path == MESSAGES { of_claude } else { kind };
                assert_eq!(error["error"]["type"], kind, "{text}");
                assert_eq!(error["type"], if path == MESSAGES { json!("error") } else { Value::Null });
                assert!(!text.contains("leak-me-not"), "{text}");
            }
        }
    }
    for _ in 0..2 {
        world.provider.push(ScriptedAnswer::endless(JSON, "{\"choices\":[", "{\"message\":{}},".repeat(500)));
    }
    let (status, _, text) = world.ask(CHAT, &question(CHAT, "x")).await;
    assert!(status == 502 && text.contains("a body of more than 4 MiB"), "{status} {text}");
}

/// Goal: a session that stops ends its calls with 503, whole and before words, and its token ends with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_session_ends_its_calls() {
    let world = World::new(&["lab::one"]).await;
    world.provider.push(ScriptedAnswer::text("late").held());
    world.provider.push(ScriptedAnswer::text("late").held());
    let mut streamed = question(CHAT, "y");
    streamed["stream"] = json!(true);
    let asked = [read(world.post(CHAT, &question(CHAT, "x"))), read(world.post(CHAT, &streamed))];
    let [one, other] = asked.map(tokio::spawn);
    world.provider.request(2).await;
    world.end.send(()).await.expect("it runs");
    let door = world.session.await.expect("it ends well");
    for asked in [one, other] {
        let (status, retry, text) = asked.await.expect("it ends well");
        assert_eq!((status, retry.as_deref()), (503, Some("false")), "{text}");
        assert!(text.contains("session_stopped"), "{text}");
    }
    let client = reqwest::Client::new();
    let url = format!("{}{CHAT}", world.server.url);
    let asked = client.post(url).bearer_auth(&door.token).body(question(CHAT, "x").to_string());
    assert_eq!(read(asked).await.0, 401);
}

/// Goal: the token is the only way in, as a bearer token or as Anthropic's key; it opens nothing else, and errors have the
/// shape of the protocol.
#[tokio::test(flavor = "multi_thread")]
async fn the_token_is_the_key() {
    let world = World::new(&["house::momentum"]).await;
    let client = reqwest::Client::new();
    let post =
        |path: &str| client.post(format!("{}{path}", world.server.url)).body(question(path, "x").to_string());
    for path in PATHS {
        for request in [post(path), post(path).bearer_auth("pts_x"), post(path).header("x-api-key", "pts_x")]
        {
            let (status, retry, text) = read(request).await;
            assert_eq!((status, retry.as_deref()), (401, Some("false")));
            let error: Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(error["error"]["type"], "authentication_error", "{path}: {text}");
        }
        assert_eq!(read(post(path).header("x-api-key", &world.token)).await.0, 200);
    }
    let models = client.get(format!("{}/v1/models", world.server.url));
    assert_eq!(read(models).await.0, 401);
    let in_url = client.post(format!("{}{CHAT}?api_key={}", world.server.url, world.token)).body("{}");
    assert_eq!(read(in_url).await.0, 401);
}

/// Goal: the list has the session's models in the form of either provider's clients.
#[tokio::test(flavor = "multi_thread")]
async fn models_are_listed() {
    let world = World::new(&["house::momentum", "lab::org/one"]).await;
    let get = |path: &str| {
        reqwest::Client::new().get(format!("{}{path}", world.server.url)).bearer_auth(&world.token)
    };
    let json = |text: String| serde_json::from_str::<Value>(&text).expect("JSON");
    let list = json(read(get("/v1/models")).await.2);
    let ids: Vec<&str> =
        list["data"].as_array().expect("a list").iter().filter_map(|model| model["id"].as_str()).collect();
    assert_eq!((ids, &list["object"]), (vec!["house::momentum", "lab::org/one"], &json!("list")));
    let list = json(read(get("/v1/models").header("anthropic-version", "2023-06-01")).await.2);
    assert_eq!((&list["has_more"], &list["first_id"]), (&json!(false), &json!("house::momentum")));
    let one = json(read(get("/v1/models/lab::org/one")).await.2);
    assert_eq!((&one["id"], &one["object"]), (&json!("lab::org/one"), &json!("model")));
    assert_eq!(read(get("/v1/models/other")).await.0, 400);
}

/// Goal: embeddings are forwarded to the first model that has them; a list of models without one says so.
#[tokio::test(flavor = "multi_thread")]
async fn embeddings_are_forwarded() {
    let world = World::new(&["house::momentum", "lab::vectors"]).await;
    world.provider.set_embedder(|texts| Ok(texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect()));
    let answer = world.good("/v1/embeddings", &json!({ "input": ["a", "bb"] })).await;
    assert_eq!(answer["data"].as_array().map(Vec::len), Some(2));
    assert_eq!(answer["model"], "vectors");
    let (request, usage) = world.seen().pop().expect("a call");
    assert_eq!(request.protocol, DoorProtocol::Embeddings);
    assert_eq!(usage, Some(Usage { input_tokens: 1, cached_tokens: 0, output_tokens: 0 }));
    let world = World::new(&["house::momentum"]).await;
    let (status, _, text) = world.ask("/v1/embeddings", &json!({ "input": "a" })).await;
    assert!(status == 400 && text.contains("none of the agent's models speaks embeddings"), "{text}");
}

/// Goal: what is not served is a 400 with a sentence that names the field or the path, and nothing is sent.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_served_is_rejected() {
    let world = World::new(&["openai::gpt", "lab::gpt", "claude::sonnet"]).await;
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(70), "]".repeat(70));
    let with = |path: &str, field: &str, value: Value| {
        let mut body = question(path, "x");
        body[field] = value;
        body.to_string()
    };
    let cases = [
        (CHAT, with(CHAT, "store", json!(true)), "store: "),
        (CHAT, with(CHAT, "n", json!(2)), "n: "),
        (CHAT, with(CHAT, "tools", json!([{ "type": "web_search" }])), "tools: `web_search`"),
        (CHAT, with(CHAT, "model", json!("other")), "expected one of openai::gpt, lab::gpt, claude::sonnet"),
        (CHAT, with(CHAT, "model", json!("gpt")), "`gpt` is ambiguous"),
        (CHAT, with(CHAT, "model", json!(7)), "model: expected a text"),
        (CHAT, with(CHAT, "stream", json!("yes")), "stream: expected true or false"),
        (RESPONSES, with(RESPONSES, "previous_response_id", json!("r")), "previous_response_id: "),
        (RESPONSES, with(RESPONSES, "background", json!(true)), "background: "),
        (MESSAGES, with(MESSAGES, "mcp_servers", json!([{}])), "mcp_servers: "),
        (
            MESSAGES,
            with(MESSAGES, "tools", json!([{ "type": "web_search_20250305", "name": "w" }])),
            "web_search_20250305",
        ),
        (CHAT, "{".to_owned(), "not JSON"),
        (CHAT, "[]".to_owned(), "not a JSON object"),
        (CHAT, deep, "nested deeper than 64 levels"),
        ("/v1/files", "{}".to_owned(), "does not serve"),
        ("/v1/batches", "{}".to_owned(), "does not serve"),
        ("/v1/messages/count_tokens", "{}".to_owned(), "does not serve"),
        ("/v1/models", "{}".to_owned(), "does not serve"),
    ];
    for (path, body, says) in cases {
        let request =
            reqwest::Client::new().post(format!("{}{path}", world.server.url)).bearer_auth(&world.token);
        let (status, retry, text) = read(request.body(body.clone())).await;
        assert_eq!((status, retry.as_deref()), (400, Some("false")), "{path} {body}: {text}");
        let error: Value = serde_json::from_str(&text).expect("JSON");
        let message = error["error"]["message"].as_str().expect("a message");
        assert!(message.contains(says), "{path} {body}: {message}");
    }
    // Without a connection, which the server may close while its client still sends.
    let long = axum::http::Request::post(MESSAGES)
        .header("host", "localhost")
        .header("authorization", format!("Bearer {}", world.token))
        .body(axum::body::Body::from(" ".repeat((4 << 20) + 1)))
        .expect("a request");
    let answer = papertape_api::router(world.app.clone()).oneshot(long).await.expect("an answer");
    let status = answer.status();
    let text = axum::body::to_bytes(answer.into_body(), 1 << 20).await.expect("a body");
    let text = String::from_utf8_lossy(&text);
    assert!(status == 413 && text.contains("request_too_large"), "{status} {text}");
    let keyed = |key: &str| world.post(CHAT, &question(CHAT, "x")).header("x-papertape-key", key);
    assert_eq!(read(keyed("")).await.0, 400);
    assert_eq!((world.provider.count(), world.seen().len()), (0, 0));
    world.provider.push(ScriptedAnswer::text("Hold."));
    assert_eq!(read(keyed("seventh").body(with(CHAT, "model", json!("lab::gpt")))).await.0, 200);
    assert_eq!(world.seen()[0].0.key.as_deref(), Some("seventh"));
    let none = World::new(&[]).await;
    let (status, _, text) = none.ask(CHAT, &question(CHAT, "x")).await;
    assert!(status == 400 && text.contains("the agent has no models"), "{text}");
}

/// Goal: calls are counted by model like those of other agents.
#[tokio::test(flavor = "multi_thread")]
async fn calls_are_counted() {
    let world = World::new(&["lab::one"]).await;
    world.provider.push(ScriptedAnswer::text("Hold."));
    world.good(CHAT, &question(CHAT, "x")).await;
    let text = world.app.telemetry().await.expect("telemetry");
    let model: ModelName = "lab::one".parse().expect("a model");
    let counted = text.lines().any(|line| line.contains(&model.to_string()) && line.ends_with(" 1"));
    assert!(counted, "{text}");
}
