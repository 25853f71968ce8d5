//! External agents: their turns, what a resume gives them back, and how they fail. The agents are scripts in this process.

use crate::stage::{Scripted, Stage, secs};
use futures::FutureExt as _;
use futures::future::pending;
use papertape_agents::config::{AgentConfig, ExternalConfig};
use papertape_core::external::{AgentDay, AgentDoor, AgentReply, AgentRequest, ErrorCode, SessionEnding};
use papertape_core::id::JobId;
use papertape_core::message::{CallFailure, FailureKind};
use papertape_core::ports::Queue as _;
use papertape_core::record::{DayStatus, DerivedRow, JobStatus};
use papertape_runtime::cancellation::{CancelSource, StopReason};
use papertape_runtime::replay;
use papertape_runtime::simulate::NoopObserver;
use papertape_testkit::external::{ScriptedAgents, ask, done, order, read};
use papertape_testkit::fault::FaultPoints;
use papertape_testkit::kept::StoredSnapshot;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A stage with the external agent `mine`.
pub(crate) fn stage(agents: &ScriptedAgents) -> Stage {
    stage_with(agents, ExternalConfig::new("mine"))
}

pub(crate) fn stage_with(agents: &ScriptedAgents, config: ExternalConfig) -> Stage {
    let mut agent = AgentConfig::external("mine".into(), config);
    agent.limits.session_timeout_secs = 600;
    agent.limits.call_timeout_secs = 60;
    agent.limits.max_attempts = 1;
    Stage { agents: vec![agent], external: Arc::new(agents.clone()), ..Stage::new() }
}

pub(crate) fn no_models(stage: &Stage) -> Arc<Scripted> {
    stage.models(|_, _| unreachable!("it has no model of ours"))
}

fn price() -> AgentRequest {
    read("get_price", json!({ "symbol": "AAPL" }))
}

fn buy(quantity: u32) -> AgentRequest {
    order("buy", json!({ "symbol": "AAPL", "quantity": quantity }))
}

/// Reads the price, buys one share, counts its days.
async fn usual(day: AgentDay, door: Arc<dyn AgentDoor>) -> Option<CallFailure> {
    let price = ask(&door, price()).await?;
    let bought = ask(&door, buy(1)).await?;
    assert_eq!(bought["price"], price["price"], "it fills at the open");
    let days = day.message["state"]["days"].as_u64().unwrap_or_default() + 1;
    let decision = format!("bought on {}", day.date);
    let stored = ask(&door, done(&decision, Some(json!({ "days": days })))).await?;
    assert_eq!(stored, json!({ "state_stored": true }));
    None
}

pub(crate) fn fills(kept: &StoredSnapshot) -> Vec<String> {
    let filled = |row: &&DerivedRow| match row {
        DerivedRow::Order(order) if order.status == "filled" => Some(order.quantity.0.to_string()),
        _ => None,
    };
    kept.implied().iter().filter_map(filled).collect()
}

pub(crate) fn metadata(kept: &StoredSnapshot) -> Value {
    kept.closing.as_ref().expect("the session has ended").metadata.clone()
}

pub(crate) fn canonical(stage: &Stage, job: &JobId) -> Vec<Value> {
    stage.record.sessions(job).iter().map(|session| session.kept.canonical()).collect()
}

/// Runs a job until nothing happens any more, and drops it, like a crashing process.
pub(crate) fn die(stage: &Stage, job: &JobId, models: &Arc<Scripted>) {
    {
        let worker = stage.worker(models);
        let stopper = CancelSource::default();
        let signal = stopper.signal();
        let run = worker.run_job(job, &signal, &NoopObserver);
        assert!(stage.clock.run_until_idle(run).is_none(), "it waits for its agent");
    }
    stage.clock.advance(secs(30));
}

