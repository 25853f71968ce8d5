//! The lineage of a fill: `GET /sessions/{session_id}/lineage` for solo agents, desks, pending orders and stops.

use crate::api_support::{World, settled};
use crate::desk_support::{DeskWorld, buyers, one_day};
use crate::lineage::{four_days, list, world};
use papertape_core::id::JobId;
use papertape_service::trigger::Request as Simulation;
use papertape_testkit::model_server::{Call, ModelServer, Reply, ScriptedAnswer};
use serde_json::{Value, json};

/// Reads news, says what it thinks, buys with a target that the same day reaches, and says something else at the end.
fn answer(body: &Value) -> ScriptedAnswer {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let calls = messages.iter().filter(|message| message["role"] == "tool").count();
    let is_first_day = messages.iter().any(|message| message.to_string().contains("today's (2024-03-05)"));
    let call = |text: &str, name: &str, arguments: Value| {
        let call = Call { id: calls.to_string(), name: name.to_owned(), arguments: arguments.to_string() };
        ScriptedAnswer::reply(Reply { text: text.to_owned(), calls: vec![call], ..Reply::default() })
    };
    match calls {
        0 if is_first_day => call("What is new?", "get_news", json!({"limit": 10})),
        1 if is_first_day => call(
            "The trend is up, so I buy.",
            "buy",
            json!({"symbol": "ABC", "quantity": 5, "target": 12.5, "reason": "the news"}),
        ),
        2 if is_first_day => call("Is it still so?", "get_bars", json!({"symbol": "ABC", "limit": 2})),
        _ => ScriptedAnswer::text("Done. <FINISH_SIGNAL>"),
    }
}

/// The fills of a day.
async fn fills(world: &World, job: &str, date: &str) -> Vec<Value> {
    let day = world.good(&format!("/results?job_id={job}&date={date}")).await;
    list(&day["results"][0], "trades").to_vec()
}

async fn session(world: &World, job: &str, date: &str) -> i64 {
    let found = world.good(&format!("/reasoning?job_id={job}&date={date}")).await;
    found["sessions"][0]["session_id"].as_i64().expect("an ID")
}

async fn lineage(world: &World, session: i64, action: &Value) -> Value {
    world.good(&format!("/sessions/{session}/lineage?action_id={action}")).await
}

fn series(lineage: &Value) -> Vec<&str> {
    list(lineage, "exposures").iter().filter_map(|read| read["series"].as_str()).collect()
}

/// Goal: a solo agent's fill leads to its order, its reason, the words before it and what was read before it, not
/// after it; the fill of its target has no order.
#[tokio::test(flavor = "multi_thread")]
async fn a_fill_leads_to_the_words_before_its_order() {
    let server = ModelServer::answering(answer).await;
    let world = world(&server).await;
    let of_day = fills(&world, &world.job, "2024-03-05").await;
    let id = session(&world, &world.job, "2024-03-05").await;
    let [buy, target] = of_day.as_slice() else { panic!("a buy and its target: {of_day:?}") };
    let found = lineage(&world, id, &buy["action_id"]).await;
    assert_eq!(
        (&found["decision"]["content"], &found["order"]["reason"], &found["order"]["path"]),
        (&json!("The trend is up, so I buy."), &json!("the news"), &buy["path"])
    );
    assert!(!series(&found).contains(&"ABC/bars"), "read after the order: {found}");
    assert!(series(&found).contains(&"news"), "{found}");
    insta::assert_json_snapshot!("of_solo", settled(found));

    let stopped = lineage(&world, id, &target["action_id"]).await;
    assert_eq!((&target["action_type"], &stopped["order"]), (&json!("target"), &Value::Null));
    assert_eq!((&stopped["decision"], &stopped["exposures"]), (&Value::Null, &json!([])));
    assert_eq!(stopped["path"], target["path"]);

    for (query, status, text) in [
        (format!("{id}/lineage"), 400, "action_id"),
        (format!("{id}/lineage?action_id=0"), 400, "action_id: `0` is not a whole number from 1"),
        (format!("{id}/lineage?action_id=1&more=1"), 400, "more"),
        (format!("{id}/lineage?action_id=99"), 404, "has no fill 99"),
        ("999/lineage?action_id=1".to_owned(), 404, "999"),
    ] {
        let answer = world.get(&format!("/sessions/{query}")).await;
        assert_eq!(answer.status.as_u16(), status, "{query}: {}", answer.text);
        assert!(answer.text.contains(text), "{query}: {}", answer.text);
    }
}

