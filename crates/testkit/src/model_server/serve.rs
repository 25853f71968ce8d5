//! The HTTP side: records the request, then writes the scripted response as a stream of frames, so that it can
//! stop, or a disconnect can be seen, between any two of them.

use super::answer::{Broken, Content, Reply, ScriptedAnswer};
use super::{Shared, lock};
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use futures::stream;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

pub(super) fn router(shared: Arc<Shared>) -> axum::Router {
    axum::Router::new().fallback(handle).with_state(shared)
}

async fn handle(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    // The list of models: a request for it is not a model call and uses no part of the script.
    if request.method() == axum::http::Method::GET && request.uri().path().ends_with("/models") {
        let list = Response::builder().header("content-type", "application/json");
        return list.body(Body::from(r#"{"object":"list","data":[]}"#)).expect("headers are valid");
    }
    let path = request.uri().path_and_query().map(ToString::to_string).unwrap_or_default();
    let headers = request
        .headers()
        .iter()
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        .collect();
    let bytes = to_bytes(request.into_body(), usize::MAX).await.unwrap_or_default();
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    // Other providers request a stream by the URL instead of the body.
    let streamed = body["stream"] == true || path.contains("stream");
    let with_usage = body.pointer("/stream_options/include_usage") == Some(&json!(true));
    let mut released = shared.released.subscribe();
    released.mark_unchanged();
    if path.ends_with("/embeddings") {
        return embeddings(&shared, path, headers, body);
    }
    let (at, answer) = shared.receive(path, headers, body);
    let watch = Watch { shared: Arc::clone(&shared), at, whole: false };

    let delay = answer.delay + *lock(&shared.latency);
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    if answer.held {
        // An error means that the server is gone: nothing is left to hold back.
        let _ = released.changed().await;
        released.mark_unchanged();
    }
    let (content_type, frames) = frames(&answer, streamed, with_usage);
    let mut response = Response::builder().status(answer.status).header("content-type", content_type);
    for (name, value) in &answer.headers {
        response = response.header(name, value);
    }
    let body = Body::from_stream(stream::unfold(
        Writing { frames, again: again(&answer), broken: answer.broken, released, watch: Some(watch) },
        Writing::next,
    ));
    response.body(body).expect("scripted headers are valid")
}

/// A vector for each text, by the function that the test has set; no script is involved.
fn embeddings(shared: &Shared, path: String, headers: Vec<(String, String)>, body: Value) -> Response {
    let model = body["model"].clone();
    let texts: Vec<String> = match &body["input"] {
        Value::String(text) => vec![text.clone()],
        list => serde_json::from_value(list.clone()).unwrap_or_default(),
    };
    let made = lock(&shared.embedder).as_ref().map(|embed| embed(&texts));
    shared.record(path, headers, body);
    let (status, answer) = match made {
        // In reverse order: the index says which text a vector belongs to.
        Some(Ok(vectors)) => {
            let data = vectors.iter().enumerate().rev();
            let data: Value = data
                .map(|(index, vector)| json!({ "object": "embedding", "index": index, "embedding": vector }))
                .collect();
            let usage = json!({ "prompt_tokens": 1, "total_tokens": 1 });
            (200, json!({ "object": "list", "data": data, "model": model, "usage": usage }))
        }
        Some(Err(status)) => (status, json!({ "error": { "code": "scripted" } })),
        None => (404, json!({ "error": { "code": "no_embedder" } })),
    };
    Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .body(Body::from(answer.to_string()))
        .expect("the answer is valid")
}

/// The bytes of the response, in the chunks in which they are sent. A broken response gets only its first half.
fn frames(answer: &ScriptedAnswer, streamed: bool, with_usage: bool) -> (String, VecDeque<Bytes>) {
    let (content_type, frames) = texts(answer, streamed, with_usage);
    match &answer.content {
        Content::Bytes { bytes, .. } => {
            (content_type, bytes.chunks(64 << 10).map(Bytes::copy_from_slice).collect())
        }
        _ => (content_type, frames.into_iter().map(Bytes::from).collect()),
    }
}

/// What an endless response repeats, and the delay before each repetition.
fn again(answer: &ScriptedAnswer) -> Option<(Bytes, Duration)> {
    match &answer.content {
        Content::Endless { again, pause, .. } => Some((Bytes::from(again.clone()), *pause)),
        _ => None,
    }
}

fn texts(answer: &ScriptedAnswer, streamed: bool, with_usage: bool) -> (String, VecDeque<String>) {
    let sse = "text/event-stream".to_owned();
    let json = "application/json".to_owned();
    let (content_type, mut frames) = match &answer.content {
        Content::Reply(reply) if streamed => (sse, events(reply, with_usage)),
        Content::Reply(reply) => (json, halves(&whole(reply).to_string())),
        Content::Raw { content_type, text } => (content_type.clone(), halves(text)),
        Content::Bytes { content_type, .. } => (content_type.clone(), VecDeque::new()),
        Content::Endless { content_type, first, .. } => {
            (content_type.clone(), VecDeque::from([first.clone()]))
        }
        Content::Garbage if streamed => (sse, VecDeque::from(["data: {not json\n\n".to_owned()])),
        Content::Garbage => (json, halves("{not json at all")),
    };
    if answer.broken != Broken::Not {
        frames.truncate(frames.len().div_ceil(2));
    }
    (content_type, frames)
}

fn halves(text: &str) -> VecDeque<String> {
    let mut middle = text.len() / 2;
    while !text.is_char_boundary(middle) {
        middle += 1;
    }
    let (first, second) = text.split_at(middle);
    VecDeque::from([first.to_owned(), second.to_owned()])
}

/// A whole `chat.completion`.
fn whole(reply: &Reply) -> Value {
    let mut message = json!({ "role": "assistant", "content": reply.text });
    if let Some(reasoning) = &reply.reasoning {
        message["reasoning_content"] = json!(reasoning);
    }
    if !reply.calls.is_empty() {
        let calls = reply.calls.iter().map(|call| {
            json!({
                "id": call.id,
                "type": "function",
                "function": { "name": call.name, "arguments": call.arguments },
            })
        });
        message["tool_calls"] = calls.collect();
    }
    let mut body = json!({
        "id": "scripted",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{ "index": 0, "message": message, "finish_reason": reply.finish_reason() }],
    });
    if let Some(usage) = usage(reply) {
        body["usage"] = usage;
    }
    body
}

fn usage(reply: &Reply) -> Option<Value> {
    reply.tokens.map(|tokens| {
        json!({
            "prompt_tokens": tokens.input,
            "completion_tokens": tokens.output,
            "total_tokens": tokens.input + tokens.output,
            "prompt_tokens_details": { "cached_tokens": tokens.cached },
        })
    })
}

/// The events of a streamed response: the reasoning, the text word by word, each call's head and then its
/// arguments in two chunks, the finish reason, the usage, the end.
fn events(reply: &Reply, with_usage: bool) -> VecDeque<String> {
    let mut chunks = vec![chunk(json!({ "role": "assistant", "content": "" }), None)];
    if let Some(reasoning) = &reply.reasoning {
        chunks.push(chunk(json!({ "reasoning_content": reasoning }), None));
    }
    for word in reply.text.split_inclusive(' ') {
        chunks.push(chunk(json!({ "content": word }), None));
    }
    for (index, call) in reply.calls.iter().enumerate() {
        let head = json!({ "index": index, "id": call.id, "type": "function",
            "function": { "name": call.name, "arguments": "" } });
        chunks.push(chunk(json!({ "tool_calls": [head] }), None));
        for piece in halves(&call.arguments) {
            let rest = json!({ "index": index, "function": { "arguments": piece } });
            chunks.push(chunk(json!({ "tool_calls": [rest] }), None));
        }
    }
    chunks.push(chunk(json!({}), Some(reply.finish_reason())));
    if let Some(usage) = usage(reply).filter(|_| with_usage) {
        let mut last = chunk(json!({}), None);
        last["choices"] = json!([]);
        last["usage"] = usage;
        chunks.push(last);
    }
    let end = std::iter::once("data: [DONE]\n\n".to_owned());
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).chain(end).collect()
}

