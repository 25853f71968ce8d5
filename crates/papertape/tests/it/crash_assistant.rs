//! The assistant is killed at every point at which a crash can matter, resumed by another process, and ends
//! as if nothing had happened: nothing is done twice, nothing is lost.

use crate::crash_support::{Desk, Mind, Place, SCRIPTED, export, faulty, same, worker};
use futures::{FutureExt as _, StreamExt as _};
use papertape_assistant::settings::{Decompose, Execute, Limits};
use papertape_core::id::JobId;
use papertape_core::language::Language;
use papertape_core::message::ModelName;
use papertape_core::page::PageRequest;
use papertape_core::plan::{NewPlan, NewTask, PlanId, PlanWrite, TaskId, TaskWrite};
use papertape_core::ports::{ActionLog as _, BoxFuture, Plans as _, Queue, RecordError};
use papertape_core::record::{JobKind, JobRow, JobStatus, Lease, NewJob};
use papertape_redact::Sanitized;
use papertape_runtime::cancellation::{CancelSource, StopReason};
use papertape_runtime::job_runner::JobRunner;
use papertape_runtime::services::Services;
use papertape_runtime::simulate::{JobOutcome, NoopObserver};
use papertape_runtime::worker::{Worker, WorkerOptions};
use papertape_service::app::App;
use papertape_service::assistant::{NewMessage, decompose, execute, post_message};
use papertape_store::Store;
use papertape_testkit::fault::FaultPoints;
use papertape_testkit::model_server::ScriptedAnswer;
use papertape_testkit::postgres;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The number of databases in use at a time.
const SIDE_BY_SIDE: usize = 4;
/// The lease of any job other than the one under test, unless it is renewed.
const BRIEF: Duration = Duration::from_secs(3);
/// A request for which a plan needs a run, two tasks that read it and a search.
const WORK: &str = "Backtest house::momentum on AAPL from 2012-10-01 to 2012-10-02, compare it with buy and \
    hold, search memory for AAPL";

/// A queued job of the assistant, by what is to be killed.
#[derive(Clone, Copy, Debug)]
enum Work {
    Chat,
    Decompose,
    Execute,
}

/// Queues the work.
async fn queued(app: &App, work: Work) -> JobId {
    match work {
        Work::Chat => {
            let message = format!("Create a plan Autumn: {WORK}; then decompose it and execute it");
            let asked = NewMessage { message, language: Some(Language::En), ..NewMessage::default() };
            post_message(app, asked).await.expect("it is taken").assistant.job_id.expect("a job")
        }
        Work::Decompose => {
            let plan = plan(app, &[]).await;
            let what = Decompose { plan_id: plan, task_id: None, limits: Limits::default() };
            decompose(app, what, Language::En).await.expect("it is queued")
        }
        Work::Execute => {
            let tasks = [
                ("Backtest house::momentum on AAPL from 2012-10-01 to 2012-10-02.", &[][..]),
                ("Compare the run with buy and hold.", &[0]),
                ("Show the results of the run.", &[0]),
                ("Search the web for Apple.", &[]),
                ("Show the results of the run.", &[3]),
            ];
            let plan = plan(app, &tasks).await;
            let what = Execute { plan_id: plan, task_id: None, trusted: false };
            execute(app, what, Language::En).await.expect("it is queued")
        }
    }
}

/// A plan with these tasks, each with the indices of its dependencies.
async fn plan(app: &App, tasks: &[(&str, &[usize])]) -> PlanId {
    let write = async |write: PlanWrite| {
        let clean = Sanitized::of(&app.services.redactor, vec![write]);
        let written = app.store.write_plans(clean, app.services.clock.now()).await.expect("it is written");
        written[0]
    };
    let new = NewPlan {
        id: None,
        name: "Autumn".to_owned(),
        goal: WORK.to_owned(),
        chat_session: None,
        origin: None,
    };
    let plan = write(PlanWrite::Create(new)).await.plan;
    let mut made: Vec<TaskId> = Vec::new();
    for (instruction, dependencies) in tasks {
        let new = NewTask {
            id: None,
            parent: None,
            name: format!("Task {}", made.len()),
            instruction: (*instruction).to_owned(),
            position: None,
            dependencies: dependencies.iter().map(|at| made[*at]).collect(),
            origin: None,
        };
        let written = write(PlanWrite::Task { plan, write: TaskWrite::Create(new) }).await;
        made.push(written.task.expect("a task"));
    }
    plan
}

