//! A desk's job that is replayed, stopped in the middle of a node, cancelled, branched or out of budget.

use crate::api_support::DAYS;
use crate::crash_support::{export, same};
use crate::desk_support::{Broken, DeskWorld, Fault, buyers, desk, node, one_day};
use crate::replay_jobs::Nobody;
use papertape_agents::config::Analyst;
use papertape_core::id::JobId;
use papertape_core::message::Sampling;
use papertape_core::ports::{Queue as _, RecordStore as _};
use papertape_core::record::{JobStatus, SessionId};
use papertape_core::tape::StepState;
use papertape_runtime::budget::{Budget, Limit};
use papertape_runtime::cancellation::{CancelSource, StopReason};
use papertape_runtime::replay;
use papertape_runtime::services::Services;
use papertape_service::trigger::{
    BranchRequest, BudgetChange, Request as Simulation, branch, resume, trigger,
};
use papertape_store::{PageRequest, StepView};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Two analysts and two symbols: many calls run at once.
fn two() -> Simulation {
    let agents = vec![desk(&[Analyst::Market, Analyst::News])];
    Simulation { agents, replace_existing: true, ..one_day(&["AAPL", "IBM"]) }
}

/// Several nodes that fail, each in a different way. Only one hangs, with no other call in progress.
fn troubles() -> impl Iterator<Item = Broken> {
    let of = |node, symbol, fault| Broken { symbol: Some(symbol), ..Broken::new(node, fault) };
    [
        of("Bear Researcher", "IBM", Fault::Hang),
        of("News Analyst", "AAPL", Fault::Refuse(503)),
        of("Research Manager", "IBM", Fault::Garbage),
        of("Neutral Analyst", "AAPL", Fault::Empty),
        of("Portfolio Manager", "IBM", Fault::Say("Well.".to_owned())),
    ]
    .into_iter()
    .chain(buyers())
}

/// One symbol after the other: a deadline that passes for one does not pass for another.
fn in_turn(mut simulation: Simulation) -> Simulation {
    simulation.agents[0].desk.as_mut().expect("a desk").symbols_at_once = 1;
    simulation
}

async fn exported(desk: &DeskWorld, job: &JobId) -> String {
    let store = &desk.world.app.store;
    assert_eq!(store.verify_chain(job).await.expect("verifies").broken, None);
    export(store, job).await
}

async fn steps(desk: &DeskWorld, session: i64) -> Vec<StepView> {
    let page = PageRequest::first(1_000);
    desk.world.app.store.steps(SessionId(session), &page).await.expect("reads").items
}

async fn replayed(desk: &DeskWorld, job: &JobId) -> replay::ReplayReport {
    let app = &desk.world.app;
    let services = Services { models: Arc::new(Nobody), ..app.services.clone() };
    let row = app.store.get_job(job).await.expect("reads").expect("is there");
    let asked = desk.server.count();
    let report = replay::run(&services, &row).await.expect("can be replayed");
    assert_eq!(desk.server.count(), asked, "a replay calls nobody");
    report
}

/// Goal: a day with a node that timed out, failed, or was unparseable replays unchanged, without a call: what
/// timed out then times out again, at once.
#[tokio::test(flavor = "multi_thread")]
async fn a_replay_times_out_where_the_day_did() {
    let desk = DeskWorld::new().await;
    desk.break_nodes(troubles());
    let (job, end) = desk.run(in_turn(two())).await;
    assert_eq!(end.status, JobStatus::Completed);
    let day = desk.day(&job).await;
    assert_eq!(day.metadata["degradations"].as_array().map(Vec::len), Some(5));
    let steps = steps(&desk, day.session).await;
    let hung = |step: &&StepView| step.path.as_str() == "IBM/Bear Researcher#1/model#1";
    assert_eq!(steps.iter().find(hung).expect("is there").state, StepState::Abandoned);
    desk.break_nodes([]);
    let elapsed = desk.clock.elapsed();
    let report = replayed(&desk, &job).await;
    assert_eq!((report.equal, report.unfinished, &report.faults[..]), (1, 0, &[][..]));
    assert_eq!(report.steps, steps.len());
    assert_eq!(desk.clock.elapsed(), elapsed, "no deadline is waited for");
}

