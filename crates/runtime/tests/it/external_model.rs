//! Calls at the model endpoint of an external agent's session.

use crate::external::{canonical, die, metadata, stage_with};
use crate::stage::{Scripted, Stage, secs};
use futures::FutureExt as _;
use futures::future::{Either, join, pending, select};
use papertape_agents::config::ExternalConfig;
use papertape_core::external::{
    AgentDay, AgentDoor, DoorProtocol, ModelDoorCall, ModelDoorReply, ModelDoorRequest, SessionEnding,
};
use papertape_core::message::{CallFailure, FailureKind};
use papertape_core::ports::{BoxFuture, Clock as _, Queue as _};
use papertape_core::record::JobStatus;
use papertape_runtime::budget::Limit;
use papertape_runtime::cancellation::{CancelSource, StopReason};
use papertape_runtime::doors::{Doors, SessionDoor};
use papertape_runtime::replay;
use papertape_runtime::simulate::NoopObserver;
use papertape_testkit::external::{ScriptedAgents, TestClient, done, read};
use papertape_testkit::kept::StoredSnapshot;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A session, as its agent reaches it.
#[derive(Clone)]
struct Session {
    token: String,
    door: Arc<dyn AgentDoor>,
    models: Arc<SessionDoor>,
}

impl Session {
    /// Sends a call, without waiting for its answer.
    async fn send(&self, body: Value) -> Arc<TestClient> {
        let client = Arc::new(TestClient::default());
        let model = self.models.scope().models[0].clone();
        let protocol = DoorProtocol::ChatCompletions;
        let request = ModelDoorRequest { protocol, model, house_version: None, body, key: None };
        let call = ModelDoorCall { request, client: Arc::clone(&client) as _ };
        assert!(self.models.call(call).await.is_ok(), "the session is open");
        client
    }

    async fn call(&self, body: Value) -> Result<ModelDoorReply, CallFailure> {
        self.send(body).await.answered().await
    }

    async fn price(&self) {
        self.door.ask(read("get_price", json!({ "symbol": "AAPL" }))).await;
    }

    async fn done(&self) {
        self.door.ask(done("done", None)).await;
    }
}

/// A stage whose agent gets its session and the number of times that it began.
fn stage(
    script: impl Fn(Session, usize) -> BoxFuture<'static, ()> + Send + Sync + 'static,
) -> (Stage, ScriptedAgents, Arc<Scripted>) {
    let doors: Arc<Doors> = Arc::default();
    let (found, lives) = (Arc::clone(&doors), AtomicUsize::new(0));
    let agents = ScriptedAgents::new("mine", move |day: AgentDay, door| {
        let token = day.message["doors"]["token"].as_str().expect("a token").to_owned();
        let models = found.find(&token).expect("the session has doors");
        let running = script(Session { token, door, models }, lives.fetch_add(1, Ordering::SeqCst));
        running.map(|()| None).boxed()
    });
    let models = vec!["openai::gpt-5".parse().expect("a model's name")];
    let config = ExternalConfig { models, ..ExternalConfig::new("mine") };
    let stage = Stage { doors, ..stage_with(&agents, config) };
    let models = stage.models(|_, _| unreachable!("nobody but the agent calls a model"));
    (stage, agents, models)
}

fn queue(stage: &Stage) -> papertape_core::id::JobId {
    stage.queue_with("job", |config| config.end_date = config.start_date)
}

/// The steps of the model endpoint, without the digests in their paths.
fn calls(kept: &StoredSnapshot) -> Vec<(String, String)> {
    let steps = kept.steps.iter().filter(|step| step.path.is_within("door#1"));
    let number = |path: &str| path.rsplit('#').next().unwrap_or_default().to_owned();
    steps.map(|step| (number(step.path.as_str()), kept.state(step.path.as_str()))).collect()
}

// Goal: calls run while the session waits for its agent and while it answers it; equal requests at the same time are two
// steps of their digest; the answers are messages; and the job replays without agent and models.
#[test]
fn calls_run_next_to_turns() {
    let (stage, _, models) = stage(|session, _| {
        async move {
            let slow = session.send(json!({ "ask": "slow", "takes": 30 })).await;
            session.price().await;
            let (one, two) =
                join(session.call(json!({ "ask": "same" })), session.call(json!({ "ask": "same" }))).await;
            assert_eq!(one.expect("an answer").text, "re: same");
            assert_eq!(two.expect("an answer").text, "re: same");
            session.price().await;
            assert_eq!(slow.answered().await.expect("an answer").body["text"], "re: slow");
            session.done().await;
        }
        .boxed()
    });
    let job = queue(&stage);
    assert_eq!(stage.run(&job, &models).status, JobStatus::Completed);
    assert_eq!(models.forwarded().len(), 3);
    let kept = stage.kept(&job, 0);
    let ok = |n: &str| (n.to_owned(), "done(ok)".to_owned());
    assert_eq!(calls(&kept), [ok("1"), ok("1"), ok("2")]);
    let said: Vec<_> = kept.messages().into_iter().filter(|(_, text)| text.starts_with("re: ")).collect();
    assert_eq!(said.len(), 3, "{said:?}");
    assert_eq!(metadata(&kept)["external"].get("nondeterministic"), None);

    let services = stage.services(&models);
    let report = stage.clock.run(replay::run(&services, &stage.job(&job))).expect("a report");
    assert_eq!((report.equal, report.faults), (1, Vec::new()));
}

