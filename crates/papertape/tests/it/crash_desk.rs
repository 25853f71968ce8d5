//! A desk's day that is killed anywhere ends as if nothing had happened: two symbols and their analysts run
//! concurrently, one node hangs until its deadline, and others fail.

use crate::crash_points::{at_every_point, on_postgres};
use crate::crash_random::{kill_at_random, seed};
use crate::crash_support::{Desk, Late, Mind, request};
use crate::desk_support::{Broken, Fault, answer, buyers, node};
use papertape_agents::config::{AgentConfig, Analyst, DeskConfig};
use papertape_core::id::AgentName;
use papertape_service::trigger::Request;
use papertape_testkit::model_server::ScriptedAnswer;
use serde_json::Value;
use std::time::Duration;

/// The maximum number of concurrent calls: two analysts of two symbols.
const AT_ONCE: usize = 4;
/// How often the desk is killed at random.
const KILLS: usize = 24;
/// The Trader's deadline; all others exceed the test's duration.
const DEADLINE: Duration = Duration::from_secs(1);

/// The house model plays every role except a few. The Trader of AAPL hangs until that of IBM is done: its
/// deadline is the only one that can pass, so no other node is cut off with it.
const ROLES: Mind = Mind {
    answer: roles,
    late: Some(Late { hangs: is_hung, passes_by: is_past_the_trader, deadline: DEADLINE }),
};

fn roles(body: &Value) -> ScriptedAnswer {
    let of = |node, symbol, fault| Broken { symbol: Some(symbol), ..Broken::new(node, fault) };
    let broken = [
        of("Trader", "AAPL", Fault::Hang),
        of("News Analyst", "IBM", Fault::Refuse(503)),
        of("Bear Researcher", "AAPL", Fault::Empty),
        of("Portfolio Manager", "AAPL", Fault::Say("Well.".to_owned())),
    ];
    let broken: Vec<Broken> = broken.into_iter().chain(buyers()).collect();
    answer(body, &broken)
}

fn is_hung(body: &Value) -> bool {
    node(body) == Some("Trader") && is_about(body, "AAPL")
}

fn is_past_the_trader(body: &Value) -> bool {
    node(body) == Some("Aggressive Analyst") && is_about(body, "IBM")
}

fn is_about(body: &Value, symbol: &str) -> bool {
    body["messages"].to_string().contains(symbol)
}

/// One day of a desk of two analysts over two symbols.
fn day() -> Request {
    let model = "test::scripted".parse().expect("a model");
    let mut agent = AgentConfig::desk(AgentName::new("alpha"), model);
    agent.limits.max_attempts = 1;
    let never = 3_600;
    agent.desk = Some(DeskConfig {
        selected_analysts: [Analyst::Market, Analyst::News].into(),
        trader_node_timeout_secs: DEADLINE.as_secs(),
        analyst_node_timeout_secs: never,
        research_node_timeout_secs: never,
        risk_node_timeout_secs: never,
        portfolio_node_timeout_secs: never,
        ..DeskConfig::default()
    });
    Request { agents: vec![agent], ..request(1) }
}

/// Every point: before and after each commit, each call, each change of the queue.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_desk_survives_a_kill_at_every_point() {
    let points = at_every_point(Desk::thinking(ROLES).await, day(), AT_ONCE, 0).await;
    assert!(points > 100, "{points} points");
}

/// The same on PostgreSQL, at every fifth point.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_desk_survives_a_kill() {
    on_postgres(ROLES, day, AT_ONCE).await;
}

/// Killed from outside during concurrent calls, again and again until it is done.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_desk_killed_at_random_leaves_no_trace() {
    kill_at_random(Desk::thinking(ROLES).await, day(), KILLS, &seed()).await;
}
