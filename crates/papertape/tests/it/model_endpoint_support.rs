//! A server with an open session for the tests of the model endpoint: a real server, a real client and a real provider, with a
//! small loop in place of the session.

use crate::api_stream::Server;
use crate::api_support::config;
use papertape_core::external::{ModelDoorCall, ModelDoorRequest, SessionEnding};
use papertape_core::id::{AgentName, JobId};
use papertape_core::message::{FailureKind, Usage};
use papertape_llm::{ProviderConfig, ProviderKind};
use papertape_runtime::doors::{DoorScope, OpenDoor};
use papertape_service::app::{Access, App};
use papertape_testkit::model_server::ModelServer;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::sync::mpsc;

pub(crate) const CHAT: &str = "/v1/chat/completions";
pub(crate) const RESPONSES: &str = "/v1/responses";
pub(crate) const MESSAGES: &str = "/v1/messages";
pub(crate) const SSE: &str = "text/event-stream";
pub(crate) const JSON: &str = "application/json";
/// All paths of answers.
pub(crate) const PATHS: [&str; 3] = [CHAT, RESPONSES, MESSAGES];

/// The calls that a session has made, with their usage.
type Seen = Arc<Mutex<Vec<(ModelDoorRequest, Option<Usage>)>>>;

/// A server with one open session.
pub(crate) struct World {
    pub(crate) app: App,
    pub(crate) server: Server,
    pub(crate) provider: ModelServer,
    pub(crate) token: String,
    /// What the session has been asked.
    pub(crate) seen: Seen,
    pub(crate) session: tokio::task::JoinHandle<OpenDoor>,
    pub(crate) end: mpsc::Sender<()>,
    _dir: TempDir,
}

impl World {
    /// With these models. The providers `lab` (chat completions and embeddings), `openai` (all of its protocols) and
    /// `claude` (messages) are the scripted one.
    pub(crate) async fn new(models: &[&str]) -> Self {
        Self::answering(models, ModelServer::scripted([]).await).await
    }

    pub(crate) async fn answering(models: &[&str], provider: ModelServer) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let mut config = config(&dir);
        for (name, kind) in [
            ("lab", ProviderKind::OpenaiCompatible),
            ("openai", ProviderKind::Openai),
            ("claude", ProviderKind::Anthropic),
        ] {
            let provider = ProviderConfig {
                kind: Some(kind),
                base_url: Some(provider.url()),
                // Any variable that is always set: the key itself does not matter here.
                api_key_env: (kind != ProviderKind::OpenaiCompatible).then(|| "PATH".to_owned()),
                ..ProviderConfig::default()
            };
            config.models.providers.insert(name.to_owned(), provider);
        }
        let app = App::open(config, Access::Own, papertape::integrations()).await.expect("it opens");
        let scope = DoorScope {
            job: JobId::new("job"),
            name: AgentName::new("mine"),
            agent: "mine".to_owned(),
            date: jiff::civil::date(2012, 10, 1),
            instant: "2012-10-01T13:30:00Z".parse().expect("an instant"),
            reads: Vec::new(),
            orders: Vec::new(),
            models: models.iter().map(|name| name.parse().expect("a model")).collect(),
        };
        let open = app.services.doors.open(scope);
        let token = open.token.clone();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (end, ended) = mpsc::channel(1);
        let session = tokio::spawn(play(app.clone(), open, Arc::clone(&seen), ended));
        let server = Server::start(app.clone()).await;
        Self { app, server, provider, token, seen, session, end, _dir: dir }
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> reqwest::RequestBuilder {
        let client = reqwest::Client::new().post(format!("{}{path}", self.server.url));
        client.bearer_auth(&self.token).body(body.to_string()).header("content-type", JSON)
    }

    /// The answer's status, its header `x-should-retry` and its text.
    pub(crate) async fn ask(&self, path: &str, body: &Value) -> (u16, Option<String>, String) {
        read(self.post(path, body)).await
    }

