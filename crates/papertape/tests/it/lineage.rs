//! From a bar, a news item or a memory to every session that read it, and from a fill back to its order; and
//! the related data for a page: a session's head, the dataset's facts, the available models, the doctor.

use crate::api_support::{World, config, settled};
use papertape_agents::config::AgentConfig;
use papertape_core::broker::{FillModel, MarketProfile};
use papertape_core::id::AgentName;
use papertape_core::market::Dataset;
use papertape_llm::{ProviderConfig, ProviderKind};
use papertape_market::Catalogue;
use papertape_service::app::App;
use papertape_service::trigger::Request as Simulation;
use papertape_store::{DatabaseTarget, Store};
use papertape_testkit::data::SmallData;
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The trader's actions on each day.
pub(crate) fn answer(body: &Value) -> ScriptedAnswer {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let said = |role: &'static str| messages.iter().filter(move |message| message["role"] == role);
    let is_day = |date: &str| said("user").any(|message| message["content"].to_string().contains(date));
    let calls = said("tool").count();
    let call = |name: &str, arguments: &str| ScriptedAnswer::call(&calls.to_string(), name, arguments);
    match calls {
        0 if is_day("today's (2024-03-04)") => call("get_news", r#"{"symbol": "ABC", "limit": 2}"#),
        0 if is_day("today's (2024-03-05)") => call("get_news", r#"{"limit": 10}"#),
        1 if is_day("today's (2024-03-05)") => {
            call("buy", r#"{"symbol": "ABC", "quantity": 5, "reason": "the news"}"#)
        }
        0 if is_day("today's (2024-03-06)") => call("get_bars", r#"{"symbol": "ABC", "limit": 1}"#),
        1 if is_day("today's (2024-03-06)") => call("sell", r#"{"symbol": "ABC", "quantity": 5}"#),
        _ => ScriptedAnswer::text("Done. <FINISH_SIGNAL>"),
    }
}

/// Four days of ABC, and of XYZ, which has only hourly bars; three news items of one morning.
fn dataset() -> Dataset {
    let bars = [
        ["10", "12", "9", "11"],
        ["11", "13", "10", "12"],
        ["12", "14", "11", "13"],
        ["13", "15", "12", "14"],
    ];
    let hours = [["20", "21", "19", "20"], ["20", "22", "20", "21"]];
    let mut data = SmallData::new("2024-03-04", 4).symbol("ABC", &bars).symbol("XYZ", &[]);
    for day in 0..4 {
        data = data.hours("XYZ", day, &hours);
    }
    let open = data.day(0).open;
    for (id, minutes) in [("first", 30), ("second", 20), ("third", 10)] {
        data = data.news("ABC", open - Duration::from_secs(minutes * 60), id);
    }
    data.build()
}

/// The four days, run by the trader.
pub(crate) async fn world(server: &ModelServer) -> World {
    let dir = tempfile::tempdir().expect("a directory");
    let mut config = config(&dir);
    let provider = ProviderConfig {
        kind: Some(ProviderKind::OpenaiCompatible),
        base_url: Some(server.url()),
        api_key_env: None,
        stream: false,
        ..ProviderConfig::default()
    };
    config.models.providers.insert("lab".to_owned(), provider);
    let next_open =
        MarketProfile { fill_model: FillModel::NextOpen, ..MarketProfile::us_equity().frictionless() };
    config.markets.insert("next_open".to_owned(), next_open);
    let mut catalogue = Catalogue::bundled();
    catalogue.add(Arc::new(dataset())).expect("a name of its own");
    let store = Store::open(DatabaseTarget::Sqlite(dir.path().join("papertape.db"))).await.expect("it opens");
    let app = App::build_with(config, store, catalogue, papertape::integrations()).expect("it is composed");
    let mut world = World { router: papertape_api::router(app.clone()), app, job: String::new(), _dir: dir };
    world.job = world.run(four_days("trader")).await;
    world
}

/// The four days for an agent of this name.
pub(crate) fn four_days(agent: &str) -> Simulation {
    Simulation {
        start_date: Some(jiff::civil::date(2024, 3, 4)),
        end_date: Some(jiff::civil::date(2024, 3, 7)),
        agents: vec![AgentConfig::solo(AgentName::new(agent), "lab::one".parse().expect("a model"))],
        dataset: Some("small".to_owned()),
        symbols: vec!["ABC".to_owned()],
        initial_cash: Some(10_000.into()),
        summaries: Some(false),
        ..Simulation::default()
    }
}

pub(crate) fn list<'a>(answer: &'a Value, key: &str) -> &'a [Value] {
    answer[key].as_array().unwrap_or_else(|| panic!("no {key} in {answer}"))
}

fn days(answer: &Value) -> Vec<&str> {
    list(answer, "sessions").iter().filter_map(|session| session["date"].as_str()).collect()
}

/// Goal: see above. A read that was truncated at its limit counts exactly for the items that it returned; a
/// bar that only the books have read was seen by nobody; each read leads to the message that contains it.
#[tokio::test(flavor = "multi_thread")]
async fn lineage_goes_both_ways() {
    let server = ModelServer::answering(answer).await;
    let world = world(&server).await;

    for (id, shown) in [
        ("first", vec!["2024-03-05"]),
        ("second", vec!["2024-03-05", "2024-03-04"]),
        ("third", vec!["2024-03-05", "2024-03-04"]),
    ] {
        let found = world.good(&format!("/exposures?kind=news&dataset=small&news_id={id}")).await;
        assert_eq!(days(&found), shown, "{id}");
    }
    let bar = async |day: &str, more: &str| {
        world.good(&format!("/exposures?kind=bar&dataset=small&symbol=ABC&from={day}{more}")).await
    };
    // The open is visible on the day itself, the whole bar later.
    assert_eq!(days(&bar("2024-03-05", "").await), ["2024-03-06", "2024-03-05"]);
    let own = bar("2024-03-05", &format!("&job_id={}&model=trader", world.job)).await;
    let reads = list(&list(&own, "sessions")[1], "reads");
    assert!(reads.iter().all(|read| read["node"] == "solo#1"), "the close has marked it, unseen: {reads:?}");
    assert!(reads.iter().all(|read| read["series"] == "ABC/open"), "{reads:?}");
    assert_eq!(list(&own, "sessions")[1]["instant"], "2024-03-05T14:30:00Z");
    assert_eq!(days(&bar("2024-03-04", "&to=2024-03-07").await).len(), 4);
    assert!(days(&bar("2024-03-05", "&model=nobody").await).is_empty());
    insta::assert_json_snapshot!("shown", settled(bar("2024-03-05", "&limit=1").await));
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = bar("2024-03-04", &format!("&to=2024-03-07&limit=1{cursor}")).await;
        seen.extend(days(&page).into_iter().map(str::to_owned));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen, ["2024-03-07", "2024-03-06", "2024-03-05", "2024-03-04"]);

    // The message that a read leads to.
    let found = world.good("/exposures?kind=news&dataset=small&news_id=first").await;
    let read = &list(&list(&found, "sessions")[0], "reads")[0];
    let uri = format!("/reasoning?job_id={}&date=2024-03-05&include_full_conversation=true", world.job);
    let session = world.good(&uri).await["sessions"][0].clone();
    let index = read["message_index"].as_u64().expect("a message") as usize;
    let message = &list(&session, "conversation")[index];
    assert_eq!((&message["path"], &message["tool_name"]), (&read["path"], &read["tool"]));
    assert!(message["content"].as_str().is_some_and(|text| text.contains("first")));

    // And back: from the fill to its order's step, which has the message that placed it.
    let day = world.good(&format!("/results?job_id={}&date=2024-03-05", world.job)).await;
    let trade = &day["results"][0]["trades"][0];
    assert_eq!(
        (&trade["path"], &trade["order"]["session_id"]),
        (&trade["order"]["path"], &session["session_id"])
    );
    let given =
        list(&session, "conversation").iter().find(|message| message["path"] == trade["order"]["path"]);
    assert_eq!(given.expect("its message")["tool_name"], "buy");

    // A lesson from the closed trade is recalled on the day after.
    let trades = world.good(&format!("/memory/trades?job_id={}", world.job)).await;
    let id = trades["trades"][0]["trade_id"].as_u64().expect("an id");
    let memory = format!("/exposures?kind=trade&memory_id={id}&job_id={}&model=trader", world.job);
    let given = world.good(&memory).await;
    assert_eq!(days(&given), ["2024-03-07"]);
    assert!(list(&list(&given, "sessions")[0], "reads")[0]["message_index"].is_u64(), "{given}");
}

/// Goal: an invalid request is rejected by field; a missing item is not found.
#[tokio::test(flavor = "multi_thread")]
async fn questions_that_make_no_sense_are_refused() {
    let server = ModelServer::answering(answer).await;
    let world = world(&server).await;
    for (query, status, said) in [
        ("", 400, "kind"),
        ("kind=bar", 400, "dataset: it is missing"),
        ("kind=bar&dataset=small&symbol=ABC", 400, "from: it is missing"),
        ("kind=bar&dataset=small&symbol=ABC&from=2024-03-05&to=2024-03-04", 400, "to: "),
        ("kind=bar&dataset=small&symbol=ABC&from=2024-03-05&metric=revenue", 400, "metric: "),
        ("kind=bar&dataset=none&symbol=ABC&from=2024-03-05", 404, "none"),
        ("kind=bar&dataset=small&symbol=NO&from=2024-03-05", 404, "NO"),
        ("kind=news&dataset=small&news_id=none", 404, "none"),
        ("kind=macro&dataset=small&series=CPI&period=2024-01-01", 404, "no such value"),
        ("kind=trade&memory_id=1", 400, "job_id: "),
        ("kind=trade&memory_id=1&job_id=%00&model=a", 400, "job_id: "),
        ("kind=macro&dataset=small&series=CPI&period=2024-01-01&published_at=noon", 400, "published_at: "),
        ("kind=bar&dataset=small&symbol=ABC&from=2024-03-05&limit=0", 400, "limit: "),
        ("kind=bar&dataset=small&symbol=ABC&from=2024-03-05&cursor=x", 400, "cursor: "),
    ] {
        let answer = world.get(&format!("/exposures?{query}")).await;
        assert_eq!(answer.status.as_u16(), status, "{query}: {}", answer.text);
        assert!(answer.text.contains(said), "{query}: {}", answer.text);
    }
    assert_eq!(world.get("/sessions/999").await.status, 404);
    assert_eq!(world.get("/sessions/x").await.status, 400);
    assert_eq!(world.get("/datasets/small/news?symbol=NO").await.status, 404);
    assert_eq!(world.get("/datasets/small/bars?symbol=XYZ&interval=5m").await.status, 400);
}

/// Goal: bars of a symbol that has only intraday bars are available, by day and by hour; news is paged.
#[tokio::test(flavor = "multi_thread")]
async fn a_dataset_shows_all_that_it_holds() {
    let server = ModelServer::answering(answer).await;
    let world = world(&server).await;
    let days = world.good("/datasets/small/bars?symbol=XYZ").await;
    let first = json!({"date": "2024-03-04", "open": 20, "high": 22, "low": 19, "close": 21, "volume": 200});
    assert_eq!((&days["bars"][0], &days["count"]), (&first, &json!(4)));
    let hours = world.good("/datasets/small/bars?symbol=XYZ&interval=1h&limit=3").await;
    assert_eq!(hours["interval"], "1h");
    assert_eq!(hours["bars"][2]["opens_at"], "2024-03-05T14:30:00Z");
    let cursor = hours["next_cursor"].as_str().expect("there is more");
    let rest = world.good(&format!("/datasets/small/bars?symbol=XYZ&interval=1h&cursor={cursor}")).await;
    assert_eq!(rest["count"], 5);
    let page = world.good("/datasets/small/news?symbol=ABC&limit=2").await;
    let ids = |page: &Value| list(page, "news").iter().map(|item| item["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&page), [json!("third"), json!("second")]);
    let rest = world.good("/datasets/small/news?symbol=ABC&limit=2&cursor=2").await;
    assert_eq!((ids(&rest), &rest["next_cursor"]), (vec![json!("first")], &Value::Null));
    for empty in ["fundamentals", "macros"] {
        assert_eq!(world.good(&format!("/datasets/small/{empty}")).await["count"], 0);
    }
}

/// Goal: a session's head contains its identity, its result and its neighbors, without a list.
#[tokio::test(flavor = "multi_thread")]
async fn a_sessions_head_is_told() {
    let server = ModelServer::answering(answer).await;
    let world = world(&server).await;
    let day = world.good(&format!("/reasoning?job_id={}&date=2024-03-05", world.job)).await;
    let id = day["sessions"][0]["session_id"].as_i64().expect("an id");
    let head = world.good(&format!("/sessions/{id}")).await;
    assert_eq!(
        (&head["previous"]["date"], &head["next"]["date"]),
        (&json!("2024-03-04"), &json!("2024-03-06"))
    );
    assert_eq!((&head["trades"], &head["rejections"], &head["is_llm"]), (&json!(1), &json!(0), &json!(true)));
    insta::assert_json_snapshot!("session_head", settled(head));
}

/// Goal: the available models are listed with whether a key is set, and never the key; the doctor reports the
/// same as on the command line.
#[tokio::test(flavor = "multi_thread")]
async fn what_can_be_run_is_told() {
    let server = ModelServer::answering(answer).await;
    let world = world(&server).await;
    let options = world.good("/simulate/options").await;
    assert_eq!(
        options["models"][0],
        json!({"model": "house::buy_and_hold", "is_llm": false, "usable": true})
    );
    let names = |key: &str, name: &str| -> Vec<Value> {
        list(&options, key).iter().map(|one| one[name].clone()).collect()
    };
    assert_eq!(names("datasets", "name"), [json!("small"), json!("us-daily-2000-2013")]);
    assert_eq!(
        names("markets", "name"),
        [json!("us_equity"), json!("cn_a_share"), json!("crypto"), json!("next_open")]
    );
    assert_eq!(options["analysts"], json!(["market", "social", "news", "fundamentals"]));
    let names: Vec<&str> = list(&options, "nodes").iter().filter_map(|node| node["name"].as_str()).collect();
    assert_eq!((names.len(), names[0], names[18]), (19, "pre", "post"));
    let manager = list(&options, "nodes").iter().find(|node| node["name"] == "Portfolio Manager");
    let expected = json!({
        "name": "Portfolio Manager", "phase": "portfolio", "order": 11, "llm": "deep", "decides": true,
    });
    assert_eq!(manager, Some(&expected));
    let lab =
        list(&options, "providers").iter().find(|one| one["provider"] == "lab").expect("it is configured");
    assert_eq!((&lab["configured"], &lab["problem"]), (&json!(true), &Value::Null));
    assert_eq!(options["defaults"]["dataset"], "us-daily-2000-2013");

    let found = world.good("/doctor").await;
    let state = |what: &str| {
        let finding = list(&found, "findings").iter().find(|finding| finding["check"] == what);
        finding.unwrap_or_else(|| panic!("no look at {what}: {found}"))["state"].clone()
    };
    for what in ["config", "data", "database", "address", "dataset", "models", "prompts"] {
        assert_eq!(state(what), "ok", "{what}: {found}");
    }
    assert_eq!(found["ok"], true);
}
