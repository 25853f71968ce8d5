//! A lab for jobs that continue, skip and replace each other: the test controls the agents' model, so that
//! two runs over the same days can produce different accounts, and days can fail.

use crate::api_support::{World, config};
use papertape_agents::config::{AgentConfig, MemoryMode};
use papertape_core::broker::{FillModel, MarketProfile};
use papertape_core::id::{AgentName, JobId};
use papertape_core::time::{Date, parse_date};
use papertape_llm::{ProviderConfig, ProviderKind};
use papertape_service::app::{Access, App};
use papertape_service::trigger::Request as Simulation;
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// The trading days, seven of them.
pub(crate) const DAYS: [&str; 7] =
    ["2012-10-01", "2012-10-02", "2012-10-03", "2012-10-04", "2012-10-05", "2012-10-08", "2012-10-09"];

/// The model's behavior.
#[derive(Debug, Default)]
pub(crate) struct Script {
    /// Days on which the provider rejects requests; `two 2012-10-03` affects only that model.
    pub(crate) fails: BTreeSet<String>,
    /// A different number means a different trader.
    pub(crate) mood: u64,
}

pub(crate) struct Lab {
    pub(crate) world: World,
    pub(crate) script: Arc<Mutex<Script>>,
    _server: ModelServer,
}

/// Buys a quantity of IBM that depends on the day, the agent and its mood.
fn answer(script: &Script, body: &Value) -> ScriptedAnswer {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let said = |role: &'static str| messages.iter().filter(move |message| message["role"] == role);
    let is_day = |date: &str| {
        let day = format!("today's ({date})");
        said("user").any(|message| message["content"].to_string().contains(&day))
    };
    let Some(at) = DAYS.iter().position(|date| is_day(date)) else {
        return ScriptedAnswer::text("Done. <FINISH_SIGNAL>");
    };
    let model = body["model"].as_str().unwrap_or_default();
    if script.fails.iter().any(|fails| *fails == DAYS[at] || *fails == format!("{model} {}", DAYS[at])) {
        return ScriptedAnswer::error(400, "no");
    }
    let own = u64::from(model.contains("two"));
    let quantity = 1 + (at as u64 * 2 + own + script.mood) % 5;
    match said("tool").count() {
        0 => ScriptedAnswer::call("1", "buy", &json!({ "symbol": "IBM", "quantity": quantity }).to_string()),
        _ => ScriptedAnswer::text("Done. <FINISH_SIGNAL>"),
    }
}

pub(crate) fn date(text: &str) -> Date {
    parse_date(text).expect("is a date")
}

impl Lab {
    pub(crate) async fn new() -> Self {
        let script = Arc::new(Mutex::new(Script::default()));
        let told = Arc::clone(&script);
        let server = ModelServer::answering(move |body| {
            answer(&told.lock().unwrap_or_else(PoisonError::into_inner), body)
        })
        .await;
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
        let app = App::open(config, Access::Own, papertape::integrations()).await.expect("it opens");
        let world = World { router: papertape_api::router(app.clone()), app, job: String::new(), _dir: dir };
        Self { world, script, _server: server }
    }

    /// Makes the model fail on these days.
    pub(crate) fn fail(&self, days: &[&str]) {
        self.set(|script| script.fails = days.iter().map(|day| (*day).to_owned()).collect());
    }

