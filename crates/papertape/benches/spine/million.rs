//! A database of a million messages, written by the product's own commits and stored with the build until the
//! schema or this file's format changes.

use crate::million_texts::{reading, thought};
use papertape_agents::config::AgentConfig;
use papertape_core::broker::MarketProfile;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::json::to_value;
use papertape_core::message::{Role, Usage};
use papertape_core::money::{Money, Price, Quantity};
use papertape_core::ports::{Queue as _, RecordStore as _};
use papertape_core::record::{
    AttemptEnd, CloseSession, Commit, DayStatus, DerivedRow, JobKind, JobStatus, Lease, MessageRow, NewJob,
    NewSession, PositionRow, SessionId, StartingPosition, StepEnd, Write,
};
use papertape_core::tape::{ContentDoc, OutcomeKind, StepClass, StepPath, text};
use papertape_core::time::{Date, Timestamp};
use papertape_runtime::config::{DatasetRef, SimulationConfig};
use papertape_service::app::{Access, App};
use papertape_service::config::Config;
use papertape_store::{DatabaseTarget, Store};
use rust_decimal::Decimal;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Semaphore;

/// Incremented whenever the data written here changes.
const FORMAT: u32 = 1;
pub(crate) const JOBS: u64 = 10;
pub(crate) const AGENTS: u64 = 5;
/// Messages per session: a question, then turns of the agent and of a tool, and the agent's final message.
pub(crate) const OF_A_SESSION: u64 = 20;
/// The agent's own messages among them.
pub(crate) const THOUGHTS: u64 = 10;
/// Sessions written concurrently.
const SIDE_BY_SIDE: usize = 64;

/// The trading days of each job: a thousand, or fewer if `BENCH_MESSAGES` requests less than a million messages.
pub(crate) fn days() -> u64 {
    let wanted = std::env::var("BENCH_MESSAGES").ok().and_then(|count| count.parse::<u64>().ok());
    (wanted.unwrap_or(1_000_000) / (JOBS * AGENTS * OF_A_SESSION)).clamp(20, 1_000)
}

/// The total number of sessions.
pub(crate) fn sessions() -> u64 {
    JOBS * AGENTS * days()
}

pub(crate) fn job_id(job: u64) -> JobId {
    JobId::new(format!("job-{job:02}"))
}

/// The data directory, created if it is missing.
pub(crate) fn data_dir(runtime: &tokio::runtime::Runtime) -> PathBuf {
    let messages = sessions() * OF_A_SESSION;
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("messages-{messages}"));
    let (stamp, wanted) = (dir.join("stamp"), stamp(runtime));
    if std::fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return dir;
    }
    println!("writing {messages} messages; the next run finds them");
    let _ = std::fs::remove_dir_all(&dir);
    papertape_service::app::make_data_dir(&dir).expect("makes the directory");
    let started = Instant::now();
    runtime.block_on(write(&dir));
    println!("written in {:.0} s\n", started.elapsed().as_secs_f64());
    std::fs::write(stamp, wanted).expect("writes");
    dir
}

/// Opens the application on the database.
pub(crate) fn open(runtime: &tokio::runtime::Runtime) -> App {
    let dir = data_dir(runtime);
    let app = runtime.block_on(App::open(
        Config { data_dir: dir, ..Config::default() },
        Access::Own,
        papertape::integrations(),
    ));
    let app = app.expect("opens");
    let counts = runtime.block_on(app.store.counts()).expect("counts");
    assert_eq!(counts.rows["reasoning_log_rows"], sessions() * OF_A_SESSION, "all messages are there");
    app
}

/// Identifies the database's content: this format, and the schema of a new database.
fn stamp(runtime: &tokio::runtime::Runtime) -> String {
    let dir = crate::product::directory();
    let path = dir.path().join("empty.db");
    drop(runtime.block_on(Store::open(DatabaseTarget::Sqlite(path.clone()))).expect("opens"));
    let connection = rusqlite::Connection::open(path).expect("opens");
    let mut statement = connection.prepare("SELECT coalesce(sql, '') FROM sqlite_schema").expect("reads");
    let sql = statement.query_map([], |row| row.get::<_, String>(0)).expect("reads");
    let sql: Vec<String> = sql.map(|sql| sql.expect("is text")).collect();
    format!("{FORMAT} {}", ContentHash::of(sql.join("\n").as_bytes()).to_hex())
}

async fn write(dir: &Path) {
    let store = Store::open(DatabaseTarget::Sqlite(dir.join("papertape.db"))).await.expect("opens");
    let places = Arc::new(Semaphore::new(SIDE_BY_SIDE));
    let mut number = 0;
    for job in 0..JOBS {
        let lease = claim(&store, job).await;
        let mut tasks = Vec::new();
        for day in 0..days() {
            for agent in 0..AGENTS {
                let place = Arc::clone(&places).acquire_owned().await.expect("is not closed");
                let (store, lease, nth) = (store.clone(), lease.clone(), number);
                number += 1;
                let new = NewSession { agent: agent_name(agent), date: date(day), at: at(nth) };
                // In this order, so that IDs follow the days.
                let session = store.open_session(&lease, new).await.expect("opens").id;
                tasks.push(tokio::spawn(async move {
                    store.commit(session_commit(&lease, session, nth)).await.expect("commits");
                    drop(place);
                }));
            }
        }
        for task in tasks {
            task.await.expect("ends");
        }
        store.finish(&lease, JobStatus::Completed, None).await.expect("ends");
    }
}