/// The complete result, without what differs between runs.
#[derive(Debug, PartialEq)]
struct Came {
    /// The job's tape.
    export: String,
    /// Its action log, without the rows of the job itself, in the order of their actions.
    log: Vec<String>,
    /// All plans with their tasks.
    plans: Vec<Value>,
    /// All jobs with their kinds and statuses.
    jobs: Vec<String>,
    /// The conversation's messages.
    said: Vec<Value>,
}

impl Came {
    async fn of(app: &App, job: &JobId) -> Self {
        let rows = app.store.action_log(job).await.expect("reads");
        let mut log: Vec<String> = rows
            .iter()
            .map(|row| {
                (row, row.row.details.as_ref().map(|details| details["action"].clone()).unwrap_or_default())
            })
            .filter(|(_, action)| action != "job")
            .map(|(row, action)| {
                format!("{action} {} {} {:?}", row.row.name, row.row.status, row.row.message)
            })
            .collect();
        let numbers: Vec<i64> = rows.iter().map(|row| row.sequence).collect();
        let gapless: Vec<i64> = (1..).take(numbers.len()).collect();
        assert_eq!(numbers, gapless, "the log has no gaps");
        log.sort();
        let mut plans = Vec::new();
        for plan in app.store.plans(&PageRequest::first(50)).await.expect("reads").items {
            let tasks = app.store.tasks(plan.id).await.expect("reads");
            let task = |task: &papertape_core::plan::Task| {
                json!({ "id": task.id, "name": task.name, "status": task.status, "parent": task.parent_id,
                    "dependencies": task.dependencies, "result": task.execution_result })
            };
            plans.push(json!({ "id": plan.id, "name": plan.name, "status": plan.status,
                "tasks": tasks.iter().map(task).collect::<Vec<_>>() }));
        }
        let filter = papertape_store::JobFilter::default();
        let all =
            app.store.jobs(&filter, &papertape_store::PageRequest::first(100)).await.expect("reads").items;
        let mut jobs: Vec<String> =
            all.iter().map(|item| format!("{} {} {}", item.job.kind, item.job.id, item.job.status)).collect();
        jobs.sort();
        let mut said = Vec::new();
        if let Some(turn) = papertape_core::ports::Chats::turn(&app.store, job).await.expect("reads") {
            said.push(json!({ "content": turn.assistant.content, "metadata": turn.assistant.metadata }));
        }
        Self { export: export(&app.store, job).await, log, plans, jobs, said }
    }
}

/// Runs the job, with another worker for the jobs that it starts. `None` if it cannot be claimed.
async fn run_beside(app: &App, job: &JobId, points: Option<&Arc<FaultPoints>>) -> Option<JobOutcome> {
    let others = Others::beside(app, job);
    let services = match points {
        Some(points) => faulty(app.services.clone(), points),
        None => app.services.clone(),
    };
    let ended = run_any(app, &services, job).await;
    others.end().await;
    ended
}

/// Claims a job of any kind and runs it. `None` if it cannot be claimed.
pub(crate) async fn run_any(app: &App, services: &Services, job: &JobId) -> Option<JobOutcome> {
    let worker = worker(services).with_runners(assistant(app));
    let stopper = CancelSource::default();
    worker.run_job(job, &stopper.signal(), &NoopObserver).await.expect("the record works")
}

