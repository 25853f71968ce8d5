//! Desks behind a real wire: a model server on which the house model plays every role, except the nodes that
//! a test breaks, and a clock that a test drives.

use crate::api_support::{World, config};
use papertape_agents::config::{AgentConfig, Analyst, DeskConfig};
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::record::SessionId;
use papertape_house as house;
use papertape_llm::{ProviderConfig, ProviderKind};
use papertape_runtime::cancellation::CancelSource;
use papertape_runtime::document;
use papertape_runtime::simulate::{JobOutcome, NoopObserver};
use papertape_runtime::worker::{Worker, WorkerOptions};
use papertape_service::app::{Access, App};
use papertape_service::trigger::{Request as Simulation, trigger};
use papertape_store::{DatabaseTarget, PageRequest, StepView, Store};
use papertape_testkit::clock::FakeClock;
use papertape_testkit::model_server::{
    self as server, ModelServer, Reply, ScriptedAnswer, Tokens, read_request,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The agent of a [`DeskWorld`]'s jobs.
pub(crate) const DESK: &str = "desk";

/// The fault of a node.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// The provider rejects the request with this status.
    Refuse(u16),
    /// The provider never responds.
    Hang,
    /// The provider responds normally, once the test lets it.
    Hold,
    /// The provider's response is unusable.
    Garbage,
    /// The provider's response ends early.
    Cut,
    /// The provider's response is empty.
    Empty,
    /// The node always says this.
    Say(String),
}

/// A broken node, of one instrument or of all.
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

/// A database with desks whose model is behind HTTP.
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
        Self::at(Some(DatabaseTarget::Postgres(place.url, place.schema))).await
    }

    async fn at(target: Option<DatabaseTarget>) -> Self {
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
            ..ProviderConfig::default()
        };
        config.models.providers.insert("lab".to_owned(), provider);
        let mut app = match target {
            None => App::open(config, Access::Own, papertape::integrations()).await.expect("it opens"),
            Some(target) => {
                App::compose(config, Store::open(target).await.expect("it opens"), papertape::integrations())
                    .expect("it is composed")
            }
        };
        let clock = FakeClock::new();
        app.services.clock = Arc::new(clock.clone());
        let options = WorkerOptions {
            owner: "test".to_owned(),
            lease_for: Duration::from_secs(600),
            poll_every: Duration::from_secs(1),
            parallel_jobs: 1,
            max_crashes_per_step: 0,
        };
        app.worker = Worker::new(app.services.clone(), options);
        let world = World { router: papertape_api::router(app.clone()), app, job: String::new(), _dir: dir };
        Self { world, server, clock, broken }
    }

    /// Breaks exactly these nodes from now on.
    pub(crate) fn break_nodes(&self, broken: impl IntoIterator<Item = Broken>) {
        *self.broken.lock().unwrap_or_else(PoisonError::into_inner) = broken.into_iter().collect();
    }

    /// Runs a simulation to its end. A node that hangs runs into its deadline: time advances once the server
    /// has its request, which is closed then. Any other call in progress whose deadline is not longer is cut
    /// off as well.
    pub(crate) async fn run(&self, simulation: Simulation) -> (JobId, JobOutcome) {
        let job = trigger(&self.world.app, simulation).await.expect("it is queued").job;
        let end = self.work(&job).await;
        (job, end)
    }

    /// Runs a queued job to its end.
    pub(crate) async fn work(&self, job: &JobId) -> JobOutcome {
        let running = self.start(job, &CancelSource::default());
        let mut seen = self.server.count();
        let watching = async {
            loop {
                seen += 1;
                self.let_time_out(seen).await;
            }
        };
        tokio::select! {
            ended = running => ended.expect("no panic"),
            () = watching => unreachable!("it watches for ever"),
        }
    }

    /// Starts a queued job, which runs until it ends or the stopper signals.
    pub(crate) fn start(&self, job: &JobId, stopper: &CancelSource) -> tokio::task::JoinHandle<JobOutcome> {
        let (worker, id, signal) = (self.world.app.worker.clone(), job.clone(), stopper.signal());
        tokio::spawn(async move {
            let ended = worker.run_job(&id, &signal, &NoopObserver).await;
            ended.expect("the record holds").expect("the job was free")
        })
    }

    /// Waits for the `nth` request; if its node hangs, its deadline passes and the call is closed.
    async fn let_time_out(&self, nth: usize) {
        let body = self.server.request(nth).await.body;
        let hangs = {
            let broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
            let fault = broken.iter().find(|broken| is_of(&body, broken));
            fault.is_some_and(|broken| matches!(broken.fault, Fault::Hang))
        };
        if hangs {
            self.clock.advance(deadline(node(&body).expect("a desk's request")));
            self.server.closed(nth).await;
        }
    }

    /// The nodes that sent requests after the first `before`, in order of arrival.
    pub(crate) fn asked_since(&self, before: usize) -> Vec<String> {
        let requests = self.server.requests().split_off(before);
        requests.iter().filter_map(|request| node(&request.body)).map(str::to_owned).collect()
    }

    /// The metadata of a job's day, its session and its API response.
    pub(crate) async fn day(&self, job: &JobId) -> Day {
        let answer = self.world.good(&format!("/results?job_id={job}&date=2012-10-01")).await;
        let answer = answer["results"][0].clone();
        let session = answer["metadata"]["session_id"].as_i64().expect("an id");
        let found = self.world.app.store.result(SessionId(session)).await.expect("reads");
        let metadata = found.expect("is there").metadata.expect("is closed");
        Day { session, answer, metadata }
    }

    /// The outcomes of a session's node steps in graph order, by symbol and node with round.
    pub(crate) async fn nodes(&self, session: i64) -> Vec<(String, Value)> {
        let app = &self.world.app;
        let page = PageRequest::first(1_000);
        let mut steps = app.store.steps(SessionId(session), &page).await.expect("reads").items;
        steps.retain(|step| step.path.kind() == "node");
        let number = |step: &StepView| step.path.as_str().rsplit_once('#').and_then(|(_, n)| n.parse().ok());
        steps.sort_by_key(|step| (step.path.scope().to_owned(), number(step).unwrap_or(0_u32)));
        let mut nodes = Vec::new();
        for step in steps {
            let read = |at: Option<ContentHash>| async move {
                let found = document(&*app.services.record, at.expect("is kept")).await;
                found.expect("reads").expect("is there")
            };
            let about = read(step.request_ref).await;
            let text = |name: &str| about[name].as_str().unwrap_or_default().to_owned();
            let name = format!("{}/{}#{}", text("symbol"), text("node"), about["round"]);
            nodes.push((name, read(step.outcome_ref).await));
        }
        nodes
    }
}