// Goal: after a kill, calls whose answers were stored are not made again, the one in flight is, as the next attempt of its
// step, and the record is that of an undisturbed run.
#[test]
fn stored_answers_are_not_paid_for_twice() {
    let script = |hangs: bool| {
        move |session: Session, life: usize| {
            async move {
                session.call(json!({ "ask": "first" })).await.expect("an answer");
                session.price().await;
                if hangs && life == 0 {
                    session.send(json!({ "ask": "second", "takes": 1_000 })).await;
                    return pending().await;
                }
                session.call(json!({ "ask": "second", "takes": 1_000 })).await.expect("an answer");
                session.done().await;
            }
            .boxed()
        }
    };
    let undisturbed = {
        let (stage, _, models) = stage(script(false));
        let stage = with_long_calls(stage);
        let job = queue(&stage);
        assert_eq!(stage.run(&job, &models).status, JobStatus::Completed);
        canonical(&stage, &job)
    };
    let (stage, _, models) = stage(script(true));
    let stage = with_long_calls(stage);
    let job = queue(&stage);
    die(&stage, &job, &models);
    assert_eq!(stage.run(&job, &models).status, JobStatus::Completed);
    let asked: Vec<Value> = models.forwarded().iter().map(|body| body["ask"].clone()).collect();
    assert_eq!(asked, ["first", "second", "second"]);
    let kept = stage.kept(&job, 0);
    assert_eq!(kept.interrupted(), 2, "the turn and the call");
    assert_eq!(canonical(&stage, &job), undisturbed);
}

// Goal: an agent that says its token everywhere puts it neither into the record nor into a request to a provider, so its
// sessions are equal in each run.
#[test]
fn a_session_token_goes_nowhere() {
    let run = || {
        let (stage, agents, models) = stage(|session, _| {
            async move {
                let token = session.token.as_str();
                session.door.ask(read("calculate", json!({ "expression": token }))).await;
                session
                    .call(json!({ "ask": format!("is {token} a secret?"), token: 1 }))
                    .await
                    .expect("an answer");
                session.door.ask(done(&format!("with {token}"), Some(json!({ "tokens": [token] })))).await;
            }
            .boxed()
        });
        let job = stage.queue("job");
        assert_eq!(stage.run(&job, &models).status, JobStatus::Completed);
        let second = agents.started()[1].message["state"].clone();
        assert_eq!(second, json!({ "tokens": ["[redacted:session_token]"] }));
        let sent = json!(models.forwarded()).to_string();
        assert!(sent.contains("is [redacted:session_token] a secret?") && !sent.contains("pts_"), "{sent}");
        canonical(&stage, &job)
    };
    let record = run();
    let text = json!(record).to_string();
    assert!(text.contains("with [redacted:session_token]") && !text.contains("pts_"), "{text}");
    assert_eq!(record, run());
}

fn with_long_calls(mut stage: Stage) -> Stage {
    stage.agents[0].limits.call_timeout_secs = 3_000;
    stage.agents[0].limits.session_timeout_secs = 6_000;
    stage
}

// Goal: a request that equals an open call whose client has gone takes its place, and gets the answer but none of the words
// whose beginning it missed; without one, the call is finished and marked, and after a kill its request fails at once,
// without being sent.
#[test]
fn a_call_outlives_its_client() {
    let answers: Arc<Mutex<Vec<Result<String, FailureKind>>>> = Arc::default();
    let heard = Arc::clone(&answers);
    let (stage, _, models) = stage(move |session, life| {
        let heard = Arc::clone(&heard);
        async move {
            let note = |answer: Result<ModelDoorReply, CallFailure>| {
                let answer = answer.map(|reply| reply.text).map_err(|failure| failure.kind);
                heard.lock().expect("a lock").push(answer);
            };
            let long = json!({ "ask": "replaced", "takes": 5, "words": 1_000 });
            let gone = session.send(long.clone()).await;
            session.price().await;
            if life > 0 {
                note(gone.answered().await);
            } else {
                gone.first_words().await;
                gone.leave();
                let next = session.send(long).await;
                note(next.answered().await);
                assert_eq!(next.words(), "", "words from the middle of the answer");
            }
            let gone = session.send(json!({ "ask": "left", "takes": 5 })).await;
            session.price().await;
            if life > 0 {
                note(gone.answered().await);
            } else {
                gone.leave();
                session.call(json!({ "ask": "last", "takes": 9 })).await.expect("an answer");
                return pending().await;
            }
            session.call(json!({ "ask": "last", "takes": 9 })).await.expect("an answer");
            session.done().await;
        }
        .boxed()
    });
    let job = queue(&stage);
    die_later(&stage, &job, &models);
    assert_eq!(stage.run(&job, &models).status, JobStatus::Completed);
    let asked: Vec<Value> = models.forwarded().iter().map(|body| body["ask"].clone()).collect();
    assert_eq!(asked, ["replaced", "left", "last"], "nothing is sent twice");
    let answers = answers.lock().expect("a lock").clone();
    let replaced = Ok("re: replaced".to_owned());
    assert_eq!(answers, [replaced.clone(), replaced, Err(FailureKind::TimedOut)]);
}