// Goal: an agent's reads and orders are those of the books, its state comes back the next day, and its sessions are marked
// unverified; a repeat is equal, and a replay needs no agent.
#[test]
fn a_job_of_an_external_agent_runs_repeats_and_replays() {
    let agents = ScriptedAgents::new("mine", |day, door| usual(day, door).boxed());
    let stage = stage(&agents);
    let models = no_models(&stage);
    let job = stage.queue("job");
    let end = stage.run(&job, &models);
    assert_eq!((end.status, end.error), (JobStatus::Completed, None));
    let started = agents.started();
    let states: Vec<&Value> = started.iter().map(|day| &day.message["state"]).collect();
    assert_eq!(states, [&Value::Null, &json!({ "days": 1 }), &json!({ "days": 2 })]);
    assert_eq!(agents.endings(), [SessionEnding::Completed; 3]);
    let second = &started[1].message;
    assert_eq!(second["account"]["positions"][0]["quantity"], 1);
    assert_eq!((&second["job"], &second["limits"]["session_secs"]), (&json!("job"), &json!(600)));
    assert!(second["doors"]["token"].as_str().is_some_and(|token| token.starts_with("pts_")));
    let kept = stage.kept(&job, 2);
    assert_eq!(fills(&kept), ["1"]);
    let metadata = metadata(&kept);
    assert_eq!(metadata["agent_kind"], "external");
    assert_eq!(metadata["point_in_time_reason"]["kind"], "external");
    assert_eq!(metadata["data_quality"], json!({ "state": "ok" }));
    assert_eq!(metadata["external"], json!({ "end": "done", "requests": 3, "reads": 1, "orders": 1 }));
    let texts = json!(kept.messages()).to_string();
    assert!(texts.contains("bought on 2024-01-04") && !texts.contains("pts_"), "{texts}");

    let again = stage.queue("again");
    assert_eq!(stage.run(&again, &models).status, JobStatus::Completed);
    assert_eq!(canonical(&stage, &job), canonical(&stage, &again));

    let without = Stage { external: Arc::new(papertape_core::external::NoExternalAgents), ..stage };
    let services = without.services(&models);
    let report = without.clock.run(replay::run(&services, &without.job(&job))).expect("a report");
    assert_eq!((report.equal, report.faults), (3, Vec::new()));
}

// Goal: wherever the process of a job dies, the agent begins its day again, gets the stored replies, and the job ends as
// if nothing had happened.
#[test]
fn a_kill_changes_nothing() {
    let expected = {
        let stage = stage(&ScriptedAgents::new("mine", |day, door| usual(day, door).boxed()));
        let job = stage.queue("job");
        assert_eq!(stage.run(&job, &no_models(&stage)).status, JobStatus::Completed);
        (canonical(&stage, &job), stage.points.transactions())
    };
    for at in 0..expected.1 {
        let agents = ScriptedAgents::new("mine", |day, door| usual(day, door).boxed());
        let mut stage = stage(&agents);
        stage.points = FaultPoints::full_at(at);
        let models = no_models(&stage);
        let job = stage.queue("job");
        assert_ne!(stage.run(&job, &models).status, JobStatus::Completed, "at {at}");
        stage.points = FaultPoints::counting();
        assert!(stage.clock.run(stage.record.requeue(&job)).expect("it is queued again"));
        assert_eq!(stage.run(&job, &models).status, JobStatus::Completed, "at {at}");
        assert_eq!(canonical(&stage, &job), expected.0, "at {at}");
    }
    assert!(expected.1 > 9, "{} transactions", expected.1);
}

