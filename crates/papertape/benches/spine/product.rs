//! The product composed for a measurement, and the same conversation without it.

use papertape_agents::config::{AgentConfig, MemoryMode};
use papertape_core::id::{AgentName, JobId};
use papertape_core::record::JobStatus;
use papertape_core::time::Date;
use papertape_llm::{ProviderConfig, ProviderKind};
use papertape_runtime::cancellation::CancelSource;
use papertape_runtime::simulate::{NoopObserver, Observer};
use papertape_service::app::{Access, App};
use papertape_service::config::Config;
use papertape_service::trigger::{Request, trigger};
use papertape_testkit::bench::server::Conversation;
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

/// A directory on the disk that holds the build.
pub(crate) fn directory() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("makes a directory")
}

/// Two threads, like the machine that the targets assume.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("starts")
}

/// The product on a data directory, with a provider at this address: `streamed`, the default, and `whole`.
pub(crate) async fn open(dir: &Path, url: &str, parallel_calls: usize) -> App {
    let config = config(dir, url, parallel_calls);
    App::open(config, Access::Own, papertape::integrations()).await.expect("opens")
}

/// Its config.
pub(crate) fn config(dir: &Path, url: &str, parallel_calls: usize) -> Config {
    let mut config = Config { data_dir: dir.to_owned(), ..Config::default() };
    for (name, stream) in [("streamed", true), ("whole", false)] {
        let provider = ProviderConfig {
            kind: Some(ProviderKind::OpenaiCompatible),
            base_url: Some(url.to_owned()),
            stream,
            ..ProviderConfig::default()
        };
        config.models.providers.insert(name.to_owned(), provider);
    }
    config.worker.parallel_calls = parallel_calls;
    config
}

/// A simulation of these solo agents, which use one of the providers.
pub(crate) fn request(provider: &str, agents: &[String], start: Date, end: Date) -> Request {
    let model = format!("{provider}::scripted");
    let agent = |name: &String| AgentConfig::solo(AgentName::new(name), model.parse().expect("a model"));
    simulation(agents.iter().map(agent).collect(), &["AAPL", "IBM"], start, end)
}

/// A simulation whose only model calls are those of the day: no summaries, and no memories, which would
/// request a round's lesson after each day.
pub(crate) fn simulation(agents: Vec<AgentConfig>, symbols: &[&str], start: Date, end: Date) -> Request {
    Request {
        start_date: Some(start),
        end_date: Some(end),
        agents,
        symbols: symbols.iter().map(|symbol| (*symbol).to_owned()).collect(),
        summaries: Some(false),
        memory: Some(MemoryMode::Off),
        ..Request::default()
    }
}

/// Queues a simulation and returns the number of its model-days.
pub(crate) async fn queue(app: &App, request: Request) -> (JobId, usize) {
    let queued = trigger(app, request).await.expect("it is queued");
    (queued.job, queued.total_model_days)
}

/// Runs a queued simulation to its end.
pub(crate) async fn work(app: &App, job: &JobId) {
    work_observed(app, job, &NoopObserver).await;
}

/// The same, with an observer of its days.
pub(crate) async fn work_observed(app: &App, job: &JobId, observer: &dyn Observer) {
    let stopper = CancelSource::default();
    let ended = app.worker.run_job(job, &stopper.signal(), observer).await;
    let ended = ended.expect("the record holds").expect("the job was free");
    assert_eq!((ended.status, ended.error), (JobStatus::Completed, None));
}

/// Checks that there are exactly this many model-days, and that every message was stored.
pub(crate) async fn check(app: &App, conversation: Conversation, days: usize) {
    let counts = app.store.counts().await.expect("counts");
    let of_a_day = (1 + conversation.model_calls() + conversation.tool_calls()) as usize;
    assert_eq!(counts.rows["reasoning_log_rows"], (days * of_a_day) as u64, "every message is there");
}

/// A day's model traffic: the first request, and the tool results in order.
#[derive(Clone)]
pub(crate) struct Talk {
    pub(crate) request: Value,
    pub(crate) tools: Vec<Value>,
}

