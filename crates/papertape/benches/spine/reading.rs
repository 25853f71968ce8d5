//! `GET /reasoning` by job over a million messages, through the real server over loopback, next to the same
//! statements and the same JSON without it.

use crate::million::{self, AGENTS, JOBS, OF_A_SESSION};
use crate::{product, search};
use papertape_runtime::cancellation::{CancelSource, StopReason};
use papertape_service::app::App;
use papertape_testkit::bench::{BenchTarget, ROUNDS, Series, Table, Unit};
use rusqlite::{Connection, OpenFlags, params};
use serde_json::{Value, json};
use std::time::Instant;
use tokio::runtime::Runtime;

/// Requests of each kind per round.
const REQUESTS: u64 = 200;

/// The product's server, and a bare connection to the same file.
pub(crate) struct Served {
    pub(crate) runtime: Runtime,
    pub(crate) client: reqwest::Client,
    pub(crate) url: String,
    pub(crate) bare: Connection,
    stopper: CancelSource,
    serving: Option<tokio::task::JoinHandle<()>>,
}

impl Served {
    pub(crate) fn start() -> Self {
        let runtime = product::runtime();
        let app: App = million::open(&runtime);
        let path = papertape_service::app::database_file(&app.config.data_dir, app.config.mode);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let bare = Connection::open_with_flags(path, flags).expect("opens");
        let stopper = CancelSource::default();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("binds");
        let url = format!("http://{}", listener.local_addr().expect("has an address"));
        let signal = stopper.signal();
        let serving = runtime.spawn(async move {
            papertape_api::serve(app, listener, signal).await.expect("serves");
        });
        Self { runtime, client: product::client(), url, bare, stopper, serving: Some(serving) }
    }

    /// The JSON text of a response and how many seconds it took.
    pub(crate) fn get(&self, query: &str) -> (String, f64) {
        let url = format!("{}/reasoning?{query}", self.url);
        let started = Instant::now();
        let text = self.runtime.block_on(async {
            let answer = self.client.get(&url).send().await.expect("is sent");
            assert!(answer.status().is_success(), "{url}: {}", answer.status());
            answer.text().await.expect("is answered")
        });
        (text, started.elapsed().as_secs_f64())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stopper.stop(StopReason::Shutdown);
        // Dropping the client closes its keep-alive connections.
        self.client = product::client();
        if let Some(serving) = self.serving.take() {
            let _ = self.runtime.block_on(serving);
        }
    }
}

pub(crate) fn run() {
    let served = Served::start();
    let mut table = Table::default();
    for (what, limit, whole) in [
        ("page of 100 sessions", 100, false),
        ("page of 5 sessions with their 100 messages", 5, true),
        ("page of 50 sessions with their 1,000 messages", 50, true),
    ] {
        let mut figures: [[Series; 2]; 2] = Default::default();
        for round in 0..ROUNDS as u64 {
            let requests = if limit == 50 { REQUESTS / 4 } else { REQUESTS };
            let mut times: [Vec<f64>; 2] = Default::default();
            for number in 0..requests {
                let asked = WaitingRequest::of(round * requests + number, limit, whole);
                let (text, time) = served.get(&asked.query());
                times[0].push(time);
                let started = Instant::now();
                let bare = asked.bare(&served.bare);
                times[1].push(started.elapsed().as_secs_f64());
                check(&asked, &text, &bare);
            }
            for (which, times) in times.iter().enumerate() {
                let times: Series = times.iter().copied().collect();
                figures[0][which].push(times.median());
                figures[1][which].push(times.quantile(0.99));
            }
        }
        let parts =
            [("p50", &figures[0], BenchTarget::Shown), ("p99", &figures[1], BenchTarget::RatioTo(3.0))];
        for (name, [ours, bare], aim) in parts {
            let against = Some(("bare SQL and JSON", bare));
            table.add(format!("{what}, {name}"), Unit::Millis, ours, against, aim);
        }
    }
    println!(
        "{} messages, {} jobs of {} sessions\n",
        million::sessions() * OF_A_SESSION,
        JOBS,
        million::sessions() / JOBS
    );
    table.print();
}

/// One request: a page somewhere in a job.
struct WaitingRequest {
    job: String,
    /// The start and ID of the previous session.
    after: Option<(i64, i64)>,
    limit: i64,
    whole: bool,
}