fn assistant(app: &App) -> Vec<Arc<dyn JobRunner>> {
    papertape_service::assistant::runners(app, &BTreeMap::new()).expect("its prompts are usable")
}

/// A worker that takes all jobs but one.
pub(crate) struct Others {
    stopper: CancelSource,
    task: tokio::task::JoinHandle<()>,
}

impl Others {
    pub(crate) fn beside(app: &App, job: &JobId) -> Self {
        let stopper = CancelSource::default();
        let queue = AllBut { store: app.store.clone(), job: job.clone() };
        let services = Services { queue: Arc::new(queue), ..app.services.clone() };
        let options = WorkerOptions {
            owner: format!("others-{}", std::process::id()),
            // Renewed three times per lease.
            lease_for: BRIEF,
            // Each poll lists jobs: often enough to lose no time, rarely enough not to slow the work down.
            poll_every: Duration::from_millis(20),
            parallel_jobs: 2,
            max_crashes_per_step: 0,
        };
        let (worker, signal) =
            (Worker::new(services, options).with_runners(assistant(app)), stopper.signal());
        Self { stopper, task: tokio::spawn(async move { worker.serve(signal).await }) }
    }

    pub(crate) async fn end(self) {
        self.stopper.stop(StopReason::Shutdown);
        self.task.await.expect("it ends");
    }
}

/// The queue without the job under test. Leases are short: what a killed process held is soon free.
struct AllBut {
    store: Store,
    job: JobId,
}

impl AllBut {
    async fn claim_where(
        &self,
        owner: &str,
        is_meant: impl Fn(&JobKind) -> bool,
    ) -> Result<Option<(Lease, JobRow)>, RecordError> {
        for status in [JobStatus::Queued, JobStatus::Running] {
            let filter = papertape_store::JobFilter { kind: None, status: Some(status) };
            let page = papertape_store::PageRequest::first(50);
            let found = self.store.jobs(&filter, &page).await.expect("reads");
            let others = found.items.iter().filter(|item| item.job.id != self.job);
            for item in others.filter(|item| is_meant(&item.job.kind)) {
                let claimed = self.store.claim(owner, BRIEF, Some(&item.job.id)).await?;
                if claimed.is_some() {
                    return Ok(claimed);
                }
            }
        }
        Ok(None)
    }
}

impl Queue for AllBut {
    fn enqueue<'a>(&'a self, job: NewJob) -> BoxFuture<'a, Result<(), RecordError>> {
        self.store.enqueue(job)
    }

    fn claim<'a>(
        &'a self,
        owner: &'a str,
        _: Duration,
        _: Option<&'a JobId>,
    ) -> BoxFuture<'a, Result<Option<(Lease, JobRow)>, RecordError>> {
        self.claim_where(owner, |_| true).boxed()
    }

    fn claim_of<'a>(
        &'a self,
        owner: &'a str,
        _: Duration,
        kinds: &'a [JobKind],
    ) -> BoxFuture<'a, Result<Option<(Lease, JobRow)>, RecordError>> {
        self.claim_where(owner, |kind| kinds.contains(kind)).boxed()
    }

    fn renew<'a>(&'a self, lease: &'a Lease, _: Duration) -> BoxFuture<'a, Result<bool, RecordError>> {
        self.store.renew(lease, BRIEF)
    }

    fn finish<'a>(
        &'a self,
        lease: &'a Lease,
        status: JobStatus,
        error: Option<String>,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        self.store.finish(lease, status, error)
    }

    fn requeue<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<bool, RecordError>> {
        self.store.requeue(job)
    }

    fn cancel<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Option<JobStatus>, RecordError>> {
        self.store.cancel(job)
    }

    fn get_job<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Option<JobRow>, RecordError>> {
        Queue::get_job(&self.store, job)
    }
}

