//! Helpers shared by the tests of jobs.

use futures::FutureExt as _;
use papertape_agents::config::AgentConfig;
use papertape_agents::day::StartState;
use papertape_agents::prompt::PromptSet;
use papertape_core::broker::MarketProfile;
use papertape_core::external::{
    ExternalAgents, ModelDoorReply, ModelDoorRequest, ModelDoorResponse, NoExternalAgents,
};
use papertape_core::id::{ContentHash, JobId, Symbol};
use papertape_core::json::to_value;
use papertape_core::market::Dataset;
use papertape_core::message::{
    CallFailure, FailureKind, ModelName, ModelReply, ModelRequest, ToolCall, Usage,
};
use papertape_core::money::Money;
use papertape_core::ports::{
    AttemptFailure, BoxFuture, Clock, DeltaSink, ExternalCall, ExternalReply, ExternalTool, ModelClient,
    ModelResponse, Queue, RecordStore, ToolClient,
};
use papertape_core::record::{JobRow, JobStatus, NewJob};
use papertape_redact::Redactor;
use papertape_runtime::budget::Budget;
use papertape_runtime::cancellation::CancelSource;
use papertape_runtime::config::{DatasetRef, SimulationConfig};
use papertape_runtime::doors::Doors;
use papertape_runtime::services::{Datasets, Services};
use papertape_runtime::simulate::{JobOutcome, NoopObserver};
use papertape_runtime::worker::{Worker, WorkerOptions};
use papertape_testkit::clock::FakeClock;
use papertape_testkit::data::SmallData;
use papertape_testkit::fault::{FaultPoints, FaultyStore};
use papertape_testkit::record::MemoryRecord;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Semaphore;

pub(crate) const SECRET: &str = "orchard-lamp-99-violet";

pub(crate) fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// A model's scripted response to one attempt.
#[derive(Clone)]
pub(crate) struct Turn {
    /// How long it takes.
    pub(crate) takes: Duration,
    pub(crate) result: Result<ModelReply, AttemptFailure>,
    /// Whether its provider reports no usage.
    pub(crate) is_unmetered: bool,
}

pub(crate) fn says(text: &str) -> Turn {
    let result = Ok(ModelReply { text: text.to_owned(), ..ModelReply::default() });
    Turn { takes: Duration::ZERO, result, is_unmetered: false }
}

pub(crate) fn done() -> Turn {
    says("Done. <FINISH_SIGNAL>")
}

pub(crate) fn calls(tool: &str, arguments: Value) -> Turn {
    let call = ToolCall { id: "c".to_owned(), name: tool.to_owned(), arguments };
    let reply = ModelReply { text: "So.".to_owned(), tool_calls: vec![call], ..ModelReply::default() };
    Turn { takes: Duration::ZERO, result: Ok(reply), is_unmetered: false }
}

pub(crate) fn fails(kind: FailureKind, message: &str) -> Turn {
    let failure = CallFailure { kind, message: message.to_owned() };
    let result = Err(AttemptFailure { failure, retry_after: None, usage: None });
    Turn { takes: Duration::ZERO, result, is_unmetered: false }
}

impl Turn {
    pub(crate) fn taking(self, takes: Duration) -> Self {
        Self { takes, ..self }
    }

    pub(crate) fn unmetered(self) -> Self {
        Self { is_unmetered: true, ..self }
    }

    pub(crate) fn asking_for(mut self, pause: Duration) -> Self {
        if let Err(failed) = &mut self.result {
            failed.retry_after = Some(pause);
        }
        self
    }

    pub(crate) fn having_used(mut self, tokens: u64) -> Self {
        if let Err(failed) = &mut self.result {
            failed.usage = Some(Usage { input_tokens: tokens, ..Usage::default() });
        }
        self
    }
}

type Script = Box<dyn Fn(usize, &ModelRequest) -> Turn + Send + Sync>;

/// Scripted models: the script receives the number of the attempt over all, from 1, and the request. A response
/// uses 100 tokens.
pub(crate) struct Scripted {
    clock: FakeClock,
    script: Script,
    sent: Mutex<Vec<Duration>>,
    forwarded: Mutex<Vec<Value>>,
}

impl Scripted {
    /// When each attempt was sent, since the clock was created.
    pub(crate) fn sent(&self) -> Vec<Duration> {
        self.sent.lock().expect("a lock").clone()
    }

    /// The bodies of the calls that came in at a model endpoint, one per attempt.
    pub(crate) fn forwarded(&self) -> Vec<Value> {
        self.forwarded.lock().expect("a lock").clone()
    }
}

impl ModelClient for Scripted {
    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        _: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelResponse, AttemptFailure>> {
        async move {
            let number = {
                let mut sent = self.sent.lock().expect("a lock");
                sent.push(self.clock.elapsed());
                sent.len()
            };
            let turn = (self.script)(number, request);
            if !turn.takes.is_zero() {
                self.clock.sleep(turn.takes).await;
            }
            let usage = Usage { input_tokens: 80, cached_tokens: 0, output_tokens: 20 };
            let usage = (!turn.is_unmetered).then_some(usage);
            turn.result.map(|reply| ModelResponse { reply, usage })
        }
        .boxed()
    }

