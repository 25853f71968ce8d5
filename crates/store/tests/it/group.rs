//! Many concurrent writers: nothing is lost or numbered twice, and a failing one fails on its own.

use crate::desk::{at, claim, commit, date, new_job, said};
use crate::places::{Place, on_both};
use papertape_core::id::JobId;
use papertape_core::ports::{Queue as _, RecordError, RecordStore as _};
use papertape_core::record::{Lease, NewSession};
use std::time::Duration;

on_both!(sixty_four_writers_lose_nothing);

async fn sixty_four_writers_lose_nothing(place: Place) {
    const WRITERS: usize = 64;
    const EACH: usize = 12;
    const AGENTS: [&str; 3] = ["momentum", "reversal", "hold"];
    let store = place.store().await;
    store.enqueue(new_job("busy", &AGENTS, 0)).await.expect("queues");
    let lease = claim(&store, "busy").await;
    let mut sessions = Vec::new();
    for agent in AGENTS {
        let new = NewSession { agent: agent.into(), date: date("2012-03-01"), at: at(0) };
        sessions.push(store.open_session(&lease, new).await.expect("opens").id);
    }

    let writers = (0..WRITERS).map(|writer| {
        let (store, lease, session) = (store.clone(), lease.clone(), sessions[writer % AGENTS.len()]);
        tokio::spawn(async move {
            for turn in 1..=EACH {
                let path = format!("node{writer}#1/message#{turn}");
                let writes = said(&path, &format!("turn {turn}, the same in all nodes"));
                if (writer + turn) % 5 == 0 {
                    // A writer whose lease was lost long ago, in the same group.
                    let old = Lease { epoch: lease.epoch - 1, ..lease.clone() };
                    let lost = store.commit(commit(&old, session, writes.clone())).await;
                    assert!(matches!(lost, Err(RecordError::LostLease)), "{lost:?}");
                }
                store.commit(commit(&lease, session, writes.clone())).await.expect("commits");
                if (writer + turn) % 7 == 0 {
                    // A step that is there already, with a new one that goes with it.
                    let new = said(&format!("node{writer}#1/message#{}", turn + EACH), "never seen");
                    let both = new.into_iter().chain(writes).collect();
                    store.commit(commit(&lease, session, both)).await.expect_err("it is there already");
                }
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.expect("ends well");
    }

    let count = (WRITERS * EACH) as i64;
    let mut steps = 0;
    for session in sessions {
        steps += store.load_tape(session, false).await.expect("reads").len() as i64;
    }
    assert_eq!(steps, count);
    // job queued, job running, the sessions opened, then one message each.
    let events = store.events(&JobId::new("busy"), 0, 1000).await.expect("reads");
    let numbers: Vec<i64> = events.iter().map(|event| event.n).collect();
    assert_eq!(numbers, (1..=count + 2 + AGENTS.len() as i64).collect::<Vec<_>>());
    let indexes =
        "SELECT count(*) FROM (SELECT DISTINCT session_id, message_index FROM reasoning_log_rows) t";
    assert_eq!(place.number(indexes).await, count);
    let gaps = "SELECT count(*) FROM (SELECT session_id FROM reasoning_log_rows GROUP BY session_id
        HAVING max(message_index) <> count(*) - 1) t";
    assert_eq!(place.number(gaps).await, 0);
    let report = store.verify_chain(&JobId::new("busy")).await.expect("verifies");
    assert_eq!((report.broken, report.links), (None, count as u64));
}

/// Goal: what a job's writers hand over while a transaction is in progress shares the next one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_writes_of_one_job_share_transactions() {
    const WRITERS: i64 = 48;
    let place = Place::postgres();
    let store = place.store().await;
    store.enqueue(new_job("busy", &["momentum"], 0)).await.expect("queues");
    let lease = claim(&store, "busy").await;
    let new = NewSession { agent: "momentum".into(), date: date("2012-03-01"), at: at(0) };
    let session = store.open_session(&lease, new).await.expect("opens").id;
    let writes = (0..WRITERS).map(|writer| {
        let writes = said(&format!("node{writer}#1/message#1"), &format!("{writer}"));
        // Handed over in this order, although nobody waits yet.
        store.commit(commit(&lease, session, writes))
    });
    futures::future::try_join_all(writes.collect::<Vec<_>>()).await.expect("commits");
    let transactions = place.number("SELECT count(DISTINCT CAST(xmin AS TEXT)) FROM steps").await;
    assert!(transactions <= 3, "{transactions} transactions for {WRITERS} writes");
    let in_order = "SELECT count(*) FROM steps WHERE path = 'node' || (seq - 1) || '#1/message#1'";
    assert_eq!(place.number(in_order).await, WRITERS);
}

/// Goal: two jobs that write the same texts in opposite orders do not block each other until PostgreSQL ends one of
/// their transactions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_shared_texts_cause_no_deadlock() {
    const TEXTS: usize = 12;
    const DEADLOCKS: &str = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    let place = Place::postgres();
    let store = place.store().await;
    let before = place.number(DEADLOCKS).await;
    let mut sessions = Vec::new();
    for job in ["forth", "back"] {
        store.enqueue(new_job(job, &["momentum"], 0)).await.expect("queues");
        let lease = claim(&store, job).await;
        let new = NewSession { agent: "momentum".into(), date: date("2012-03-01"), at: at(0) };
        let session = store.open_session(&lease, new).await.expect("opens").id;
        sessions.push((lease, session));
    }
    for round in 0..20 {
        let mut writes = Vec::new();
        for at in 0..TEXTS {
            for ((lease, session), text) in sessions.iter().zip([at, TEXTS - 1 - at]) {
                let path = format!("node{round}#1/message#{}", at + 1);
                let said = said(&path, &format!("{text} of round {round}, written by both"));
                writes.push(store.commit(commit(lease, *session, said)));
            }
        }
        futures::future::try_join_all(writes).await.expect("commits");
    }
    for job in ["forth", "back"] {
        let report = store.verify_chain(&JobId::new(job)).await.expect("verifies");
        assert_eq!((report.broken, report.links), (None, 20 * TEXTS as u64));
    }
    // A connection reports its deadlocks when it is closed at the latest.
    drop(store);
    let others = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let closed = async {
        while place.number(others).await > 1 {
            tokio::task::yield_now().await;
        }
    };
    // A server that is shared with others is never without them.
    let _ = tokio::time::timeout(Duration::from_secs(10), closed).await;
    assert_eq!(place.number(DEADLOCKS).await, before);
}