// Goal: an agent that does something else when it begins its day again is named, with the first difference; a stored order
// is not placed twice, a new one is, and nothing is lost if it happens again.
#[test]
fn a_nondeterministic_agent_is_named_and_places_no_order_twice() {
    let life = Arc::new(AtomicUsize::new(0));
    let replies: Arc<Mutex<Vec<AgentReply>>> = Arc::default();
    let (lives, heard) = (Arc::clone(&life), Arc::clone(&replies));
    let agents = ScriptedAgents::new("mine", move |_, door| {
        let life = lives.fetch_add(1, Ordering::SeqCst);
        let heard = Arc::clone(&heard);
        async move {
            let symbol = if life == 0 { "AAPL" } else { "MSFT" };
            door.ask(read("get_price", json!({ "symbol": symbol }))).await;
            let reply = door.ask(buy(1)).await;
            heard.lock().expect("a lock").push(reply);
            if life == 0 {
                return pending().await;
            }
            door.ask(buy(3)).await;
            if life == 1 {
                return pending().await;
            }
            door.ask(done("done", None)).await;
            None
        }
        .boxed()
    });
    let stage = stage(&agents);
    let job = stage.queue_with("job", |config| config.end_date = config.start_date);
    let models = no_models(&stage);
    die(&stage, &job, &models);
    die(&stage, &job, &models);
    assert_eq!(stage.run(&job, &models).status, JobStatus::Completed);
    assert_eq!(life.load(Ordering::SeqCst), 3);
    let kept = stage.kept(&job, 0);
    assert_eq!(fills(&kept), ["1", "3"]);
    let replies = replies.lock().expect("a lock").clone();
    assert_eq!(replies[0], replies[1], "the stored reply");
    assert_eq!(replies[0], replies[2], "the stored reply");
    let metadata = metadata(&kept);
    let differs = &metadata["external"]["nondeterministic"];
    assert_eq!(differs["at"], 0);
    assert_eq!(differs["difference"], "/arguments/symbol: the record has \"AAPL\", now it is \"MSFT\"");
    assert_eq!(metadata["data_quality"]["reason_codes"], json!(["external_nondeterministic"]));

    let report = stage.clock.run(replay::run(&stage.services(&models), &stage.job(&job))).expect("a report");
    assert_eq!((report.equal, report.faults), (1, Vec::new()));
}

/// The end of a job of one day by this script, and what was stored.
fn failing(
    script: impl Fn(AgentDay, Arc<dyn AgentDoor>) -> futures::future::BoxFuture<'static, Option<CallFailure>>
    + Send
    + Sync
    + 'static,
) -> (JobStatus, StoredSnapshot, Vec<SessionEnding>) {
    let agents = ScriptedAgents::new("mine", script);
    let config = ExternalConfig { max_requests: 4, max_orders: 1, ..ExternalConfig::new("mine") };
    let stage = stage_with(&agents, config);
    let job = stage.queue_with("job", |config| config.end_date = config.start_date);
    let end = stage.run(&job, &no_models(&stage));
    (end.status, stage.kept(&job, 0), agents.endings())
}

// Goal: an agent that dies fails its day; one that is too slow, or uses up its requests, has a result, its orders. In each
// case the books go on, and provenance says what happened.
#[test]
fn an_agent_that_breaks_off_does_not_stop_the_books() {
    let after_an_order = |end: &'static str| {
        move |_: AgentDay, door: Arc<dyn AgentDoor>| {
            async move {
                door.ask(buy(2)).await;
                let kind = match end {
                    "dies" => FailureKind::Unavailable,
                    "garbage" => FailureKind::BadAnswer,
                    "hangs" => return pending().await,
                    _ => loop {
                        if let AgentReply::Error { error } = door.ask(price()).await
                            && error.code == ErrorCode::SessionEnded
                        {
                            return pending().await;
                        }
                    },
                };
                Some(CallFailure { kind, message: "gone".to_owned() })
            }
            .boxed()
        }
    };
    let cases = [
        ("dies", DayStatus::Failed, "failed", "external_unavailable", SessionEnding::Stopped),
        ("garbage", DayStatus::Failed, "failed", "external_bad_answer", SessionEnding::Stopped),
        ("hangs", DayStatus::Completed, "node_degraded", "external_timeout", SessionEnding::Deadline),
        ("asks", DayStatus::Completed, "node_degraded", "external_limit", SessionEnding::Deadline),
    ];
    for (end, status, state, reason, ending) in cases {
        let (_, kept, endings) = failing(after_an_order(end));
        let closing = kept.closing.as_ref().expect("the session has ended");
        assert_eq!(closing.status, status, "{end}");
        assert_eq!(fills(&kept), ["2"], "{end}");
        assert_eq!(closing.holdings[0].quantity.0.to_string(), "2", "{end}");
        let quality = &closing.metadata["data_quality"];
        assert_eq!(*quality, json!({ "state": state, "reason_codes": [reason] }), "{end}");
        assert_eq!(endings, [ending], "{end}");
    }
}