    /// Answers with the question, after as many seconds as the body says, or never. Before and after that time, it sends
    /// as many words as the body says.
    fn forward<'a>(
        &'a self,
        request: &'a ModelDoorRequest,
        delta: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelDoorResponse, AttemptFailure>> {
        async move {
            self.forwarded.lock().expect("a lock").push(request.body.clone());
            let words = "and then ".repeat(request.body["words"].as_u64().map_or(0, |words| words as usize));
            let send_words = || delta.iter().for_each(|delta| delta(&words));
            send_words();
            match request.body["takes"].as_u64() {
                Some(takes) => self.clock.sleep(secs(takes)).await,
                None if request.body["hangs"] == true => futures::future::pending().await,
                None => {}
            }
            send_words();
            let text = format!("re: {}", request.body["ask"].as_str().unwrap_or_default());
            let reply = ModelDoorReply { body: json!({ "id": "r-1", "text": text }), text, finish: None };
            let usage = Usage { input_tokens: 80, cached_tokens: 0, output_tokens: 20 };
            Ok(ModelDoorResponse { reply, usage: Some(usage) })
        }
        .boxed()
    }

    fn check(&self, _: &ModelName) -> Result<(), String> {
        Ok(())
    }

    fn house_version(&self, _: &ModelName) -> Option<u32> {
        None
    }

    fn cost(&self, _: &ModelName, usage: &Usage) -> Option<Decimal> {
        Some(Decimal::from(usage.input_tokens + usage.output_tokens) / Decimal::from(1_000))
    }
}

struct NoTools;

impl ToolClient for NoTools {
    fn list<'a>(&'a self) -> BoxFuture<'a, Result<Vec<ExternalTool>, CallFailure>> {
        async { Ok(Vec::new()) }.boxed()
    }

    fn call<'a>(&'a self, _: &'a ExternalCall) -> BoxFuture<'a, Result<ExternalReply, CallFailure>> {
        let kind = FailureKind::ToolError;
        async move { Err(CallFailure { kind, message: format!("no tools, {SECRET}") }) }.boxed()
    }
}

struct One(Arc<Dataset>);

impl Datasets for One {
    fn open(&self, hash: ContentHash) -> Result<Arc<Dataset>, String> {
        if hash == self.0.hash() { Ok(Arc::clone(&self.0)) } else { Err("no such dataset".to_owned()) }
    }
}

