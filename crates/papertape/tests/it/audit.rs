//! The audit: an honest job is verified, and every planted leak is named by its step and by what came from the future.

use crate::api_support::{World, config, settled, week};
use crate::cli_tool::{SHORT, Tool};
use crate::crash_support::{AGENTS, Desk, agent, completed, day, noting, queue, request, run};
use crate::job_states::point;
use papertape_agents::config::AgentConfig;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::market::{Dataset, Indicator, Leak};
use papertape_core::ports::{Queue as _, RecordStore as _};
use papertape_market::Catalogue;
use papertape_runtime::replay;
use papertape_service::app::App;
use papertape_service::trigger::Request as Simulation;
use papertape_store::{DatabaseTarget, Store};
use papertape_testkit::data::SmallData;
use serde_json::{Value, json};
use std::sync::Arc;

/// A world whose catalogue has this dataset, `small`.
async fn world_with(dataset: Dataset) -> (World, Arc<Dataset>) {
    let dir = tempfile::tempdir().expect("a directory");
    let store = Store::open(DatabaseTarget::Sqlite(dir.path().join("papertape.db"))).await.expect("it opens");
    let mut catalogue = Catalogue::bundled();
    let dataset = Arc::new(dataset);
    catalogue.add(Arc::clone(&dataset)).expect("a name of its own");
    let app = App::build_with(config(&dir), store, catalogue, papertape::integrations()).expect("composed");
    let world = World { router: papertape_api::router(app.clone()), app, job: String::new(), _dir: dir };
    (world, dataset)
}

fn small(data: &SmallData, days: (usize, usize), agents: Vec<AgentConfig>) -> Simulation {
    Simulation {
        dataset: Some("small".to_owned()),
        start_date: Some(data.date(days.0)),
        end_date: Some(data.date(days.1)),
        agents,
        initial_cash: Some(100_000.into()),
        summaries: Some(false),
        ..Simulation::default()
    }
}

fn solo(strategy: &str) -> AgentConfig {
    AgentConfig::solo(AgentName::new(strategy), format!("house::{strategy}").parse().expect("a model"))
}

fn desk() -> AgentConfig {
    AgentConfig::desk(AgentName::new("desk"), "house::momentum".parse().expect("a model"))
}

async fn audited(world: &World, job: &str) -> Value {
    world.good(&format!("/jobs/{job}/audit?limit=200")).await
}

async fn replays(world: &World, job: &str) {
    let row = world.app.store.get_job(&JobId::new(job)).await.expect("reads").expect("is there");
    let report = replay::run(&world.app.services, &row).await.expect("replays");
    assert_eq!(report.faults, Vec::new(), "over its own data the job replays");
}

fn findings(audit: &Value) -> Vec<&Value> {
    let sessions = audit["sessions"].as_array().expect("sessions");
    sessions.iter().flat_map(|session| session["findings"].as_array().expect("a list")).collect()
}

#[track_caller]
fn all_verified(audit: &Value, sessions: usize) {
    assert_eq!(audit["summary"]["verified"], sessions, "{audit:#}");
    assert_eq!(audit["count"], sessions, "{audit:#}");
}

/// Prices that rise and fall enough to be traded on.
fn waves(days: usize, base: i64) -> Vec<[String; 4]> {
    (0..days as i64)
        .map(|n| {
            let open = base + (n % 11) * 3 - (n % 5) * 2;
            let close = open + [4, -3, 2, -2, 1][n.unsigned_abs() as usize % 5];
            [open, open.max(close) + 2, open.min(close) - 2, close].map(|price| price.to_string())
        })
        .collect()
}

fn with_waves(data: SmallData, symbol: &str, first: usize, days: usize, base: i64) -> SmallData {
    let bars = waves(days - first, base);
    let bars: Vec<[&str; 4]> = bars.iter().map(|bar| [&*bar[0], &*bar[1], &*bar[2], &*bar[3]]).collect();
    data.symbol_from(symbol, first, &bars)
}

