//! A symbol appears nowhere before its first bar: every request to a model is searched, of a solo agent and
//! of a desk, over the bundled data across a real listing and over synthetic data with many.

use crate::api_support::{World, config};
use crate::desk_support::{self, desk};
use papertape_agents::config::{AgentConfig, Analyst};
use papertape_core::id::{AgentName, JobId};
use papertape_core::ports::Queue as _;
use papertape_core::time::Date;
use papertape_llm::{ProviderConfig, ProviderKind};
use papertape_market::Catalogue;
use papertape_runtime::replay;
use papertape_service::ServiceError;
use papertape_service::app::App;
use papertape_service::trigger::{BranchRequest, Request as Simulation, branch, trigger};
use papertape_service::view::traces;
use papertape_store::{DatabaseTarget, Store};
use papertape_testkit::data::SmallData;
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// FB's first day.
const LISTING: Date = jiff::civil::date(2012, 5, 18);

/// Reads all news first, if there is any; then acts like the house model.
pub(crate) fn answer(body: &Value) -> ScriptedAnswer {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let offers_news = body["tools"].to_string().contains("\"get_news\"");
    if offers_news && !messages.iter().any(|message| message["role"] == "tool") {
        return ScriptedAnswer::call("news", "get_news", r#"{"limit": 10}"#);
    }
    desk_support::answer(body, &[])
}

pub(crate) async fn world(server: &ModelServer, catalogue: Catalogue) -> World {
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
    let store = Store::open(DatabaseTarget::Sqlite(dir.path().join("papertape.db"))).await.expect("it opens");
    let app = App::build_with(config, store, catalogue, papertape::integrations()).expect("it is composed");
    World { router: papertape_api::router(app.clone()), app, job: String::new(), _dir: dir }
}

pub(crate) fn solo() -> AgentConfig {
    AgentConfig::solo(AgentName::new("solo"), "lab::one".parse().expect("a model"))
}

pub(crate) fn simulation(agent: AgentConfig, (first, last): (Date, Date)) -> Simulation {
    Simulation {
        start_date: Some(first),
        end_date: Some(last),
        agents: vec![agent],
        initial_cash: Some(100_000.into()),
        summaries: Some(false),
        ..Simulation::default()
    }
}

/// Runs a job of one agent, and returns each request with the index of its day. An agent's days are
/// sequential: a request belongs to the newest day that any request has named so far.
pub(crate) async fn requests(
    world: &World,
    server: &ModelServer,
    job: Simulation,
    days: &[Date],
) -> Vec<(usize, String)> {
    let before = server.count();
    let job = world.run(job).await;
    let row = world.app.store.get_job(&JobId::new(&job)).await.expect("reads").expect("is there");
    assert_eq!(row.status.as_str(), "completed", "{:?}", row.error);
    let report = replay::run(&world.app.services, &row).await.expect("replays");
    assert_eq!((report.equal, report.faults), (days.len(), Vec::new()));
    let mut now = 0;
    let bodies = server.requests().split_off(before).into_iter().map(|request| request.body.to_string());
    bodies
        .map(|body| {
            now = (now..days.len()).rev().find(|n| body.contains(&days[*n].to_string())).unwrap_or(now);
            (now, body)
        })
        .collect()
}

/// The symbols of a desk's session.
pub(crate) async fn researched(world: &World, job: &str, date: Date) -> Vec<String> {
    let day = world.good(&format!("/results?job_id={job}&date={date}")).await;
    let by_symbol = day["results"][0]["provenance"]["by_symbol"].as_object().cloned().unwrap_or_default();
    by_symbol.keys().cloned().collect()
}

/// Goal: a solo agent and a desk over the bundled data, with or without given symbols, read nothing of FB
/// before 2012-05-18, and everything from then on; a desk has nodes for it from then on, to branch at and to trace.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_hears_of_a_company_before_its_listing() {
    let server = ModelServer::answering(answer).await;
    let world = world(&server, Catalogue::bundled()).await;
    let days = [16, 17, 18, 21].map(|day| jiff::civil::date(2012, 5, day));
    let span = (days[0], days[3]);
    let named = |symbols: &[&str]| symbols.iter().map(|symbol| (*symbol).to_owned()).collect::<Vec<_>>();
    for agent in [solo(), desk(&[Analyst::Market, Analyst::News])] {
        for symbols in [named(&[]), named(&["AAPL", "FB"]), named(&["FB"])] {
            let job = Simulation { symbols: symbols.clone(), ..simulation(agent.clone(), span) };
            let what = format!("{} on {symbols:?}", agent.name);
            let requests = requests(&world, &server, job, &days).await;
            for (n, body) in &requests {
                assert!(days[*n] >= LISTING || !body.contains("FB"), "{what} on {}: {body}", days[*n]);
            }
            let of =
                |n: usize| requests.iter().filter(move |(of, body)| *of == n && body.contains("FB")).count();
            assert!(of(2) > 0 && of(3) > 0, "{what}: it is listed");
        }
    }

    // The warning is for the caller, and a desk is cut and traced with the symbols that existed.
    let asked = Simulation { symbols: named(&["AAPL", "FB"]), ..simulation(desk(&[Analyst::Market]), span) };
    let queued = trigger(&world.app, asked).await.expect("it is queued");
    assert!(
        queued.warnings.iter().any(|warning| warning.contains("FB on 2012-05-18")),
        "{:?}",
        queued.warnings
    );
    let job = queued.job;
    world.work(job.as_str()).await;
    assert_eq!(researched(&world, job.as_str(), days[1]).await, ["AAPL"]);
    assert_eq!(researched(&world, job.as_str(), days[2]).await, ["AAPL", "FB"]);
    let mut traced = Vec::new();
    let count = traces(&world.app, &job, false, |trace| {
        traced.push(format!("{} {}", trace.ticker, trace.date));
        Ok(())
    });
    assert_eq!(count.await.expect("reads").traces, 6, "{traced:?}");
    assert!(traced.contains(&"FB 2012-05-18".to_owned()) && !traced.contains(&"FB 2012-05-17".to_owned()));
    let cut = |date: Date| BranchRequest {
        agent: None,
        date,
        at: Some("FB/Trader#1".to_owned()),
        model: None,
        instructions: None,
        sampling: None,
    };
    let early = branch(&world.app, &job, cut(days[1])).await;
    assert!(matches!(early, Err(ServiceError::Invalid { field: "node", .. })), "{early:?}");
    let late = branch(&world.app, &job, cut(days[2])).await.expect("it branches");
    world.work(late.job.as_str()).await;
    assert_eq!(researched(&world, late.job.as_str(), days[2]).await, ["AAPL", "FB"]);
    assert_eq!(researched(&world, late.job.as_str(), days[1]).await, ["AAPL"]);

    // A profile covers one ticker on one day.
    let early = Simulation {
        symbols: named(&["FB"]),
        profile: true,
        ..simulation(desk(&[Analyst::Market]), (days[1], days[1]))
    };
    let early = trigger(&world.app, early).await;
    assert!(matches!(early, Err(ServiceError::Invalid { field: "symbols", .. })), "{early:?}");
}