/// Goal: a job that is stopped in the middle of any node ends its step and then stops: no verdict, nothing
/// degraded, no answered request repeated; resumed, it ends as if it had never been stopped.
#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_in_the_middle_of_a_node_is_no_degradation() {
    let desk = DeskWorld::new().await;
    desk.break_nodes(buyers());
    let (calm, _) = desk.run(two()).await;
    let expected = exported(&desk, &calm).await;
    let all = desk.server.count();
    for held in ["News Analyst", "Bull Researcher", "Research Manager", "Neutral Analyst"] {
        for reason in [StopReason::Shutdown, StopReason::Cancelled] {
            stopped_at(&desk, held, reason, (&expected, all)).await;
        }
    }
}

/// Stops a job while the response for a node of AAPL is held back, releases it, and resumes.
async fn stopped_at(desk: &DeskWorld, held: &'static str, reason: StopReason, calm: (&str, usize)) {
    let (expected, all) = calm;
    let what = format!("{reason:?} while the {held} is asked");
    let before = desk.server.count();
    let hold = Broken { symbol: Some("AAPL"), ..Broken::new(held, Fault::Hold) };
    desk.break_nodes([hold].into_iter().chain(buyers()));
    let app = &desk.world.app;
    let job = trigger(app, two()).await.expect("is queued").job;
    let stopper = CancelSource::default();
    let running = desk.start(&job, &stopper);
    let mut seen = before;
    loop {
        seen += 1;
        let body = desk.server.request(seen).await.body;
        if node(&body) == Some(held) && body["messages"].to_string().contains("AAPL") {
            break;
        }
    }
    stopper.stop(reason);
    // Concurrent calls stop at the next call and cancel the held one, which is sent again later; without
    // them, the held call gets its response.
    let status = match reason {
        StopReason::Cancelled => JobStatus::Cancelled,
        _ => JobStatus::Queued,
    };
    let end = ended(desk, running).await;
    assert_eq!(end.status, status, "{what}: {end:?}");
    let session = open_session(desk, &job).await;
    let cut = steps(desk, session).await;
    assert!(cut.iter().all(|step| step.path.kind() != "guard"), "{what}: no verdict");
    assert!(cut.iter().all(|step| step.state != StepState::Abandoned), "{what}: nothing is given up");
    let open = cut.iter().filter(|step| step.state == StepState::Intent).count();
    assert!(open <= 4, "{what}: {open} are open");
    if reason == StopReason::Cancelled {
        assert_eq!(resume(app, &job, None).await.expect("resumes"), JobStatus::Queued);
    }
    desk.break_nodes(buyers());
    assert_eq!(desk.work(&job).await.status, JobStatus::Completed, "{what}");
    same(expected, &exported(desk, &job).await, &what);
    assert_eq!(desk.day(&job).await.metadata["research"]["research_status"], "full", "{what}");
    let asked = desk.server.count() - before;
    assert!((all..=all + open).contains(&asked), "{what}: {asked} requests, {all} in a calm run");
    assert_eq!(replayed(desk, &job).await.equal, 1, "{what}");
}

/// Waits for a job's end while held responses are released.
async fn ended(
    desk: &DeskWorld,
    running: tokio::task::JoinHandle<papertape_runtime::simulate::JobOutcome>,
) -> papertape_runtime::simulate::JobOutcome {
    let mut running = running;
    loop {
        tokio::select! {
            biased;
            ended = &mut running => return ended.expect("no panic"),
            () = tokio::task::yield_now() => desk.server.release(),
        }
    }
}

async fn open_session(desk: &DeskWorld, job: &JobId) -> i64 {
    let agent = papertape_core::id::AgentName::new(crate::desk_support::DESK);
    let date = jiff::civil::date(2012, 10, 1);
    let found = desk.world.app.store.find_session(job, &agent, date).await.expect("reads");
    let found = found.expect("was opened");
    assert_eq!(found.ended, None);
    found.id.0
}