impl Talk {
    /// Records a day of the product.
    pub(crate) async fn record(conversation: Conversation) -> Self {
        let answer = move |body: &Value| {
            ScriptedAnswer::raw("application/json", conversation.answer_to(body).to_string())
        };
        let server = ModelServer::answering(answer).await;
        let dir = directory();
        let app = open(dir.path(), &server.url(), 8).await;
        let day = jiff::civil::date(2012, 10, 1);
        let (job, _) = queue(&app, self::request("whole", &["recorded".to_owned()], day, day)).await;
        work(&app, &job).await;
        let requests = server.requests();
        assert_eq!(requests.len(), conversation.model_calls() as usize);
        let last = &requests[requests.len() - 1].body["messages"];
        let of_tools = last.as_array().into_iter().flatten().filter(|message| message["role"] == "tool");
        let tools: Vec<Value> = of_tools.cloned().collect();
        assert_eq!(tools.len(), conversation.tool_calls() as usize);
        Self { request: requests[0].body.clone(), tools }
    }

    /// The same day with streamed responses.
    pub(crate) fn streamed(&self) -> Self {
        Self { request: streamed(&self.request), ..self.clone() }
    }

    /// The day as a bare loop: sends, reads, passes the tool result on. Calls `keep` with each new message.
    pub(crate) async fn hold(&self, client: &reqwest::Client, url: &str, mut keep: impl FnMut(&Value)) {
        let url = format!("{url}chat/completions");
        let mut request = self.request.clone();
        for turn in 0..=self.tools.len() {
            let message = send(client.post(&url), &request).await;
            keep(&message);
            let messages = request["messages"].as_array_mut().expect("has messages");
            let id = message["tool_calls"][0]["id"].clone();
            messages.push(message);
            if let Some(tool) = self.tools.get(turn) {
                let mut tool = tool.clone();
                tool["tool_call_id"] = json!(id);
                keep(&tool);
                messages.push(tool);
            }
        }
    }
}

/// A request for a streamed response.
pub(crate) fn streamed(request: &Value) -> Value {
    let mut request = request.clone();
    request["stream"] = json!(true);
    request["stream_options"] = json!({ "include_usage": true });
    request
}

/// The bare loops' call: sends a request and returns the message of the response, concatenated if it is streamed.
pub(crate) async fn send(post: reqwest::RequestBuilder, request: &Value) -> Value {
    let body = serde_json::to_vec(request).expect("is JSON");
    let post = post.header("content-type", "application/json").body(body);
    let mut response = post.send().await.expect("is sent");
    if request["stream"] != true {
        let bytes = response.bytes().await.expect("is answered");
        let mut answer: Value = serde_json::from_slice(&bytes).expect("is JSON");
        return answer["choices"][0]["message"].take();
    }
    let mut message = json!({ "role": "assistant", "content": "" });
    let mut unread = Vec::new();
    while let Some(piece) = response.chunk().await.expect("is answered") {
        unread.extend_from_slice(&piece);
        let mut start = 0;
        while let Some(length) = unread[start..].iter().position(|byte| *byte == b'\n') {
            let line = &unread[start..start + length];
            if let Some(data) = line.strip_prefix(b"data: ").filter(|data| *data != b"[DONE]") {
                append(&mut message, &serde_json::from_slice(data).expect("is JSON"));
            }
            start += length + 1;
        }
        unread.drain(..start);
    }
    message
}

/// Appends an event of a stream to the message.
fn append(message: &mut Value, event: &Value) {
    let delta = &event["choices"][0]["delta"];
    if let (Value::String(text), Some(more)) = (&mut message["content"], delta["content"].as_str()) {
        text.push_str(more);
    }
    for call in delta["tool_calls"].as_array().into_iter().flatten() {
        if call["id"].is_string() {
            let calls = message.as_object_mut().expect("is an object").entry("tool_calls");
            calls.or_insert_with(|| json!([])).as_array_mut().expect("is a list").push(call.clone());
        } else if let Value::String(arguments) = &mut message["tool_calls"]
            [call["index"].as_u64().expect("is numbered") as usize]["function"]["arguments"]
        {
            arguments.push_str(call["function"]["arguments"].as_str().unwrap_or_default());
        }
    }
}

/// The client of the bare loops.
pub(crate) fn client() -> reqwest::Client {
    // As the product does when it creates its own client.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().tcp_nodelay(true).tls_certs_only([]).build().expect("is built")
}
