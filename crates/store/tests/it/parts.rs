//! A job in parts: each has its own lease, fence and numbers, and the job has their common status.

use crate::desk::new_job;
use crate::places::{Place, on_both};
use papertape_core::budget::{Grant, JobBudget, Limit, ShareOutcome, ShareRequest, SharedLimit};
use papertape_core::id::{AgentName, JobId};
use papertape_core::part::{EventPosition, part_of_event};
use papertape_core::ports::{Queue as _, RecordError, RecordStore as _, SharedBudgets as _};
use papertape_core::record::{DayStatus, JobStatus, Lease, LeaseState, NewSession, PartEnd};
use papertape_core::time::Timestamp;
use papertape_store::{PartCounts, Store};
use std::collections::BTreeSet;
use std::time::Duration;

on_both!(
    parts_are_leased_and_numbered_on_their_own,
    a_split_job_stops_and_goes_on_as_a_whole,
    positions_lose_and_repeat_nothing,
    shares_stay_within_the_budget,
    a_heartbeat_extends_what_is_named,
    parts_are_counted_by_state,
);

const LONG: Duration = Duration::from_secs(60);
const AGENTS: [&str; 4] = ["a", "b", "c", "d"];

/// The status of a part that has ended, and its reasons.
type Ended<'a> = (JobStatus, &'a [&'a str]);
/// The name of a job, how its parts end, and how the job does.
type Case<'a> = (&'a str, &'a [Ended<'a>], (JobStatus, Option<&'a str>));

async fn queue(store: &Store, name: &str, parts: u32) -> JobId {
    let agents = AGENTS.map(AgentName::new);
    store.enqueue_in_parts(new_job(name, &AGENTS, 0), parts, &agents).await.expect("queues");
    JobId::new(name)
}

async fn claim(store: &Store, job: &JobId, lease_for: Duration) -> Option<Lease> {
    Some(store.claim("w", lease_for, Some(job)).await.expect("asks")?.0)
}

async fn status(store: &Store, job: &JobId) -> (JobStatus, Option<String>) {
    let row = store.get_job(job).await.expect("reads").expect("is there");
    (row.status, row.error)
}

fn end(status: JobStatus, reasons: &[&str]) -> PartEnd {
    PartEnd { status, reasons: reasons.iter().map(|&reason| reason.to_owned()).collect() }
}

async fn open(store: &Store, lease: &Lease, agent: &str) -> Result<(), RecordError> {
    let (agent, date) = (AgentName::new(agent), crate::desk::date(crate::desk::DAYS[0]));
    store.open_session(lease, NewSession { agent, date, at: Timestamp::UNIX_EPOCH }).await.map(drop)
}

// Goal: each part can be claimed once, by one row's update; its events have numbers of its own; a lost lease writes
// nothing, and does not disturb the other parts.
async fn parts_are_leased_and_numbered_on_their_own(place: Place) {
    let store = place.store().await;
    let job = queue(&store, "job", 9).await;
    assert_eq!(
        store.get_job(&job).await.expect("reads").expect("is there").parts,
        4,
        "one agent each at least"
    );
    let mut leases = Vec::new();
    while let Some(lease) = claim(&store, &job, LONG).await {
        leases.push(lease);
    }
    let parts: Vec<u32> = leases.iter().map(|lease| lease.part).collect();
    assert_eq!(parts, [1, 2, 3, 4]);
    for (lease, agent) in leases.iter().zip(AGENTS) {
        open(&store, lease, agent).await.expect("opens");
    }
    let tail =
        store.tail(&job, &EventPosition::default(), None, 100).await.expect("reads").expect("is there");
    let numbers: Vec<(u32, i64)> = tail.events.iter().map(|event| part_of_event(event.n)).collect();
    assert_eq!(
        numbers,
        [(0, 1), (0, 2), (1, 1), (2, 1), (3, 1), (4, 1)],
        "queued and running, then each part's"
    );
    assert_eq!((tail.newest.to_string().as_str(), &tail.read), ("2-1-1-1-1", &tail.newest));

    store.renew(&leases[1], Duration::ZERO).await.expect("renews");
    let next = claim(&store, &job, LONG).await.expect("its lease has expired");
    assert_eq!((next.part, next.epoch), (2, leases[1].epoch + 1));
    assert_eq!(
        open(&store, &leases[1], "b").await.expect_err("is fenced off").to_string(),
        RecordError::LostLease.to_string()
    );
    open(&store, &leases[0], "a").await.expect("has its lease");
}

// Goal: the job is running while any part is; it ends with the last one, once, with what the parts ended with; cancel
// and resume reach all parts, whatever each of them is doing.
async fn a_split_job_stops_and_goes_on_as_a_whole(place: Place) {
    use JobStatus::{Cancelled, Completed, Failed, Partial, Queued, Running};
    let store = place.store().await;
    let reasons: &[Case<'_>] = &[
        ("completed", &[(Completed, &[]), (Completed, &[])], (Completed, None)),
        ("failed", &[(Failed, &["y"]), (Failed, &["x"])], (Failed, Some("x; y"))),
        ("partial", &[(Failed, &["x"]), (Completed, &[])], (Partial, Some("x"))),
        ("given-back", &[(Queued, &["x"]), (Completed, &[])], (Queued, None)),
        ("never-cancelled", &[(Cancelled, &["x"]), (Completed, &[])], (Queued, None)),
    ];
    for (name, ends, (expected, error)) in reasons {
        let job = queue(&store, name, 2).await;
        let leases =
            [claim(&store, &job, LONG).await.expect("one"), claim(&store, &job, LONG).await.expect("two")];
        for (lease, (ended, reasons)) in leases.iter().zip(*ends) {
            assert_eq!(status(&store, &job).await.0, Running, "{name}");
            store.finish_part(lease, end(*ended, reasons)).await.expect("ends");
        }
        assert_eq!(status(&store, &job).await, (*expected, error.map(str::to_owned)), "{name}");
        let late = store.finish_part(&leases[0], end(Completed, &[])).await;
        assert!(matches!(late, Err(RecordError::LostLease)), "{name}: {late:?}");
    }

    // One part runs, one is queued, and one's worker has died.
    let job = queue(&store, "cancelled", 3).await;
    let runs = claim(&store, &job, LONG).await.expect("one");
    let dead = claim(&store, &job, Duration::ZERO).await.expect("two");
    open(&store, &dead, "b").await.expect("opens");
    assert_eq!(store.cancel(&job).await.expect("asks"), Some(Running));
    let parts = store.parts(&job).await.expect("reads");
    assert_eq!(
        parts.into_iter().collect::<Vec<_>>(),
        [("cancelled".to_owned(), 2), ("running".to_owned(), 1)]
    );
    assert!(matches!(open(&store, &dead, "b").await, Err(RecordError::LostLease)));
    assert!(store.renew(&runs, LONG).await.expect("renews"), "it is told");
    assert!(claim(&store, &job, LONG).await.is_none());
    store.finish_part(&runs, end(Queued, &[])).await.expect("shuts down first");
    assert_eq!(status(&store, &job).await, (Cancelled, None));
    let details = store.job_details(&job).await.expect("reads").expect("is there");
    assert!(details.days.iter().all(|day| day.status == DayStatus::Queued), "no day runs");

    assert!(store.requeue(&job).await.expect("asks"));
    let runs = claim(&store, &job, LONG).await.expect("it is queued");
    assert_eq!(store.cancel(&job).await.expect("asks"), Some(Running));
    assert!(store.requeue(&job).await.expect("asks"), "before it has stopped");
    store.finish_part(&runs, end(Cancelled, &["x"])).await.expect("ends");
    assert_eq!(status(&store, &job).await.0, Queued, "the last word counts");
    let mut left = BTreeSet::new();
    while let Some(lease) = claim(&store, &job, LONG).await {
        left.insert(lease.part);
        store.finish_part(&lease, end(Completed, &[])).await.expect("ends");
    }
    assert_eq!((left.len(), status(&store, &job).await), (3, (Completed, None)));
    assert!(!store.requeue(&job).await.expect("asks"), "it is completed");
    let tail =
        store.tail(&job, &EventPosition::default(), None, 1_000).await.expect("reads").expect("is there");
    let last = tail.events.last().expect("has events");
    assert_eq!((last.kind.as_str(), part_of_event(last.n)), ("end", (0, tail.newest.of_part(0))));
}

// Goal: a reader that stops after any event and continues from there gets each event once, each part's in order, in
// pages of any size, and the end last.
async fn positions_lose_and_repeat_nothing(place: Place) {
    let store = place.store().await;
    let job = queue(&store, "job", 3).await;
    for _ in 0..5 {
        for agent in ["a", "b", "d"] {
            // Each claim of an expired lease runs the day again, which is an event.
            let lease = claim(&store, &job, Duration::ZERO).await.expect("claims");
            open(&store, &lease, agent).await.expect("opens");
            store.finish_part(&lease, end(JobStatus::Queued, &[])).await.expect("gives it back");
        }
    }
    while let Some(lease) = claim(&store, &job, LONG).await {
        store.finish_part(&lease, end(JobStatus::Completed, &[])).await.expect("ends");
    }
    let whole =
        store.tail(&job, &EventPosition::default(), None, 1_000).await.expect("reads").expect("is there");
    let all: BTreeSet<i64> = whole.events.iter().map(|event| event.n).collect();
    assert!(all.len() == whole.events.len() && all.len() > 30, "{}", all.len());
    for page in [1, 2, 3, 7] {
        let (mut at, mut seen) = (EventPosition::default(), Vec::new());
        loop {
            let tail = store.tail(&job, &at, None, page).await.expect("reads").expect("is there");
            // The reader is cut off after each event, and continues from its text.
            let Some(event) = tail.events.first() else { break };
            at.pass(event.n);
            at = at.to_string().parse().expect("a position");
            assert!(seen.iter().all(|n| *n != event.n), "{} is repeated", event.n);
            assert!(event.kind != "end" || seen.len() + 1 == all.len() || event.n != whole.newest.of_part(0));
            seen.push(event.n);
        }
        assert_eq!(seen.iter().copied().collect::<BTreeSet<_>>(), all, "pages of {page}");
        for part in 0..4 {
            let own: Vec<i64> = seen.iter().copied().filter(|n| part_of_event(*n).0 == part).collect();
            assert!(own.is_sorted(), "{own:?}");
        }
        assert_eq!(at, whole.newest);
    }
}

// Goal: the shares of all parts never exceed the limit; a part's share outlives its worker, what it gives up when it is
// denied more is free for the others, and so is what it has not used when it ends.
async fn shares_stay_within_the_budget(place: Place) {
    let store = place.store().await;
    let job = queue(&store, "job", 4).await;
    let limit = Limit { tokens: Some(100), usd: None };
    let ask = async |lease: &Lease, line, held, needed| {
        let amount = |tokens| Grant { tokens, usd: rust_decimal::Decimal::ONE };
        let request = ShareRequest { line, held: amount(held), needed: amount(needed), job_limit: limit };
        store.request_share(lease, request).await
    };
    let granted = |tokens| ShareOutcome::Granted(Limit { tokens: Some(tokens), usd: None });
    let denied = |outcome: ShareOutcome| match outcome {
        ShareOutcome::Denied { by: SharedLimit::Job, committed, limit: by } if by == limit => {
            committed.tokens
        }
        other => panic!("{other:?}"),
    };
    let sessions = JobBudget::Sessions;
    let one = claim(&store, &job, Duration::ZERO).await.expect("claims");
    assert_eq!(ask(&one, sessions, 0, 60).await.expect("asks"), granted(61), "and a slice");
    let again = claim(&store, &job, LONG).await.expect("its worker has died");
    assert_eq!(again.part, one.part);
    let lost = ask(&one, sessions, 0, 1).await;
    assert!(matches!(lost, Err(RecordError::LostLease)), "{lost:?}");
    let two = claim(&store, &job, LONG).await.expect("claims");
    assert_eq!(denied(ask(&two, sessions, 0, 40).await.expect("asks")), 61, "what the dead worker has");
    assert_eq!(ask(&two, JobBudget::Summaries, 0, 100).await.expect("asks"), granted(100), "its own line");
    assert_eq!(ask(&two, sessions, 0, 39).await.expect("asks"), granted(39));
    assert_eq!(denied(ask(&again, sessions, 20, 42).await.expect("asks")), 59);
    assert_eq!(ask(&two, sessions, 39, 41).await.expect("asks"), granted(80), "what the other gave up");
    assert_eq!(denied(ask(&two, sessions, 90, 1).await.expect("asks")), 110, "a call has used more");
    store.finish_part(&again, end(JobStatus::Queued, &[])).await.expect("has used nothing");
    assert_eq!(ask(&two, sessions, 80, 20).await.expect("asks"), granted(100));
}

// Goal: one heartbeat keeps a worker's leases of jobs and parts, which expire without it; a lease that the worker has
// and no longer knows of ends.
async fn a_heartbeat_extends_what_is_named(place: Place) {
    let store = place.store().await;
    let job = queue(&store, "split", 2).await;
    let whole = queue(&store, "whole", 1).await;
    let mut leases = Vec::new();
    for id in [&job, &job, &whole] {
        leases.push(claim(&store, id, LONG).await.expect("claims"));
    }
    for table in ["jobs", "job_parts"] {
        place.edit(&format!("UPDATE {table} SET lease_until = 0")).await;
    }
    let states = store.heartbeat("w", &leases, LONG).await.expect("beats");
    assert_eq!(states, [LeaseState::Held; 3]);
    for id in [&job, &whole] {
        assert!(claim(&store, id, LONG).await.is_none(), "it is leased");
    }
    assert_eq!(store.cancel(&whole).await.expect("asks"), Some(JobStatus::Running));
    let old = Lease { epoch: 0, ..leases[0].clone() };
    let states =
        store.heartbeat("w", &[old, leases[1].clone(), leases[2].clone()], LONG).await.expect("beats");
    assert_eq!(states, [LeaseState::Lost, LeaseState::Held, LeaseState::Cancelled]);
    let freed = claim(&store, &job, LONG).await.expect("it was not named");
    assert_eq!(freed.part, 1);
    store.heartbeat("w", &[], Duration::ZERO).await.expect("beats");
    assert!(claim(&store, &whole, LONG).await.is_some(), "the heartbeat is over");
}

// Goal: of the parts of jobs that have not stopped, the totals say how many wait, how many run, and how many have lost
// their worker.
async fn parts_are_counted_by_state(place: Place) {
    let store = place.store().await;
    let counts =
        async || (store.counts().await.expect("counts").parts, store.figures().await.expect("counts").parts);
    assert_eq!(counts().await, (PartCounts::default(), PartCounts::default()));
    let job = queue(&store, "split", 4).await;
    queue(&store, "whole", 1).await;
    let ends = claim(&store, &job, LONG).await.expect("one");
    claim(&store, &job, LONG).await.expect("two");
    claim(&store, &job, Duration::ZERO).await.expect("three");
    store.finish_part(&ends, end(JobStatus::Completed, &[])).await.expect("ends");
    let expected = PartCounts { jobs: 1, queued: 1, running: 1, expired: 1 };
    assert_eq!(counts().await, (expected, expected));
    store.cancel(&job).await.expect("is cancelled");
    let running = PartCounts { jobs: 1, queued: 0, running: 1, expired: 0 };
    assert_eq!(counts().await, (running, running));
}