/// The synthetic symbols with their listing days; the names occur nowhere else.
const SYMBOLS: [(&str, usize); 6] =
    [("QXALPHA", 0), ("QXBRAVO", 0), ("QXCARGO", 1), ("QXDELTA", 2), ("QXECHO", 4), ("QXNEVER", 7)];
/// Days of the runs; the data covers two more.
const DAYS: usize = 6;
const ALL_DAYS: usize = DAYS + 2;

/// Symbols that are listed one after the other, with a split and a dividend, and news about each that
/// precedes all listings.
fn listings() -> SmallData {
    let bars: Vec<[&str; 4]> = (0..ALL_DAYS)
        .map(|n| if n % 2 == 0 { ["20", "22", "19", "21"] } else { ["21", "23", "18", "19"] })
        .collect();
    let mut data = SmallData::new("2024-03-04", ALL_DAYS);
    let open = data.day(0).open;
    for (n, (symbol, first)) in SYMBOLS.iter().enumerate() {
        let shown = ALL_DAYS - *first;
        data = data.symbol_from(symbol, *first, &bars[..shown]);
        let at = open - Duration::from_secs(60 * (n as u64 + 1));
        data = data.news(symbol, at, &format!("a company has published item {n}"));
    }
    data.dividend("QXBRAVO", 3, "0.5").dividend("QXECHO", 5, "0.5")
}

/// Goal: whatever the agent, its language, its memory and its symbols, no request of a day contains a symbol
/// whose first bar comes later, in any part: instructions, questions, tools, answers, memories.
#[tokio::test(flavor = "multi_thread")]
async fn no_request_holds_a_symbol_of_the_future() {
    let server = ModelServer::answering(answer).await;
    let data = listings();
    let days: Vec<Date> = (0..DAYS).map(|n| data.date(n)).collect();
    let mut catalogue = Catalogue::bundled();
    catalogue.add(Arc::new(data.build())).expect("a name of its own");
    let world = world(&server, catalogue).await;
    let all = [Analyst::Market, Analyst::Social, Analyst::News, Analyst::Fundamentals];
    let chosen: Vec<String> = ["QXDELTA", "QXECHO", "QXNEVER"].map(str::to_owned).to_vec();
    for (agent, symbols) in
        [(solo(), vec![]), (solo(), chosen.clone()), (desk(&all), vec![]), (desk(&all), chosen)]
    {
        for language in ["en", "zh"] {
            let mut agent = agent.clone();
            agent.language = serde_json::from_value(json!(language)).expect("a language");
            let what = format!("{} in {language} on {symbols:?}", agent.name);
            let job = Simulation {
                dataset: Some("small".to_owned()),
                symbols: symbols.clone(),
                ..simulation(agent, (days[0], days[DAYS - 1]))
            };
            let requests = requests(&world, &server, job, &days).await;
            for (n, body) in &requests {
                let early = SYMBOLS.iter().find(|(symbol, first)| first > n && body.contains(symbol));
                assert!(early.is_none(), "{what}: {early:?} on day {n}: {body}");
            }
            for (symbol, first) in SYMBOLS.iter().filter(|(symbol, _)| {
                *symbol != "QXNEVER" && (symbols.is_empty() || symbols.iter().any(|one| one == symbol))
            }) {
                let entered = requests.iter().any(|(n, body)| n == first && body.contains(symbol));
                assert!(entered, "{what}: {symbol} enters with its first bar");
            }
        }
    }
}
