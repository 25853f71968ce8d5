//! Appends through the store: what is written, and how many per second.

use papertape_core::id::{ContentHash, JobId};
use papertape_core::message::Role;
use papertape_core::ports::{Queue as _, RecordStore as _};
use papertape_core::record::{
    Commit, DerivedRow, Intent, JobKind, Lease, MessageRow, NewJob, NewSession, SessionId, StepEnd,
    StoredText, Write,
};
use papertape_core::tape::{ContentDoc, OutcomeKind, StepClass, StepPath, text};
use papertape_core::time::Timestamp;
use papertape_store::{DatabaseTarget, Store};
use papertape_testkit::bench::Timed;
use serde_json::json;
use std::time::{Duration, Instant};

/// Content of one append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Append {
    /// The smallest possible commit: a step.
    Intent,
    /// A step with one message, its texts, its index entries and its event.
    Message,
}

impl Append {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Intent => "intent (1 row)",
            Self::Message => "message (5 rows, words, 2 counters)",
        }
    }

    fn writes(self, path: &str) -> Vec<Write> {
        let parts = Parts::of(path);
        match self {
            Self::Intent => vec![Write::Intent(Intent {
                path: StepPath::new(path),
                digest: parts.digest,
                request_ref: parts.digest,
            })],
            Self::Message => {
                let row = MessageRow {
                    role: Role::User,
                    content: parts.content.hash,
                    tool_name: None,
                    tool_input: None,
                };
                let end = StepEnd {
                    path: StepPath::new(path),
                    class: StepClass::Local,
                    digest: parts.digest,
                    request_ref: parts.digest,
                    outcome_kind: OutcomeKind::Ok,
                    outcome_ref: parts.outcome.hash,
                    attempt: None,
                    reused_from: None,
                    implied: vec![DerivedRow::Message(row)],
                };
                let texts = [parts.outcome, parts.content].map(Write::Text);
                texts.into_iter().chain([Write::End(end)]).collect()
            }
        }
    }
}

/// The contents of an append at this path.
pub(crate) struct Parts {
    pub(crate) digest: ContentHash,
    /// Text of the message.
    pub(crate) content: StoredText,
    /// The step's outcome: a document that refers to the content.
    pub(crate) outcome: StoredText,
}

impl Parts {
    pub(crate) fn of(path: &str) -> Self {
        let content = text(format!(
            "{path}: the close stands above its average of twenty days and momentum has not turned, so I buy \
             ten shares at the open, keep the rest in cash and look again tomorrow."
        ));
        let (outcome, _) = ContentDoc::of(&json!(content.body)).into_parts();
        Self { digest: ContentHash::of(path.as_bytes()), content, outcome }
    }
}

/// A store with running jobs, each with a session.
pub(crate) struct Desk {
    pub(crate) store: Store,
    pub(crate) sessions: Vec<(Lease, SessionId)>,
}

impl Desk {
    pub(crate) async fn new(target: DatabaseTarget, jobs: usize) -> Self {
        let store = Store::open(target).await.expect("opens");
        let mut sessions = Vec::new();
        for number in 0..jobs {
            let job = NewJob {
                id: format!("bench-{number}").into(),
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
            let id: JobId = job.id.clone();
            store.enqueue(job).await.expect("queues");
            let claimed = store.claim("bench", Duration::from_secs(600), Some(&id)).await.expect("claims");
            let lease = claimed.expect("has the job").0;
            let date = papertape_core::time::parse_date("2012-03-01").expect("is a date");
            let new = NewSession { agent: "bench".into(), date, at: Timestamp::UNIX_EPOCH };
            let session = store.open_session(&lease, new).await.expect("opens").id;
            sessions.push((lease, session));
        }
        Self { store, sessions }
    }
}

/// Throughput and CPU cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Appends per second.
    pub(crate) rate: f64,
    /// CPU seconds of this process per append.
    pub(crate) cpu: f64,
}

impl Pace {
    pub(crate) fn of(count: u32, timed: Timed) -> Self {
        let (wall, cpu) = timed.end();
        Self { rate: f64::from(count) / wall.as_secs_f64(), cpu: cpu.as_secs_f64() / f64::from(count) }
    }
}

/// Appends by this many writers; each waits until its append is durable.
pub(crate) async fn paced(desk: Desk, writers: usize, append: Append, time: Duration) -> Pace {
    let Desk { store, sessions } = desk;
    let before = store.counts().await.expect("counts").rows["steps"];
    let (timed, started) = (Timed::start(), Instant::now());
    let tasks: Vec<_> = (0..writers)
        .map(|writer| {
            let store = store.clone();
            let (lease, session) = sessions[writer % sessions.len()].clone();
            tokio::spawn(async move {
                let mut count = 0_u32;
                while started.elapsed() < time {
                    count += 1;
                    let commit = Commit {
                        lease: lease.clone(),
                        session,
                        at: Timestamp::UNIX_EPOCH,
                        detached: false,
                        writes: append.writes(&format!("node{writer}#1/model#{count}")),
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
    let pace = Pace::of(count, timed);
    let after = store.counts().await.expect("counts").rows["steps"];
    assert_eq!(after - before, u64::from(count), "every append that was acknowledged is there");
    pace
}
