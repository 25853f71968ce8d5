//! Desks behind a real wire: a model server that lets the house model play every role, but for the nodes
//! that a test breaks, and a clock that a test drives.

use crate::api_support::{World, config};
use papertape::api;
use papertape::app::{Access, App};
use papertape::trigger::{Request as Simulation, trigger};
use papertape_agents::config::AgentConfig;
use papertape_agents::desk::config::{Analyst, DeskConfig};
use papertape_core::id::{AgentName, JobId};
use papertape_llm::{ProviderConfig, ProviderKind, house};
use papertape_runtime::simulate::{JobEnd, Unobserved};
use papertape_runtime::stopping::Stopper;
use papertape_runtime::worker::{Worker, WorkerOptions};
use papertape_store::{Store, Target};
use papertape_testkit::clock::FakeClock;
use papertape_testkit::model_server::{ModelServer, Reply, ScriptedAnswer, read_request};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The agent of a [`DeskWorld`]'s jobs.
pub(crate) const DESK: &str = "desk";

/// What is wrong with a node.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// Its provider refuses with this status.
    Refuse(u16),
    /// Its provider never answers.
    Hang,
    /// It says this, whatever it is asked.
    Say(String),
}

/// A node that is broken, of one instrument or of all.
#[derive(Clone, Debug)]
pub(crate) struct Broken {
    pub(crate) node: &'static str,
    pub(crate) symbol: Option<&'static str>,
    pub(crate) fault: Fault,
}

impl Broken {
    pub(crate) fn new(node: &'static str, fault: Fault) -> Self {
        Self { node, symbol: None, fault }
    }
}

/// A record with desks whose model is behind HTTP.
pub(crate) struct DeskWorld {
    pub(crate) world: World,
    pub(crate) server: Arc<ModelServer>,
    pub(crate) clock: FakeClock,
    broken: Arc<Mutex<Vec<Broken>>>,
}

impl DeskWorld {
    /// On SQLite.
    pub(crate) async fn new() -> Self {
        Self::at(None).await
    }

    /// On PostgreSQL.
    pub(crate) async fn on_postgres() -> Self {
        let place = papertape_testkit::postgres::place().expect("PostgreSQL");
        Self::at(Some(Target::Postgres(place.url, place.schema))).await
    }

    async fn at(target: Option<Target>) -> Self {
        let broken: Arc<Mutex<Vec<Broken>>> = Arc::default();
        let shared = Arc::clone(&broken);
        let server = ModelServer::answering(move |body| {
            let broken = shared.lock().unwrap_or_else(PoisonError::into_inner);
            answer(body, &broken)
        });
        let server = Arc::new(server.await);
        let dir = tempfile::tempdir().expect("a directory");
        let mut config = config(&dir);
        let provider = ProviderConfig {
            kind: Some(ProviderKind::OpenaiCompatible),
            base_url: Some(server.url()),
            api_key_env: None,
            stream: true,
        };
        config.models.providers.insert("lab".to_owned(), provider);
        let mut app = match target {
            None => App::open(config, Access::Own).await.expect("it opens"),
            Some(target) => {
                App::compose(config, Store::open(target).await.expect("it opens")).expect("it is composed")
            }
        };
        let clock = FakeClock::new();
        app.services.clock = Arc::new(clock.clone());
        let options = WorkerOptions {
            owner: "test".to_owned(),
            lease_for: Duration::from_secs(600),
            poll_every: Duration::from_secs(1),
            parallel_jobs: 1,
        };
        app.worker = Worker::new(app.services.clone(), options);
        let world = World { router: api::router(app.clone()), app, job: String::new(), _dir: dir };
        Self { world, server, clock, broken }
    }

    /// From now on these nodes are broken, and no others.
    pub(crate) fn break_nodes(&self, broken: impl IntoIterator<Item = Broken>) {
        *self.broken.lock().unwrap_or_else(PoisonError::into_inner) = broken.into_iter().collect();
    }

    /// Runs a simulation to its end. A node that hangs is let run into its deadline: time moves once the
    /// server has its request, which is closed then.
    pub(crate) async fn run(&self, simulation: Simulation) -> (JobId, JobEnd) {
        let job = trigger(&self.world.app, simulation).await.expect("it is queued").job;
        let end = self.work(&job).await;
        (job, end)
    }

    /// Runs a queued job to its end.
    pub(crate) async fn work(&self, job: &JobId) -> JobEnd {
        let (worker, id) = (self.world.app.worker.clone(), job.clone());
        let running =
            tokio::spawn(async move { worker.run_job(&id, &Stopper::default().signal(), &Unobserved).await });
        let hanging = self.broken.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let hangs = |body: &Value| {
            let fault = hanging.iter().find(|broken| is_of(body, broken));
            fault.is_some_and(|broken| matches!(broken.fault, Fault::Hang))
        };
        let mut seen = self.server.count();
        let watching = async {
            loop {
                seen += 1;
                if hangs(&self.server.request(seen).await.body) {
                    self.clock.advance(Duration::from_secs(75));
                    self.server.closed(seen).await;
                }
            }
        };
        let ended = tokio::select! {
            ended = running => ended,
            () = watching => unreachable!("it watches for ever"),
        };
        ended.expect("no panic").expect("the record holds").expect("the job was free")
    }
}

/// A desk whose model is behind the server.
pub(crate) fn desk(analysts: &[Analyst]) -> AgentConfig {
    let mut agent = AgentConfig::desk(AgentName::new(DESK), "lab::one".parse().expect("a model"));
    agent.limits.max_attempts = 1;
    let selected: BTreeSet<Analyst> = analysts.iter().copied().collect();
    agent.desk = Some(DeskConfig { selected_analysts: selected, ..DeskConfig::default() });
    agent
}

/// One day of one desk.
pub(crate) fn one_day(symbols: &[&str]) -> Simulation {
    Simulation {
        start_date: Some(jiff::civil::date(2012, 10, 1)),
        end_date: Some(jiff::civil::date(2012, 10, 1)),
        agents: vec![desk(&[Analyst::Market])],
        symbols: symbols.iter().map(|symbol| (*symbol).to_owned()).collect(),
        initial_cash: Some(100_000.into()),
        summaries: Some(false),
        ..Simulation::default()
    }
}

/// The node that a request is of, by the first line of its system prompt.
pub(crate) fn node(body: &Value) -> Option<&str> {
    let system = body["messages"][0]["content"].as_str()?;
    let first = system.lines().next()?;
    first.strip_prefix("Role:").or_else(|| first.strip_prefix("角色：")).map(str::trim)
}

fn is_of(body: &Value, broken: &Broken) -> bool {
    let about = |symbol: &str| body["messages"].to_string().contains(symbol);
    node(body) == Some(broken.node) && broken.symbol.is_none_or(about)
}

fn answer(body: &Value, broken: &[Broken]) -> ScriptedAnswer {
    match broken.iter().find(|broken| is_of(body, broken)).map(|broken| &broken.fault) {
        Some(Fault::Refuse(status)) => ScriptedAnswer::error(*status, "on_purpose"),
        Some(Fault::Hang) => ScriptedAnswer::text("too late").held(),
        Some(Fault::Say(text)) => ScriptedAnswer::text(text),
        None => {
            let model = "house::momentum".parse().expect("a model");
            let request = read_request(body, model).expect("a request in the wire format");
            let answer = house::answer(&request).expect("the house model knows it");
            ScriptedAnswer::reply(Reply::from(&answer.reply))
        }
    }
}
