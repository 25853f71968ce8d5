//! A full day of a solo agent that calls an external tool.

use crate::mcp_support::Watch;
use futures::FutureExt as _;
use papertape_agents::config::{AgentConfig, MemoryMode};
use papertape_core::id::AgentName;
use papertape_core::message::{Message, ModelName, ModelReply, ModelRequest, ToolCall, Usage};
use papertape_core::ports::{AttemptFailure, BoxFuture, DeltaSink, ModelClient, ModelResponse, Queue as _};
use papertape_core::record::JobStatus;
use papertape_integrations::mcp::McpTools;
use papertape_runtime::cancellation::CancelSource;
use papertape_runtime::replay;
use papertape_runtime::simulate::NoopObserver;
use papertape_runtime::worker::{Worker, WorkerOptions};
use papertape_service::app::{Access, App};
use papertape_service::config::{Config, ToolServer};
use papertape_service::trigger::{Request, trigger};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Asks the external tool about the day, then ends it with the tool's result. Uses the name of a house model,
/// whose rules the checks of a request know.
struct Asker;

impl ModelClient for Asker {
    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        _: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelResponse, AttemptFailure>> {
        async move {
            let reply = match request.messages.last() {
                Some(Message::Tool { content, .. }) => ModelReply {
                    text: format!("I was told: {content} <FINISH_SIGNAL>"),
                    ..ModelReply::default()
                },
                _ => {
                    let offered = request.tools.iter().any(|tool| tool.name == "desk__echo");
                    assert!(offered, "the outside tool is offered");
                    let arguments = json!({ "text": "no news is good news" });
                    let call = ToolCall { id: "c1".to_owned(), name: "desk__echo".to_owned(), arguments };
                    ModelReply { tool_calls: vec![call], ..ModelReply::default() }
                }
            };
            Ok(ModelResponse { reply, usage: None })
        }
        .boxed()
    }

    fn check(&self, _: &ModelName) -> Result<(), String> {
        Ok(())
    }

    fn house_version(&self, _: &ModelName) -> Option<u32> {
        Some(1)
    }

    fn cost(&self, _: &ModelName, _: &Usage) -> Option<Decimal> {
        None
    }
}

/// Goal: the call is a step of the tape, its result a message, the results are marked as unverified, and a
/// replay is equal without any server.
#[tokio::test]
async fn a_day_with_an_outside_tool() {
    let dir = tempfile::tempdir().expect("a directory");
    let watch = Watch::new().await;
    let server = ToolServer { allow_unbounded: true, ..watch.stdio(&[]) };
    let config = Config {
        data_dir: dir.path().to_path_buf(),
        tools: [("desk".to_owned(), server)].into(),
        ..crate::frictionless()
    };
    let mut app = App::open(config, Access::Own, papertape::integrations()).await.expect("it opens");
    app.services.models = Arc::new(Asker);
    let mut agent = AgentConfig::solo(AgentName::new("asker"), "house::momentum".parse().expect("a name"));
    agent.tools = vec!["desk".to_owned()];
    let day = Some(jiff::civil::date(2012, 10, 1));
    let request = Request {
        start_date: day,
        end_date: day,
        agents: vec![agent],
        symbols: vec!["AAPL".to_owned()],
        summaries: Some(false),
        memory: Some(MemoryMode::Off),
        ..Request::default()
    };
    let queued = trigger(&app, request).await.expect("it is queued");
    assert!(queued.warnings.iter().any(|warning| warning.contains("point_in_time = unverified")));

    let options = WorkerOptions {
        owner: "test".to_owned(),
        lease_for: Duration::from_secs(30),
        poll_every: Duration::from_secs(1),
        parallel_jobs: 1,
        max_crashes_per_step: 0,
    };
    let worker = Worker::new(app.services.clone(), options);
    let end = worker.run_job(&queued.job, &CancelSource::default().signal(), &NoopObserver).await;
    let end = end.expect("the record works").expect("the job is ours");
    assert_eq!((end.status, end.error), (JobStatus::Completed, None));

    let rows = export(&app, &queued.job).await;
    let external: Vec<&Value> = rows
        .iter()
        .filter(|row| {
            row["row"] == "step" && row["path"].as_str().is_some_and(|path| path.contains("/tool#"))
        })
        .collect();
    assert_eq!(external.len(), 2, "the list of tools and the call");
    assert!(external.iter().all(|step| step["class"] == "external"));
    let texts = rows.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    assert!(texts.contains("no news is good news"));
    let told = rows.iter().find(|row| row["row"] == "message" && row["role"] == "tool").expect("a message");
    assert_eq!(
        (&told["tool_name"], &told["content"]),
        (&json!("desk__echo"), &json!("no news is good news"))
    );
    let session = rows.iter().find(|row| row["row"] == "session").expect("a session");
    assert_eq!(session["metadata"]["point_in_time"], json!("unverified"));

    // The server ends with its tools; a replay that called one would fail because there are none.
    let mut services = app.services.clone();
    services.tools = Arc::new(McpTools::new(BTreeMap::new()));
    let row = app.store.get_job(&queued.job).await.expect("the record works").expect("the job is there");
    let report = replay::run(&services, &row).await.expect("it can be replayed");
    assert_eq!((report.equal, report.faults), (1, Vec::new()));
    watch.server().await;
    assert!(watch.is_quiet().await, "one process served the day");
}

async fn export(app: &App, job: &papertape_core::id::JobId) -> Vec<Value> {
    let mut out = Vec::new();
    assert!(app.store.canonical_export(job, &mut out).await.expect("the record works"));
    let text = String::from_utf8(out).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}
