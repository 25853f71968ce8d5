//! Full jobs in markets other than US equities, on matching data: lots and T+1, fractions, weekends, shorts,
//! leverage, stops and a liquidation.

use crate::api_support::{World, config};
use papertape_agents::config::AgentConfig;
use papertape_agents::day::StartState;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::ledger::{Account, FillCause, LedgerEvent, Side};
use papertape_core::market::Dataset;
use papertape_core::money::Money;
use papertape_core::ports::RecordStore as _;
use papertape_core::tape::{inline, references};
use papertape_core::time::Date;
use papertape_llm::{ProviderConfig, ProviderKind};
use papertape_market::Catalogue;
use papertape_runtime::replay;
use papertape_service::app::App;
use papertape_service::trigger::Request as Simulation;
use papertape_store::{DatabaseTarget, Store};
use papertape_testkit::markets;
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const HOUSE: [&str; 3] = ["house::momentum", "house::contrarian", "house::buy_and_hold"];
const CASH: i64 = 1_000_000;

/// The application over both synthetic markets, each with its own profile by default; with the scripted
/// provider `lab` if there is a server.
async fn world(on_postgres: bool, server: Option<&ModelServer>) -> World {
    let dir = tempfile::tempdir().expect("a directory");
    let mut config = config(&dir);
    if let Some(server) = server {
        let provider = ProviderConfig {
            kind: Some(ProviderKind::OpenaiCompatible),
            base_url: Some(server.url()),
            api_key_env: None,
            stream: false,
            ..ProviderConfig::default()
        };
        config.models.providers.insert("lab".to_owned(), provider);
    }
    let target = if on_postgres {
        let place = papertape_testkit::postgres::place().expect("PostgreSQL");
        DatabaseTarget::Postgres(place.url, place.schema)
    } else {
        DatabaseTarget::Sqlite(dir.path().join("papertape.db"))
    };
    let mut catalogue = Catalogue::bundled();
    let add = |catalogue: &mut Catalogue, dataset: Dataset, market: &str| {
        catalogue.add_with_market(Arc::new(dataset), market).expect("a name of its own");
    };
    add(&mut catalogue, markets::a_shares(), "cn_a_share");
    add(&mut catalogue, markets::crypto(), "crypto");
    let store = Store::open(target).await.expect("it opens");
    let app = App::build_with(config, store, catalogue, papertape::integrations()).expect("it is composed");
    World { router: papertape_api::router(app.clone()), app, job: String::new(), _dir: dir }
}

/// One month of the house models.
fn month(dataset: &str, from: Date, to: Date) -> Simulation {
    Simulation {
        start_date: Some(from),
        end_date: Some(to),
        models: HOUSE.map(str::to_owned).to_vec(),
        dataset: Some(dataset.to_owned()),
        initial_cash: Some(CASH.into()),
        summaries: Some(false),
        ..Simulation::default()
    }
}

/// The account events of an agent on the tape, oldest first.
async fn events(app: &App, job: &JobId, agent: &AgentName, dates: &[Date]) -> Vec<LedgerEvent> {
    let mut events = Vec::new();
    for date in dates {
        let session = app.store.find_session(job, agent, *date).await.expect("reads").expect("a session");
        for step in crate::crash_support::steps(&app.store, job, agent.as_str(), *date).await {
            if !matches!(step.path.kind(), "order" | "book") {
                continue;
            }
            let outcome = document(app, step.outcome_ref.expect("an outcome")).await;
            let entry = if step.path.kind() == "order" { &outcome["entry"] } else { &outcome };
            if let Some(event) = entry.get("event").filter(|event| !event.is_null()) {
                events.push(serde_json::from_value(event.clone()).expect("an event"));
            }
        }
        assert!(session.ended.is_some(), "{date}");
    }
    events
}