/// Goal: honest agents are verified on every day: solo agents and a desk with memories, over splits, dividends, a
/// listing and days that were closed without notice; and the newest fact is reported, never after its instant.
#[tokio::test(flavor = "multi_thread")]
async fn an_honest_job_is_verified() {
    let world = World::empty().await;
    // AAPL splits on 2005-02-28, and dividends of IBM and MSFT fall into these weeks.
    let job = Simulation {
        start_date: Some(jiff::civil::date(2005, 2, 7)),
        end_date: Some(jiff::civil::date(2005, 3, 4)),
        agents: vec![solo("momentum"), solo("contrarian"), desk()],
        symbols: vec!["AAPL".to_owned(), "IBM".to_owned(), "MSFT".to_owned()],
        summaries: Some(false),
        ..week()
    };
    let job = world.run(Simulation { models: Vec::new(), ..job }).await;
    let audit = audited(&world, &job).await;
    all_verified(&audit, 19 * 3);
    for session in audit["sessions"].as_array().expect("sessions") {
        let newest = session["newest_at_open"]["known_at"].as_str().expect("something was read");
        assert!(newest.starts_with(session["date"].as_str().expect("a date")), "{session:#}");
        assert!(newest.ends_with("14:30:00Z"), "the open: {session:#}");
    }
    // FB is listed on the second of these days.
    let job = Simulation {
        start_date: Some(jiff::civil::date(2012, 5, 17)),
        end_date: Some(jiff::civil::date(2012, 6, 1)),
        models: vec!["house::momentum".to_owned()],
        symbols: vec!["AAPL".to_owned(), "FB".to_owned()],
        summaries: Some(false),
        ..week()
    };
    let job = world.run(job).await;
    all_verified(&audited(&world, &job).await, 11);
}

/// Goal: the same with an index as the universe, intraday bars and news.
#[tokio::test(flavor = "multi_thread")]
async fn a_universe_and_intraday_bars_are_verified() {
    let days = 12;
    let mut data = SmallData::new("2024-03-04", days);
    for (n, symbol) in ["AAA", "BBB", "CCC"].iter().enumerate() {
        data = with_waves(data, symbol, n, days, 50 + 10 * i64::try_from(n).expect("small"));
    }
    data = data.symbol_from("HHH", 0, &[]);
    for day in 0..days {
        data = data.hours(
            "HHH",
            day,
            &[["10", "11", "9", "10"], ["11", "12", "10", "11"], ["12", "13", "11", "13"]],
        );
        let at = data.day(day).open;
        data = data.news("AAA", at, &format!("news {day}"));
    }
    let data = data
        .member("INDEX", "AAA", 0, Some(6))
        .member("INDEX", "BBB", 2, None)
        .member("INDEX", "HHH", 0, None)
        .member("INDEX", "CCC", 5, None)
        .split("AAA", 4, 2)
        .dividend("BBB", 7, "0.5");
    let job = Simulation {
        universe: Some("INDEX".to_owned()),
        ..small(&data, (1, 9), vec![solo("momentum"), desk()])
    };
    let (world, _) = world_with(data.build()).await;
    let job = world.run(job).await;
    all_verified(&audited(&world, &job).await, 9 * 2);
}

/// Goal: a view that knows today's close at the open is found in a job that replays, by the step that read the bar and
/// by the bar; whichever data replace the future.
#[tokio::test(flavor = "multi_thread")]
async fn a_peek_at_todays_bar_is_named() {
    let days = 30;
    let data = with_waves(SmallData::new("2024-03-04", days), "AAA", 0, days, 50);
    let job =
        Simulation { symbols: vec!["AAA".to_owned()], ..small(&data, (20, 23), vec![solo("momentum")]) };
    let (date, close) = (data.date(20), data.day(20).close);
    let (world, _) = world_with(data.build().with_leak(Leak::TodaysBar)).await;
    let job = world.run(job).await;
    replays(&world, &job).await;
    let audit = audited(&world, &job).await;
    assert_eq!(audit["summary"]["failed"], 4, "{audit:#}");
    let first = &audit["sessions"][0];
    let look = findings(&audit).into_iter().find(|one| one["kind"] == "look_ahead").expect("found");
    assert_eq!(look["variants"], json!(["cut", "poisoned"]), "{look:#}");
    assert_eq!((&look["phase"], &look["part"]), (&json!("session"), &json!("outcome")), "{look:#}");
    let path = look["path"].as_str().expect("a step");
    assert!(path.starts_with("solo#1/"), "{path}");
    let item =
        json!({ "kind": "market", "name": "AAA/bars", "date": date, "job_id": null, "known_at": close });
    assert_eq!(look["items"][0], item, "{look:#}");
    let read = findings(&audit).into_iter().find(|one| one["kind"] == "late_read").expect("found");
    assert_eq!(read["items"][0], item, "{read:#}");
    assert_eq!(first["newest_at_open"]["known_at"], json!(close));
}

