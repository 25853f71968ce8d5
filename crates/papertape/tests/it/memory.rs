//! A trader's memory through the whole product, on both databases: one position from its opening through
//! twelve rounds of holding, an add, a partial close and a stop-out to its reflection and into the next prompts.

use crate::crash_support::{Place, completed, queue, run};
use axum::Router;
use axum::body::Body;
use axum::http::{Request as Http, StatusCode};
use papertape_agents::config::AgentConfig;
use papertape_core::ports::Queue as _;
use papertape_llm::{ProviderConfig, ProviderKind};
use papertape_protocol::memory::{CompactBody, PeriodBody};
use papertape_runtime::replay;
use papertape_service::ServiceError;
use papertape_service::app::App;
use papertape_service::config::Config;
use papertape_service::trigger::{BranchRequest, Request, branch, trigger};
use papertape_store::{DatabaseTarget, Store};
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use serde_json::{Value, json};
use tower::ServiceExt as _;

const THESIS: &str =
    "[Conclusion] the uptrend goes on\n[Position] open\n[Risk] stop 615\n[Next] does it hold 640";
const LESSON: &str = "Bought at the top of a spent trend.";

#[tokio::test(flavor = "multi_thread")]
async fn a_position_is_remembered_on_sqlite() {
    let dir = tempfile::tempdir().expect("a directory");
    a_position_is_remembered(Place::Sqlite(dir.path().join("papertape.db"))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_remembers_a_position_too() {
    let place = papertape_testkit::postgres::place().expect("PostgreSQL");
    a_position_is_remembered(Place::Postgres(place.url, place.schema)).await;
}

/// Goal: see above; meanwhile the rounds before the third last are pruned and nothing needed is lost; the job
/// verifies and replays; another job can start with the lessons, a branch shares them, and every route
/// reports the same.
async fn a_position_is_remembered(place: Place) {
    let server = ModelServer::answering(answer).await;
    let app = open(&place, &server).await;
    let job = queue(&app, request((1, 22))).await;
    completed(&run(&app.services, &job).await.expect("claims"));
    let router = papertape_api::router(app.clone());

    // Every prompt from the second to the stop-out contains the thesis; only two rounds are in any of them.
    let asked: Vec<String> = server.requests().iter().map(|request| first_text(&request.body)).collect();
    let question = |day: u8| {
        let wanted = format!("today's (2012-10-{day:02})");
        asked
            .iter()
            .find(|text| text.contains(&wanted))
            .unwrap_or_else(|| panic!("no question on {day}"))
            .clone()
    };
    assert!(!question(1).contains("Open positions"));
    for day in [2, 3, 4, 5, 8, 9, 10, 11, 12, 15, 16, 17, 18, 19] {
        let text = question(day);
        assert!(text.contains("thesis at entry") && text.contains("the uptrend goes on"), "on {day}: {text}");
        assert!((1..=2).contains(&text.matches("\n| Round ").count()), "on {day}: {text}");
    }
    let next = question(22);
    assert!(!next.contains("thesis at entry"), "it is closed: {next}");
    assert!(next.contains("Lessons from closed trades") && next.contains(LESSON), "{next}");

    // The API's view of it.
    let rounds = get(&router, &format!("/memory/rounds?job_id={job}&model=alpha")).await;
    let ids: Vec<u64> =
        items(&rounds, "rounds").iter().filter_map(|round| round["round_id"].as_u64()).collect();
    assert_eq!(ids, [16, 15, 14], "the newest three");
    assert_eq!(get(&router, "/memory/open-positions?model=alpha").await["count"], 0);
    let trades = get(&router, "/memory/trades?query=spent+trend&symbol=AAPL&max_pnl=0").await;
    assert_eq!(trades["search"], "keyword");
    let told: Vec<_> = items(&trades, "trades")
        .iter()
        .map(|trade| (trade["cause"].clone(), trade["part"].clone(), trade["position_closed"].clone()))
        .collect();
    assert_eq!(
        told,
        [(json!("stop"), json!(2), json!(true)), (json!("sell"), json!(1), json!(false))],
        "the newest exit first: {trades}"
    );
    assert!(items(&trades, "trades").iter().all(|trade| trade["thesis"] == THESIS));
    for nothing in ["query=nowhere", "symbol=IBM", "side=short", "tag=luck", "min_pnl=0", "to=2012-10-18"] {
        let found = get(&router, &format!("/memory/trades?{nothing}")).await;
        assert_eq!(found["count"], 0, "{nothing}: {found}");
    }
    for (bad, field) in
        [("tag=bad", "tag"), ("min_pnl=x", "min_pnl"), ("from=2012-10-09&to=2012-10-01", "to")]
    {
        let (status, answer) = send(&router, &format!("/memory/trades?{bad}")).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{answer}");
        assert!(answer["message"].as_str().is_some_and(|message| message.contains(field)), "{answer}");
    }
    let sessions = get(&router, &format!("/reasoning?job_id={job}&date=2012-10-22")).await;
    let session = sessions["sessions"][0]["session_id"].as_i64().expect("an id");
    let given = get(&router, &format!("/sessions/{session}/memory")).await;
    let text = given["recalled"][0]["text"].as_str().expect("a text");
    // Verbatim: the response is plain text, and the prompt contains each of its lines, those of memories fenced.
    for line in text.lines().filter(|line| !line.is_empty()) {
        let own = line.strip_prefix("- ").unwrap_or(line);
        assert!(
            next.contains(&format!("\n| {own}")) || next.contains(&format!("\n{own}\n")),
            "{line} in {next}"
        );
    }
    let kinds: Vec<&str> = items(&given["recalled"][0], "items")
        .iter()
        .filter_map(|item| item["memory_type"].as_str())
        .collect();
    assert_eq!(kinds, ["trader_round", "trader_round", "trade", "trade"]);
    assert_eq!(send(&router, "/sessions/999999/memory").await.0, StatusCode::NOT_FOUND);

    // The job is intact and replays, memory included.
    assert_eq!(app.store.verify_chain(&job).await.expect("verifies").broken, None);
    let row = app.store.get_job(&job).await.expect("reads").expect("is there");
    let report = replay::run(&app.services, &row).await.expect("replays");
    assert!(report.faults.is_empty() && report.equal == 16, "{report:?}");

    // Another job starts with what was known before its start, and nothing later.
    let later = Request { memory_from: Some(job.clone()), ..request((23, 24)) };
    let second = queue(&app, later).await;
    completed(&run(&app.services, &second).await.expect("claims"));
    let sessions = get(&router, &format!("/reasoning?job_id={second}&date=2012-10-23")).await;
    let session = sessions["sessions"][0]["session_id"].as_i64().expect("an id");
    let given = get(&router, &format!("/sessions/{session}/memory")).await;
    let from: Vec<Value> =
        items(&given["recalled"][0], "items").iter().map(|item| item["job_id"].clone()).collect();
    assert_eq!(from, vec![json!(job.as_str()); 4], "{given}");
    let unknown = Request { memory_from: Some("nowhere".into()), ..request((23, 24)) };
    assert!(matches!(trigger(&app, unknown).await, Err(ServiceError::Invalid { field: "memory_from", .. })));
    let too_early = Request { memory_from: Some(second), ..request((1, 2)) };
    assert!(matches!(
        trigger(&app, too_early).await,
        Err(ServiceError::Invalid { field: "memory_from", .. })
    ));

    // A branch pays only for what follows its cut, and has the same memories.
    let paid = server.count();
    let cut = BranchRequest {
        agent: None,
        date: jiff::civil::date(2012, 10, 22),
        at: Some("post#1".to_owned()),
        model: None,
        instructions: None,
        sampling: None,
    };
    let third = branch(&app, &job, cut).await.expect("queues").job;
    completed(&run(&app.services, &third).await.expect("claims"));
    assert_eq!(server.count() - paid, 1, "the last round alone");
    let trades = get(&router, &format!("/memory/trades?job_id={third}")).await;
    assert_eq!(trades["count"], 2);
}

/// Goal: an archive follows its trader over the jobs that continue one another, stays one however often it is
/// created, and replaces the earlier jobs' archives.
#[tokio::test(flavor = "multi_thread")]
async fn an_archive_follows_its_trader() {
    let server = ModelServer::answering(|body| {
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let done = messages.iter().filter(|message| message["role"] == "tool").count();
        let order = |name: &str| {
            ScriptedAnswer::call(name, name, &json!({ "symbol": "AAPL", "quantity": 1 }).to_string())
        };
        let sold = ["2012-09-25", "2012-09-27", "2012-10-01", "2012-10-03"];
        let trades = sold.iter().any(|day| first_text(body).contains(&format!("today's ({day})")));
        match (trades, done) {
            (true, 0) => order("buy"),
            (true, 1) => order("sell"),
            _ if first_text(body).starts_with("Reflect on") => answer(body),
            _ => ScriptedAnswer::text("Nothing more to do. <FINISH_SIGNAL>"),
        }
    })
    .await;
    let dir = tempfile::tempdir().expect("a directory");
    let app = open(&Place::Sqlite(dir.path().join("papertape.db")), &server).await;
    let router = papertape_api::router(app.clone());
    let compacted = async || {
        let body = CompactBody { period: PeriodBody::Quarter, model: None, job_id: None };
        for _ in 0..2 {
            papertape_service::view::memory_compact(&app, &body).await.expect("folds");
        }
        let archives = get(&router, "/memory/archives").await;
        let of = |archive: &Value| {
            (archive["job_id"].clone(), archive["body"]["period"].clone(), archive["body"]["trades"].clone())
        };
        items(&archives, "archives").iter().map(of).collect::<Vec<_>>()
    };
    let span = |start: Option<(i8, i8)>, (month, day): (i8, i8)| Request {
        start_date: start.map(|(month, day)| jiff::civil::date(2012, month, day)),
        end_date: Some(jiff::civil::date(2012, month, day)),
        ..request((1, 2))
    };
    let folded = |job: &papertape_core::id::JobId, trades: u64| {
        vec![(json!(job.as_str()), json!("2012-Q3"), json!(trades))]
    };

    let first = queue(&app, span(Some((9, 24)), (9, 26))).await;
    completed(&run(&app.services, &first).await.expect("claims"));
    assert_eq!(compacted().await, [], "its period is not over");
    let second = queue(&app, span(None, (10, 1))).await;
    completed(&run(&app.services, &second).await.expect("claims"));
    assert_eq!(compacted().await, folded(&second, 2), "the trade of each job");
    let third = queue(&app, span(None, (10, 4))).await;
    completed(&run(&app.services, &third).await.expect("claims"));
    assert_eq!(compacted().await, folded(&third, 2), "in the place of the second job's");
    // A job that only takes its memory from another leaves the other's archive unchanged.
    let other = Request { memory_from: Some(third.clone()), ..span(Some((10, 5)), (10, 5)) };
    let other = queue(&app, other).await;
    completed(&run(&app.services, &other).await.expect("claims"));
    assert_eq!(compacted().await, folded(&third, 2), "it has closed no trade of its own");
}

/// The model's response, which depends only on the request.
pub(crate) fn answer(body: &Value) -> ScriptedAnswer {
    let first = first_text(body);
    if first.starts_with("Write the trader's round memory") {
        return ScriptedAnswer::text(
            if first.contains("(2012-10-01)") || first.contains("Session of 2012-10-01.") {
                THESIS
            } else {
                "[Conclusion] hold\n[Position] wait\n[Risk] stop 615\n[Next] the same"
            },
        );
    }
    if first.starts_with("Reflect on the trader's closed trade") {
        let reflection = json!({
            "summary": LESSON, "execution_deviation": "as planned",
            "hypothesis_check": [{ "claim": "the uptrend goes on", "result": "failed" }],
            "error_tags": ["entry_timing"], "value_assessment": "high", "next_rules": ["wait for a base"],
        });
        return ScriptedAnswer::text(reflection.to_string());
    }
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let spoken = messages.iter().any(|message| message["role"] == "assistant");
    let on = |day: &str| !spoken && first.contains(&format!("today's (2012-10-{day})"));
    let order = |name: &str, arguments: Value| ScriptedAnswer::call(name, name, &arguments.to_string());
    if on("01") {
        return order("buy", json!({ "symbol": "AAPL", "quantity": 10, "stop": 615 }));
    }
    if on("18") {
        return order("buy", json!({ "symbol": "AAPL", "quantity": 5 }));
    }
    if on("19") {
        return order("sell", json!({ "symbol": "AAPL", "quantity": 5 }));
    }
    ScriptedAnswer::text("Nothing more to do. <FINISH_SIGNAL>")
}

/// The first text of a user message.
fn first_text(body: &Value) -> String {
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let user = messages.iter().find(|message| message["role"] == "user");
    let content = user.map(|message| message["content"].clone()).unwrap_or_default();
    content.as_str().map_or_else(|| content[0]["text"].as_str().unwrap_or_default().to_owned(), str::to_owned)
}

async fn open(place: &Place, server: &ModelServer) -> App {
    let target = match place {
        Place::Sqlite(path) => DatabaseTarget::Sqlite(path.clone()),
        Place::Postgres(url, schema) => DatabaseTarget::Postgres(url.clone(), schema.clone()),
    };
    App::compose(with(server), Store::open(target).await.expect("opens"), papertape::integrations())
        .expect("composes")
}

/// A config with the server as its provider `test`.
pub(crate) fn with(server: &ModelServer) -> Config {
    let provider = ProviderConfig {
        kind: Some(ProviderKind::OpenaiCompatible),
        base_url: Some(server.url()),
        ..ProviderConfig::default()
    };
    let mut config = crate::frictionless();
    config.models.providers.insert("test".to_owned(), provider);
    config.simulation.memory.keep_rounds = 3;
    config
}

pub(crate) fn request((first, last): (i8, i8)) -> Request {
    Request {
        start_date: Some(jiff::civil::date(2012, 10, first)),
        end_date: Some(jiff::civil::date(2012, 10, last)),
        agents: vec![AgentConfig::solo("alpha".into(), "test::scripted".parse().expect("a model"))],
        symbols: vec!["AAPL".to_owned()],
        summaries: Some(false),
        ..Request::default()
    }
}

pub(crate) async fn send(router: &Router, uri: &str) -> (StatusCode, Value) {
    let request = Http::get(uri).header("host", "localhost").body(Body::empty()).expect("a request");
    let response = router.clone().oneshot(request).await.expect("answers");
    let status = response.status();
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.expect("a body");
    (status, serde_json::from_slice(&bytes).expect("JSON"))
}

pub(crate) async fn get(router: &Router, uri: &str) -> Value {
    let (status, answer) = send(router, uri).await;
    assert_eq!(status, StatusCode::OK, "{uri}: {answer}");
    answer
}

pub(crate) fn items<'a>(answer: &'a Value, list: &str) -> &'a [Value] {
    answer[list].as_array().map_or(&[], Vec::as_slice)
}