/// The result of an undisturbed run, and the points that it passes.
async fn undisturbed(desk: &Desk, job: &JobId) -> (Came, Vec<&'static str>) {
    let app = desk.app().await;
    let points = FaultPoints::counting();
    let end = run_beside(&app, job, Some(&points)).await.expect("it can be claimed");
    assert!(matches!(end.status, JobStatus::Completed | JobStatus::Partial), "{end:?}");
    let found = app.store.verify_chain(job).await.expect("verifies");
    assert_eq!(found.broken, None);
    (Came::of(&app, job).await, points.passed())
}

/// Kills the job at a point, resumes it, and compares the result with an undisturbed run.
async fn hold(desk: &Desk, job: &JobId, at: usize, wanted: &Came, name: &str) {
    desk.run_and_kill(job, at).await;
    let what = format!("killed at point {at}, {name}");
    let app = desk.app().await;
    let row = Queue::get_job(&app.store, job).await.expect("reads").expect("is there");
    if !row.status.is_stopped() {
        // A killed worker's last transaction may hold the job for a moment longer.
        while run_beside(&app, job, None).await.is_none() {}
    }
    let came = Came::of(&app, job).await;
    same(&wanted.export, &came.export, &what);
    assert_eq!(wanted.log, came.log, "{what}");
    assert_eq!(wanted.plans, came.plans, "{what}");
    assert_eq!(wanted.jobs, came.jobs, "{what}");
    assert_eq!(wanted.said, came.said, "{what}");
    let found = app.store.verify_chain(job).await.expect("verifies");
    assert_eq!(found.broken, None, "{what}");
}

/// Kills at every point. Returns the number of points.
async fn at_every_point(work: Work) -> usize {
    let template = Desk::new().await;
    let job = {
        let app = template.app().await;
        queued(&app, work).await
    };
    let (wanted, points) = undisturbed(&template.copy().await, &job).await;
    let (template, job, wanted) = (&template, &job, &wanted);
    futures::stream::iter(points.iter().enumerate())
        .map(|(at, name)| async move { hold(&template.copy().await, job, at, wanted, name).await })
        .buffer_unordered(SIDE_BY_SIDE)
        .collect::<Vec<()>>()
        .await;
    points.len()
}

/// Goal: a chat turn that creates, decomposes and executes a plan survives a kill at every point.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chat_turn_survives_a_kill_at_every_point() {
    let points = at_every_point(Work::Chat).await;
    assert!(points > 20, "{points} points");
}

/// Goal: so does a decomposition.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decomposition_survives_a_kill_at_every_point() {
    let points = at_every_point(Work::Decompose).await;
    assert!(points > 20, "{points} points");
}

/// Goal: so does an execution whose tasks run concurrently, one of which fails and makes another fail.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_execution_survives_a_kill_at_every_point() {
    let points = at_every_point(Work::Execute).await;
    assert!(points > 40, "{points} points");
}

/// Goal: the same on PostgreSQL, at every fifth point.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_assistant_survives_a_kill() {
    let new = || {
        let place = postgres::place().expect("PostgreSQL");
        Place::Postgres(place.url, place.schema)
    };
    let begin = async || {
        let desk = Desk::thinking_on(&new(), SCRIPTED).await;
        let job = queued(&desk.app().await, Work::Execute).await;
        (desk, job)
    };
    let (desk, job) = begin().await;
    let (wanted, points) = undisturbed(&desk, &job).await;
    let (wanted, points, begin) = (&wanted, &points, &begin);
    let hold = |at: usize| async move {
        let (desk, job) = begin().await;
        desk.run_and_kill(&job, at).await;
        let app = desk.app().await;
        let row = Queue::get_job(&app.store, &job).await.expect("reads").expect("is there");
        if !row.status.is_stopped() {
            while run_beside(&app, &job, None).await.is_none() {}
        }
        // IDs derive from the job's own, which differs between schemas.
        let came = Came::of(&app, &job).await;
        let plain = |came: &Came| (came.log.len(), came.jobs.len(), came.plans[0]["status"].clone());
        assert_eq!(plain(wanted), plain(&came), "killed at point {at}, {}: {came:#?}", points[at]);
        let found = app.store.verify_chain(&job).await.expect("verifies");
        assert_eq!(found.broken, None, "killed at point {at}");
    };
    let every: Vec<usize> = (0..points.len()).step_by(5).collect();
    futures::stream::iter(every).map(hold).buffer_unordered(SIDE_BY_SIDE).collect::<Vec<()>>().await;
}