/// Goal: a stop while a failed call waits for its next attempt is not a failure of the node.
#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_between_two_attempts_is_no_degradation() {
    let desk = DeskWorld::new().await;
    let patient = || {
        let mut simulation = Simulation { replace_existing: true, ..one_day(&["AAPL"]) };
        simulation.agents[0].limits.max_attempts = 3;
        simulation
    };
    let (calm, _) = desk.run(patient()).await;
    let expected = exported(&desk, &calm).await;
    desk.break_nodes([Broken::new("Bear Researcher", Fault::Refuse(503))]);
    let job = trigger(&desk.world.app, patient()).await.expect("is queued").job;
    let before = desk.server.count();
    let stopper = CancelSource::default();
    let running = desk.start(&job, &stopper);
    let mut seen = before + 1;
    while node(&desk.server.request(seen).await.body) != Some("Bear Researcher") {
        seen += 1;
    }
    desk.server.answered(seen).await;
    stopper.stop(StopReason::Shutdown);
    assert_eq!(running.await.expect("no panic").status, JobStatus::Queued);
    assert_eq!(desk.server.count(), seen, "time has not passed, and so nothing was tried again");
    desk.break_nodes([]);
    assert_eq!(desk.work(&job).await.status, JobStatus::Completed);
    same(&expected, &exported(&desk, &job).await, "stopped between two attempts");
}

/// Goal: a branch at a node requests that node of that symbol and what follows it, and nothing else; the
/// other symbol is copied, verdicts included, up to the sizing.
#[tokio::test(flavor = "multi_thread")]
async fn a_branch_asks_for_what_follows_its_cut() {
    let desk = DeskWorld::new().await;
    desk.break_nodes(troubles());
    let (parent, _) = desk.run(in_turn(two())).await;
    desk.break_nodes([]);
    let after =
        ["Trader", "Aggressive Analyst", "Conservative Analyst", "Neutral Analyst", "Portfolio Manager"];
    let debate = ["Bear Researcher", "Research Manager"];
    for (at, symbol, expected, gone) in [
        // What timed out, failed or was unparseable before the cut, or for the other symbol, stays so.
        (
            "AAPL/Trader#1",
            "AAPL",
            after.to_vec(),
            vec!["AAPL News", "IBM Bear", "IBM Research", "IBM Portfolio"],
        ),
        // What timed out at the cut is requested again.
        (
            "IBM/Bear Researcher#1",
            "IBM",
            [&debate[..], &after[..]].concat(),
            vec!["AAPL News", "AAPL Neutral"],
        ),
        (
            "AAPL/Portfolio Manager#1",
            "AAPL",
            vec!["Portfolio Manager"],
            vec!["AAPL News", "AAPL Neutral", "IBM Bear", "IBM Research", "IBM Portfolio"],
        ),
        (
            "sizing#1",
            "",
            vec![],
            vec!["AAPL News", "AAPL Neutral", "IBM Bear", "IBM Research", "IBM Portfolio"],
        ),
    ] {
        let cut = BranchRequest {
            agent: None,
            date: jiff::civil::date(2012, 10, 1),
            at: Some(at.to_owned()),
            model: None,
            instructions: None,
            sampling: None,
        };
        let before = desk.server.count();
        let job = branch(&desk.world.app, &parent, cut).await.expect("branches").job;
        assert_eq!(desk.work(&job).await.status, JobStatus::Completed, "{at}");
        assert_eq!(desk.asked_since(before), expected, "{at}");
        let requests = desk.server.requests().split_off(before);
        assert!(requests.iter().all(|request| request.body["messages"].to_string().contains(symbol)));
        let day = desk.day(&job).await;
        assert_eq!(absent(&day.metadata), gone, "{at}");
        let other = if symbol == "AAPL" { "IBM/" } else { "AAPL/" };
        for step in steps(&desk, day.session).await {
            let outside = step.path.kind() == "model" || step.path.kind() == "guard";
            if outside && step.path.as_str().starts_with(other) {
                let origin = step.reused_from.unwrap_or_default();
                assert!(origin.ends_with(step.path.as_str()), "{at}: {} is copied", step.path);
                assert_eq!(step.attempts, 0, "{at}: {}", step.path);
            }
        }
        assert_eq!(replayed(&desk, &job).await.equal, 1, "{at}: a branch replays as well");
    }
}

