//! A small world: a real database with a real job of two house models, and the real router over it.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use papertape_core::id::JobId;
use papertape_runtime::cancellation::CancelSource;
use papertape_runtime::simulate::NoopObserver;
use papertape_service::app::{Access, App};
use papertape_service::config::Config;
use papertape_service::trigger::{Request as Simulation, trigger};
use papertape_store::{DatabaseTarget, Store};
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt as _;

/// The agents of [`World`]'s job.
pub(crate) const MODELS: [&str; 2] = ["house::buy_and_hold", "house::momentum"];
/// Its trading days.
pub(crate) const DAYS: [&str; 5] = ["2012-10-01", "2012-10-02", "2012-10-03", "2012-10-04", "2012-10-05"];

pub(crate) struct World {
    pub(crate) app: App,
    pub(crate) router: Router,
    /// The job.
    pub(crate) job: String,
    pub(crate) _dir: TempDir,
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }
}

pub(crate) fn config(dir: &TempDir) -> Config {
    Config { data_dir: dir.path().to_owned(), ..crate::frictionless() }
}

/// A week of two agents.
pub(crate) fn week() -> Simulation {
    Simulation {
        start_date: Some(jiff::civil::date(2012, 10, 1)),
        end_date: Some(jiff::civil::date(2012, 10, 5)),
        models: MODELS.map(str::to_owned).to_vec(),
        symbols: vec!["AAPL".to_owned(), "IBM".to_owned()],
        initial_cash: Some(10_000.into()),
        ..Simulation::default()
    }
}

impl World {
    /// On SQLite, with the job completed.
    pub(crate) async fn new() -> Self {
        let mut world = Self::empty().await;
        world.job = world.run(week()).await;
        world
    }

    /// On SQLite, without a job.
    pub(crate) async fn empty() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let app = App::open(config(&dir), Access::Own, papertape::integrations()).await.expect("it opens");
        Self { router: papertape_api::router(app.clone()), app, job: String::new(), _dir: dir }
    }

    /// On PostgreSQL, with the job completed.
    pub(crate) async fn on_postgres() -> Self {
        let place = papertape_testkit::postgres::place().expect("PostgreSQL");
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store::open(DatabaseTarget::Postgres(place.url, place.schema)).await.expect("it opens");
        let app = App::compose(config(&dir), store, papertape::integrations()).expect("it is composed");
        let mut world =
            Self { router: papertape_api::router(app.clone()), app, job: String::new(), _dir: dir };
        world.job = world.run(week()).await;
        world
    }

    /// Queues a simulation and runs it to its end.
    pub(crate) async fn run(&self, simulation: Simulation) -> String {
        let queued = trigger(&self.app, simulation).await.expect("it is queued");
        self.work(queued.job.as_str()).await;
        queued.job.to_string()
    }

    /// Runs a queued job to its end.
    pub(crate) async fn work(&self, job: &str) {
        let stopper = CancelSource::default();
        let ended = self.app.worker.run_job(&JobId::new(job), &stopper.signal(), &NoopObserver).await;
        ended.expect("the record holds").expect("the job was free");
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.expect("the router always answers");
        let (parts, body) = response.into_parts();
        let bytes = axum::body::to_bytes(body, 64 << 20).await.expect("a body");
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Answer { status: parts.status, headers: parts.headers, text }
    }

    pub(crate) async fn get(&self, uri: &str) -> Answer {
        self.send(Request::get(uri).header("host", "localhost").body(Body::empty()).expect("a request")).await
    }

    /// The JSON of a response that must succeed.
    pub(crate) async fn good(&self, uri: &str) -> Value {
        let answer = self.get(uri).await;
        assert_eq!(answer.status, StatusCode::OK, "{uri}: {}", answer.text);
        answer.json()
    }

    pub(crate) async fn post(&self, uri: &str, body: &Value) -> Answer {
        let request =
            Request::post(uri).header("host", "localhost").header("content-type", "application/json");
        self.send(request.body(Body::from(body.to_string())).expect("a request")).await
    }

    /// The ID of the job's first session.
    pub(crate) async fn session(&self) -> i64 {
        let uri = format!("/reasoning?job_id={}&limit=1&date={}&model={}", self.job, DAYS[0], MODELS[1]);
        self.good(&uri).await["sessions"][0]["session_id"].as_i64().expect("an id")
    }
}

/// Keys whose values differ between runs.
const CHANGING: &[&str] = &[
    "job_id",
    "job",
    "session_id",
    "parent",
    "superseded_by",
    "created_at",
    "updated_at",
    "started_at",
    "completed_at",
    "ended_at",
    "timestamp",
    "duration_seconds",
    "total_duration_seconds",
    "next_cursor",
    "newest_run",
    "before",
    "hash",
    "digest",
    "request_ref",
    "outcome_ref",
    "dataset",
    "version",
    // These depend on the prompts.
    "input_tokens",
    "output_tokens",
    "configuration",
];
/// Longer texts are covered by other tests.
const LONG: usize = 400;

/// The response without values that differ between runs.
pub(crate) fn settled(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(settled).collect(),
        Value::String(text) if text.chars().count() > LONG => "[long text]".into(),
        Value::Object(map) => map
            .into_iter()
            .map(|(key, value)| {
                let is_leaf = !value.is_object() && !value.is_array() && !value.is_null();
                let value = if key == "job_ids" {
                    value.as_array().map_or(0, Vec::len).into()
                } else if is_leaf && CHANGING.contains(&key.as_str()) {
                    format!("[{key}]").into()
                } else {
                    settled(value)
                };
                (key, value)
            })
            .collect(),
        other => other,
    }
}
