//! A small desk whose job can be killed: a database, a model server whose script depends only on the request,
//! and an external tool that notes each call in a file.

use crate::crash_child::{CHILD, Child};
use crate::external_support::AGENT;
use futures::FutureExt as _;
use papertape_agents::config::{AgentConfig, MemoryMode};
use papertape_agents::solo::LIST_TOOLS;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::message::{CallFailure, Message, ModelRequest};
use papertape_core::ports::{
    BoxFuture, ExternalCall, ExternalReply, ExternalTool, RecordStore as _, ToolClient,
};
use papertape_core::record::{JobStatus, SessionId};
use papertape_core::tape::StepState;
use papertape_core::time::Date;
use papertape_llm::{ProviderConfig, ProviderKind};
use papertape_runtime::cancellation::CancelSource;
use papertape_runtime::services::Services;
use papertape_runtime::simulate::{JobOutcome, NoopObserver};
use papertape_runtime::worker::{Worker, WorkerOptions};
use papertape_service::app::{Access, App};
use papertape_service::config::{Config, ExternalAgent, ToolServer};
use papertape_service::trigger::{QueuedJob, Request, trigger};
use papertape_store::{CommitObserver, DatabaseTarget, PageRequest, StepView, Store};
use papertape_testkit::clock::FakeClock;
use papertape_testkit::fault::{FaultPoints, FaultyStore};
use papertape_testkit::model_server::{
    Call, ModelServer, Recorded, Reply, ScriptedAnswer, Tokens, read_request,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;

/// The agents of [`request`].
pub(crate) const AGENTS: [&str; 2] = ["alpha", "beta"];
/// The job's first day; trading days are consecutive from here.
pub(crate) const FIRST: Date = jiff::civil::date(2012, 10, 1);
/// The name of the external tool server.
pub(crate) const NOTES: &str = "notes";
/// Longer than any test.
pub(crate) const LONG: Duration = Duration::from_secs(3_600);

/// The nth day of the job, from 0.
pub(crate) fn day(n: i8) -> Date {
    jiff::civil::date(2012, 10, 1 + n)
}

/// The location of a database, in a form that a child process can be given.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Place {
    Sqlite(PathBuf),
    Postgres(String, String),
}

/// Where a process can be killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Points {
    /// Before and after each call of a port.
    Ports,
    /// Inside the database's transactions of jobs.
    Transactions,
}

impl Points {
    /// The application with these points, and the services to run a job with.
    pub(crate) async fn open(
        self,
        place: &Place,
        (server, notes): (&str, &Path),
        points: &Arc<FaultPoints>,
    ) -> (App, Services) {
        match self {
            Self::Ports => {
                let app = open(place, server, notes).await;
                let services = faulty(app.services.clone(), points);
                (app, services)
            }
            Self::Transactions => {
                let app = open_observed(place, (server, notes), points).await;
                let services = Services { linger: Duration::MAX, ..app.services.clone() };
                (app, services)
            }
        }
    }
}

/// The model behind a server.
#[derive(Clone, Copy)]
pub(crate) struct Mind {
    /// Its response, which depends only on the request.
    pub(crate) answer: fn(&Value) -> ScriptedAnswer,
    /// When the deadline of a call passes that gets no response. Time is then advanced by hand, in the child
    /// processes as well.
    pub(crate) late: Option<Late>,
}

/// The deadline of a hanging request passes once another request has overtaken it.
#[derive(Clone, Copy)]
pub(crate) struct Late {
    pub(crate) hangs: fn(&Value) -> bool,
    pub(crate) passes_by: fn(&Value) -> bool,
    /// The length of the deadline.
    pub(crate) deadline: Duration,
}

/// The model that follows [`script`].
pub(crate) const SCRIPTED: Mind = Mind { answer: script, late: None };

/// A database, a model server and a place for the tool's notes.
pub(crate) struct Desk {
    pub(crate) place: Place,
    pub(crate) server: ModelServer,
    pub(crate) notes: PathBuf,
    mind: Mind,
    held: Arc<AtomicUsize>,
    _dir: TempDir,
}

impl Desk {
    /// A desk on a new SQLite file.
    pub(crate) async fn new() -> Self {
        Self::thinking(SCRIPTED).await
    }

    /// A desk on a new SQLite file, with another mind.
    pub(crate) async fn thinking(mind: Mind) -> Self {
        let dir = tempfile::tempdir().expect("makes a directory");
        let place = Place::Sqlite(dir.path().join("papertape.db"));
        Self::at(place, dir, mind).await
    }