/// The symbols and first words of the nodes that failed.
fn absent(metadata: &Value) -> Vec<String> {
    let all = metadata["degradations"].as_array().expect("a list");
    let short = |gone: &Value| {
        let word = gone["node"].as_str().and_then(|node| node.split(' ').next()).unwrap_or_default();
        format!("{} {word}", gone["symbol"].as_str().unwrap_or_default())
    };
    all.iter().map(short).collect()
}

/// Goal: a budget that is used up in the middle of a desk's day stops it there: no node is degraded; with a
/// larger budget it continues, repeats no answered request, and ends like any other.
#[tokio::test(flavor = "multi_thread")]
async fn a_budget_that_is_used_up_is_no_degradation() {
    let desk = DeskWorld::new().await;
    desk.break_nodes(buyers());
    // One call after the other, each of which uses 1,020 tokens: no call is in progress at the stop.
    let frugal = |tokens| {
        let one = Simulation { agents: vec![crate::desk_support::desk(&[Analyst::Market])], ..two() };
        let mut simulation = in_turn(one);
        simulation.agents[0].sampling = Sampling { max_tokens: Some(100), ..Sampling::default() };
        let job = Limit { tokens, usd: None };
        Simulation { budget: Some(Budget { job, ..Budget::default() }), ..simulation }
    };
    let (calm, _) = desk.run(frugal(None)).await;
    let expected = exported(&desk, &calm).await;
    let all = desk.server.count();
    let mut stops = BTreeMap::new();
    for tokens in [5_000, 9_000, 13_000] {
        let before = desk.server.count();
        let (job, end) = desk.run(frugal(Some(tokens))).await;
        let reason = end.error.as_deref().unwrap_or_default();
        assert!(reason.starts_with("budget exhausted: job: "), "{tokens}: {end:?}");
        let cut = steps(&desk, open_session(&desk, &job).await).await;
        assert!(cut.iter().all(|step| step.path.kind() != "guard"), "{tokens}: no verdict");
        let asked = desk.server.count() - before;
        assert!(asked > 0 && asked < all, "{tokens}: {asked} of {all}");
        stops.insert(asked, tokens);

        resume(&desk.world.app, &job, None).await.expect("resumes");
        let again = desk.work(&job).await;
        assert_eq!((again.status, &again.error), (end.status, &end.error), "{tokens}: it stops there again");
        assert_eq!(desk.server.count() - before, asked);

        let none = Some(Limit::default());
        let raised = BudgetChange { job: none, ..BudgetChange::default() };
        resume(&desk.world.app, &job, Some(raised)).await.expect("resumes");
        assert_eq!(desk.work(&job).await.status, JobStatus::Completed, "{tokens}");
        same(&expected, &exported(&desk, &job).await, &format!("a budget of {tokens}"));
        assert_eq!(desk.server.count() - before, all, "{tokens}: nothing was asked twice");
    }
    assert_eq!(stops.len(), 3, "they stop at different nodes: {stops:?}");
}

/// Goal: a degraded day never passes for a complete one later: triggered again without `replace_existing` it
/// is skipped as done, and its results still say that it is degraded; replaced, the new day counts.
#[tokio::test(flavor = "multi_thread")]
async fn a_degraded_day_stays_one() {
    let desk = DeskWorld::new().await;
    desk.break_nodes([Broken::new("Bull Researcher", Fault::Refuse(503))]);
    desk.run(one_day(&["AAPL"])).await;
    desk.break_nodes([]);
    let again = trigger(&desk.world.app, one_day(&["AAPL"])).await;
    assert!(again.is_err() || again.is_ok_and(|again| again.skipped == 1), "it is done");
    let uri = format!("/results?start_date={0}&end_date={0}", DAYS[0]);
    let quality = |answer: Value| answer["results"][0]["full_research"]["days"].clone();
    assert_eq!(quality(desk.world.good(&uri).await), json!(0));
    desk.run(Simulation { replace_existing: true, ..one_day(&["AAPL"]) }).await;
    assert_eq!(quality(desk.world.good(&uri).await), json!(1));
}
