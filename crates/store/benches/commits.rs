//! How many durable commits a second, beside what the disk allows: a bare loop of one-row
//! transactions. Run by `cargo bench -p papertape-store --bench commits`.

use papertape_core::id::ContentHash;
use papertape_core::message::Role;
use papertape_core::ports::{Queue as _, Record as _};
use papertape_core::record::{
    Commit, Implied, Intent, Lease, MessageRow, NewJob, NewSession, SessionId, StepEnd, Write,
};
use papertape_core::tape::{Class, Doc, OutcomeKind, StepPath, text};
use papertape_core::time::Timestamp;
use papertape_store::{Store, Target};
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};

/// What is measured, for so long.
const FOR: Duration = Duration::from_secs(4);

fn main() {
    // Asked what tests there are, as by a test runner: none.
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("starts");
    let dir = tempfile::tempdir_in(".").expect("makes a directory");
    // Twice, since the disk's own pace varies.
    for round in 1..=2 {
        let raw = raw(&dir.path().join(format!("raw-{round}.db")));
        println!("raw one-row transactions: {raw:.0}/s");
        for (name, writes) in [("intent", intent as fn(&str) -> Vec<Write>), ("message", message)] {
            for writers in [1, 64] {
                let path = dir.path().join(format!("{name}-{writers}-{round}.db"));
                let pace = runtime.block_on(paced(&path, writers, writes));
                println!("{name} commits, {writers:>2} writers: {pace:.0}/s, {:.2} of raw", pace / raw);
            }
        }
    }
}

fn raw(path: &Path) -> f64 {
    let connection = rusqlite::Connection::open(path).expect("opens");
    connection
        .execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT)")
        .expect("sets up");
    let started = Instant::now();
    let mut count = 0;
    while started.elapsed() < FOR {
        let insert = "INSERT INTO t (body) VALUES (?1)";
        connection
            .prepare_cached(insert)
            .and_then(|mut insert| insert.execute(["x".repeat(100)]))
            .expect("writes");
        count += 1;
    }
    f64::from(count) / started.elapsed().as_secs_f64()
}

async fn paced(path: &Path, writers: usize, writes: fn(&str) -> Vec<Write>) -> f64 {
    let store = Store::open(Target::Sqlite(path.to_owned())).await.expect("opens");
    let (lease, session) = begin(&store).await;
    let started = Instant::now();
    let tasks: Vec<_> = (0..writers)
        .map(|writer| {
            let (store, lease) = (store.clone(), lease.clone());
            tokio::spawn(async move {
                let mut count = 0_u32;
                while started.elapsed() < FOR {
                    count += 1;
                    let commit = Commit {
                        lease: lease.clone(),
                        session,
                        at: Timestamp::UNIX_EPOCH,
                        detached: false,
                        writes: writes(&format!("node{writer}#1/model#{count}")),
                    };
                    store.commit(commit).await.expect("commits");
                }
                count
            })
        })
        .collect();
    let mut count = 0;
    for task in tasks {
        count += task.await.expect("ends");
    }
    f64::from(count) / started.elapsed().as_secs_f64()
}

async fn begin(store: &Store) -> (Lease, SessionId) {
    let job = NewJob {
        id: "bench".into(),
        kind: "simulate".to_owned(),
        config: json!({}),
        fingerprint: ContentHash::of(b""),
        warnings: Vec::new(),
        days: Vec::new(),
        parent: None,
        supersedes: Vec::new(),
        texts: Vec::new(),
        created_at: Timestamp::UNIX_EPOCH,
    };
    store.enqueue(job).await.expect("queues");
    let claimed = store.claim("bench", Duration::from_secs(600), None).await.expect("claims");
    let lease = claimed.expect("has the job").0;
    let date = papertape_core::time::parse_date("2012-03-01").expect("is a date");
    let new = NewSession { agent: "bench".into(), date, at: Timestamp::UNIX_EPOCH };
    let session = store.open_session(&lease, new).await.expect("opens").id;
    (lease, session)
}

/// The least that a commit can be: the fence, a step and its attempt.
fn intent(path: &str) -> Vec<Write> {
    let digest = ContentHash::of(path.as_bytes());
    vec![Write::Intent(Intent { path: StepPath::new(path), digest, request_ref: digest })]
}

/// A step with a message of its own, its texts, its words and its event.
fn message(path: &str) -> Vec<Write> {
    let content = text(format!("{path}: momentum is above its average of twenty days, so I buy ten."));
    let row = MessageRow { role: Role::User, content: content.hash, tool_name: None, tool_input: None };
    let (request, outcome) = (Doc::of(&json!({ "role": "user" })), Doc::of(&json!(content.body)));
    let end = StepEnd {
        path: StepPath::new(path),
        class: Class::Local,
        digest: request.hash,
        request_ref: request.hash,
        outcome_kind: OutcomeKind::Ok,
        outcome_ref: outcome.hash,
        attempt: None,
        reused_from: None,
        implied: vec![Implied::Message(row)],
    };
    let texts = request.texts.into_iter().chain(outcome.texts).chain([content]).map(Write::Text);
    texts.chain([Write::End(end)]).collect()
}