/// Goal: a universe that knows of listings is found, and the symbol is named with its first open.
#[tokio::test(flavor = "multi_thread")]
async fn a_universe_that_knows_of_listings_is_named() {
    let days = 12;
    let data = with_waves(SmallData::new("2024-03-04", days), "AAA", 0, days, 50);
    let data = with_waves(data, "LATER", 8, days, 70);
    let job = Simulation {
        symbols: vec!["AAA".to_owned(), "LATER".to_owned()],
        ..small(&data, (2, 4), vec![solo("momentum")])
    };
    let listed = data.day(8).open;
    let (world, _) = world_with(data.build().with_leak(Leak::Listings)).await;
    let job = world.run(job).await;
    replays(&world, &job).await;
    let audit = audited(&world, &job).await;
    let found = findings(&audit);
    let named = |one: &&&Value| {
        let items = one["items"].as_array().expect("items");
        items.iter().any(|item| {
            item["name"].as_str().is_some_and(|name| name.starts_with("LATER"))
                && item["known_at"] == json!(listed)
        })
    };
    let look = found.iter().filter(|one| one["kind"] == "look_ahead").find(named).expect("it is named");
    assert!(look["path"].as_str().is_some_and(|path| path.starts_with("solo#1/")), "{look:#}");
}

/// Goal: a value from a cache that is keyed without share units, computed after a split, is found at its step.
#[tokio::test(flavor = "multi_thread")]
async fn a_cache_that_is_keyed_wrongly_is_named() {
    let days = 400;
    let data = with_waves(SmallData::new("2022-01-01", days), "AAA", 0, days, 80).split("AAA", 350, 2);
    let last = data.day(399).close;
    let job =
        Simulation { symbols: vec!["AAA".to_owned()], ..small(&data, (330, 331), vec![solo("momentum")]) };
    let (world, dataset) = world_with(data.build().with_leak(Leak::CacheWithoutShareUnits)).await;
    let all = ["ema(10)", "ema", "macd", "rsi", "atr", "ema(12)", "ema(26)", "ema(50)", "ema(200)"];
    let all: Vec<Indicator> = all.iter().map(|name| name.parse().expect("an indicator")).collect();
    dataset.view(last).indicators(&"AAA".into(), &all, 1).expect("a table");
    let job = world.run(job).await;
    replays(&world, &job).await;
    let audit = audited(&world, &job).await;
    let found = findings(&audit);
    let look = found.iter().find(|one| one["kind"] == "look_ahead").unwrap_or_else(|| panic!("{audit:#}"));
    // The answer of a tool is a text: it differs as a whole.
    assert_eq!((&look["path"], &look["pointer"]), (&json!("solo#1/read#3"), &json!("")), "{look:#}");
    assert_eq!((&look["part"], &look["phase"]), (&json!("outcome"), &json!("session")), "{look:#}");
}