    /// A desk on a PostgreSQL schema that others may use as well.
    pub(crate) async fn thinking_on(place: &Place, mind: Mind) -> Self {
        Self::at(place.clone(), tempfile::tempdir().expect("makes a directory"), mind).await
    }

    /// A desk whose database starts as a copy of this one's, which nobody may have open.
    pub(crate) async fn copy(&self) -> Self {
        let dir = tempfile::tempdir().expect("makes a directory");
        let Place::Sqlite(path) = &self.place else { panic!("only a file can be copied") };
        let copy = dir.path().join("papertape.db");
        std::fs::copy(path, &copy).expect("copies");
        let wal = |path: &Path| path.with_extension("db-wal");
        if wal(path).exists() {
            std::fs::copy(wal(path), wal(&copy)).expect("copies");
        }
        Self::at(Place::Sqlite(copy), dir, self.mind).await
    }

    async fn at(place: Place, dir: TempDir, mind: Mind) -> Self {
        let notes = dir.path().join("notes.jsonl");
        let held = Arc::new(AtomicUsize::new(0));
        let hold = Arc::clone(&held);
        let answer = move |body: &Value| {
            let held = hold.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok();
            let answer = (mind.answer)(body);
            if held { answer.held() } else { answer }
        };
        Self { place, server: ModelServer::answering(answer).await, notes, mind, held, _dir: dir }
    }

    /// Adds the external agent `mine`, which this Python runs.
    pub(crate) fn with_agent(self, python: &str) -> Self {
        std::fs::write(python_of(&self.notes), python).expect("writes");
        self
    }

    /// Holds back the next `answers` responses.
    pub(crate) fn hold(&self, answers: usize) {
        self.held.store(answers, SeqCst);
    }

    /// The application on this desk's database.
    pub(crate) async fn app(&self) -> App {
        open(&self.place, &self.server.url(), &self.notes).await
    }

    /// Queues a job.
    pub(crate) async fn queue(&self, request: Request) -> JobId {
        queue(&self.app().await, request).await
    }

    /// Runs a job in this process until it ends or stops.
    pub(crate) async fn run(&self, job: &JobId) -> JobOutcome {
        self.run_with(&self.app().await.services, job).await.expect("the job is there to be claimed")
    }

    /// Claims a job and runs it with these services. `None` if it cannot be claimed.
    pub(crate) async fn run_with(&self, services: &Services, job: &JobId) -> Option<JobOutcome> {
        let Some(late) = self.mind.late else { return run(services, job).await };
        let clock = FakeClock::new();
        let services = Services { clock: Arc::new(clock.clone()), ..services.clone() };
        let mut seen = self.server.count();
        let running = run(&services, job);
        let mut running = std::pin::pin!(running);
        loop {
            tokio::select! {
                ended = &mut running => return ended,
                () = self.until_late(late, &mut seen) => clock.advance(late.deadline),
            }
        }
    }

    /// Waits until a request after the first `seen` hangs and is late.
    async fn until_late(&self, late: Late, seen: &mut usize) {
        loop {
            let requests = self.server.requests();
            let hung = requests.iter().skip(*seen).position(|request| (late.hangs)(&request.body));
            // A request that an earlier process sent counts too.
            let passed = requests.iter().any(|request| (late.passes_by)(&request.body));
            if let Some(hung) = hung.filter(|_| passed) {
                *seen += hung + 1;
                return;
            }
            self.server.request(requests.len() + 1).await;
        }
    }

    /// Waits for a child's exit, and advances its time if that is driven by hand.
    pub(crate) async fn attend(&self, child: &mut tokio::process::Child) -> ExitStatus {
        let Some(late) = self.mind.late else { return child.wait().await.expect("ends") };
        let mut stdin = child.stdin.take().expect("is a pipe");
        let mut seen = self.server.count();
        loop {
            tokio::select! {
                status = child.wait() => return status.expect("ends"),
                () = self.until_late(late, &mut seen) => {
                    // A child that is gone needs no time.
                    let _ = stdin.write_all(b".").await;
                }
            }
        }
    }

    /// Runs a job in its own process, which kills itself at the nth fault point.
    ///
    /// # Panics
    /// If the process ends in any other way.
    pub(crate) async fn run_and_kill(&self, job: &JobId, at: usize) {
        self.run_and_kill_at(job, Points::Ports, at).await;
    }