async fn document(app: &App, hash: ContentHash) -> Value {
    let record = &app.services.record;
    let body = record.texts(vec![hash]).await.expect("reads").remove(&hash).expect("is there");
    let stored: Value = serde_json::from_str(&body).expect("JSON");
    let texts = record.texts(references(&stored)).await.expect("reads");
    inline(&stored, &|hash| texts.get(&hash).cloned()).expect("whole")
}

/// A finished month.
struct Month {
    world: World,
    dates: Vec<Date>,
    /// The account events of each agent.
    events: BTreeMap<&'static str, Vec<LedgerEvent>>,
    /// Its results, by model.
    results: BTreeMap<String, Value>,
}

/// Runs the month, and checks what holds in every market: a session on every day of the calendar, an account
/// that is the fold of its events, an equal replay, an intact chain.
async fn finished(on_postgres: bool, simulation: Simulation, market: &str) -> Month {
    let mut world = world(on_postgres, None).await;
    let catalogue = Arc::clone(&world.app.catalogue);
    let dataset = catalogue.open(simulation.dataset.as_deref().expect("named")).expect("is there");
    let (from, to) = (simulation.start_date.expect("a day"), simulation.end_date.expect("a day"));
    let dates: Vec<Date> = dataset.trading_days(from, to).iter().map(|day| day.date).collect();
    world.job = world.run(simulation).await;
    let (app, job) = (world.app.clone(), JobId::new(world.job.as_str()));

    let told = world.good(&format!("/jobs/{job}")).await;
    assert_eq!(told["job"]["status"], "completed", "{told}");
    assert_eq!(told["job"]["simulation"]["market"], market, "the dataset's own");

    let mut all = BTreeMap::new();
    for name in HOUSE {
        let agent = AgentName::new(name);
        let events = events(&app, &job, &agent, &dates).await;
        let (folded, _) = Account::fold(Account::new(name, Money::from(CASH)), &events).expect("a fold");
        let state = app.store.agent_state(&job, &agent, None).await.expect("reads").expect("a state");
        let state: StartState = serde_json::from_value(document(&app, state.hash).await).expect("a state");
        assert_eq!(&folded, state.books.account(), "{name}");
        all.insert(name, events);
    }
    let row =
        papertape_core::ports::Queue::get_job(&app.store, &job).await.expect("reads").expect("is there");
    let report = replay::run(&app.services, &row).await.expect("can be replayed");
    assert_eq!((report.equal, report.faults.len()), (dates.len() * HOUSE.len(), 0), "{report:?}");
    assert_eq!(app.store.verify_chain(&job).await.expect("verifies").broken, None);

    let range = world.good(&format!("/results?job_id={job}")).await;
    let results = range["results"].as_array().expect("results").iter();
    let results = results.map(|one| (one["model"].as_str().unwrap_or_default().to_owned(), one.clone()));
    let results: BTreeMap<String, Value> = results.collect();
    for (model, result) in &results {
        let days = result["daily_portfolio_values"].as_array().expect("days");
        let told: Vec<&str> = days.iter().filter_map(|day| day["date"].as_str()).collect();
        assert_eq!(told, dates.iter().map(ToString::to_string).collect::<Vec<_>>(), "{model}");
    }
    Month { world, dates, events: all, results }
}

/// Checks that metrics name this many days per year.
fn check_year(month: &Month, trading_days_per_year: f64) {
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    for (model, result) in &month.results {
        let own = [&result["period_metrics"], &result["baselines"]["buy_and_hold"]["period_metrics"]];
        for metrics in own {
            assert!(
                (number(&metrics["trading_days_per_year"]) - trading_days_per_year).abs() < f64::EPSILON,
                "{model}"
            );
            // A month is too short to be annualized.
            assert!(month.dates.len() < 60 && metrics["annualized_return"].is_null(), "{model}: {metrics}");
            assert_eq!(metrics["annualized_unavailable"], "too_few_days", "{model}");
        }
    }
}

fn fills(events: &[LedgerEvent]) -> impl Iterator<Item = &papertape_core::ledger::Fill> {
    events.iter().filter_map(|event| match event {
        LedgerEvent::Fill(fill) => Some(fill),
        _ => None,
    })
}

