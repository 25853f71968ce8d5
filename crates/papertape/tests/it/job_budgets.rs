//! Budgets stop a job where it can be resumed.

use crate::crash_support::{Desk, agent, completed, day, export, faulty, forgetful, queue, run, same, steps};
use papertape_agents::config::AgentConfig;
use papertape_core::id::JobId;
use papertape_core::message::Sampling;
use papertape_core::record::JobStatus;
use papertape_runtime::budget::{Budget, Limit};
use papertape_runtime::simulate::JobOutcome;
use papertape_service::ServiceError;
use papertape_service::app::App;
use papertape_service::trigger::{BudgetChange, Request, resume};
use papertape_testkit::fault::FaultPoints;

/// One agent, three days, with few tokens reserved per answer.
fn frugal(budget: Budget) -> Request {
    let sampling = Sampling { max_tokens: Some(100), ..Sampling::default() };
    Request { agents: vec![AgentConfig { sampling, ..agent("alpha") }], budget: Some(budget), ..forgetful(3) }
}

fn tokens(tokens: u64) -> Limit {
    Limit { tokens: Some(tokens), usd: None }
}

async fn desk(budget: Budget) -> (Desk, App, JobId) {
    let desk = Desk::new().await;
    let app = desk.app().await;
    let job = queue(&app, frugal(budget)).await;
    (desk, app, job)
}

async fn work(app: &App, job: &JobId) -> JobOutcome {
    run(&app.services, job).await.expect("claims")
}

/// Each budget line stops the job before the call that could exceed it, and is named in the reason; resumed
/// unchanged, the job stops at the same call; with a larger budget, it ends like a job that was never stopped.
#[tokio::test]
async fn an_exhausted_budget_stops_and_a_raised_one_goes_on() {
    let (_calm, app, job) = desk(Budget::default()).await;
    completed(&work(&app, &job).await);
    let expected = export(&app.store, &job).await;
    let limit = tokens(3_500);
    let cases = [
        (Budget { job: limit, ..Budget::default() }, "budget exhausted: job: "),
        (Budget { agent: limit, ..Budget::default() }, "budget exhausted: agent alpha: "),
        (Budget { day: tokens(1_800), ..Budget::default() }, "budget exhausted: agent alpha on 2012-10-02: "),
    ];
    for (budget, reason) in cases {
        let (desk, app, job) = desk(budget).await;
        let end = work(&app, &job).await;
        assert_eq!(end.status, JobStatus::Partial, "{end:?}");
        assert!(end.error.as_deref().unwrap().starts_with(reason), "{end:?}");
        let asked = desk.server.count();
        assert!((2..6).contains(&asked), "{asked} requests");
        let kept = steps(&app.store, &job, "alpha", day(1)).await;
        assert!(
            kept.iter().all(|step| step.state != papertape_core::tape::StepState::Intent),
            "no outcome, no intent"
        );

        assert_eq!(resume(&app, &job, None).await.expect("resumes"), JobStatus::Queued);
        let again = work(&app, &job).await;
        assert_eq!((again.status, &again.error, desk.server.count()), (end.status, &end.error, asked));

        let none = Some(Limit::default());
        let raised = BudgetChange { job: none, agent: none, day: none, summaries: None };
        resume(&app, &job, Some(raised)).await.expect("resumes");
        completed(&work(&app, &job).await);
        same(&expected, &export(&app.store, &job).await, reason);
        assert_eq!((desk.server.count(), desk.server.repeats()), (6, 0));
        let refused = resume(&app, &job, Some(raised)).await;
        assert!(matches!(refused, Err(ServiceError::Conflict(_))), "it is completed: {refused:?}");
    }
}

/// Usage before a crash counts after it. (The usage of a call that was cut off is unknown.)
#[tokio::test]
async fn crash_a_budget_is_rebuilt() {
    let (desk, app, job) = desk(Budget { job: tokens(3_500), ..Budget::default() }).await;
    drop(app);
    // Between the days no call is in flight.
    let points = FaultPoints::counting();
    let counted = desk.copy().await;
    counted.run_with(&faulty(counted.app().await.services, &points), &job).await.expect("claims");
    let passed = points.passed();
    let second_day = passed.iter().enumerate().filter(|(_, point)| **point == "after open").nth(1);
    desk.run_and_kill(&job, second_day.expect("a second day").0).await;
    assert!(desk.server.count() < 4, "some of the budget is left");
    let end = desk.run(&job).await;
    assert_eq!(end.status, JobStatus::Partial, "{end:?}");
    // Two calls of the first day, two of the second: 2 x (100 + 20) + 2 x (2,000 + 20).
    let reason = "budget exhausted: job: 4280 tokens used, none reserved; ";
    assert!(end.error.as_deref().unwrap().starts_with(reason), "{end:?}");
}

/// The summaries' own budget stops only the summaries.
#[tokio::test]
async fn a_budget_of_summaries_is_their_business_alone() {
    let budget = Budget { summaries: tokens(1), ..Budget::default() };
    let desk = Desk::new().await;
    let app = desk.app().await;
    let job = queue(&app, Request { summaries: Some(true), ..frugal(budget) }).await;
    completed(&work(&app, &job).await);
    assert_eq!(desk.server.count(), 6, "no summary was asked for");
}