    pub(crate) fn set(&self, change: impl FnOnce(&mut Script)) {
        change(&mut self.script.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// A request for these agents over these days, by index in [`DAYS`].
    pub(crate) fn request(agents: &[&str], (first, last): (usize, usize)) -> Simulation {
        let agent = |name: &&str| {
            let model = format!("lab::{name}").parse().expect("a model");
            AgentConfig::solo(AgentName::new(*name), model)
        };
        Simulation {
            start_date: Some(date(DAYS[first])),
            end_date: Some(date(DAYS[last])),
            agents: agents.iter().map(agent).collect(),
            symbols: vec!["IBM".to_owned()],
            initial_cash: Some(10_000.into()),
            summaries: Some(false),
            memory: Some(MemoryMode::Off),
            ..Simulation::default()
        }
    }

    /// Runs agents over these days until the job ends.
    pub(crate) async fn run(&self, agents: &[&str], days: (usize, usize)) -> String {
        self.world.run(Self::request(agents, days)).await
    }

    /// An agent's result in a job.
    pub(crate) async fn result(&self, job: &str, agent: &str) -> Value {
        let found = self.world.good(&format!("/results?job_id={job}&model={agent}")).await;
        found["results"][0].clone()
    }

    /// The status of a job.
    pub(crate) async fn status(&self, job: &str) -> Value {
        self.world.good(&format!("/simulate/status/{job}")).await
    }

    /// The warnings of a job, joined.
    pub(crate) async fn warnings(&self, job: &str) -> String {
        self.status(job).await["warnings"].to_string()
    }

    /// Checks that an agent's days in a job belong to one account, and returns their dates.
    pub(crate) async fn one_account(&self, job: &str, agent: &str) -> Vec<String> {
        let result = self.result(job, agent).await;
        let closes = result["daily_portfolio_values"].as_array().expect("closes").clone();
        let mut before: Option<Value> = None;
        let mut dates = Vec::new();
        for close in &closes {
            let date = close["date"].as_str().expect("a date");
            let day = self.world.good(&format!("/results?job_id={job}&model={agent}&date={date}")).await;
            let [day] = &day["results"].as_array().expect("results")[..] else { panic!("one: {day}") };
            assert_eq!(day["job_id"], close["job_id"], "{date}");
            let start = position(&day["starting_position"]);
            match before {
                Some(before) => {
                    assert_eq!(start, before, "{agent} on {date} in {job} begins as the day before ended")
                }
                None => {
                    assert_eq!(start, (Vec::new(), "10000.0".to_owned()).into_json(), "{agent} on {date}")
                }
            }
            before = Some(position(&day["final_position"]));
            dates.push(date.to_owned());
        }
        dates
    }

    /// The canonical lines of an agent's days in a job, by day.
    pub(crate) async fn canonical(&self, job: &str, agent: &str) -> BTreeMap<String, Vec<String>> {
        let mut whole = Vec::new();
        let found = self.world.app.store.canonical_export(&JobId::new(job), &mut whole).await;
        assert!(found.expect("exports"), "there is {job}");
        let mut days: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for line in String::from_utf8(whole).expect("text").lines() {
            let mut row: Value = serde_json::from_str(line).expect("JSON");
            if let Some(metadata) = row.get_mut("metadata").and_then(Value::as_object_mut) {
                // A test may have edited it.
                metadata.remove("data_quality");
            }
            // Only rows of sessions: a job's head and its list of days are its own.
            if row["agent"] == agent && row["row"] != "day" {
                days.entry(row["date"].as_str().expect("a date").to_owned())
                    .or_default()
                    .push(row.to_string());
            }
        }
        days
    }

    /// Checks that an agent's days in a job equal, byte for byte, those of a single run over all of them.
    pub(crate) async fn as_in_one_piece(&self, request: Simulation, job: &str, agent: &str) {
        // A profile runs its days regardless of earlier jobs.
        let whole = self.world.run(Simulation { profile: true, ..request }).await;
        let whole = self.canonical(&whole, agent).await;
        let result = self.result(job, agent).await;
        let mut seen = BTreeSet::new();
        for close in result["daily_portfolio_values"].as_array().expect("closes") {
            let (date, done_in) =
                (close["date"].as_str().expect("a date"), close["job_id"].as_str().expect("a job"));
            let own = self.canonical(done_in, agent).await;
            assert_eq!(own.get(date), whole.get(date), "{agent} on {date}, done in {done_in}");
            seen.insert(date.to_owned());
        }
        assert_eq!(seen, whole.keys().cloned().collect(), "{agent} in {job}");
    }

    /// Edits the database as a person might by hand.
    pub(crate) fn edit(&self, sql: &str) -> usize {
        let file = self.world.app.config.data_dir.join("papertape.db");
        let connection = rusqlite::Connection::open(file).expect("opens");
        connection.busy_timeout(std::time::Duration::from_secs(10)).expect("waits");
        connection.execute(sql, []).expect("edits")
    }

    /// Marks a completed day as degraded.
    pub(crate) fn degrade(&self, job: &str, agent: &str, day: &str) {
        let changed = self.edit(&format!(
            "UPDATE trading_sessions SET metadata = json_set(metadata, '$.data_quality',
                 json('{{\"state\": \"research_degraded\", \"reason_codes\": [\"bull_timeout\"]}}'))
             WHERE job_id = '{job}' AND model = '{agent}' AND date = '{day}'"
        ));
        assert_eq!(changed, 1, "{agent} on {day} in {job}");
    }
}

trait IntoJson {
    fn into_json(self) -> Value;
}

impl IntoJson for (Vec<Value>, String) {
    fn into_json(self) -> Value {
        json!({ "holdings": self.0, "cash": self.1 })
    }
}

/// The position without prices.
fn position(place: &Value) -> Value {
    let held = place["holdings"].as_array().expect("holdings").iter();
    let held = held.map(|held| json!([held["symbol"], held["quantity"]])).collect();
    (held, format!("{:?}", place["cash"].as_f64().expect("cash"))).into_json()
}
