//! How many statements a step takes. Each costs processor time of the only writer, or a round trip.

use super::commit;
use super::prepared::PreparedCommits;
use crate::db::{Backend, Db};
use crate::error::StoreError;
use crate::sqlite::{SqliteDb, open_for_tests};
use crate::store::{DatabaseTarget, Store};
use crate::value::{Row, Value};
use futures::FutureExt as _;
use papertape_core::id::{ContentHash, JobId};
use papertape_core::message::{Role, Usage};
use papertape_core::ports::{BoxFuture, Queue as _, RecordStore as _};
use papertape_core::record::{
    AttemptEnd, Commit, DerivedRow, ExposureRow, Intent, JobKind, Lease, MessageRow, NewJob, NewSession,
    SessionId, StepEnd, Write,
};
use papertape_core::tape::{ContentDoc, OutcomeKind, StepClass, StepPath, text};
use papertape_core::time::{Timestamp, parse_date};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// Counts statements, by their first word and table.
struct Counting<'d, 'c> {
    db: &'d mut SqliteDb<'c>,
    statements: Vec<String>,
    bytes: usize,
}

impl Counting<'_, '_> {
    fn count(&mut self, sql: &str, params: &[Value]) {
        let words: Vec<&str> = sql.split_whitespace().collect();
        let table = match words[0] {
            "INSERT" => words[2],
            "UPDATE" => words[1],
            _ => words[words.iter().position(|word| *word == "FROM").expect("reads a table") + 1],
        };
        self.statements.push(format!("{} {table}", words[0]));
        self.bytes += params
            .iter()
            .map(|value| match value {
                Value::Text(text) => text.len(),
                Value::SharedText(text) => text.len(),
                Value::SharedBlob(bytes) => bytes.len(),
                Value::Hash(_) => 32,
                _ => 8,
            })
            .sum::<usize>();
    }
}

impl Db for Counting<'_, '_> {
    fn backend(&self) -> Backend {
        Backend::Sqlite
    }

    fn query<'a>(
        &'a mut self,
        sql: &'a str,
        params: &'a [Value],
    ) -> BoxFuture<'a, Result<Vec<Row>, StoreError>> {
        self.count(sql, params);
        self.db.query(sql, params)
    }

    fn execute<'a>(
        &'a mut self,
        sql: &'a str,
        params: &'a [Value],
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        self.count(sql, params);
        self.db.execute(sql, params)
    }

    fn insert_id<'a>(
        &'a mut self,
        sql: &'a str,
        params: &'a [Value],
    ) -> BoxFuture<'a, Result<Option<i64>, StoreError>> {
        self.count(sql, params);
        self.db.insert_id(sql, params)
    }

    fn queued_text(&mut self, text_id: i64, words: Option<&Arc<String>>) {
        self.db.queued_text(text_id, words);
    }
}

fn end(path: &str, class: StepClass, said: &str) -> Vec<Write> {
    let (content, outcome) = (text(said), ContentDoc::of(&json!({ "text": said })));
    let message = MessageRow { role: Role::Tool, content: content.hash, tool_name: None, tool_input: None };
    let mut implied = vec![DerivedRow::Message(message)];
    if class == StepClass::Local {
        implied.push(DerivedRow::Exposure(ExposureRow {
            dataset: ContentHash::of(b"dataset"),
            series: "AAPL/bars".to_owned(),
            first: None,
            last: None,
            rows: 4,
            latest_known_at: None,
        }));
    }
    let usage = Usage { input_tokens: 10, cached_tokens: 0, output_tokens: 2 };
    let attempt = AttemptEnd { number: 1, usage: Some(usage), ..AttemptEnd::default() };
    let end = StepEnd {
        path: StepPath::new(path),
        class,
        digest: ContentHash::of(path.as_bytes()),
        request_ref: ContentHash::of(b"request"),
        outcome_kind: OutcomeKind::Ok,
        outcome_ref: outcome.hash,
        attempt: (class == StepClass::External).then_some(attempt),
        reused_from: None,
        implied,
    };
    // The document's long string is the message's text.
    outcome.texts.into_iter().map(Write::Text).chain([Write::End(end)]).collect()
}