/// Lets the calls end before the process dies.
fn die_later(stage: &Stage, job: &papertape_core::id::JobId, models: &Arc<Scripted>) {
    let worker = stage.worker(models);
    let stopper = CancelSource::default();
    let signal = stopper.signal();
    stage.clock.run(async {
        let run = std::pin::pin!(worker.run_job(job, &signal, &NoopObserver));
        let ended = select(run, stage.clock.sleep(secs(60))).await;
        assert!(matches!(ended, Either::Right(_)), "it waits for its agent");
    });
    stage.clock.advance(secs(30));
}

// Goal: a call that the record does not have, while it has others that were not repeated, names the session
// nondeterministic, with the nearest stored one.
#[test]
fn another_call_after_a_kill_is_named() {
    let (stage, _, models) = stage(|session, life| {
        async move {
            session.call(json!({ "ask": format!("life {life}") })).await.expect("an answer");
            if life == 0 {
                session.price().await;
                return pending().await;
            }
            session.price().await;
            session.done().await;
        }
        .boxed()
    });
    let job = queue(&stage);
    die(&stage, &job, &models);
    assert_eq!(stage.run(&job, &models).status, JobStatus::Completed);
    let kept = stage.kept(&job, 0);
    let external = &metadata(&kept)["external"];
    let difference = "/body/ask: the record has \"life 0\", now it is \"life 1\"";
    assert_eq!(external["nondeterministic"]["difference"], difference);
    assert_eq!(external["unread_model_calls"].as_array().map(Vec::len), Some(1), "{external}");
    assert_eq!(models.forwarded().len(), 2);
}

// Goal: a budget stops the job before a call that it does not cover, the agent is told, and with a larger one the job goes
// on without repeating a call.
#[test]
fn a_budget_stops_the_session() {
    let (mut stage, agents, models) = stage(|session, _| {
        async move {
            let body = |n: u32| json!({ "ask": format!("call {n}"), "max_tokens": 50 });
            session.call(body(1)).await.expect("an answer");
            session.price().await;
            session.call(body(2)).await.expect("an answer");
            session.done().await;
        }
        .boxed()
    });
    stage.budget.job = Limit { tokens: Some(120), usd: None };
    let job = queue(&stage);
    let end = stage.run(&job, &models);
    assert_eq!(end.status, JobStatus::Failed);
    assert!(end.error.as_deref().is_some_and(|error| error.contains("budget exhausted")), "{end:?}");
    assert_eq!(models.forwarded().len(), 1);
    assert_eq!(agents.endings(), [SessionEnding::Stopped]);
    assert_eq!(calls(&stage.kept(&job, 0)).len(), 1, "the second has no intent");
}

// Goal: a call that is under way when the agent is done is finished before the session ends.
#[test]
fn running_calls_are_finished_at_the_end() {
    let (stage, agents, models) = stage(|session, _| {
        async move {
            session.send(json!({ "ask": "slow", "takes": 20 })).await;
            session.price().await;
            session.done().await;
        }
        .boxed()
    });
    let job = queue(&stage);
    assert_eq!(stage.run(&job, &models).status, JobStatus::Completed);
    assert_eq!(calls(&stage.kept(&job, 0)), [("1".to_owned(), "done(ok)".to_owned())]);
    assert_eq!(agents.endings(), [SessionEnding::Completed]);
}

// Goal: a call that is under way when the job is canceled is finished, and not made again by the resumed job.
#[test]
fn a_stop_waits_for_running_calls() {
    let stopper = Arc::new(CancelSource::default());
    let stop = Arc::clone(&stopper);
    let (stage, agents, models) = stage(move |session, life| {
        let stop = Arc::clone(&stop);
        async move {
            let slow = session.send(json!({ "ask": "slow", "takes": 20 })).await;
            // The slow one has been sent when this one is answered.
            session.call(json!({ "ask": "fast" })).await.expect("an answer");
            session.price().await;
            if life == 0 {
                stop.stop(StopReason::Cancelled);
                return pending().await;
            }
            assert_eq!(slow.answered().await.expect("an answer").text, "re: slow");
            session.done().await;
        }
        .boxed()
    });
    let job = queue(&stage);
    let end = stage.clock.run(stage.worker(&models).run_job(&job, &stopper.signal(), &NoopObserver));
    assert_eq!(end.expect("the record works").expect("it was claimed").status, JobStatus::Cancelled);
    assert_eq!(agents.endings(), [SessionEnding::Stopped]);
    assert_eq!(calls(&stage.kept(&job, 0)), vec![("1".to_owned(), "done(ok)".to_owned()); 2]);
    assert!(stage.clock.run(stage.record.requeue(&job)).expect("it is queued again"));
    assert_eq!(stage.run(&job, &models).status, JobStatus::Completed);
    assert_eq!(models.forwarded().len(), 2);
}