/// Goal: a memory from later in the start state is found and named by its ID, even if it was not recalled.
#[tokio::test]
async fn a_memory_from_later_is_named() {
    let desk = Desk::new().await;
    let job = desk.queue(request(2)).await;
    completed(&desk.run(&job).await);
    let lesson = json!({
        "trade_id": 7, "symbol": "AAPL", "side": "long", "entry_time": "2012-10-01T13:30:00Z",
        "exit_time": "2012-12-03T21:00:00Z", "cause": "sell", "pnl": "5", "return_pct": null, "summary": "AAPL falls in November.",
        "error_tags": [], "value_assessment": "high", "next_rules": [], "known_at": "2012-12-03T21:00:00Z",
    });
    let memory = json!({ "archive": { "tail": [lesson] }, "trade_id": 7 });
    let app = desk.app().await;
    let behind = desk.behind();
    let start: String = behind
        .query_row(
            "SELECT json_extract(config, '$.starts.' || ?1) FROM job_configs WHERE job_id = ?2",
            [AGENTS[0], job.as_str()],
            |row| row.get(0),
        )
        .expect("a start state");
    let start = ContentHash::from_hex(&start).expect("a hash");
    let body = app.store.texts(vec![start]).await.expect("reads").remove(&start).expect("is there");
    let mut state: Value = serde_json::from_str(&body).expect("is JSON");
    state["memory"] = memory;
    let sql = "UPDATE texts SET body = ?1, encoding = 0, packed = NULL WHERE hash = ?2";
    assert_eq!(behind.execute(sql, (state.to_string(), start.as_bytes())).expect("edits"), 1);
    let world = router_world(app);
    let audit = world.good(&format!("/jobs/{job}/audit?model={}&date={}", AGENTS[0], day(0))).await;
    let found = findings(&audit);
    let memory = found.iter().find(|one| one["kind"] == "late_memory").unwrap_or_else(|| panic!("{audit:#}"));
    let item = json!({ "kind": "trade", "name": "7", "date": null, "job_id": null, "known_at": "2012-12-03T21:00:00Z" });
    assert_eq!(memory["items"], json!([item]));
}

fn router_world(app: App) -> World {
    let dir = tempfile::tempdir().expect("a directory");
    World { router: papertape_api::router(app.clone()), app, job: String::new(), _dir: dir }
}

/// Goal: a session with unbounded tools, and one whose account or memory goes back to it, is unverifiable, with the
/// session that it goes back to; others of the same job are not.
#[tokio::test]
async fn unbounded_tools_and_their_descendants_are_unverifiable() {
    let desk = Desk::new().await;
    let world = router_world(desk.app().await);
    let agents = vec![noting("alpha"), agent("beta")];
    let first = queue(&world.app, Simulation { agents, ..request(2) }).await;
    completed(&run(&world.app.services, &first).await.expect("claims"));
    let audit = audited(&world, first.as_str()).await;
    assert_eq!(
        (&audit["summary"]["verified"], &audit["summary"]["unverifiable"]),
        (&json!(2), &json!(2)),
        "{audit:#}"
    );
    let alpha = &audit["sessions"][0];
    assert_eq!((&alpha["model"], &alpha["verdict"]), (&json!("alpha"), &json!("unverifiable")));
    assert_eq!(alpha["reason"]["point_in_time_reason"]["kind"], "external_tools");

    let simulation = |first: i8, from: Option<&JobId>, name: &str| Simulation {
        start_date: from.map(|_| day(first)),
        end_date: Some(day(first)),
        agents: vec![agent(name)],
        memory_from: from.cloned(),
        replace_existing: false,
        ..request(2)
    };
    let on = queue(&world.app, simulation(2, None, "alpha")).await;
    completed(&run(&world.app.services, &on).await.expect("claims"));
    let audit = audited(&world, on.as_str()).await;
    assert_eq!(audit["sessions"][0]["reason"]["point_in_time_reason"]["kind"], "continuation", "{audit:#}");
    assert_eq!(audit["sessions"][0]["reason"]["point_in_time_reason"]["job"], first.as_str());
    let reader = queue(&world.app, simulation(3, Some(&first), "alpha")).await;
    completed(&run(&world.app.services, &reader).await.expect("claims"));
    let audit = audited(&world, reader.as_str()).await;
    assert_eq!(audit["sessions"][0]["verdict"], "unverifiable", "{audit:#}");
}

