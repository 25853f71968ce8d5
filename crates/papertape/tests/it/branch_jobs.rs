//! A branch shares its parent's past up to a cut, and pays only for what comes after it.

use crate::crash_support::{
    Desk, agent, completed, day, export, faulty, forgetful, noting, queue, run, same, steps,
};
use papertape_core::id::JobId;
use papertape_service::ServiceError;
use papertape_service::app::App;
use papertape_service::trigger::{BranchRequest, Request, branch};
use papertape_store::StepView;
use papertape_testkit::fault::FaultPoints;
use serde_json::Value;

/// A finished job of two agents over three days.
async fn parent() -> (Desk, App, JobId) {
    let desk = Desk::new().await;
    let app = desk.app().await;
    let job = queue(&app, Request { agents: vec![noting("alpha"), agent("beta")], ..forgetful(3) }).await;
    completed(&run(&app.services, &job).await.expect("claims"));
    (desk, app, job)
}

fn cut(n: i8, at: &str) -> BranchRequest {
    BranchRequest {
        agent: Some("alpha".to_owned()),
        date: day(n),
        at: Some(at.to_owned()),
        model: None,
        instructions: None,
        sampling: None,
    }
}

/// Runs a branch and returns the bodies of the requests that it sent.
async fn branched(desk: &Desk, app: &App, parent: &JobId, request: BranchRequest) -> (JobId, Vec<Value>) {
    let before = desk.server.count();
    let job = branch(app, parent, request).await.expect("branches").job;
    let end = run(&app.services, &job).await.expect("claims");
    completed(&end);
    let requests = desk.server.requests().split_off(before);
    (job, requests.into_iter().map(|request| request.body).collect())
}

/// The external steps of a day, with whether they were copied.
async fn copied(app: &App, job: &JobId, n: i8, from: &JobId) -> Vec<(String, bool)> {
    let external = |step: &StepView| step.path.kind() == "model" || step.path.kind() == "tool";
    let steps = steps(&app.store, job, "alpha", day(n)).await;
    let origin = |step: &StepView| {
        let origin = step.reused_from.as_ref();
        assert!(origin.is_none_or(|origin| origin.starts_with(&format!("{from}/"))), "{origin:?}");
        assert!(origin.is_none_or(|origin| origin.ends_with(step.path.as_str())), "{origin:?}");
        assert_eq!(step.attempts == 0, origin.is_some(), "a copy is no attempt");
        (step.path.to_string(), origin.is_some())
    };
    steps.iter().filter(|step| external(step)).map(origin).collect()
}

fn listed(steps: &[(&str, bool)]) -> Vec<(String, bool)> {
    steps.iter().map(|(path, copied)| ((*path).to_owned(), *copied)).collect()
}

/// One agent's lines of an export, without what a branch changes on purpose.
fn lines(export: &str, agent: &str) -> String {
    let own = format!("\"agent\":\"{agent}\"");
    export.lines().filter(|line| line.contains(&own)).map(|line| format!("{line}\n")).collect()
}

/// From a node in the middle of the job: everything before is copied, everything after is requested again,
/// even though nothing was changed and every digest is equal.
#[tokio::test]
async fn from_a_node_on_everything_is_asked_again() {
    let (desk, app, parent) = parent().await;
    let noted = desk.noted().len();
    let (job, requests) = branched(&desk, &app, &parent, cut(1, "solo#1")).await;
    assert_eq!(requests.len(), 4, "two of each of the two days from the cut on");
    assert_eq!(desk.noted().len() - noted, 2);
    let day_of = |all| {
        listed(&[
            ("solo#1/tool#1", all),
            ("solo#1/model#1", all),
            ("solo#1/tool#2", all),
            ("solo#1/model#2", all),
        ])
    };
    assert_eq!(copied(&app, &job, 0, &parent).await, day_of(true));
    assert_eq!(copied(&app, &job, 1, &parent).await, day_of(false));
    assert_eq!(copied(&app, &job, 2, &parent).await, day_of(false));
    let (was, is) = (export(&app.store, &parent).await, export(&app.store, &job).await);
    same(&lines(&was, "alpha"), &lines(&is, "alpha"), "nothing was changed");
    assert_eq!(lines(&is, "beta"), "", "the branch is one agent's");
    assert_eq!(app.store.verify_chain(&job).await.expect("verifies").broken, None);
}

/// From a step in the middle of a conversation.
#[tokio::test]
async fn from_a_step_on_everything_is_asked_again() {
    let (desk, app, parent) = parent().await;
    let (job, requests) = branched(&desk, &app, &parent, cut(1, "solo#1/model#2")).await;
    assert_eq!(requests.len(), 3);
    let expected = listed(&[
        ("solo#1/tool#1", true),
        ("solo#1/model#1", true),
        ("solo#1/tool#2", true),
        ("solo#1/model#2", false),
    ]);
    assert_eq!(copied(&app, &job, 1, &parent).await, expected);
    let (was, is) = (export(&app.store, &parent).await, export(&app.store, &job).await);
    same(&lines(&was, "alpha"), &lines(&is, "alpha"), "nothing was changed");

    // At a later node, the whole conversation of the day is copied.
    let (job, requests) = branched(&desk, &app, &parent, cut(1, "close#1")).await;
    assert_eq!(requests.len(), 2);
    assert!(copied(&app, &job, 1, &parent).await.iter().all(|(_, copied)| *copied));
}

