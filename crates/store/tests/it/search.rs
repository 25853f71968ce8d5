//! A rare word is looked for otherwise than one that is often there, and that otherwise than one that is
//! everywhere; what is found is the same.

use crate::desk::{at, claim, commit, date, new_job, said};
use crate::places::{Place, on_both};
use papertape_core::id::JobId;
use papertape_core::ports::{Queue as _, Record as _};
use papertape_core::record::NewSession;
use papertape_store::{PageRequest, SessionFilter, Store, Target};

on_both!(words_that_are_everywhere_find_their_sessions, words_that_are_often_there_find_their_sessions);

/// More messages than are gathered before they are looked for the other way round.
const MANY: usize = 2_100;
const SESSIONS: usize = 30;

async fn words_that_are_everywhere_find_their_sessions(place: Place) {
    finds(&place.store().await).await;
}

async fn words_that_are_often_there_find_their_sessions(place: Place) {
    let store = place.store().await;
    // As if many more texts had come before these.
    let text = match place.target {
        Target::Sqlite(_) => "INSERT INTO texts (id, hash, body) VALUES (1000000, x'00', '')",
        Target::Postgres(..) => "INSERT INTO texts (id, hash, body) VALUES (1000000, '\\x00', '')",
    };
    place.edit(text).await;
    finds(&store).await;
}

async fn finds(store: &Store) {
    for job in ["first", "second"] {
        store.enqueue(new_job(job, &[], 0)).await.expect("queues");
        let lease = claim(store, job).await;
        for number in 0..SESSIONS {
            let new = NewSession {
                agent: format!("agent-{number:02}").into(),
                date: date("2012-03-01"),
                at: at(number as i64),
            };
            let session = store.open_session(&lease, new).await.expect("opens").id;
            let mut writes = Vec::new();
            for turn in 1..=MANY / SESSIONS / 2 + 1 {
                let mut words = format!("{job} {number} {turn} everywhere");
                if turn == 3 && number % 10 == 4 {
                    words.push_str(" seldom");
                }
                // The same sessions, but another message of theirs.
                if turn == 4 && number % 10 == 4 {
                    words.push_str(" elsewhere");
                }
                writes.extend(said(&format!("solo#1/message#{turn}"), &words));
            }
            store.commit(commit(&lease, session, writes)).await.expect("commits");
        }
    }
    let everyone: Vec<usize> = (0..SESSIONS).collect();
    assert_eq!(found(store, None, "everywhere").await.len(), 2 * SESSIONS);
    assert_eq!(found(store, Some("second"), "EVERYWHERE").await, everyone);
    assert_eq!(found(store, Some("second"), "second everywhere").await, everyone);
    assert_eq!(found(store, Some("second"), "first everywhere").await, Vec::<usize>::new());
    let mut seldom = found(store, None, "everywhere seldom").await;
    seldom.sort_unstable();
    assert_eq!(seldom, [4, 4, 14, 14, 24, 24]);
    assert_eq!(found(store, Some("first"), "seldom").await, [4, 14, 24]);
    assert_eq!(found(store, None, "seldom elsewhere").await, Vec::<usize>::new());
}

/// The agents of all sessions that are found, page by page, in their order.
async fn found(store: &Store, job: Option<&str>, q: &str) -> Vec<usize> {
    let filter =
        SessionFilter { job: job.map(JobId::from), q: Some(q.to_owned()), ..SessionFilter::default() };
    let mut page = PageRequest::first(7);
    let mut agents = Vec::new();
    loop {
        let next = store.sessions(&filter, false, &page).await.expect("reads");
        agents.extend(next.items.iter().map(|item| {
            item.agent.as_str().trim_start_matches("agent-").parse::<usize>().expect("is a number")
        }));
        match next.next {
            Some(cursor) => page = PageRequest::after(7, &cursor),
            None => return agents,
        }
    }
}
