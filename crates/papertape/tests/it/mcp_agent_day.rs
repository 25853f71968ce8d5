//! An external agent whose only way into its session is MCP: a whole job, from its request to its record.

use crate::api_stream::Server;
use crate::crash_support::{Desk, completed, run};
use crate::mcp_server_support::McpClient;
use futures::FutureExt as _;
use papertape_core::external::{AgentDay, NoExternalAgents};
use papertape_core::ports::Queue as _;
use papertape_runtime::replay;
use papertape_runtime::services::Services;
use papertape_service::trigger::{request_of_json, trigger};
use papertape_testkit::external::ScriptedAgents;
use serde_json::json;
use std::sync::{Arc, Mutex, OnceLock};
use tokio::task::JoinHandle;

/// On each day it reads a price, buys one share more than on the day before, tries what it must not do, and finishes.
async fn trade(day: AgentDay, url: String) {
    let token = day.message["doors"]["token"].as_str().expect("a token");
    let client = McpClient::connect(&url, Some(token)).await.expect("it connects");
    let names = client.names().await;
    for name in ["get_price", "get_news", "get_portfolio", "calculate", "buy", "sell", "finish_day"] {
        assert!(names.iter().any(|known| known == name), "{name} is not in {names:?}");
    }
    let days = day.message["state"]["days"].as_u64().unwrap_or_default() + 1;
    let price = client.good("get_price", json!({ "symbol": "AAPL" })).await;
    let bought = client.good("buy", json!({ "symbol": "AAPL", "quantity": days })).await;
    assert_eq!(bought["price"], price["price"]);
    let rejected = client.error("sell", json!({ "symbol": "IBM", "quantity": 1 })).await;
    assert_eq!(rejected["code"], "order_rejected");
    assert_eq!(client.error("list_runs", json!({})).await["code"], "unknown_tool");
    assert_eq!(client.error("get_price", json!({ "what": 1 })).await["code"], "bad_arguments");
    let finished = json!({ "decision": format!("bought {days}"), "state": { "days": days } });
    assert_eq!(client.good("finish_day", finished).await["state_stored"], json!(true));
    assert_eq!(client.error("get_price", json!({ "symbol": "AAPL" })).await["code"], "session_ended");
}

/// Goal: a job whose agent trades through MCP alone completes; its record has the agent's fills and rejections, verifies,
/// and replays without the agent.
#[tokio::test]
async fn a_job_is_traded_over_mcp() {
    let desk = Desk::new().await;
    let mut app = desk.app().await;
    let tasks: Arc<Mutex<Vec<JoinHandle<()>>>> = Arc::default();
    let url: Arc<OnceLock<String>> = Arc::default();
    let (started, to) = (Arc::clone(&tasks), Arc::clone(&url));
    app.services.external = Arc::new(ScriptedAgents::new("mine", move |day, _| {
        let url = to.get().expect("the server listens").clone();
        started.lock().expect("a lock").push(tokio::spawn(trade(day, url)));
        async { None }.boxed()
    }));
    let server = Server::start(app.clone()).await;
    url.set(server.url.clone()).expect("it is set once");
    let request = json!({
        "start_date": "2012-10-01", "end_date": "2012-10-02", "symbols": ["AAPL", "IBM"], "summaries": false,
        "agents": [{ "name": "mine", "kind": "external", "external": "mine" }],
    });
    let job = trigger(&app, request_of_json(&request).expect("a request")).await.expect("queues").job;
    completed(&run(&app.services, &job).await.expect("claims"));
    let tasks: Vec<_> = std::mem::take(&mut *tasks.lock().expect("a lock"));
    assert_eq!(tasks.len(), 2);
    for task in tasks {
        task.await.expect("the agent's day was as expected");
    }

    let reader = McpClient::connect(&server.url, None).await.expect("it connects");
    let trades = reader.good("get_trades", json!({ "job_id": job.as_str() })).await;
    let quantities: Vec<_> =
        trades["trades"].as_array().expect("trades").iter().map(|t| t["quantity"].as_f64()).collect();
    assert_eq!(quantities, [Some(1.0), Some(2.0)]);
    let orders = reader.good("get_orders", json!({ "job_id": job.as_str(), "date": "2012-10-02" })).await;
    assert_eq!(orders["days"][0]["rejections"].as_array().map(Vec::len), Some(1));
    let found = reader.good("search", json!({ "query": "bought 2", "job_id": job.as_str() })).await;
    assert_eq!(found["sessions"][0]["date"], "2012-10-02", "{found}");
    drop(reader);
    server.stop().await;

    assert_eq!(app.store.verify_chain(&job).await.expect("verifies").broken, None);
    let row = app.store.get_job(&job).await.expect("reads").expect("is there");
    let services = Services { external: Arc::new(NoExternalAgents), ..app.services.clone() };
    let report = replay::run(&services, &row).await.expect("can be replayed");
    assert_eq!((report.equal, report.unfinished, report.faults), (2, 0, Vec::new()));
}