async fn an_a_share_month(on_postgres: bool) {
    let simulation =
        month("synthetic-a-shares", jiff::civil::date(2024, 2, 1), jiff::civil::date(2024, 2, 29));
    let month = finished(on_postgres, simulation, "cn_a_share").await;
    // 21 weekdays minus the six of the Spring Festival.
    assert_eq!(month.dates.len(), 15);
    assert!(!month.dates.contains(&jiff::civil::date(2024, 2, 12)));

    let lot = Decimal::ONE_HUNDRED;
    let mut sold = 0;
    for (agent, events) in &month.events {
        let mut account = Account::new(*agent, Money::from(CASH));
        let mut bought_today = BTreeSet::new();
        for event in events {
            if let LedgerEvent::Fill(fill) = event {
                let is_whole = (fill.quantity.0 % lot).is_zero();
                let held = account.position(&fill.symbol).map(|position| position.quantity);
                assert!(is_whole || held == Some(fill.quantity), "{agent}: {fill:?}");
                let key = (fill.day, fill.symbol.clone());
                match fill.side {
                    Side::Buy => drop(bought_today.insert(key)),
                    side => {
                        assert_eq!(side, Side::Sell, "{agent}: nothing is sold short");
                        assert!(!bought_today.contains(&key), "{agent}: T+1 at {key:?}");
                        sold += 1;
                    }
                }
            }
            account.apply(event).expect("applies");
        }
        assert!(fills(events).count() > 0, "{agent} trades");
    }
    assert!(sold > 0, "somebody sells");
    let held = &month.events["house::buy_and_hold"];
    let (paid_on, _) = markets::A_SHARE_DIVIDEND;
    let (split_on, _) = markets::A_SHARE_BONUS;
    assert!(held.iter().any(|e| matches!(e, LedgerEvent::Dividend { day, .. } if *day == paid_on)));
    assert!(held.iter().any(|e| matches!(e, LedgerEvent::Split { day, .. } if *day == split_on)));
    check_year(&month, 243.0);
    // The baseline buys whole lots in equal parts: never more than the cash allows, and little less.
    let baseline = &month.results["house::buy_and_hold"]["baselines"]["buy_and_hold"];
    let exposure = baseline["period_metrics"]["exposure"].as_f64().expect("a figure");
    assert!((0.75..1.0).contains(&exposure), "{exposure}");
    assert_eq!(
        month
            .world
            .app
            .catalogue
            .list()
            .expect("lists")
            .iter()
            .filter(|entry| entry.market.is_some())
            .count(),
        2
    );
}

