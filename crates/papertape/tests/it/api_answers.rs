//! Snapshots of the full responses of every read route, equal on both databases.

use crate::api_support::{DAYS, MODELS, World, settled};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Every read route, with a name for its snapshot.
async fn routes(world: &World) -> Vec<(&'static str, String)> {
    let (job, session) = (&world.job, world.session().await);
    let model = MODELS[1];
    vec![
        ("health", "/health".to_owned()),
        ("jobs", "/jobs?kind=simulate&status=completed&limit=5".to_owned()),
        ("job", format!("/jobs/{job}")),
        ("curves", format!("/jobs/{job}/curves")),
        ("status", format!("/simulate/status/{job}")),
        ("reasoning", format!("/reasoning?job_id={job}&date={}", DAYS[1])),
        (
            "reasoning_full",
            format!("/reasoning?model={model}&date={}&include_full_conversation=true", DAYS[0]),
        ),
        ("results_day", format!("/results?date={}&reasoning=summary", DAYS[1])),
        ("results_range", format!("/results?start_date={}&end_date={}&reasoning=summary", DAYS[0], DAYS[4])),
        ("messages", format!("/sessions/{session}/messages?limit=3")),
        ("steps", format!("/sessions/{session}/steps?limit=6")),
        ("datasets", "/datasets?limit=5".to_owned()),
        ("dataset", "/datasets/us-daily-2000-2013".to_owned()),
        ("exposures", format!("/sessions/{session}/exposures?limit=3")),
        ("leaderboard", "/leaderboard".to_owned()),
    ]
}

/// Goal: no shape and no value of a response changes unnoticed.
#[tokio::test(flavor = "multi_thread")]
async fn every_answer_is_as_documented() {
    let world = World::new().await;
    for (name, uri) in routes(&world).await {
        insta::assert_json_snapshot!(name, by_model(settled(world.good(&uri).await)));
    }
}

/// Goal: a reader cannot tell which database is used.
#[tokio::test(flavor = "multi_thread")]
async fn postgres_answers_the_same() {
    let (sqlite, postgres) = tokio::join!(World::new(), World::on_postgres());
    let both = routes(&sqlite).await.into_iter().zip(routes(&postgres).await);
    for ((name, on_sqlite), (_, on_postgres)) in both {
        let (a, b) = (sqlite.good(&on_sqlite).await, postgres.good(&on_postgres).await);
        assert_eq!(by_model(settled(a)), by_model(settled(b)), "{name}");
    }
    for uri in ["/results?date=2012-10-03&reasoning=full", "/reasoning?q=AAPL&symbol=AAPL&node=solo"] {
        let (a, b) = (sqlite.good(uri).await, postgres.good(uri).await);
        assert_eq!(by_model(settled(a)), by_model(settled(b)), "{uri}");
    }
}