impl WaitingRequest {
    fn of(number: u64, limit: i64, whole: bool) -> Self {
        let job = number % JOBS;
        let of_a_job = AGENTS * million::days();
        // Pages from all over the job: the very first has no cursor.
        let before = number * 7_919 % of_a_job.saturating_sub(limit.unsigned_abs()).max(1);
        let nth = job * of_a_job + before;
        let started = 1_600_000_000_000_000 + nth.cast_signed() * 1_000 - 1_000;
        let after = (before > 0).then(|| (started, nth.cast_signed()));
        Self { job: million::job_id(job).to_string(), after, limit, whole }
    }

    fn query(&self) -> String {
        let Self { job, limit, whole, .. } = self;
        let mut query = format!("job_id={job}&limit={limit}&include_full_conversation={whole}");
        if let Some((started, id)) = self.after {
            let key = json!(["sessions", started, id]).to_string();
            let hex: String = key.bytes().map(|byte| format!("{byte:02x}")).collect();
            query.push_str(&format!("&cursor={hex}"));
        }
        query
    }

    /// The same page by hand: the rows as read, as JSON text.
    fn bare(&self, db: &Connection) -> String {
        let sql = "SELECT id, job_id, date, model, status, error, session_summary, summary_error, started_at,
             completed_at, total_messages FROM trading_sessions
             WHERE job_id = ?1 AND (started_at, id) > (?2, ?3) ORDER BY started_at, id LIMIT ?4";
        let (started, id) = self.after.unwrap_or((0, 0));
        let mut sessions = rows(db, sql, params![self.job, started, id, self.limit + 1]);
        sessions.truncate(usize::try_from(self.limit).expect("is small"));
        for session in &mut sessions {
            let id = session["id"].as_i64().expect("has an id");
            let sql = "SELECT action_id, action_type, symbol, amount_real AS amount, price_real AS price,
                cash_real AS cash_after, portfolio_value_real AS portfolio_value
                FROM positions WHERE session_id = ?1 ORDER BY action_id";
            session["positions"] = rows(db, sql, params![id]).into();
            if self.whole {
                let sql =
                    "SELECT message_index, role, content, summary, tool_name, tool_input, timestamp, path,
                    node FROM reasoning_logs WHERE session_id = ?1 ORDER BY message_index";
                session["conversation"] = rows(db, sql, params![id]).into();
                let sql = "SELECT i.node, t.body AS content FROM session_instructions i
                    JOIN texts t ON t.hash = i.hash WHERE i.session_id = ?1 ORDER BY i.n";
                session["instructions"] = rows(db, sql, params![id]).into();
            }
        }
        serde_json::to_string(&json!({ "count": sessions.len(), "sessions": sessions })).expect("is JSON")
    }
}

/// A statement's rows as objects.
fn rows(db: &Connection, sql: &str, params: impl rusqlite::Params) -> Vec<Value> {
    let mut statement = db.prepare_cached(sql).expect("prepares");
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query(params).expect("asks");
    let mut found = Vec::new();
    while let Some(row) = rows.next().expect("reads") {
        let mut object = serde_json::Map::new();
        for (at, name) in names.iter().enumerate() {
            object.insert(name.clone(), search::value(row.get_ref(at).expect("is there")));
        }
        found.push(object.into());
    }
    found
}

/// Checks that both contain the same sessions with the same messages.
fn check(asked: &WaitingRequest, ours: &str, bare: &str) {
    let read = |text: &str| -> Value { serde_json::from_str(text).expect("is JSON") };
    let (ours, bare) = (read(ours), read(bare));
    assert_eq!(ours["count"], asked.limit, "{}", asked.query());
    assert_eq!(ours["count"], bare["count"]);
    for (ours, bare) in
        ours["sessions"].as_array().into_iter().flatten().zip(bare["sessions"].as_array().expect("is a list"))
    {
        assert_eq!(ours["session_id"], bare["id"]);
        assert_eq!(ours["positions"].as_array().map(Vec::len), Some(1));
        if asked.whole {
            let said = |one: &Value| -> Vec<Value> {
                one["conversation"]
                    .as_array()
                    .expect("is there")
                    .iter()
                    .map(|m| m["content"].clone())
                    .collect()
            };
            assert_eq!(said(ours), said(bare));
            assert_eq!(said(ours).len() as u64, OF_A_SESSION);
        }
    }
}
