//! A job re-runs on its tape, with a host that cannot perform anything.

use crate::crash_support::{Desk, completed, day, noting, request, session, steps};
use futures::FutureExt as _;
use papertape_agents::prompt::PromptSet;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::message::{ModelName, ModelRequest, Usage};
use papertape_core::ports::{
    AttemptFailure, BoxFuture, DeltaSink, ModelClient, ModelResponse, Queue as _, RecordStore as _,
};
use papertape_runtime::replay::{self, ReplayDifference, ReplayReport};
use papertape_runtime::services::Services;
use papertape_service::trigger::Request;
use std::sync::Arc;

/// A missing provider: any call to it fails the test.
pub(crate) struct Nobody;

impl ModelClient for Nobody {
    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        _: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelResponse, AttemptFailure>> {
        async move { panic!("a replay called {}", request.model) }.boxed()
    }

    fn check(&self, model: &ModelName) -> Result<(), String> {
        Err(format!("{model} is not there"))
    }

    fn house_version(&self, _: &ModelName) -> Option<u32> {
        None
    }

    fn cost(&self, _: &ModelName, _: &Usage) -> Option<rust_decimal::Decimal> {
        None
    }
}

/// A finished job of two agents over three days, the first with an external tool.
async fn finished() -> (Desk, JobId) {
    let desk = Desk::new().await;
    let request =
        Request { agents: vec![noting("alpha"), crate::crash_support::agent("beta")], ..request(3) };
    let job = desk.queue(request).await;
    completed(&desk.run(&job).await);
    (desk, job)
}

async fn replayed(desk: &Desk, job: &JobId, change: impl FnOnce(Services) -> Services) -> ReplayReport {
    let app = desk.app().await;
    let services = change(Services { models: Arc::new(Nobody), ..app.services.clone() });
    let row = app.store.get_job(job).await.expect("reads").expect("is there");
    let (asked, noted) = (desk.server.count(), desk.noted());
    let report = replay::run(&services, &row).await.expect("can be replayed");
    assert_eq!((desk.server.count(), desk.noted()), (asked, noted), "a replay performs nothing");
    report
}

fn with_prompt(services: Services, file: &str, text: &str) -> Services {
    let prompts = PromptSet::with_overrides([(file.to_owned(), text.to_owned())].into()).expect("a prompt");
    Services { prompts: Arc::new(prompts), ..services }
}

#[track_caller]
fn only_fault<'a>(report: &'a ReplayReport, agent: &str) -> &'a ReplayDifference {
    let [fault] = report.faults.as_slice() else { panic!("one fault: {report:?}") };
    assert_eq!(fault.agent, AgentName::new(agent));
    fault
}

/// Without a provider, network or tool server, all days equal those on the tape.
#[tokio::test]
async fn a_finished_job_comes_out_equal() {
    let (desk, job) = finished().await;
    let report = replayed(&desk, &job, |services| services).await;
    assert_eq!((report.equal, report.unfinished, report.faults.len()), (6, 0, 0), "{report:?}");
    let app = desk.app().await;
    let steps = crate::crash_support::all_steps(&app.store, &job, 3).await;
    assert_eq!(report.steps, steps.len());
}

/// A prompt that was changed since is named, with the step and the position in it.
#[tokio::test]
async fn a_changed_prompt_is_told_with_its_place() {
    let (desk, job) = finished().await;
    let changed = |services| with_prompt(services, "solo.en.md", "You are {{ agent }}, and in a hurry.");
    let report = replayed(&desk, &job, changed).await;
    assert_eq!((report.equal, report.faults.len()), (0, 2), "{report:?}");
    let fault = &report.faults[0];
    assert_eq!((fault.agent.as_str(), fault.date), ("alpha", day(0)));
    let expected = "step solo#1/model#1 differs from the tape in its request at /instructions: the tape has \"You are alpha, a portfolio";
    assert!(fault.reason.starts_with(expected), "{}", fault.reason);
    assert!(fault.reason.ends_with("now it is \"You are alpha, and in a hurry.\""), "{}", fault.reason);

    let changed = |services| with_prompt(services, "solo-day.en.md", "It is {{ date }}.");
    let report = replayed(&desk, &job, changed).await;
    let reason = &report.faults[0].reason;
    assert!(
        reason.starts_with("step solo#1/message#1 differs from the tape in its outcome at /: "),
        "{reason}"
    );
    assert!(reason.ends_with("now it is \"It is 2012-10-01.\""), "{reason}");
}