/// The data of a desk's day.
pub(crate) struct Day {
    pub(crate) session: i64,
    /// As returned by `GET /results`.
    pub(crate) answer: Value,
    /// As stored in the database.
    pub(crate) metadata: Value,
}

/// A node's timeout, from the table of a desk's default deadlines.
pub(crate) fn deadline(node: &str) -> Duration {
    Duration::from_secs(match node {
        "Market Analyst" | "Sentiment Analyst" | "News Analyst" | "Fundamentals Analyst" => 75,
        "Trader" | "Portfolio Manager" => 60,
        _ => 30,
    })
}

/// A Trader and a Portfolio Manager who always buy.
pub(crate) fn buyers() -> [Broken; 2] {
    let proposal = json!({
        "action": "Buy", "reasoning": "The plan says so.", "entry_price": null, "stop_loss": null,
        "take_profit": null, "leverage": null, "position_sizing": null
    });
    let decision = json!({
        "rating": "Buy", "executive_summary": "We go in.", "investment_thesis": "The trend is up.",
        "price_target": null, "time_horizon": null
    });
    [("Trader", proposal), ("Portfolio Manager", decision)]
        .map(|(node, answer)| Broken::new(node, Fault::Say(answer.to_string())))
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

/// The node that sent a request, by the first line of its system prompt.
pub(crate) fn node(body: &Value) -> Option<&str> {
    let system = body["messages"][0]["content"].as_str()?;
    let first = system.lines().next()?;
    first.strip_prefix("Role:").or_else(|| first.strip_prefix("角色：")).map(str::trim)
}

fn is_of(body: &Value, broken: &Broken) -> bool {
    let about = |symbol: &str| body["messages"].to_string().contains(symbol);
    node(body) == Some(broken.node) && broken.symbol.is_none_or(about)
}

/// The server's response: the first fault that matches, or the house model's response.
pub(crate) fn answer(body: &Value, broken: &[Broken]) -> ScriptedAnswer {
    match broken.iter().find(|broken| is_of(body, broken)).map(|broken| &broken.fault) {
        Some(Fault::Refuse(status)) => ScriptedAnswer::error(*status, "on_purpose"),
        Some(Fault::Hang) => ScriptedAnswer::text("too late").held(),
        Some(Fault::Hold) => house(body).held(),
        Some(Fault::Garbage) => ScriptedAnswer::garbage(),
        Some(Fault::Cut) => ScriptedAnswer::text("Half of what was").broken(server::Broken::Cut),
        Some(Fault::Empty) => ScriptedAnswer::empty(),
        Some(Fault::Say(text)) => ScriptedAnswer::text(text),
        None => house(body),
    }
}

/// The house model's response, over the wire.
pub(crate) fn house(body: &Value) -> ScriptedAnswer {
    let model = "house::momentum".parse().expect("a model");
    let request = read_request(body, model).expect("a request in the wire format");
    let answer = house::answer(&request).expect("the house model knows it");
    let tokens = Some(Tokens { input: 1_000, cached: 0, output: 20 });
    ScriptedAnswer::reply(Reply { tokens, ..Reply::from(&answer.reply) })
}