/// Requests one action that fails at every attempt, then says that it is done.
fn retrying(body: &Value) -> ScriptedAnswer {
    let actions = match body.to_string().contains("there is no plan 99") {
        true => json!([]),
        false => json!([{ "kind": "task_operation", "name": "show_tasks", "parameters": { "plan_id": 99 },
            "retry_policy": { "max_retries": 2, "backoff_sec": 0 } }]),
    };
    ScriptedAnswer::text(json!({ "llm_reply": { "message": "." }, "actions": actions }).to_string())
}

/// Each attempt of the action in the log, by its number, and the action's end.
async fn attempts(app: &App, job: &JobId) -> (Vec<i64>, usize) {
    let rows = app.store.action_log(job).await.expect("reads");
    let sequences: Vec<i64> = rows.iter().map(|row| row.sequence).collect();
    assert_eq!(sequences, (1..).take(rows.len()).collect::<Vec<i64>>(), "the log has no gaps");
    let of_action = || rows.iter().map(|row| &row.row).filter(|row| row.name == "show_tasks");
    let number = |details: &Value| details["attempt"]["number"].as_i64();
    let numbers = of_action().filter_map(|row| row.details.as_ref().and_then(number)).collect();
    (numbers, of_action().filter(|row| row.status.success() == Some(false)).count())
}

/// Goal: failed attempts of an action are in the log once each, in order, wherever a kill falls; the action
/// ends once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attempts_in_the_log_survive_a_kill_at_every_point() {
    let template = Desk::thinking(Mind { answer: retrying, late: None }).await;
    let job = {
        let app = template.app().await;
        let asked = NewMessage {
            message: "Show it".to_owned(),
            language: Some(Language::En),
            ..NewMessage::default()
        };
        let job = post_message(&app, asked).await.expect("it is taken").assistant.job_id.expect("a job");
        let row = Queue::get_job(&app.store, &job).await.expect("reads").expect("is there");
        let mut config = row.config;
        let model: ModelName = "test::scripted".parse().expect("a model");
        config["settings"]["speaker"]["model"] = papertape_core::json::to_value(&model);
        config["settings"]["speaker"]["house_version"] = Value::Null;
        assert!(app.store.reconfigure(&job, config, row.fingerprint).await.expect("writes"));
        job
    };
    let (template, job) = (&template, &job);
    let points = {
        let app = template.copy().await;
        let app = app.app().await;
        let points = FaultPoints::counting();
        run_beside(&app, job, Some(&points)).await.expect("it can be claimed");
        assert_eq!(attempts(&app, job).await, (vec![1, 2], 1));
        points.passed()
    };
    let hold = |at: usize| async move {
        let desk = template.copy().await;
        desk.run_and_kill(job, at).await;
        let app = desk.app().await;
        if !Queue::get_job(&app.store, job).await.expect("reads").expect("is there").status.is_stopped() {
            while run_beside(&app, job, None).await.is_none() {}
        }
        let (numbers, ends) = attempts(&app, job).await;
        // An attempt that the kill interrupted did not fail: it is followed by as many as the first one.
        let is_in_order = numbers.windows(2).all(|two| two[0] < two[1]);
        assert!(is_in_order && (2..=4).contains(&numbers.len()), "killed at point {at}: {numbers:?}");
        assert_eq!(ends, 1, "killed at point {at}");
    };
    futures::stream::iter(0..points.len())
        .map(hold)
        .buffer_unordered(SIDE_BY_SIDE)
        .collect::<Vec<()>>()
        .await;
    assert!(points.len() > 10, "{} points", points.len());
}
