//! Providers that deny every call, because of a wrong key, an empty account or an unknown model: the agent
//! stops, and continues at that very call once the problem is fixed.

use crate::assistant_support;
use crate::crash_support::{FIRST, Place, agent, completed, day, export, open, queue, run, same};
use crate::desk_support::{desk, house, node};
use papertape_agents::config::{AgentConfig, Analyst};
use papertape_core::id::{AgentName, JobId};
use papertape_core::ports::{Queue as _, RecordStore as _};
use papertape_core::record::{DayStatus, JobStatus, UsageTotal};
use papertape_core::tape::StepState;
use papertape_runtime::budget::{Budget, Limit};
use papertape_service::app::App;
use papertape_service::trigger::{Request, resume};
use papertape_store::{PageRequest, ResultFilter};
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use tempfile::TempDir;

/// Which requests are denied.
type Which = fn(&Value) -> bool;

/// A status, its code, and the requests that receive it.
type Denial = (u16, &'static str, Which);

/// The statuses, each with a code as providers return it.
const DENIED: [(u16, &str); 4] =
    [(401, "invalid_api_key"), (402, "billing_error"), (403, "permission_error"), (404, "model_not_found")];

/// A database, and a server on which the house model answers every request that is not denied.
struct Lab {
    app: App,
    server: ModelServer,
    denied: Arc<Mutex<Option<Denial>>>,
    _dir: TempDir,
}

impl Lab {
    async fn new() -> Self {
        let denied: Arc<Mutex<Option<Denial>>> = Arc::default();
        let shared = Arc::clone(&denied);
        let server = ModelServer::answering(move |body| {
            match *shared.lock().unwrap_or_else(PoisonError::into_inner) {
                Some((status, code, which)) if which(body) => ScriptedAnswer::error(status, code),
                _ => house(body),
            }
        })
        .await;
        let dir = tempfile::tempdir().expect("makes a directory");
        let place = Place::Sqlite(dir.path().join("papertape.db"));
        let app = open(&place, &server.url(), &dir.path().join("notes.jsonl")).await;
        Self { app, server, denied, _dir: dir }
    }

    fn deny(&self, denied: Option<(u16, &'static str, Which)>) {
        *self.denied.lock().unwrap_or_else(PoisonError::into_inner) = denied;
    }

    async fn work(&self, job: &JobId) -> papertape_runtime::simulate::JobOutcome {
        run(&self.app.services, job).await.expect("claims")
    }

    /// The model-days of a job that stopped until something is fixed.
    async fn stopped(&self, job: &JobId) -> Vec<(String, Option<String>)> {
        let details = self.app.store.job_details(job).await.expect("reads").expect("is there");
        let failed = details.days.into_iter().filter(|day| day.status == DayStatus::Failed);
        failed
            .inspect(|day| assert_eq!(day.completed_at, None, "it is open"))
            .map(|day| (day.agent.to_string(), day.error))
            .collect()
    }
}

/// A solo trader and a desk of two analysts, on two symbols, over two days.
fn two_agents() -> Request {
    let model = "test::scripted";
    let mut desk = desk(&[Analyst::Market, Analyst::News]);
    desk.model = model.parse().expect("a model");
    Request { agents: vec![agent("alpha"), desk], ..both_days(Vec::new()) }
}

fn both_days(agents: Vec<AgentConfig>) -> Request {
    Request {
        start_date: Some(FIRST),
        end_date: Some(day(1)),
        agents,
        symbols: vec!["AAPL".to_owned(), "IBM".to_owned()],
        summaries: Some(false),
        replace_existing: true,
        ..Request::default()
    }
}

fn is_solo(body: &Value) -> bool {
    node(body).is_none() && body["tools"].is_array()
}

fn has_read(body: &Value) -> bool {
    body["messages"].as_array().is_some_and(|said| said.iter().any(|message| message["role"] == "tool"))
}

fn is_memory(body: &Value) -> bool {
    node(body).is_none() && body["tools"].is_null()
}

/// Goal: a denied call, whoever makes it and wherever it occurs, even inside guards and concurrent calls,
/// stops only that agent: no outcome, nothing degraded, its model-day failed with status, code and our
/// message. Once the key is fixed the job continues at that very call, and ends like an undisturbed one.
#[tokio::test(flavor = "multi_thread")]
async fn a_denied_call_stops_its_agent_until_it_is_fixed() {
    let lab = Lab::new().await;
    let calm = queue(&lab.app, two_agents()).await;
    completed(&lab.work(&calm).await);
    let expected = export(&lab.app.store, &calm).await;
    let cases: [(&str, &str, Which); 9] = [
        ("alpha", "its first call", |body| is_solo(body) && !has_read(body)),
        ("alpha", "a call after tools", |body| is_solo(body) && has_read(body)),
        ("alpha", "a memory, which both write", is_memory),
        ("desk", "analysts", |body| node(body) == Some("Market Analyst")),
        ("desk", "one of two symbols", |body| {
            node(body) == Some("News Analyst") && body["messages"].to_string().contains("IBM")
        }),
        ("desk", "the debate", |body| node(body) == Some("Bull Researcher")),
        ("desk", "the manager", |body| node(body) == Some("Research Manager")),
        ("desk", "the trader", |body| node(body) == Some("Trader")),
        ("desk", "the last word", |body| node(body) == Some("Portfolio Manager")),
    ];
    for (at, (who, what, which)) in cases.into_iter().enumerate() {
        let (status, code) = DENIED[at % DENIED.len()];
        let what = format!("{status} at {what} of {who}");
        lab.deny(Some((status, code, which)));
        let job = queue(&lab.app, two_agents()).await;
        let end = lab.work(&job).await;
        let all = what.contains("both");
        assert_eq!(end.status, if all { JobStatus::Failed } else { JobStatus::Partial }, "{what}: {end:?}");
        let reason = format!("model test::scripted: the provider answered {status} ({code}): ");
        let error = end.error.unwrap_or_default();
        assert!(error.contains(&reason), "{what}: {error}");
        let stopped = lab.stopped(&job).await;
        assert!(!stopped.is_empty(), "{what}");
        assert!(
            stopped.iter().all(|(_, error)| error.as_ref().is_some_and(|e| e.contains(&reason))),
            "{what}"
        );
        for (who, _) in &stopped {
            assert!(error.contains(&format!("agent {who} stopped: ")), "{what}: {error}");
        }
        assert!(stopped.iter().any(|(agent, _)| agent == who), "{what}: {stopped:?}");
        let filter = ResultFilter { job: Some(job.clone()), ..ResultFilter::default() };
        let sessions = lab.app.store.results(&filter, &PageRequest::first(50)).await.expect("reads").items;
        let mut denied_steps = 0;
        for session in &sessions {
            let open = session.metadata.is_none();
            assert_eq!(session.status, if open { DayStatus::Failed } else { DayStatus::Completed }, "{what}");
            let steps =
                lab.app.store.steps(session.id, &PageRequest::first(1_000)).await.expect("reads").items;
            let intents: Vec<_> = steps.iter().filter(|step| step.state == StepState::Intent).collect();
            assert_eq!(open, !intents.is_empty(), "{what}: {} on {}", session.agent, session.date);
            denied_steps += intents.len();
            // Any other failure of a step would be a degradation.
            let failed = steps
                .iter()
                .filter(|step| matches!(step.state, StepState::Done(kind) if kind.as_str() == "failed"));
            assert_eq!(failed.count(), 0, "{what}");
        }
        assert!(denied_steps > 0, "{what}");

        // Still denied, it stops at the same call again.
        resume(&lab.app, &job, None).await.expect("resumes");
        assert_eq!(lab.stopped(&job).await, [], "{what}: nothing is failed while it waits");
        let again = lab.work(&job).await;
        assert_eq!((again.status, again.error), (end.status, Some(error)), "{what}");

        lab.deny(None);
        resume(&lab.app, &job, None).await.expect("resumes");
        completed(&lab.work(&job).await);
        same(&expected, &export(&lab.app.store, &job).await, &what);
        assert_eq!(lab.app.store.verify_chain(&job).await.expect("verifies").broken, None, "{what}");
    }
}

/// Goal: if no agent can call its model, the job fails and says so for each agent; what was reserved for the
/// denied calls is released.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_opens_nothing_fails_the_job_and_spends_no_budget() {
    let lab = Lab::new().await;
    let calm = queue(&lab.app, two_agents()).await;
    completed(&lab.work(&calm).await);
    let expected = export(&lab.app.store, &calm).await;
    lab.deny(Some((401, "invalid_api_key", |_| true)));
    let limit = Limit { tokens: Some(60_000_000), usd: None };
    let request = Request { budget: Some(Budget { job: limit, ..Budget::default() }), ..two_agents() };
    let job = queue(&lab.app, request).await;
    for _ in 0..3 {
        let end = lab.work(&job).await;
        assert_eq!(end.status, JobStatus::Failed, "{end:?}");
        let error = end.error.expect("says why");
        for who in ["alpha", "desk"] {
            assert!(error.contains(&format!("agent {who} stopped: ")), "{error}");
        }
        resume(&lab.app, &job, None).await.expect("resumes");
        let spent = lab.app.store.load_usage(&job).await.expect("reads");
        // A denied call uses nothing. Concurrent calls of a desk were cut off: whether they were billed is
        // unknown, so they count as estimates.
        let used = |row: &&UsageTotal| row.usage.input_tokens > 0;
        assert!(spent.iter().filter(used).all(|row| row.agent.as_str() == "desk"), "{spent:?}");
        assert!(spent.iter().filter(used).all(|row| row.estimated_calls > 0), "{spent:?}");
    }
    lab.deny(None);
    completed(&lab.work(&job).await);
    same(&expected, &export(&lab.app.store, &job).await, "after the key was fixed");
}

/// Goal: denied summaries never fail a job; if the job is over, they say why they are missing, and if it is
/// to be resumed, they are written then.
#[tokio::test(flavor = "multi_thread")]
async fn denied_summaries_fail_nothing() {
    let lab = Lab::new().await;
    let is_summary: Which = |body| body["messages"].to_string().contains("Summarize the following");
    let request = || Request { summaries: Some(true), ..both_days(vec![agent("alpha")]) };
    let summaries = async |job: &JobId| {
        let filter = ResultFilter { job: Some(job.clone()), ..ResultFilter::default() };
        let found = lab.app.store.results(&filter, &PageRequest::first(50)).await.expect("reads").items;
        found.into_iter().map(|session| session.session_summary).collect::<Vec<_>>()
    };
    lab.deny(Some((403, "permission_error", is_summary)));
    let job = queue(&lab.app, request()).await;
    let before = lab.server.count();
    completed(&lab.work(&job).await);
    let denied = lab.server.requests().iter().skip(before).filter(|asked| is_summary(&asked.body)).count();
    assert_eq!(denied, 2, "one a session: once denied, no other message of it is asked about");
    assert_eq!(summaries(&job).await, [None, None]);
    let filter = papertape_store::SessionFilter { job: Some(job.clone()), ..Default::default() };
    let sessions = lab.app.store.sessions(&filter, true, &PageRequest::first(10)).await.expect("reads").items;
    for session in &sessions {
        let why = session.summary_error.as_deref().unwrap_or_default();
        assert!(why.contains("the provider answered 403 (permission_error)"), "{why}");
    }

    // The key is revoked on the second day, and with it the summary of the first.
    lab.deny(Some((401, "invalid_api_key", |body| {
        body["messages"].to_string().contains("Summarize the following")
            || body.to_string().contains("2012-10-02")
    })));
    let job = queue(&lab.app, request()).await;
    let end = lab.work(&job).await;
    assert_eq!(end.status, JobStatus::Partial, "{end:?}");
    lab.deny(None);
    resume(&lab.app, &job, None).await.expect("resumes");
    completed(&lab.work(&job).await);
    assert!(summaries(&job).await.iter().all(Option::is_some), "they are written after all");
}

/// Goal: the assistant's turn, a decomposition and an execution whose model is denied fail with that reason,
/// and continue where they stopped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_assistant_stops_and_goes_on() {
    let answer = json!({ "llm_reply": { "message": "Here I am." }, "actions": [] }).to_string();
    let server =
        ModelServer::scripted([ScriptedAnswer::error(401, "invalid_api_key"), ScriptedAnswer::text(answer)])
            .await;
    let desk = assistant_support::Desk::scripted(&server, |_| {}).await;
    let said = desk.say(None, "Are you there?").await;
    let job = JobId::new(said["metadata"]["job_id"].as_str().expect("a job"));
    let row = desk.world.app.store.get_job(&job).await.expect("reads").expect("is there");
    assert_eq!(row.status, JobStatus::Failed);
    let error = row.error.expect("says why");
    assert!(error.contains("the provider answered 401 (invalid_api_key)"), "{error}");
    assert!(said["metadata"]["error"].as_str().is_some_and(|why| why.contains("401")), "{said}");
    resume(&desk.world.app, &job, None).await.expect("resumes");
    desk.ended(job.as_str()).await;
    let (who, date) = (AgentName::new("assistant"), row.created_at.to_zoned(jiff::tz::TimeZone::UTC).date());
    let session = desk.world.app.store.find_session(&job, &who, date).await.expect("reads");
    assert_eq!(session.expect("is there").ended, Some(DayStatus::Completed));
    let row = desk.world.app.store.get_job(&job).await.expect("reads").expect("is there");
    assert_eq!((row.status, row.error), (JobStatus::Completed, None));
    assert_eq!(server.count(), 2);

    let plan = desk.world.post("/plans", &json!({ "name": "Autumn", "goal": "why it lost" })).await;
    let plan = plan.json()["plan"]["id"].clone();
    let children =
        json!({ "children": [{ "name": "look", "instruction": "say what it is", "dependencies": [] }] });
    for (path, good) in [
        (format!("/plans/{plan}/decompose"), children.to_string()),
        (
            format!("/plans/{plan}/execute"),
            json!({ "llm_reply": { "message": "It is so." }, "actions": [] }).to_string(),
        ),
    ] {
        server.push(ScriptedAnswer::error(404, "model_not_found"));
        let queued = desk.world.post(&path, &json!({ "max_depth": 1 })).await;
        let queued = match queued.status.as_u16() {
            202 => queued,
            _ => desk.world.post(&path, &json!({})).await,
        };
        assert_eq!(queued.status, 202, "{}", queued.text);
        let job = JobId::new(queued.json()["job_id"].as_str().expect("a job"));
        desk.ended(job.as_str()).await;
        let row = desk.world.app.store.get_job(&job).await.expect("reads").expect("is there");
        assert_eq!(row.status, JobStatus::Failed, "{path}");
        assert!(
            row.error.as_ref().is_some_and(|why| why.contains("404 (model_not_found)")),
            "{path}: {row:?}"
        );
        let before = server.count();
        server.push(ScriptedAnswer::text(good));
        resume(&desk.world.app, &job, None).await.expect("resumes");
        desk.ended(job.as_str()).await;
        let row = desk.world.app.store.get_job(&job).await.expect("reads").expect("is there");
        assert_eq!((row.status, row.error), (JobStatus::Completed, None), "{path}");
        assert_eq!(
            server.requests()[before].body,
            server.requests()[before - 1].body,
            "{path}: that very call"
        );
    }
    desk.stop().await;
}
