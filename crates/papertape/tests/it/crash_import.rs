//! An import that is killed while its days are written resumes where it was, and ends as if nothing had
//! happened: no day is incomplete, no trade is booked or reflected on twice.

use crate::crash_support::{Desk, Place, SCRIPTED, completed, export, faulty, same};
use papertape_agents::config::DeskConfig;
use papertape_agents::recorded::{
    RecordedAnalysis, RecordedBooks, RecordedDay, RecordedMessage, RecordedOrder, RecordedReflection,
    RoleMessage,
};
use papertape_core::broker::{MarketProfile, Side};
use papertape_core::id::JobId;
use papertape_core::language::Language;
use papertape_core::message::Role;
use papertape_core::money::{Money, Quantity};
use papertape_core::ports::Queue as _;
use papertape_core::record::JobStatus;
use papertape_core::time::Date;
use papertape_service::app::App;
use papertape_service::trigger::RecordedAgent;
use papertape_service::trigger::{ImportRequest, import, plan_import};
use papertape_store::{MemoryFilter, PageRequest, TradeFilter};
use papertape_testkit::fault::FaultPoints;
use papertape_testkit::postgres;
use serde_json::json;
use std::collections::BTreeMap;

/// A day with a message and an order.
fn day(said: &str, side: Side, quantity: i64) -> RecordedDay {
    let message = |role, content: &str| RecordedMessage {
        role,
        content: content.to_owned(),
        tool_name: None,
        tool_input: None,
    };
    RecordedDay {
        messages: vec![message(Role::User, "What now?"), message(Role::Assistant, said)],
        orders: vec![RecordedOrder { symbol: "AAPL".into(), side, quantity: Quantity::from(quantity) }],
        ..RecordedDay::default()
    }
}

fn agents() -> Vec<RecordedAgent> {
    let date = |day| jiff::civil::date(2012, 10, day);
    let days: BTreeMap<Date, RecordedDay> = BTreeMap::from([
        (date(1), day("I buy.", Side::Buy, 3)),
        (date(2), day("I sell a part.", Side::Sell, 1)),
        (date(3), RecordedDay { books: Some(RecordedBooks::default()), ..day("I sell.", Side::Sell, 2) }),
    ]);
    let agent = |name: &str| RecordedAgent {
        name: name.into(),
        initial_cash: Money::from(10_000),
        days: days.clone(),
        symbols: ["AAPL".into(), "IBM".into(), "NONE".into()].into(),
        desk: None,
    };
    vec![agent("alpha"), agent("beta"), desk()]
}

/// A desk with an analysis, and a reflection on it two days later.
fn desk() -> RecordedAgent {
    let date = |day| jiff::civil::date(2012, 10, day);
    let said =
        |node: &str| RoleMessage { node: node.to_owned(), round: 1, content: "**Rating**: Buy".to_owned() };
    let analysis = RecordedAnalysis {
        symbol: "AAPL".into(),
        messages: vec![said("Market Analyst"), said("Trader"), said("Portfolio Manager")],
        state: json!({ "final_trade_decision": "**Rating**: Buy" }),
    };
    let reflection = RecordedReflection {
        symbol: "AAPL".into(),
        date: date(1),
        outcome: "Buy, +1.0% return".to_owned(),
        text: "It held.".to_owned(),
    };
    RecordedAgent {
        name: "gamma".into(),
        initial_cash: Money::from(10_000),
        days: BTreeMap::from([
            (date(1), RecordedDay { analyses: vec![analysis], ..RecordedDay::default() }),
            (date(3), RecordedDay { reflections: vec![reflection], ..RecordedDay::default() }),
        ]),
        symbols: ["AAPL".into()].into(),
        desk: Some(DeskConfig::default()),
    }
}

/// Queues the import.
async fn queue(app: &App, replace: bool) -> JobId {
    let dataset = app.catalogue.open("us-daily-2000-2013").expect("is bundled");
    let request = ImportRequest {
        format: papertape_integrations::ai_trader::FORMAT,
        source: "runs".to_owned(),
        market: MarketProfile::us_equity().frictionless(),
        writer: "house::momentum".parse().expect("a model"),
        language: Language::En,
        memory: None,
        summaries: Some(true),
        warnings: Vec::new(),
    };
    let mut plans = plan_import(app, &dataset, &agents(), &request).expect("plans");
    assert_eq!(plans.len(), 1, "all began with the same amount");
    let (job, queued) = import(app, plans.remove(0), replace).await.expect("queues");
    assert_eq!(queued, Some(JobStatus::Queued));
    job
}

/// Runs it undisturbed, and returns its canonical form and its fault points.
async fn undisturbed(desk: &Desk, job: &JobId) -> (String, Vec<&'static str>) {
    let app = desk.app().await;
    let points = FaultPoints::counting();
    completed(&desk.run_with(&faulty(app.services.clone(), &points), job).await.expect("claims"));
    (export(&app.store, job).await, points.passed())
}

/// Kills it at a point, resumes it, and compares.
async fn hold(desk: &Desk, job: &JobId, at: usize, expected: &str) {
    desk.run_and_kill(job, at).await;
    let app = desk.app().await;
    let row = app.store.get_job(job).await.expect("reads").expect("is there");
    if row.status != JobStatus::Completed {
        // A killed worker's last transaction may hold the job for a moment longer.
        let end = loop {
            if let Some(end) = desk.run_with(&app.services, job).await {
                break end;
            }
        };
        completed(&end);
    }
    same(expected, &export(&app.store, job).await, &format!("killed at point {at}"));
    assert_eq!(app.store.verify_chain(job).await.expect("verifies").broken, None, "killed at point {at}");
    let of = MemoryFilter { job: Some(job.clone()), agent: None };
    let filter = TradeFilter { of, ..TradeFilter::default() };
    let trades = app.store.memory_trades(&filter, &PageRequest::first(100)).await.expect("reads");
    assert_eq!(trades.items.len(), 4, "two closings of each agent, killed at point {at}");
}

// Goal: a kill at any point of an import leaves no trace.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_survives_a_kill() {
    let desk = Desk::new().await;
    let job = queue(&desk.app().await, false).await;
    let (expected, points) = undisturbed(&desk.copy().await, &job).await;
    assert!(points.len() > 60, "{} points", points.len());
    for at in (0..points.len()).step_by(9) {
        hold(&desk.copy().await, &job, at, &expected).await;
    }
}

// Goal: the same on PostgreSQL, where others share the database.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_import_survives_a_kill() {
    let place = postgres::place().expect("starts PostgreSQL");
    let place = Place::Postgres(place.url, place.schema);
    let desk = Desk::thinking_on(&place, SCRIPTED).await;
    let job = queue(&desk.app().await, false).await;
    let (expected, points) = undisturbed(&desk, &job).await;
    for at in (0..points.len()).step_by(23) {
        let job = queue(&desk.app().await, true).await;
        hold(&desk, &job, at, &expected).await;
    }
}