// Goal: what is wrong with a request is answered in a way that a program can use, and the session goes on; nothing done
// at all is no decision.
#[test]
fn wrong_requests_are_answered() {
    let replies: Arc<Mutex<Vec<Value>>> = Arc::default();
    let heard = Arc::clone(&replies);
    let (status, kept, _) = failing(move |_, door| {
        let heard = Arc::clone(&heard);
        async move {
            let requests = [
                read("get_weather", json!({})),
                read("get_price", json!({ "symbol": "AAPL", "day": "tomorrow" })),
                order("buy", json!({ "symbol": "AAPL", "quantity": 1_000_000 })),
                AgentRequest::Done { decision: None, state: None },
            ];
            for request in requests {
                let reply = door.ask(request).await;
                heard.lock().expect("a lock").push(json!(reply));
            }
            None
        }
        .boxed()
    });
    assert_eq!(status, JobStatus::Completed);
    let replies = replies.lock().expect("a lock").clone();
    assert_eq!(replies[0]["error"]["code"], "unknown_tool");
    assert!(
        replies[0]["error"]["expected"].as_array().is_some_and(|names| names.contains(&json!("get_bars")))
    );
    assert_eq!(replies[1]["error"]["code"], "bad_arguments");
    assert_eq!(replies[2]["error"]["code"], "order_rejected");
    assert_eq!(replies[2]["error"]["reason"], "insufficient_cash");
    assert_eq!(metadata(&kept)["external"]["orders"], 1, "a rejected order is an order");
    assert_eq!(fills(&kept), Vec::<String>::new());

    let (_, kept, _) = failing(|_, door| {
        async move {
            door.ask(AgentRequest::Done { decision: None, state: None }).await;
            None
        }
        .boxed()
    });
    let quality = json!({ "state": "no_decision", "reason_codes": ["external_no_decision"] });
    assert_eq!(metadata(&kept)["data_quality"], quality);
}

// Goal: a canceled job tells its agent that the session stopped, stores no outcome, and resumes where it was.
#[test]
fn a_cancelled_job_tells_its_agent() {
    let life = Arc::new(AtomicUsize::new(0));
    let lives = Arc::clone(&life);
    let stopper = Arc::new(CancelSource::default());
    let stop = Arc::clone(&stopper);
    let agents = ScriptedAgents::new("mine", move |day, door| {
        let (life, stop) = (lives.fetch_add(1, Ordering::SeqCst), Arc::clone(&stop));
        async move {
            if life == 0 {
                door.ask(price()).await;
                stop.stop(StopReason::Cancelled);
                return pending().await;
            }
            usual(day, door).await
        }
        .boxed()
    });
    let stage = stage(&agents);
    let models = no_models(&stage);
    let job = stage.queue("job");
    let end = stage.clock.run(stage.worker(&models).run_job(&job, &stopper.signal(), &NoopObserver));
    assert_eq!(end.expect("the record works").expect("it was claimed").status, JobStatus::Cancelled);
    assert_eq!(agents.endings(), [SessionEnding::Stopped]);
    assert_eq!(stage.kept(&job, 0).open().len(), 1, "the turn is open");
    assert!(stage.clock.run(stage.record.requeue(&job)).expect("it is queued again"));
    assert_eq!(stage.run(&job, &models).status, JobStatus::Completed);
    assert_eq!(fills(&stage.kept(&job, 0)), ["1"]);
}