fn chunk(delta: Value, finish: Option<&str>) -> Value {
    json!({
        "id": "scripted",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "scripted",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
    })
}

/// A response being written.
struct Writing {
    frames: VecDeque<Bytes>,
    again: Option<(Bytes, Duration)>,
    broken: Broken,
    released: tokio::sync::watch::Receiver<u64>,
    watch: Option<Watch>,
}

impl Writing {
    async fn next(mut self) -> Option<(io::Result<Bytes>, Self)> {
        if let Some(frame) = self.frames.pop_front() {
            if self.frames.is_empty() && self.broken == Broken::Not && self.again.is_none() {
                self.end();
            }
            return Some((Ok(frame), self));
        }
        if let Some((again, pause)) = self.again.clone() {
            if pause.is_zero() {
                // Otherwise no other task of this thread would run.
                tokio::task::yield_now().await;
            } else {
                tokio::time::sleep(pause).await;
            }
            return Some((Ok(again), self));
        }
        match self.broken {
            Broken::Not => None,
            Broken::Cut => {
                // Written data is flushed only when the writer has to wait.
                tokio::task::yield_now().await;
                self.end();
                self.broken = Broken::Not;
                Some((Err(io::Error::other("cut as scripted")), self))
            }
            Broken::Stalled => {
                let _ = self.released.changed().await;
                self.end();
                None
            }
        }
    }

    /// The response is complete: a disconnect is no longer early.
    fn end(&mut self) {
        if let Some(mut watch) = self.watch.take() {
            watch.whole = true;
        }
    }
}

/// Detects a disconnect: the response is then dropped before it is complete.
struct Watch {
    shared: Arc<Shared>,
    at: usize,
    whole: bool,
}

impl Drop for Watch {
    fn drop(&mut self) {
        let whole = self.whole;
        self.shared.mark(self.at, |request| {
            request.answered = whole;
            request.closed_early = !whole;
        });
    }
}