/// Edited rows are named: those that a run depends on by the replay, all others by the chain.
#[tokio::test]
async fn an_edited_row_is_named() {
    let (desk, job) = finished().await;
    let app = desk.app().await;
    let id = session(&app.store, &job, "beta", day(1)).await.expect("is there").0;
    let outcome =
        format!("SELECT outcome_ref FROM steps WHERE session_id = {id} AND path = 'solo#1/model#1'");
    let hash: [u8; 32] = desk.behind().query_row(&outcome, [], |row| row.get(0)).expect("reads");
    let hash = ContentHash::from_bytes(hash);
    let said = app.store.texts(vec![hash]).await.expect("reads").remove(&hash).expect("is there");
    drop(app);
    let other = said.replace("\"quantity\":3", "\"quantity\":4");
    assert_ne!(other, said);
    let answer =
        format!("UPDATE texts SET body = '{other}', encoding = 0, packed = NULL WHERE hash = ({outcome})");
    let step = |change: &str| {
        format!("UPDATE steps SET {change} WHERE session_id = {id} AND path = 'solo#1/order#1'")
    };
    let cases = [
        (
            answer.as_str(),
            Some(
                "the record failed: the record is inconsistent: the outcome of solo#1/model#1 is not what was written",
            ),
            "texts",
        ),
        (
            &step("digest = zeroblob(32)"),
            Some("step solo#1/order#1 differs from the tape in its request"),
            "steps",
        ),
        (
            &step("outcome_ref = (SELECT outcome_ref FROM steps WHERE path = 'solo#1/order#2')"),
            Some("step solo#1/order#1 differs from the tape in its outcome at /"),
            "steps",
        ),
        (
            &format!("DELETE FROM steps WHERE session_id = {id} AND path = 'solo#1/model#2'"),
            Some("missing step solo#1/model#2: the tape ends before it"),
            "steps",
        ),
        (
            &format!(
                "UPDATE agent_states SET hash = (SELECT hash FROM agent_states WHERE agent = 'alpha' LIMIT 1)
                 WHERE agent = 'beta' AND after_date = '{}'",
                day(1)
            ),
            Some("the record failed: the state after 2012-10-02 differs from the stored one at /books"),
            "agent_states",
        ),
        (&format!("UPDATE positions SET cash = '1' WHERE session_id = {id}"), None, "positions"),
    ];
    for (sql, reason, table) in cases {
        let desk = desk.copy().await;
        assert!(desk.behind().execute(sql, []).expect("edits") > 0, "{sql}");
        let report = replayed(&desk, &job, |services| services).await;
        match reason {
            Some(reason) => {
                let fault = only_fault(&report, "beta");
                assert_eq!(fault.date, day(1), "{sql}");
                assert!(fault.reason.starts_with(reason), "{sql}: {}", fault.reason);
                assert_eq!(report.equal, 4, "the other agent, and the day before");
            }
            None => assert!(report.faults.is_empty(), "{report:?}"),
        }
        let found = desk.app().await.store.verify_chain(&job).await.expect("verifies");
        let broken = found.broken.expect("every edit is found");
        let place = broken.agent.as_ref().map(|agent| agent.as_str()).zip(broken.date);
        // A state belongs to the job, the others to a session.
        assert_eq!(place, (table != "agent_states").then(|| ("beta", day(1))), "{sql}");
        assert!(broken.tables.contains(&table), "{sql}: {broken}");
    }
}

/// Unfinished days are counted, and are not errors.
#[tokio::test]
async fn what_has_not_ended_is_counted() {
    let desk = Desk::new().await;
    let one = Request { agents: vec![noting("alpha")], ..request(3) };
    let job = desk.queue(one).await;
    desk.run_and_kill(&job, 45).await;
    let app = desk.app().await;
    assert!(!steps(&app.store, &job, "alpha", day(1)).await.is_empty(), "the second day is under way");
    drop(app);
    let report = replayed(&desk, &job, |services| services).await;
    assert_eq!((report.equal, report.unfinished, report.faults.len()), (1, 1, 0), "{report:?}");
}