    /// The same, for these fault points.
    pub(crate) async fn run_and_kill_at(&self, job: &JobId, points: Points, at: usize) {
        assert!(self.run_in_child(job, points, at).await, "the child was to be killed at point {at}");
    }

    /// The same for a job whose number of points varies. Returns `false` if the job has ended before the point.
    ///
    /// # Panics
    /// If the process fails.
    pub(crate) async fn run_in_child(&self, job: &JobId, points: Points, at: usize) -> bool {
        let mut child = self.child_at(job, points, Some(at)).spawn().expect("starts");
        let status = self.attend(&mut child).await;
        let is_killed = status.signal() == Some(9);
        assert!(is_killed || status.success(), "at point {at}: {status}");
        is_killed
    }

    /// The command that runs a job in its own process.
    pub(crate) fn child(&self, job: &JobId, kill_at: Option<usize>) -> tokio::process::Command {
        self.child_at(job, Points::Ports, kill_at)
    }

    fn child_at(&self, job: &JobId, points: Points, kill_at: Option<usize>) -> tokio::process::Command {
        let child = Child {
            place: self.place.clone(),
            server: self.server.url(),
            notes: self.notes.clone(),
            job: job.clone(),
            points,
            kill_at,
            deadline: self.mind.late.map(|late| late.deadline),
        };
        let mut command = tokio::process::Command::new(std::env::current_exe().expect("this program"));
        command
            .args(["crash_child::runs_a_job_until_it_is_killed", "--exact", "--nocapture"])
            .env(CHILD, serde_json::to_string(&child).expect("is JSON"))
            .stdin(if self.mind.late.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// The calls that the external tool has noted.
    pub(crate) fn noted(&self) -> Vec<String> {
        let notes = std::fs::read_to_string(&self.notes).unwrap_or_default();
        notes.lines().map(str::to_owned).collect()
    }

    /// A connection that bypasses the store.
    pub(crate) fn behind(&self) -> rusqlite::Connection {
        let Place::Sqlite(path) = &self.place else { panic!("only a file can be edited") };
        let connection = rusqlite::Connection::open(path).expect("opens");
        connection.busy_timeout(LONG).expect("waits");
        connection
    }
}

/// The application on a database, with the scripted provider and the noting tool.
pub(crate) async fn open(place: &Place, server: &str, notes: &Path) -> App {
    let mut config = config_with_agent(server, notes);
    let app = match place {
        Place::Sqlite(path) => {
            config.data_dir = path.parent().expect("is in a folder").to_owned();
            App::open(config, Access::Own, papertape::integrations()).await.expect("opens")
        }
        Place::Postgres(..) => compose(config, Store::open(target(place)).await.expect("opens")),
    };
    with_notes(app, notes)
}

/// The same, with fault points inside its transactions.
pub(crate) async fn open_observed(
    place: &Place,
    (server, notes): (&str, &Path),
    points: &Arc<FaultPoints>,
) -> App {
    let mut config = config_with_agent(server, notes);
    if let Place::Sqlite(path) = place {
        config.data_dir = path.parent().expect("is in a folder").to_owned();
    }
    let store = Store::open(target(place)).await.expect("opens");
    with_notes(compose(config, store.observed(Arc::new(InTransactions(Arc::clone(points))))), notes)
}

/// The writes of a transaction are in the database, which has not committed them.
pub(crate) const NOT_COMMITTED: &str = "group formed, not committed";
/// A transaction is durable, and nobody was told.
pub(crate) const NOT_WOKEN: &str = "group committed, followers not woken";

/// Fault points inside transactions.
#[derive(Debug)]
struct InTransactions(Arc<FaultPoints>);

impl CommitObserver for InTransactions {
    fn before_commit(&self, _: &JobId) {
        self.0.pass(NOT_COMMITTED);
    }

    fn before_notify(&self, _: &JobId) {
        self.0.pass(NOT_WOKEN);
    }
}

pub(crate) fn target(place: &Place) -> DatabaseTarget {
    match place {
        Place::Sqlite(path) => DatabaseTarget::Sqlite(path.clone()),
        Place::Postgres(url, schema) => DatabaseTarget::Postgres(url.clone(), schema.clone()),
    }
}

pub(crate) fn compose(config: Config, store: Store) -> App {
    App::compose(config, store, papertape::integrations()).expect("composes")
}

fn with_notes(mut app: App, notes: &Path) -> App {
    app.services.tools = Arc::new(Notes(notes.to_owned()));
    app.with_doors(|app, listener| papertape_api::serve_doors(app, listener).boxed())
}

/// The file with the path of the Python that runs the external agent `mine`, if there is one.
fn python_of(notes: &Path) -> PathBuf {
    notes.with_file_name("python")
}

fn config_with_agent(server: &str, notes: &Path) -> Config {
    let mut config = config(server);
    if let Ok(python) = std::fs::read_to_string(python_of(notes)) {
        let command = vec![python, AGENT.to_owned(), "calls".to_owned()];
        let models = vec!["test::scripted".parse().expect("a model")];
        let agent = ExternalAgent { command, models, ..ExternalAgent::default() };
        config.external_agents.insert("mine".to_owned(), agent);
    }
    config
}

pub(crate) fn config(server: &str) -> Config {
    let provider = ProviderConfig {
        kind: Some(ProviderKind::OpenaiCompatible),
        base_url: Some(server.to_owned()),
        ..ProviderConfig::default()
    };
    let mut config = crate::frictionless();
    config.models.providers.insert("test".to_owned(), provider);
    let outside =
        ToolServer { command: vec!["none".to_owned()], allow_unbounded: true, ..ToolServer::default() };
    config.tools.insert(NOTES.to_owned(), outside);
    config
}

/// Two agents over this many days.
pub(crate) fn request(days: i8) -> Request {
    Request {
        start_date: Some(FIRST),
        end_date: Some(day(days - 1)),
        agents: AGENTS.map(agent).into(),
        symbols: vec!["AAPL".to_owned(), "IBM".to_owned()],
        summaries: Some(false),
        replace_existing: true,
        ..Request::default()
    }
}

/// The same without a memory, for tests that count calls or wait for one.
pub(crate) fn forgetful(days: i8) -> Request {
    Request { memory: Some(MemoryMode::Off), ..request(days) }
}

/// An agent that uses the scripted server.
pub(crate) fn agent(name: &str) -> AgentConfig {
    AgentConfig::solo(AgentName::new(name), "test::scripted".parse().expect("a model"))
}

/// The same with the external tool.
pub(crate) fn noting(name: &str) -> AgentConfig {
    AgentConfig { tools: vec![NOTES.to_owned()], ..agent(name) }
}

pub(crate) async fn queue(app: &App, request: Request) -> JobId {
    let QueuedJob { job, .. } = trigger(app, request).await.expect("queues");
    job
}

/// The services with fault points around every effect. What is handed over is sent with the next writes that are
/// waited for, whatever the time: the order of the points does not depend on it.
pub(crate) fn faulty(services: Services, points: &Arc<FaultPoints>) -> Services {
    Services {
        linger: Duration::MAX,
        record: FaultyStore::new(services.record, points),
        queue: FaultyStore::new(services.queue, points),
        models: FaultyStore::new(services.models, points),
        tools: FaultyStore::new(services.tools, points),
        ..services
    }
}

/// A worker with a unique name.
pub(crate) fn worker(services: &Services) -> Worker {
    let options = WorkerOptions {
        owner: format!("test-{}", std::process::id()),
        lease_for: LONG,
        poll_every: LONG,
        parallel_jobs: 1,
        max_crashes_per_step: 0,
    };
    Worker::new(services.clone(), options)
}

/// Claims a job and runs it. `None` if it cannot be claimed.
pub(crate) async fn run(services: &Services, job: &JobId) -> Option<JobOutcome> {
    let stopper = CancelSource::default();
    worker(services).run_job(job, &stopper.signal(), &NoopObserver).await.expect("the record works")
}

/// Asserts that a job completed.
pub(crate) fn completed(end: &JobOutcome) {
    assert_eq!((end.status, end.error.as_deref()), (JobStatus::Completed, None));
}

/// A job in its canonical form.
pub(crate) async fn export(store: &Store, job: &JobId) -> String {
    let mut lines = Vec::new();
    assert!(store.canonical_export(job, &mut lines).await.expect("exports"), "there is a job {job}");
    String::from_utf8(lines).expect("is text")
}

/// Asserts that two exports are equal, and shows the first line that differs.
pub(crate) fn same(expected: &str, found: &str, what: &str) {
    let first = expected.lines().zip(found.lines()).find(|(left, right)| left != right);
    assert!(first.is_none(), "{what}: was and is\n{}\n{}", first.unwrap().0, first.unwrap().1);
    assert_eq!(expected.lines().count(), found.lines().count(), "{what}: lines");
}

/// The session of an agent's day.
pub(crate) async fn session(store: &Store, job: &JobId, agent: &str, date: Date) -> Option<SessionId> {
    let found = store.find_session(job, &AgentName::new(agent), date).await.expect("asks");
    found.map(|session| session.id)
}

/// The steps of an agent's day.
pub(crate) async fn steps(store: &Store, job: &JobId, agent: &str, date: Date) -> Vec<StepView> {
    match session(store, job, agent, date).await {
        Some(session) => store.steps(session, &PageRequest::first(1_000)).await.expect("reads").items,
        None => Vec::new(),
    }
}

/// All steps of a job over this many days.
pub(crate) async fn all_steps(store: &Store, job: &JobId, days: i8) -> Vec<StepView> {
    let mut all = Vec::new();
    for name in AGENTS {
        for n in 0..days {
            all.extend(steps(store, job, name, day(n)).await);
        }
    }
    all
}

/// The steps that were sent and have no outcome.
pub(crate) fn open_intents(steps: &[StepView]) -> Vec<&StepView> {
    steps.iter().filter(|step| step.state == StepState::Intent).collect()
}

/// The digest of the step that sent a request over the wire.
pub(crate) fn digest(request: &Recorded) -> ContentHash {
    read(&request.body).digest()
}

fn read(body: &Value) -> ModelRequest {
    read_request(body, "test::scripted".parse().expect("a model")).expect("a request")
}

/// The model's response, which depends only on the request, so that a repeated request gets the same one. On
/// each day it looks up a price, buys, tries to buy far too much, notes something if it can, and then ends.
pub(crate) fn script(body: &Value) -> ScriptedAnswer {
    let request = read(body);
    let mark = &request.digest().to_hex()[..8];
    // The first day is cheap.
    let asked = request.messages.first().map(Message::content).unwrap_or_default();
    let input = if asked.contains("(2012-10-01)") { 100 } else { 2_000 };
    let reply = |text: String, calls: Vec<Call>, input: u64| {
        let tokens = Some(Tokens { input, cached: 0, output: 20 });
        ScriptedAnswer::reply(Reply { text, calls, tokens, ..Reply::default() })
    };
    if asked.starts_with("Write the trader's round memory") {
        let text = format!("[Conclusion] {mark}\n[Position] as booked\n[Risk] no stop\n[Next] the same");
        return reply(text, Vec::new(), 50);
    }
    if request.tools.is_empty() {
        return reply(format!("In short: {mark}."), Vec::new(), 50);
    }
    if request.messages.iter().any(|message| matches!(message, Message::Assistant { .. })) {
        return reply(format!("Done for today: {mark}. <FINISH_SIGNAL>"), Vec::new(), input);
    }
    let call = |id: &str, name: &str, arguments: Value| Call {
        id: format!("{id}-{mark}"),
        name: name.to_owned(),
        arguments: arguments.to_string(),
    };
    let mut calls = vec![
        call("price", "get_price", json!({ "symbol": "AAPL" })),
        call("buy", "buy", json!({ "symbol": "AAPL", "quantity": 3, "reason": "it rises" })),
        call("much", "buy", json!({ "symbol": "IBM", "quantity": 1_000_000 })),
    ];
    for tool in request.tools.iter().filter(|tool| tool.name.starts_with(NOTES)) {
        calls.push(call("note", &tool.name, json!({ "text": mark })));
    }
    reply(format!("I look at AAPL: {mark}."), calls, input)
}

/// An external tool server: it notes each call in a file, and returns its arguments. It offers `look`, which
/// is repeatable; if the file `careful` exists next to the notes, `write` instead, which is not.
struct Notes(PathBuf);

impl ToolClient for Notes {
    fn list<'a>(&'a self) -> BoxFuture<'a, Result<Vec<ExternalTool>, CallFailure>> {
        async { Ok(Vec::new()) }.boxed()
    }

    fn call<'a>(&'a self, call: &'a ExternalCall) -> BoxFuture<'a, Result<ExternalReply, CallFailure>> {
        async move {
            let careful = self.0.with_file_name("careful").exists();
            let text = if call.tool == LIST_TOOLS {
                let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
                let name = if careful { "write" } else { "look" };
                let spec = json!({ "name": name, "description": "Notes a text", "parameters": schema });
                json!([{ "spec": spec, "repeatable": !careful }]).to_string()
            } else {
                let mut file =
                    std::fs::OpenOptions::new().create(true).append(true).open(&self.0).expect("opens");
                writeln!(file, "{}", call.arguments).expect("notes");
                format!("noted {}", call.arguments)
            };
            Ok(ExternalReply { text, is_error: false })
        }
        .boxed()
    }
}