/// A different model and different instructions apply from the cut on, and not before.
#[tokio::test]
async fn a_change_holds_from_the_cut_on() {
    let (desk, app, parent) = parent().await;
    let change = BranchRequest {
        model: Some("test::other".to_owned()),
        instructions: Some("Be bold.".to_owned()),
        ..cut(1, "solo#1")
    };
    let (job, requests) = branched(&desk, &app, &parent, change).await;
    assert_eq!(requests.len(), 4);
    for body in &requests {
        assert_eq!(body["model"], "other");
        assert!(is_bold(body));
    }
    assert!(copied(&app, &job, 0, &parent).await.iter().all(|(_, copied)| *copied));
    let before = |export: &str| {
        let day = format!("\"date\":\"{}\"", day(0));
        lines(export, "alpha")
            .lines()
            .filter(|line| line.contains(&day))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (was, is) = (export(&app.store, &parent).await, export(&app.store, &job).await);
    assert_eq!(before(&was), before(&is));
}

fn is_bold(body: &Value) -> bool {
    body["messages"][0]["content"].as_str().is_some_and(|text| text.contains("Be bold."))
}

/// A branch of a branch has the past of both: the first one's changes apply in the second, and only what
/// comes after the second cut is requested again.
#[tokio::test]
async fn a_branch_of_a_branch_keeps_what_was_changed_before_its_cut() {
    let (desk, app, parent) = parent().await;
    let bold = BranchRequest { instructions: Some("Be bold.".to_owned()), ..cut(1, "solo#1") };
    let (first, _) = branched(&desk, &app, &parent, bold).await;

    let (second, requests) = branched(&desk, &app, &first, cut(2, "solo#1")).await;
    assert_eq!(requests.len(), 2, "the last day alone");
    assert!(requests.iter().all(is_bold));
    assert!(copied(&app, &second, 0, &first).await.iter().all(|(_, copied)| *copied));
    assert!(copied(&app, &second, 1, &first).await.iter().all(|(_, copied)| *copied));
    let (was, is) = (export(&app.store, &first).await, export(&app.store, &second).await);
    same(&lines(&was, "alpha"), &lines(&is, "alpha"), "nothing more was changed");

    // A third generation, with another change.
    let calm = BranchRequest { instructions: Some("Be calm.".to_owned()), ..cut(2, "solo#1") };
    let (third, requests) = branched(&desk, &app, &second, calm).await;
    assert_eq!(requests.len(), 2);
    assert!(!requests.iter().any(is_bold));
    assert!(copied(&app, &third, 1, &second).await.iter().all(|(_, copied)| *copied));

    // With a cut before the change, the change is not part of the past.
    let (_, requests) = branched(&desk, &app, &first, cut(0, "solo#1")).await;
    assert_eq!(requests.len(), 6);
    assert!(!requests.iter().any(is_bold));
}

/// A branch is a job like any other: killed and resumed, it ends as if nothing had happened, and requests
/// nothing of its parent's past.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crash_of_a_branch_leaves_no_trace() {
    let (template, app, parent) = parent().await;
    let bold = BranchRequest { instructions: Some("Be bold.".to_owned()), ..cut(1, "solo#1") };
    let job = branch(&app, &parent, bold).await.expect("branches").job;
    drop(app);
    let calm = template.copy().await;
    let app = calm.app().await;
    let points = FaultPoints::counting();
    completed(&run(&faulty(app.services.clone(), &points), &job).await.expect("claims"));
    let expected = export(&app.store, &job).await;
    let points = points.passed();
    for at in (0..points.len()).step_by(5) {
        let desk = template.copy().await;
        desk.run_and_kill(&job, at).await;
        if points[at] != "after finish" {
            completed(&desk.run(&job).await);
        }
        let app = desk.app().await;
        same(&expected, &export(&app.store, &job).await, &format!("killed at point {at}, {}", points[at]));
        assert!(desk.server.count() <= 4 + 1, "killed at point {at}: {} requests", desk.server.count());
        assert!(copied(&app, &job, 0, &parent).await.iter().all(|(_, copied)| *copied));
    }
}

/// An impossible cut is rejected by field name.
#[tokio::test]
async fn an_impossible_cut_is_refused() {
    let (_desk, app, parent) = parent().await;
    let field = |result: Result<_, ServiceError>| match result {
        Err(ServiceError::Invalid { field, .. }) => field,
        other => panic!("{other:?}"),
    };
    assert_eq!(field(branch(&app, &parent, cut(1, "solo#1/model#7")).await), "node");
    assert_eq!(field(branch(&app, &parent, cut(1, "Trader#1")).await), "node");
    assert_eq!(field(branch(&app, &parent, cut(5, "solo#1")).await), "date");
    let change = BranchRequest { instructions: Some("x".to_owned()), ..cut(1, "solo#1/model#2") };
    assert_eq!(field(branch(&app, &parent, change).await), "node");
    let nobody = BranchRequest { agent: Some("gamma".to_owned()), ..cut(1, "solo#1") };
    assert_eq!(field(branch(&app, &parent, nobody).await), "agent");
    let none = branch(&app, &JobId::new("none"), cut(1, "solo#1")).await;
    assert!(matches!(none, Err(ServiceError::UnknownJob(_))), "{none:?}");
}