fn intent(path: &str) -> Vec<Write> {
    let request = text(format!("the request of {path}"));
    let intent = Intent {
        path: StepPath::new(path),
        digest: ContentHash::of(path.as_bytes()),
        request_ref: request.hash,
    };
    vec![Write::Text(request), Write::Intent(intent)]
}

async fn session(store: &Store) -> (Lease, SessionId) {
    let job = NewJob {
        id: "job".into(),
        kind: JobKind::Simulate,
        config: json!({}),
        fingerprint: ContentHash::of(b""),
        warnings: Vec::new(),
        days: Vec::new(),
        parent: None,
        plan: None,
        supersedes: Vec::new(),
        continues: Vec::new(),
        texts: Vec::new(),
        created_at: Timestamp::UNIX_EPOCH,
    };
    store.enqueue(job).await.expect("queues");
    let claimed = store.claim("test", Duration::from_secs(600), Some(&JobId::new("job"))).await;
    let lease = claimed.expect("claims").expect("has the job").0;
    let date = parse_date("2012-03-01").expect("is a date");
    let new = NewSession { agent: "momentum".into(), date, at: Timestamp::UNIX_EPOCH };
    let session = store.open_session(&lease, new).await.expect("opens").id;
    (lease, session)
}

/// Goal: nothing is looked up that the transaction knows, and every row is written once.
#[tokio::test]
async fn a_step_takes_few_statements() {
    let dir = tempfile::tempdir().expect("makes a directory");
    let path = dir.path().join("tape.db");
    let store = Store::open(DatabaseTarget::Sqlite(path.clone())).await.expect("opens");
    let (lease, session) = session(&store).await;
    drop(store);

    let mut connection = open_for_tests(&path);
    let mut head = None;
    let mut statements = |commits: Vec<Vec<Write>>| {
        let commit = |writes| Commit {
            lease: lease.clone(),
            session,
            at: Timestamp::UNIX_EPOCH,
            detached: false,
            writes,
        };
        let commits = commits.into_iter().map(commit).collect();
        let mut commits = PreparedCommits::of(commits).expect("one session").expect("has commits");
        commits.head = head.take();
        let mut db = SqliteDb::new(&mut connection);
        let mut counting = Counting { db: &mut db, statements: Vec::new(), bytes: 0 };
        let applied =
            commit::apply_all(&mut counting, &[&commits]).now_or_never().expect("waits for nothing");
        head = applied.expect("is written").pop();
        (counting.statements, counting.bytes)
    };
    let said = "a long answer ".repeat(20);
    let (every, message) = (
        ["UPDATE jobs", "UPDATE trading_sessions"],
        ["INSERT texts_to_index", "INSERT job_events", "INSERT reasoning_log_rows"],
    );
    let sorted = |parts: &[&[&str]]| {
        let mut all: Vec<String> = parts.concat().into_iter().map(str::to_owned).collect();
        all.sort();
        all
    };
    let check = |(mut statements, bytes): (Vec<String>, usize), expected: &[&[&str]]| {
        statements.sort();
        assert_eq!(statements, sorted(expected), "{bytes} bytes");
    };

    // A model call: its intent, then its outcome with a message. The first commit reads the session's counters.
    let model = "solo#1/model#1";
    let announced = statements(vec![intent(model)]);
    check(announced, &[&every[..1], &["SELECT trading_sessions", "INSERT texts", "INSERT steps"]]);
    let ended = statements(vec![end(model, StepClass::External, &said)]);
    check(ended, &[&every, &["INSERT texts", "INSERT texts", "UPDATE steps"], &message]);

    // The first read of a dataset writes the dataset too.
    statements(vec![end("solo#1/read#0", StepClass::Local, &format!("{said}#"))]);

    // A tool's answer, with the data that it shows.
    let read = statements(vec![end("solo#1/read#1", StepClass::Local, &format!("{said}!"))]);
    let step = ["INSERT texts", "INSERT texts", "INSERT steps", "INSERT exposures"];
    check(read, &[&every, &step, &message]);

    // As a session's log writes them: an outcome, an answer and the next intent share what is once per transaction.
    statements(vec![intent("solo#1/model#2")]);
    let turn = statements(vec![
        end("solo#1/model#2", StepClass::External, &format!("{said}?")),
        end("solo#1/read#2", StepClass::Local, &format!("{said}.")),
        intent("solo#1/model#3"),
    ]);
    let model = ["INSERT texts", "INSERT texts", "UPDATE steps"];
    check(turn, &[&every, &model, &message, &step, &message, &["INSERT texts", "INSERT steps"]]);

    // A text that is there already has to be looked up.
    let again = statements(vec![end("solo#1/read#3", StepClass::Local, &format!("{said}."))]);
    check(again, &[&every, &step, &["SELECT texts"], &message]);
}