/// Goal: where an order waits for the next open, the lineage of its fill is that of the session that placed it.
#[tokio::test(flavor = "multi_thread")]
async fn a_pending_order_leads_to_the_session_that_placed_it() {
    let server = ModelServer::answering(answer).await;
    let world = world(&server).await;
    let job = world.run(Simulation { market: Some("next_open".to_owned()), ..four_days("later") }).await;
    let [placed, filled] =
        [session(&world, &job, "2024-03-05").await, session(&world, &job, "2024-03-06").await];
    assert!(fills(&world, &job, "2024-03-05").await.is_empty());
    let fill = fills(&world, &job, "2024-03-06").await[0].clone();
    let found = lineage(&world, filled, &fill["action_id"]).await;
    assert_eq!((&found["session_id"], &found["order"]["session_id"]), (&json!(filled), &json!(placed)));
    assert_eq!(found["order"]["date"], "2024-03-05");
    assert_eq!(found["decision"]["content"], "The trend is up, so I buy.");
    assert!(series(&found).contains(&"news"), "{found}");
}

/// A desk's fill, its decision and the nodes upstream.
async fn desk_fill(desk: &DeskWorld) -> Value {
    desk.break_nodes(buyers());
    let (job, _): (JobId, _) = desk.run(one_day(&["AAPL", "IBM"])).await;
    let job = job.to_string();
    let bought = fills(&desk.world, &job, "2012-10-01").await;
    let fill = bought.iter().find(|trade| trade["symbol"] == "IBM").expect("IBM is bought").clone();
    let id = session(&desk.world, &job, "2012-10-01").await;
    let found = lineage(&desk.world, id, &fill["action_id"]).await;
    // The session's head has the words of each instrument's decision, and they are those of the lineage.
    let head = desk.world.good(&format!("/sessions/{id}")).await;
    let texts = list(&head, "decision_texts");
    let symbols: Vec<&str> = texts.iter().filter_map(|text| text["symbol"].as_str()).collect();
    assert_eq!(symbols, ["AAPL", "IBM"]);
    assert_eq!(
        (&texts[1]["path"], &texts[1]["content"]),
        (&found["decision"]["path"], &found["decision"]["content"])
    );
    found
}

/// Goal: a desk's fill leads to the decision on its own instrument, the nodes upstream, nearest first, and how the
/// order was cut.
#[tokio::test(flavor = "multi_thread")]
async fn a_desks_fill_leads_through_sizing_to_its_nodes() {
    let found = desk_fill(&DeskWorld::new().await).await;
    assert_eq!(found["decision"]["node"], "Portfolio Manager");
    assert_eq!(found["decision"]["path"], "IBM/Portfolio Manager#1/model#1");
    let nodes: Vec<&str> =
        list(&found, "contributing").iter().filter_map(|message| message["node"].as_str()).collect();
    assert_eq!((nodes[0], nodes.last()), ("Neutral Analyst", Some(&"Market Analyst")));
    assert!(
        list(&found, "contributing")
            .iter()
            .all(|message| { message["path"].as_str().is_some_and(|path| path.starts_with("IBM/")) })
    );
    assert!(found["order"]["path"].as_str().is_some_and(|path| path.starts_with("sizing#1/order#")));
    assert!(series(&found).contains(&"IBM/bars"), "{found}");
    assert!(!series(&found).contains(&"AAPL/bars"), "{found}");
    assert!(list(&found, "cuts").iter().all(|cut| cut["symbol"] == "IBM"));
    insta::assert_json_snapshot!("of_desk", settled(found));
}

/// Goal: the same response on PostgreSQL.
#[tokio::test(flavor = "multi_thread")]
async fn postgres_returns_the_same_lineage() {
    let found = desk_fill(&DeskWorld::on_postgres().await).await;
    insta::assert_json_snapshot!("of_desk", settled(found));
}