    pub(crate) async fn good(&self, path: &str, body: &Value) -> Value {
        let (status, _, text) = self.ask(path, body).await;
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).expect("JSON")
    }

    pub(crate) async fn stream(&self, path: &str, mut body: Value) -> Vec<Value> {
        body["stream"] = json!(true);
        let (status, _, text) = self.ask(path, &body).await;
        assert_eq!(status, 200, "{path}: {text}");
        events(&text)
    }

    pub(crate) fn seen(&self) -> Vec<(ModelDoorRequest, Option<Usage>)> {
        self.seen.lock().expect("no thread has failed").clone()
    }
}

pub(crate) async fn read(request: reqwest::RequestBuilder) -> (u16, Option<String>, String) {
    let response = request.send().await.expect("an answer");
    let retry =
        response.headers().get("x-should-retry").and_then(|value| value.to_str().ok()).map(str::to_owned);
    (response.status().as_u16(), retry, response.text().await.expect("a body"))
}

/// The data of each event, and the end mark as a text.
fn events(text: &str) -> Vec<Value> {
    let data =
        text.split("\n\n").filter_map(|event| event.lines().find_map(|line| line.strip_prefix("data: ")));
    data.map(|data| serde_json::from_str(data).unwrap_or_else(|_| json!(data))).collect()
}

/// A session that makes every call once, side by side, without a record.
async fn play(app: App, mut open: OpenDoor, seen: Seen, mut ended: mpsc::Receiver<()>) -> OpenDoor {
    let mut calls = tokio::task::JoinSet::new();
    loop {
        let call: ModelDoorCall = tokio::select! {
            call = open.calls.recv() => call.expect("the door is open"),
            _ = ended.recv() => {
                open.close(SessionEnding::Stopped);
                return open;
            }
        };
        let (models, seen) = (Arc::clone(&app.services.models), Arc::clone(&seen));
        calls.spawn(async move {
            let client = Arc::clone(&call.client);
            let sink = |text: &str| client.delta(text);
            let mut result = None;
            for _ in 0..2 {
                let attempt = tokio::select! {
                    attempt = models.forward(&call.request, Some(&sink)) => attempt,
                    () = client.left() => return,
                };
                let is_again =
                    matches!(&attempt, Err(failed) if failed.failure.kind == FailureKind::BadAnswer);
                result = Some(attempt);
                if !is_again {
                    break;
                }
                client.restarted();
            }
            let result = result.expect("an attempt was made");
            let usage = result.as_ref().ok().and_then(|response| response.usage);
            seen.lock().expect("no thread has failed").push((call.request.clone(), usage));
            client.answer(result.map(|response| response.reply).map_err(|failed| failed.failure));
        });
    }
}

/// A question in a protocol.
pub(crate) fn question(path: &str, text: &str) -> Value {
    match path {
        RESPONSES => json!({ "input": text }),
        _ => json!({ "messages": [{ "role": "user", "content": text }], "max_tokens": 50 }),
    }
}

/// The text of a whole answer.
pub(crate) fn text_of(path: &str, body: &Value) -> String {
    let pointer = match path {
        CHAT => "/choices/0/message/content",
        RESPONSES => "/output/0/content/0/text",
        _ => "/content/0/text",
    };
    body.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{body}")).to_owned()
}

/// The text of a stream.
pub(crate) fn streamed_text(path: &str, events: &[Value]) -> String {
    let pointer = match path {
        CHAT => "/choices/0/delta/content",
        RESPONSES => "/delta",
        _ => "/delta/text",
    };
    let of_text =
        events.iter().filter(|event| path != RESPONSES || event["type"] == "response.output_text.delta");
    of_text.filter_map(|event| event.pointer(pointer)?.as_str()).collect()
}

/// The events of a message of Anthropic's.
pub(crate) fn message_events(texts: &[&str]) -> String {
    let mut events = vec![
        json!({ "type": "message_start", "message": { "id": "msg_1", "type": "message", "role": "assistant",
            "model": "m", "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": { "input_tokens": 9, "output_tokens": 1 } } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
    ];
    let words = texts.iter().map(|text| {
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": text } })
    });
    events.extend(words);
    events.extend([
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn", "stop_sequence": null },
            "usage": { "output_tokens": 7 } }),
        json!({ "type": "message_stop" }),
    ]);
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}