/// Agents run concurrently, so their sessions are opened in no fixed order.
fn by_model(mut answer: Value) -> Value {
    if let Some(sessions) = answer.get_mut("sessions").and_then(Value::as_array_mut) {
        sessions.sort_by_key(|session| {
            (session["date"].to_string(), session["model"].to_string(), session["session_id"].to_string())
        });
    }
    answer
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// Goal: a client of the older server's `GET /reasoning` finds every key that it knows, and numbers where it
/// expects numbers.
#[tokio::test(flavor = "multi_thread")]
async fn reasoning_has_the_keys_that_older_clients_know() {
    let world = World::new().await;
    let uri = format!("/reasoning?date={}&model={}", DAYS[0], MODELS[1]);
    let answer = world.good(&uri).await;
    let session = &answer["sessions"][0];
    assert!(keys(&answer).is_superset(&BTreeSet::from(["sessions", "count"])));
    let known = BTreeSet::from([
        "session_id",
        "job_id",
        "date",
        "model",
        "session_summary",
        "started_at",
        "completed_at",
        "total_messages",
        "positions",
    ]);
    assert!(keys(session).is_superset(&known), "{session}");
    assert!(session.get("conversation").is_none(), "a conversation was not asked for");
    assert!(session["session_id"].is_i64() && session["total_messages"].is_u64());
    let positions = session["positions"].as_array().expect("a list");
    let known = BTreeSet::from([
        "action_id",
        "action_type",
        "symbol",
        "amount",
        "price",
        "cash_after",
        "portfolio_value",
    ]);
    assert!(!positions.is_empty() && positions.iter().all(|position| keys(position) == known));
    assert!(
        positions.iter().all(|position| position["cash_after"].is_number() && position["amount"].is_number())
    );

    let answer = world.good(&format!("{uri}&include_full_conversation=true")).await;
    let said = answer["sessions"][0]["conversation"].as_array().expect("a conversation").clone();
    assert_eq!(said[0]["role"], "user");
    assert_eq!(said[0]["content"].as_str().map(|text| text.contains("2012-10-01")), Some(true));
    assert_eq!(
        keys(&said[0]),
        BTreeSet::from(["message_index", "role", "content", "timestamp", "path", "node"])
    );
    let assistant = said.iter().find(|message| message["role"] == "assistant").expect("it answered");
    assert!(keys(assistant).contains("summary"));
    let tool = said.iter().find(|message| message["role"] == "tool").expect("it used a tool");
    assert!(keys(tool).is_superset(&BTreeSet::from(["tool_name", "tool_input"])));
    let indexes: Vec<u64> = said.iter().filter_map(|message| message["message_index"].as_u64()).collect();
    assert_eq!(indexes, (0..said.len() as u64).collect::<Vec<_>>());
}

/// Goal: the metrics of a day, of the range and of the database agree.
#[tokio::test(flavor = "multi_thread")]
async fn days_and_ranges_agree() {
    let world = World::new().await;
    let range = world.good("/results").await;
    for result in range["results"].as_array().expect("a list") {
        let closes = result["daily_portfolio_values"].as_array().expect("closes");
        assert_eq!(closes.len(), DAYS.len());
        let mut before = result["starting_portfolio_value"].clone();
        for (close, date) in closes.iter().zip(DAYS) {
            let model = result["model"].as_str().expect("a name");
            let day = world.good(&format!("/results?date={date}&model={model}")).await;
            let day = &day["results"][0];
            assert_eq!(day["starting_position"]["portfolio_value"], before, "{model} on {date}");
            assert_eq!(day["final_position"]["portfolio_value"], close["portfolio_value"]);
            let held = day["final_position"]["holdings"].as_array().expect("holdings").iter();
            let held = held.map(|held| number(&held["quantity"]) * number(&held["price"])).sum::<f64>();
            let value = number(&day["final_position"]["cash"]) + held;
            assert!((value - number(&close["portfolio_value"])).abs() < 1e-6, "{model} on {date}");
            let profit = number(&close["portfolio_value"]) - number(&before);
            assert!((profit - number(&day["daily_metrics"]["profit"])).abs() < 1e-6, "{model} on {date}");
            before = close["portfolio_value"].clone();
        }
        let gain = number(&before) / number(&result["starting_portfolio_value"]) - 1.0;
        assert!((gain - number(&result["period_metrics"]["total_return"])).abs() < 1e-12);
        assert_eq!(result["full_research"]["period_metrics"], result["period_metrics"]);
        assert_eq!(result["is_llm"], false, "a house model is labelled");
    }
    // The house model that buys and holds equals the baseline, except for the cash that it may leave.
    let held = &range["results"][0];
    assert_eq!(held["model"], "house::buy_and_hold");
    let baseline = &held["baselines"]["buy_and_hold"]["daily_portfolio_values"];
    assert_eq!(baseline.as_array().map(Vec::len), Some(DAYS.len()));
}

/// Goal: the curves of a run show the values of its results, day by day and agent by agent.
#[tokio::test(flavor = "multi_thread")]
async fn curves_and_results_agree() {
    let world = World::new().await;
    let job = &world.job;
    let curves = world.good(&format!("/jobs/{job}/curves")).await;
    let range = world.good(&format!("/results?job_id={job}")).await;
    let dates = curves["dates"].as_array().expect("dates");
    assert_eq!(dates.iter().filter_map(Value::as_str).collect::<Vec<_>>(), DAYS);
    let agents = curves["agents"].as_array().expect("agents");
    assert_eq!(agents.len(), range["results"].as_array().expect("results").len());
    for agent in agents {
        let mut results = range["results"].as_array().expect("results").iter();
        let result = results.find(|result| result["model"] == agent["model"]).expect("the same agents");
        assert_eq!(agent["starting_portfolio_value"], result["starting_portfolio_value"]);
        let closes = result["daily_portfolio_values"].as_array().expect("closes").iter();
        for (at, close) in closes.enumerate() {
            assert_eq!(agent["portfolio_values"][at], close["portfolio_value"], "{}", close["date"]);
            assert_eq!(agent["statuses"][at], close["status"]);
            assert_eq!(agent["full_research"][at], close["full_research"]);
        }
    }
    assert_eq!(world.get("/jobs/no-such-job/curves").await.status, 404);
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Goal: without a job ID the newest completed job counts, a replaced one no longer does, and days that an
/// earlier job ran come from there.
#[tokio::test(flavor = "multi_thread")]
async fn the_newest_completed_job_counts() {
    let world = World::new().await;
    let mut again = crate::api_support::week();
    again.replace_existing = true;
    let newer = world.run(again).await;
    let day = world.good("/results?date=2012-10-01").await;
    let jobs: BTreeSet<&str> =
        day["results"].as_array().into_iter().flatten().filter_map(|one| one["job_id"].as_str()).collect();
    assert_eq!(jobs, BTreeSet::from([newer.as_str()]));
    assert_eq!(world.good(&format!("/jobs/{}", world.job)).await["job"]["superseded_by"], newer.as_str());
    let old = world.good(&format!("/results?date=2012-10-01&job_id={}", world.job)).await;
    assert_eq!(old["count"], 2, "a job that is named counts");

    let mut on = crate::api_support::week();
    (on.start_date, on.end_date) = (None, Some(jiff::civil::date(2012, 10, 9)));
    let next = world.run(on).await;
    let range = world.good("/results?model=house::momentum").await;
    let closes = range["results"][0]["daily_portfolio_values"].as_array().expect("closes");
    let jobs: Vec<&str> = closes.iter().filter_map(|close| close["job_id"].as_str()).collect();
    assert_eq!(jobs, [[newer.as_str(); 5].as_slice(), [next.as_str(); 2].as_slice()].concat());
    let first = world.good(&format!("/results?date=2012-10-08&job_id={next}&model=house::momentum")).await;
    assert_eq!(first["results"][0]["daily_metrics"]["days_since_last_trading"], 3, "over the weekend");
    assert_eq!(first["results"][0]["starting_position"]["portfolio_value"], closes[4]["portfolio_value"]);
}

/// Goal: shared baselines are the baselines of each result, once, with every other field as it was; and a day has none.
#[tokio::test(flavor = "multi_thread")]
async fn baselines_are_sent_once_on_request() {
    let world = World::new().await;
    let uri = format!("/results?job_id={}", world.job);
    let each = world.good(&uri).await;
    assert_eq!(world.good(&format!("{uri}&baselines=each")).await, each);
    assert!(each.get("shared_baselines").is_none(), "it was not requested");
    let mut shared = world.good(&format!("{uri}&baselines=shared")).await;
    let list = shared["shared_baselines"].take();
    assert_eq!(list.as_array().map(Vec::len), Some(1), "both agents have the same start and days");
    assert_eq!(list[0]["models"], json!(MODELS));
    for result in shared["results"].as_array_mut().expect("a list") {
        assert!(result["baselines"].is_null());
        result["baselines"] = list[0]["baselines"].clone();
    }
    shared.as_object_mut().expect("an object").remove("shared_baselines");
    assert_eq!(shared, each);

    // Other money or other days make other baselines.
    let mut rich = crate::api_support::week();
    (rich.initial_cash, rich.models) = (Some(20_000.into()), vec![MODELS[1].to_owned()]);
    world.run(rich).await;
    let range = world.good("/results?baselines=shared").await;
    let models: Vec<&Value> =
        range["shared_baselines"].as_array().expect("a list").iter().map(|one| &one["models"]).collect();
    assert_eq!(models, [&json!([MODELS[0]]), &json!([MODELS[1]])]);
    for invalid in ["/results?date=2012-10-01&baselines=shared", "/results?baselines=none"] {
        let answer = world.get(invalid).await;
        assert!(answer.status == 400 && answer.text.contains("baselines: "), "{invalid}: {}", answer.text);
    }
}

/// Goal: results without their days are the same results, with the two lists of days empty; sparse results have some of
/// the days of a long run, from the first to the last, and all of a short one; a single day has no choice.
#[tokio::test(flavor = "multi_thread")]
async fn the_days_of_results_can_be_left_out() {
    let world = World::new().await;
    let uri = format!("/results?job_id={}", world.job);
    let mut all = world.good(&uri).await;
    assert_eq!(world.good(&format!("{uri}&daily=all")).await, all);
    for result in all["results"].as_array_mut().expect("a list") {
        assert_eq!(result["daily_portfolio_values"].as_array().map(Vec::len), Some(5));
        result["history"]["rolling_sharpe"] = json!([]);
    }
    assert_eq!(world.good(&format!("{uri}&daily=sparse")).await, all);
    for result in all["results"].as_array_mut().expect("a list") {
        result["daily_portfolio_values"] = json!([]);
    }
    assert_eq!(world.good(&format!("{uri}&daily=none")).await, all);

    let mut half_year = crate::api_support::week();
    half_year.start_date = Some(jiff::civil::date(2012, 1, 3));
    let long = world.run(half_year).await;
    let days = async |level: &str| {
        let results = world.good(&format!("/results?job_id={long}&daily={level}")).await;
        results["results"][0]["daily_portfolio_values"].as_array().expect("a list").clone()
    };
    let (all, sparse) = (days("all").await, days("sparse").await);
    assert!(all.len() > 150 && sparse.len() == 100, "{} of {}", sparse.len(), all.len());
    assert_eq!((sparse.first(), sparse.last()), (all.first(), all.last()));
    let places: Vec<usize> =
        sparse.iter().map(|day| all.iter().position(|one| one == day).expect("is a day")).collect();
    assert!(places.windows(2).all(|two| (1..=2).contains(&(two[1] - two[0]))), "{places:?}");
    for invalid in [
        "/results?date=2012-10-01&daily=none",
        "/results?date=2012-10-01&daily=sparse",
        "/results?daily=some",
    ] {
        let answer = world.get(invalid).await;
        assert!(answer.status == 400 && answer.text.contains("daily: "), "{invalid}: {}", answer.text);
    }
}

/// Goal: each model call names the requested model and why its response ended, also for calls of summaries; other steps
/// name neither.
#[tokio::test(flavor = "multi_thread")]
async fn model_calls_name_their_model_and_finish_reason() {
    let world = World::new().await;
    let session = world.session().await;
    let head = world.good(&format!("/sessions/{session}")).await;
    let steps = world.good(&format!("/sessions/{session}/steps?limit=1000")).await;
    let steps = steps["steps"].as_array().expect("a list");
    let calls: Vec<&Value> = steps.iter().filter(|step| step["kind"] == "model").collect();
    assert!(calls.len() > 1 && calls.len() < steps.len(), "{steps:?}");
    for call in &calls {
        assert_eq!(call["model"], head["model"], "the agent is named after its model: {call}");
    }
    let reasons: BTreeSet<&str> = calls.iter().filter_map(|call| call["finish_reason"].as_str()).collect();
    assert_eq!(reasons, BTreeSet::from(["stop", "tool_calls"]), "{calls:?}");
    assert!(calls.iter().any(|call| call["detached"] == true), "the day was summarized");
    for step in steps.iter().filter(|step| step["kind"] != "model") {
        assert!(step["model"].is_null() && step["finish_reason"].is_null(), "{step}");
    }
    // A page has what the whole list has.
    let page = world.good(&format!("/sessions/{session}/steps?limit=6")).await;
    assert_eq!(page["steps"].as_array().expect("a list")[..], steps[..6]);
}