/// Goal: lots of 100, T+1 and no shorts constrain the house models through a full month with holidays, a cash
/// dividend and a bonus issue, and everything derived from the database is right.
#[tokio::test(flavor = "multi_thread")]
async fn an_a_share_month_is_whole() {
    an_a_share_month(false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_an_a_share_month_is_whole() {
    an_a_share_month(true).await;
}

async fn some_crypto_days(on_postgres: bool) {
    // On a server the days around the crash are enough: the rules do not depend on the database.
    let (from, to) = if on_postgres { (10, 16) } else { (1, 30) };
    let day = |day| jiff::civil::date(2024, 4, day);
    let month = finished(on_postgres, month("synthetic-crypto", day(from), day(to)), "crypto").await;
    assert_eq!(month.dates.len(), if on_postgres { 7 } else { 30 }, "weekends too");

    let all: Vec<_> = month.events.values().flat_map(|events| fills(events)).collect();
    assert!(all.iter().any(|fill| !fill.quantity.0.fract().is_zero()), "fractions are traded");
    if !on_postgres {
        let sides: BTreeSet<&str> = all.iter().map(|fill| fill.side.as_str()).collect();
        assert_eq!(sides, ["buy", "cover", "sell", "short"].into());
        for cause in [FillCause::Stop, FillCause::Target, FillCause::Liquidation] {
            assert!(all.iter().any(|fill| fill.cause == cause), "no {cause:?}");
        }
    }
    let crashed = |fill: &&&papertape_core::ledger::Fill| {
        (fill.day, fill.symbol.as_str()) == markets::CRASH && fill.cause == FillCause::Liquidation
    };
    assert!(all.iter().filter(crashed).count() > 0, "the crash liquidates a leveraged position");
    for (agent, events) in &month.events {
        for fill in fills(events).filter(|fill| fill.side.opens()) {
            if *agent == "house::buy_and_hold" {
                assert_eq!((fill.leverage, fill.stop), (Decimal::ONE, None), "{fill:?}");
                continue;
            }
            let stop = fill.stop.expect("a leveraged position carries a stop");
            let loss = (fill.price.0 - stop.0).abs() / fill.price.0 * fill.leverage;
            assert!(fill.leverage > Decimal::ONE && loss <= Decimal::new(10, 2), "{agent}: {fill:?}");
        }
    }
    check_year(&month, 365.0);
    // With fractions almost nothing is left over.
    let baseline = &month.results["house::buy_and_hold"]["baselines"]["buy_and_hold"];
    let exposure = baseline["period_metrics"]["exposure"].as_f64().expect("a figure");
    assert!((0.999..=1.0).contains(&exposure), "{exposure}");
}

/// Goal: fractions, weekends, shorts, leverage with stops and targets, and a crash that liquidates positions
/// run through a full month, and everything derived from the database is right.
#[tokio::test(flavor = "multi_thread")]
async fn a_crypto_month_is_whole() {
    some_crypto_days(false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_a_crypto_week_is_whole() {
    some_crypto_days(true).await;
}

/// Goal: what a market's rules reject is rejected with its code, reported to the agent in its conversation,
/// and in the results; what they allow the next moment, or the next day, is executed.
async fn refused(dataset: &str, days: [Date; 2], script: fn(&Value) -> ScriptedAnswer, codes: &[&str]) {
    let server = ModelServer::answering(script).await;
    let mut world = world(false, Some(&server)).await;
    let simulation = Simulation {
        models: Vec::new(),
        agents: vec![AgentConfig::solo(AgentName::new("trader"), "lab::one".parse().expect("a model"))],
        ..month(dataset, days[0], days[1])
    };
    world.job = world.run(simulation).await;
    let day = world.good(&format!("/results?job_id={}&date={}", world.job, days[0])).await;
    let rejections = day["results"][0]["rejections"].as_array().expect("rejections").clone();
    let found: Vec<&str> = rejections.iter().filter_map(|refused| refused["code"].as_str()).collect();
    assert_eq!(found, codes, "{day}");
    let heard: String = server.requests().iter().map(|request| request.body.to_string()).collect();
    for refused in &rejections {
        let code = refused["code"].as_str().unwrap_or_default();
        assert!(heard.contains(code), "{code} was not told");
        assert!(refused["numbers"].is_object() && refused["message"].is_string(), "{refused}");
    }
    let mut trades = Vec::new();
    for date in days {
        let day = world.good(&format!("/results?job_id={}&date={date}", world.job)).await;
        let list = day["results"][0]["trades"].as_array().expect("trades").clone();
        trades.extend(list.iter().filter_map(|trade| trade["action_type"].as_str().map(str::to_owned)));
    }
    assert!(trades.len() >= 2, "{trades:?}");
    let (app, job) = (&world.app, JobId::new(world.job.as_str()));
    let row =
        papertape_core::ports::Queue::get_job(&app.store, &job).await.expect("reads").expect("is there");
    assert_eq!(replay::run(&app.services, &row).await.expect("can be replayed").equal, 2);
}

/// The tool results of the day so far, and the text of the day's question.
fn so_far(body: &Value) -> (usize, String) {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let asked = messages.iter().filter(|message| message["role"] == "user");
    let asked: String = asked.filter_map(|message| message["content"].as_str()).collect();
    (messages.iter().filter(|message| message["role"] == "tool").count(), asked)
}

fn call(n: usize, tool: &str, arguments: &Value) -> ScriptedAnswer {
    ScriptedAnswer::call(&format!("c{n}"), tool, &arguments.to_string())
}

fn a_share_script(body: &Value) -> ScriptedAnswer {
    let (n, asked) = so_far(body);
    let order =
        |tool: &str, quantity: i64| call(n, tool, &json!({ "symbol": "300750.SZ", "quantity": quantity }));
    match (asked.contains("2024-02-01"), n) {
        (true, 0) => order("buy", 150),
        (true, 1) => order("buy", 200),
        (true, 2) => order("sell", 100),
        (true, 3) => order("short", 100),
        (false, 0) => order("sell", 200),
        _ => ScriptedAnswer::text("Done. <FINISH_SIGNAL>"),
    }
}

fn crypto_script(body: &Value) -> ScriptedAnswer {
    let (n, asked) = so_far(body);
    let open = asked.split_once("\"BTC-USD\":").and_then(|(_, rest)| rest.split([',', '}']).next());
    let open: f64 = open.and_then(|open| open.parse().ok()).unwrap_or_default();
    let order = |leverage: u32, stop: Option<f64>| {
        let mut arguments = json!({ "symbol": "BTC-USD", "quantity": 0.12345678, "leverage": leverage });
        if let Some(stop) = stop {
            arguments["stop"] = json!(open * stop);
        }
        call(n, "buy", &arguments)
    };
    match (asked.contains("2024-04-06"), n) {
        (true, 0) => order(20, Some(0.999)),
        (true, 1) => order(5, None),
        (true, 2) => order(5, Some(0.95)),
        (true, 3) => call(n, "buy", &json!({ "symbol": "BTC-USD", "quantity": 0.123456789 })),
        (true, 4) => order(5, Some(0.981)),
        (true, 5) => call(n, "sell", &json!({ "symbol": "BTC-USD", "quantity": 0.12345678 })),
        _ => ScriptedAnswer::text("Done. <FINISH_SIGNAL>"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_share_rules_are_told() {
    let days = [jiff::civil::date(2024, 2, 1), jiff::civil::date(2024, 2, 2)];
    let codes = ["lot_size", "t_plus_one", "shorting_not_allowed"];
    refused("synthetic-a-shares", days, a_share_script, &codes).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn crypto_rules_are_told() {
    // A weekend.
    let days = [jiff::civil::date(2024, 4, 6), jiff::civil::date(2024, 4, 7)];
    let codes = ["leverage_limit", "stop_required", "stop_too_far", "lot_size"];
    refused("synthetic-crypto", days, crypto_script, &codes).await;
}

/// Goal: a market named in the request overrides the dataset's; a dataset whose market does not exist is an
/// error that says so.
#[tokio::test]
async fn the_market_named_comes_before_the_datasets_own() {
    let world = world(false, None).await;
    let day = jiff::civil::date(2024, 4, 6);
    let simulation =
        Simulation { market: Some("us_equity".to_owned()), ..month("synthetic-crypto", day, day) };
    let job = world.run(simulation).await;
    let told = world.good(&format!("/jobs/{job}")).await;
    assert_eq!(told["job"]["simulation"]["market"], "us_equity");

    let mut catalogue = Catalogue::bundled();
    catalogue.add_with_market(Arc::new(markets::crypto()), "moon").expect("a name of its own");
    let app = App::build_with(
        (*world.app.config).clone(),
        world.app.store.clone(),
        catalogue,
        papertape::integrations(),
    );
    let app = app.expect("it is composed");
    let error = papertape_service::trigger::trigger(&app, month("synthetic-crypto", day, day))
        .await
        .expect_err("no moon");
    let told = error.to_string();
    assert!(
        told.starts_with("market: synthetic-crypto uses the market `moon`, but: unknown market"),
        "{told}"
    );
}