async fn claim(store: &Store, job: u64) -> Lease {
    let agents: Vec<AgentConfig> = (0..AGENTS)
        .map(|agent| AgentConfig::solo(agent_name(agent), "bench::scripted".parse().expect("a model")))
        .collect();
    let config = SimulationConfig {
        dataset: DatasetRef { name: "bench".to_owned(), hash: ContentHash::of(b"data") },
        start_date: date(0),
        end_date: date(days() - 1),
        symbols: ["AAPL".into()].into(),
        universe: None,
        agents,
        market: MarketProfile::preset("us_equity").expect("is there"),
        initial_cash: Money(Decimal::from(100_000)),
        seed: 0,
        prompts: ContentHash::of(b"prompts"),
        summaries: false,
        benchmark: None,
        memory: papertape_agents::config::MemorySettings::off(),
        memory_from: None,
        embedding: None,
        starts: BTreeMap::new(),
        continues: BTreeMap::new(),
        branch: None,
        masking: None,
        imported: None,
        budget: papertape_runtime::budget::Budget::default(),
    };
    let new = NewJob {
        id: job_id(job),
        kind: JobKind::Simulate,
        config: to_value(&config),
        fingerprint: config.fingerprint(),
        warnings: Vec::new(),
        days: Vec::new(),
        parent: None,
        plan: None,
        supersedes: Vec::new(),
        continues: Vec::new(),
        texts: Vec::new(),
        created_at: at(job),
    };
    store.enqueue(new).await.expect("queues");
    let hour = std::time::Duration::from_secs(3_600);
    store.claim("bench", hour, Some(&job_id(job))).await.expect("claims").expect("is free").0
}

fn agent_name(agent: u64) -> AgentName {
    AgentName::new(format!("agent-{agent}"))
}

fn date(day: u64) -> Date {
    let days = i64::try_from(day).expect("is small");
    jiff::civil::date(2000, 1, 3).saturating_add(jiff::Span::new().days(days))
}

fn at(number: u64) -> Timestamp {
    let micros = 1_600_000_000_000_000 + i64::try_from(number).expect("is small") * 1_000;
    Timestamp::from_microsecond(micros).expect("is in range")
}

/// A whole session in one transaction.
fn session_commit(lease: &Lease, session: SessionId, nth: u64) -> Commit {
    let mut writes = Vec::new();
    let instructions = text(format!("You are a careful trader. {}", thought(0)));
    writes.push(Write::Instructions { node: "solo#1".to_owned(), hash: instructions.hash });
    writes.push(Write::Text(instructions));
    for turn in 0..OF_A_SESSION {
        let k = nth * THOUGHTS + turn / 2;
        match (turn, turn % 2) {
            (0, _) => step(&mut writes, "message", 1, (Role::User, format!("Day {nth}: what do you do?"))),
            (_, 1) => step(&mut writes, "model", turn / 2 + 1, (Role::Assistant, thought(k))),
            (_, _) => step(&mut writes, "read", turn / 2, (Role::Tool, reading(k))),
        }
    }
    writes.push(Write::CloseSession(Box::new(close())));
    Commit { lease: lease.clone(), session, at: at(nth), detached: false, writes }
}

fn step(writes: &mut Vec<Write>, kind: &str, n: u64, (role, said): (Role, String)) {
    let path = StepPath::of("solo#1", kind, u32::try_from(n).expect("is small"));
    let is_model = role == Role::Assistant;
    let request = ContentDoc::of(&json!({ "asked": path.as_str(), "of": kind }));
    let outcome =
        ContentDoc::of(&if is_model { json!({ "text": said, "tool_calls": [] }) } else { json!(said) });
    let tool = (role == Role::Tool).then(|| ("get_bars".to_owned(), json!({ "symbol": "AAPL", "limit": 4 })));
    let (tool_name, tool_input) = tool.unzip();
    let content = text(said);
    let mut implied =
        vec![DerivedRow::Message(MessageRow { role, content: content.hash, tool_name, tool_input })];
    if is_model && n == THOUGHTS {
        implied.push(DerivedRow::Position(position()));
    }
    let end = StepEnd {
        path,
        class: if is_model { StepClass::External } else { StepClass::Local },
        digest: request.hash,
        request_ref: request.hash,
        outcome_kind: OutcomeKind::Ok,
        outcome_ref: outcome.hash,
        attempt: is_model.then_some(AttemptEnd {
            number: 1,
            error: None,
            usage: Some(Usage { input_tokens: 1_200, cached_tokens: 0, output_tokens: 90 }),
            cost_usd: None,
            estimate: None,
        }),
        reused_from: None,
        implied,
    };
    writes.extend(request.texts.into_iter().chain(outcome.texts).chain([content]).map(Write::Text));
    writes.push(Write::End(end));
}

fn position() -> PositionRow {
    PositionRow {
        action_id: 1,
        action_type: "buy".to_owned(),
        symbol: Some("AAPL".into()),
        amount: Quantity(Decimal::ONE),
        price: Some(Price(Decimal::from(500))),
        cash: Money(Decimal::from(99_500)),
        portfolio_value: Money(Decimal::from(100_000)),
        ..PositionRow::default()
    }
}

fn close() -> CloseSession {
    let hundred = Money(Decimal::from(100_000));
    CloseSession {
        status: DayStatus::Completed,
        error: None,
        metadata: json!({ "agent_kind": "solo", "model": "bench::scripted", "is_llm": true }),
        state: ContentDoc::of(&json!({ "books": "none" })).into_parts().0,
        holdings: Vec::new(),
        starting: StartingPosition { holdings: Vec::new(), cash: hundred, portfolio_value: hundred },
        cash: Money(Decimal::from(99_500)),
        portfolio_value: hundred,
        daily_profit: Money(Decimal::ZERO),
        daily_return_pct: Some(Decimal::ZERO),
    }
}