/// Goal: commits under one lease that share a transaction check the lease once, and read each session's row once as long
/// as they do not change it.
#[tokio::test]
async fn a_group_of_commits_checks_its_lease_once() {
    let dir = tempfile::tempdir().expect("makes a directory");
    let path = dir.path().join("tape.db");
    let store = Store::open(DatabaseTarget::Sqlite(path.clone())).await.expect("opens");
    let (lease, first) = session(&store).await;
    let new = NewSession {
        agent: "reversal".into(),
        date: parse_date("2012-03-01").expect("is a date"),
        at: Timestamp::UNIX_EPOCH,
    };
    let second = store.open_session(&lease, new).await.expect("opens").id;
    drop(store);

    let prepared = |session: SessionId, writes: Vec<Write>| {
        let commit =
            Commit { lease: lease.clone(), session, at: Timestamp::UNIX_EPOCH, detached: false, writes };
        PreparedCommits::of(vec![commit]).expect("one session").expect("has commits")
    };
    let group = [
        prepared(first, intent("solo#1/model#1")),
        prepared(second, intent("solo#1/model#1")),
        prepared(first, intent("solo#1/model#2")),
        prepared(first, end("solo#1/model#1", StepClass::External, &"a long answer ".repeat(20))),
    ];
    let mut connection = open_for_tests(&path);
    let mut db = SqliteDb::new(&mut connection);
    let mut counting = Counting { db: &mut db, statements: Vec::new(), bytes: 0 };
    let group: Vec<&PreparedCommits> = group.iter().collect();
    let applied = commit::apply_all(&mut counting, &group).now_or_never().expect("waits for nothing");
    applied.expect("is written");
    let count = |statement: &str| counting.statements.iter().filter(|other| *other == statement).count();
    assert_eq!(count("UPDATE jobs"), 1, "{:?}", counting.statements);
    assert_eq!(count("SELECT trading_sessions"), 2, "{:?}", counting.statements);
    assert_eq!(count("UPDATE trading_sessions"), 1, "{:?}", counting.statements);
    assert_eq!(count("INSERT steps"), 3, "{:?}", counting.statements);
}

/// Goal: a message's event takes few bytes, and readers get all of it.
#[tokio::test]
async fn a_messages_event_refers_to_the_message() {
    let dir = tempfile::tempdir().expect("makes a directory");
    let store = Store::open(DatabaseTarget::Sqlite(dir.path().join("tape.db"))).await.expect("opens");
    let (lease, session) = session(&store).await;
    let writes = end("solo#1/read#1", StepClass::Local, "a \"quoted\" answer");
    let text = text("a \"quoted\" answer");
    let commit = Commit {
        lease: lease.clone(),
        session,
        at: Timestamp::UNIX_EPOCH,
        detached: false,
        writes: writes.into_iter().chain([Write::Text(text)]).collect(),
    };
    store.commit(commit).await.expect("commits");
    let stored = store
        .read(|db| {
            async move { db.all::<String>("SELECT data FROM job_events WHERE kind = 'message'", &[]).await }
                .boxed()
        })
        .await
        .expect("reads");
    assert_eq!(stored, [format!("[{session},0]")]);
    let events = store.events(&lease.job, 0, 10).await.expect("reads");
    let data: Vec<_> =
        events.iter().filter(|event| event.kind == "message").map(|event| &event.data).collect();
    let event = json!({
        "session": session, "agent": "momentum", "date": "2012-03-01", "path": "solo#1/read#1",
        "message_index": 0, "role": "tool", "tool_name": null,
    });
    assert_eq!(data, [&event]);
}