/// Goal: what cannot be audited is named with its reason: days that have not ended, other rules, data that are gone.
#[tokio::test]
async fn what_cannot_be_audited_is_named() {
    let desk = Desk::new().await;
    let one = Simulation { agents: vec![agent("alpha")], ..request(3) };
    let job = desk.queue(one).await;
    // In the second day.
    let at = point(&desk, &job, "after open", 2).await;
    desk.run_and_kill(&job, at).await;
    let reasons = async |sql: Option<&str>| {
        let desk = desk.copy().await;
        if let Some(sql) = sql {
            assert_eq!(desk.behind().execute(sql, []).expect("edits"), 1);
        }
        let world = router_world(desk.app().await);
        audited(&world, job.as_str()).await
    };
    let audit = reasons(None).await;
    assert_eq!(audit["summary"]["unfinished"], 1, "{audit:#}");
    assert_eq!(audit["summary"]["failed"], 0, "{audit:#}");
    let audit = reasons(Some("UPDATE jobs SET rules_version = 3")).await;
    assert_eq!(audit["sessions"][0]["reason"]["kind"], "rules_version", "{audit:#}");
    let other = "UPDATE job_configs SET config = json_set(config, '$.dataset.hash', 'aa' || substr(json_extract(config, '$.dataset.hash'), 3))";
    let audit = reasons(Some(other)).await;
    assert_eq!(audit["sessions"][0]["reason"]["kind"], "dataset", "{audit:#}");
}

/// Goal: a changed program is not called a leak.
#[tokio::test]
async fn a_record_that_does_not_replay_is_not_called_a_leak() {
    let world = World::new().await;
    let overrides = [("solo-day.en.md".to_owned(), "It is {{ date }}.".to_owned())].into();
    let prompts = papertape_agents::prompt::PromptSet::with_overrides(overrides).expect("prompts");
    let mut app = world.app.clone();
    app.services.prompts = Arc::new(prompts);
    let changed = router_world(app);
    let audit = audited(&changed, &world.job).await;
    assert_eq!(audit["summary"]["failed"], 10, "{audit:#}");
    assert!(findings(&audit).iter().all(|one| one["kind"] == "not_reproducible"), "{audit:#}");
}

/// Goal: the response has this shape; pages neither drop nor repeat a session; wrong queries are named.
#[tokio::test]
async fn the_api_pages_sessions_by_day_and_agent() {
    let world = World::new().await;
    let uri = format!("/jobs/{}/audit", world.job);
    let one = world.good(&format!("{uri}?date=2012-10-02&model=house::momentum")).await;
    insta::assert_json_snapshot!("audit_response", settled(one));
    let whole = audited(&world, &world.job).await;
    all_verified(&whole, 10);
    let (mut cursor, mut sessions) = (String::new(), Vec::new());
    loop {
        let page = world.good(&format!("{uri}?limit=3{cursor}")).await;
        assert_eq!(page["total"], 10);
        sessions.extend(page["sessions"].as_array().expect("a list").iter().cloned());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(json!(sessions), whole["sessions"]);
    for wrong in [
        "limit=0",
        "limit=201",
        "cursor=x",
        "date=2012-10-01&from=2012-10-01",
        "from=2012-10-02&to=2012-10-01",
        "day=1",
    ] {
        assert_eq!(world.get(&format!("{uri}?{wrong}")).await.status, 400, "{wrong}");
    }
    assert_eq!(world.get("/jobs/none/audit").await.status, 404);
}

/// Goal: the command prints what was read and the verdicts, exits with 0, and can be narrowed.
#[test]
fn the_command_prints_each_session() {
    let tool = Tool::new();
    let job = tool.job(&SHORT);
    let done = tool.ok(&["audit", &job]);
    assert!(done.out.contains("3 verified, 0 failed, 0 unverifiable, 0 unfinished"), "{done:#?}");
    for text in ["2012-10-02", "house::momentum", "verified", "2012-10-02T13:30:00Z", "2012-10-02T20:00:00Z"]
    {
        assert!(done.out.contains(text), "{text}: {done:#?}");
    }
    let one = tool.json(&["audit", "latest", "--date", "2012-10-02"]);
    assert_eq!((&one["count"], &one["summary"]["verified"]), (&json!(1), &json!(1)));
    let none = tool.ends(&["audit", &job, "--agent", "nobody"], 1);
    assert!(none.err.contains("nothing could be verified"), "{none:#?}");
    tool.ends(&["audit", &job, "--date", "2012-10-02", "--from", "2012-10-01"], 2);
    tool.ends(&["audit", "nothing"], 4);
}