/// A record, a clock, three days of data, and the services of a job.
pub(crate) struct Stage {
    pub(crate) clock: FakeClock,
    pub(crate) record: Arc<MemoryRecord>,
    pub(crate) data: Arc<Dataset>,
    pub(crate) agents: Vec<AgentConfig>,
    pub(crate) budget: Budget,
    pub(crate) summaries: bool,
    pub(crate) places: usize,
    /// Counts the record's transactions, or makes one fail.
    pub(crate) points: Arc<FaultPoints>,
    /// How long writes that nobody waits for stay in a session's log.
    pub(crate) linger: Duration,
    /// The external agents.
    pub(crate) external: Arc<dyn ExternalAgents>,
    /// The doors of their sessions.
    pub(crate) doors: Arc<Doors>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let bars = [["100", "110", "90", "105"], ["106", "112", "104", "110"], ["111", "115", "108", "112"]];
        let clock = FakeClock::new();
        Self {
            record: Arc::new(MemoryRecord::new(&clock)),
            clock,
            data: Arc::new(SmallData::new("2024-01-02", 3).symbol("AAPL", &bars).build()),
            agents: vec![agent("gpt")],
            budget: Budget::default(),
            summaries: false,
            places: 8,
            points: FaultPoints::counting(),
            linger: Duration::MAX,
            external: Arc::new(NoExternalAgents),
            doors: Arc::default(),
        }
    }

    pub(crate) fn config(&self) -> (SimulationConfig, Vec<papertape_core::record::StoredText>) {
        let market = MarketProfile::us_equity().frictionless();
        let initial_cash = Money(Decimal::from(10_000));
        let mut texts = Vec::new();
        let mut starts = BTreeMap::new();
        for agent in &self.agents {
            let doc = StartState::new(agent, market.clone(), initial_cash, 7).to_doc();
            starts.insert(agent.name.clone(), doc.hash);
            texts.extend(doc.texts);
        }
        let config = SimulationConfig {
            dataset: DatasetRef { name: "small".to_owned(), hash: self.data.hash() },
            start_date: self.data.days()[0].date,
            end_date: self.data.days()[2].date,
            symbols: [Symbol::new("AAPL")].into(),
            universe: None,
            agents: self.agents.clone(),
            market,
            initial_cash,
            seed: 7,
            prompts: PromptSet::built_in().hash(),
            summaries: self.summaries,
            benchmark: None,
            memory: papertape_agents::config::MemorySettings::off(),
            embedding: None,
            memory_from: None,
            starts,
            continues: BTreeMap::new(),
            branch: None,
            masking: None,
            imported: None,
            budget: self.budget,
        };
        (config, texts)
    }

    /// Queues a simulation.
    pub(crate) fn queue(&self, id: &str) -> JobId {
        self.queue_with(id, |_| {})
    }

    pub(crate) fn queue_with(&self, id: &str, change: impl FnOnce(&mut SimulationConfig)) -> JobId {
        let (mut config, texts) = self.config();
        change(&mut config);
        self.enqueue(id, "simulate", to_value(&config), texts)
    }

    pub(crate) fn enqueue(
        &self,
        id: &str,
        kind: &str,
        config: Value,
        texts: Vec<papertape_core::record::StoredText>,
    ) -> JobId {
        let id = JobId::new(id);
        let job = NewJob {
            id: id.clone(),
            kind: kind.into(),
            fingerprint: ContentHash::of(config.to_string().as_bytes()),
            config,
            warnings: Vec::new(),
            days: Vec::new(),
            parent: None,
            plan: None,
            supersedes: Vec::new(),
            continues: Vec::new(),
            texts,
            created_at: self.clock.now(),
        };
        self.clock.run(self.record.enqueue(job)).expect("queued");
        id
    }

    pub(crate) fn models(
        &self,
        script: impl Fn(usize, &ModelRequest) -> Turn + Send + Sync + 'static,
    ) -> Arc<Scripted> {
        Arc::new(Scripted {
            clock: self.clock.clone(),
            script: Box::new(script),
            sent: Mutex::default(),
            forwarded: Mutex::default(),
        })
    }

    pub(crate) fn services(&self, models: &Arc<Scripted>) -> Services {
        let record: Arc<MemoryRecord> = Arc::clone(&self.record);
        let models: Arc<Scripted> = Arc::clone(models);
        let secrets = vec![("openai".to_owned(), SECRET.to_owned())];
        Services {
            record: FaultyStore::new(Arc::clone(&record) as Arc<dyn RecordStore>, &self.points),
            queue: Arc::clone(&record) as Arc<dyn Queue>,
            shared_budgets: Arc::clone(&record) as _,
            overruns: Arc::default(),
            actions: record,
            models,
            tools: Arc::new(NoTools),
            external: Arc::clone(&self.external),
            doors: Arc::clone(&self.doors),
            clock: Arc::new(self.clock.clone()),
            datasets: Arc::new(One(Arc::clone(&self.data))),
            prompts: Arc::new(PromptSet::built_in()),
            redactor: Arc::new(Redactor::new(secrets).expect("a redactor")),
            call_slots: Arc::new(Semaphore::new(self.places)),
            linger: self.linger,
            exclusive_slot: Arc::new(Semaphore::new(1)),
        }
    }

    pub(crate) fn worker(&self, models: &Arc<Scripted>) -> Worker {
        let options = WorkerOptions {
            owner: "test".to_owned(),
            lease_for: secs(30),
            poll_every: secs(1),
            parallel_jobs: 2,
            max_crashes_per_step: 5,
        };
        Worker::new(self.services(models), options)
    }

    /// Claims and runs a job to its end or stop.
    pub(crate) fn run(&self, job: &JobId, models: &Arc<Scripted>) -> JobOutcome {
        let stopper = CancelSource::default();
        let worker = self.worker(models);
        let end = self.clock.run(worker.run_job(job, &stopper.signal(), &NoopObserver));
        end.expect("the record works").expect("the job can be claimed")
    }

    pub(crate) fn job(&self, job: &JobId) -> JobRow {
        self.clock.run(self.record.get_job(job)).expect("the record works").expect("the job is there")
    }

    pub(crate) fn status(&self, job: &JobId) -> JobStatus {
        self.job(job).status
    }

    /// What was recorded for the first agent's nth day, from 0.
    pub(crate) fn kept(&self, job: &JobId, n: usize) -> papertape_testkit::kept::StoredSnapshot {
        self.record.session(job, self.agents[0].name.as_str(), self.data.days()[n].date).kept
    }
}

pub(crate) fn agent(name: &str) -> AgentConfig {
    let mut agent = AgentConfig::solo(name.into(), "openai::gpt-5".parse().expect("a model's name"));
    agent.limits.call_timeout_secs = 60;
    agent.limits.session_timeout_secs = 600;
    agent
}

pub(crate) fn price() -> Turn {
    calls("get_price", json!({ "symbol": "AAPL" }))
}

pub(crate) fn buy(quantity: i64) -> Turn {
    calls("buy", json!({ "symbol": "AAPL", "quantity": quantity }))
}

/// Which turn of its conversation a request is for, from 1.
pub(crate) fn turn_of(request: &ModelRequest) -> usize {
    let answers =
        request.messages.iter().filter(|m| m.role() == papertape_core::message::Role::Assistant).count();
    answers + 1
}

/// Reads a price, buys one share, ends.
pub(crate) fn usual(request: &ModelRequest) -> Turn {
    match turn_of(request) {
        1 => price(),
        2 => buy(1),
        _ => done(),
    }
}
