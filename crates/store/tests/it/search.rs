//! A word that occurs almost everywhere is searched differently from a rare one; results are the same.

use crate::desk::{at, claim, commit, date, new_job, said};
use crate::places::{Place, on_both};
use papertape_core::id::JobId;
use papertape_core::ports::{Queue as _, RecordStore as _};
use papertape_core::record::NewSession;
use papertape_store::{PageRequest, SessionFilter, Store};

on_both!(frequent_and_rare_words_find_their_sessions);

/// More messages than the limit below which the search starts from the matches.
const MANY: usize = 2_100;
const SESSIONS: usize = 30;

async fn frequent_and_rare_words_find_their_sessions(place: Place) {
    let store = place.store().await;
    for job in ["first", "second"] {
        store.enqueue(new_job(job, &[], 0)).await.expect("queues");
        let lease = claim(&store, job).await;
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
                // The last session of each ten has one word in one message, and the other word in another.
                if turn == 4 && number % 10 == 4 {
                    words.push_str(" elsewhere");
                }
                writes.extend(said(&format!("solo#1/message#{turn}"), &words));
            }
            store.commit(commit(&lease, session, writes)).await.expect("commits");
        }
    }
    let everyone: Vec<usize> = (0..SESSIONS).collect();
    let both = |agents: &[usize]| [agents, agents].concat();
    assert_eq!(found(&store, None, "everywhere").await.len(), 2 * SESSIONS);
    assert_eq!(found(&store, Some("second"), "EVERYWHERE").await, everyone);
    assert_eq!(found(&store, Some("second"), "second everywhere").await, everyone);
    assert_eq!(found(&store, Some("second"), "first everywhere").await, Vec::<usize>::new());
    let mut seldom = found(&store, None, "everywhere seldom").await;
    seldom.sort_unstable();
    let mut twice = both(&[4, 14, 24]);
    twice.sort_unstable();
    assert_eq!(seldom, twice);
    assert_eq!(found(&store, Some("first"), "seldom").await, [4, 14, 24]);
    assert_eq!(found(&store, None, "seldom elsewhere").await, Vec::<usize>::new());
}

/// The agents of all matching sessions, page by page, in order.
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

/// Texts that are not indexed yet.
const TO_INDEX: &str = "SELECT count(*) FROM texts_to_index";

/// Goal: a text is found exactly once from its commit on, whether it is indexed, queued for indexing, or both;
/// closing a store empties the queue.
#[tokio::test]
async fn what_the_index_has_not_come_to_is_found() {
    let place = Place::sqlite();
    let store = place.store().await;
    store.enqueue(new_job("first", &[], 0)).await.expect("queues");
    let lease = claim(&store, "first").await;
    for number in 0..3 {
        let agent = format!("agent-{number:02}").into();
        let new = NewSession { agent, date: date("2012-03-01"), at: at(number) };
        let session = store.open_session(&lease, new).await.expect("opens").id;
        for turn in 1..=40 {
            let words = format!("{number} {turn} everywhere 贵州茅台 turn{number}x{turn}");
            let writes = said(&format!("solo#1/message#{turn}"), &words);
            store.commit(commit(&lease, session, writes)).await.expect("commits");
            let asked = format!("turn{number}x{turn} 茅台");
            assert_eq!(found(&store, None, &asked).await, [number as usize], "{asked}");
        }
    }
    let check = async |store: &Store, when: &str| {
        assert_eq!(found(store, None, "everywhere").await, [0, 1, 2], "{when}");
        assert_eq!(found(store, Some("first"), "1 turn1x7 台").await, [1], "{when}");
        assert_eq!(found(store, None, "turn1x7 turn1x8").await, Vec::<usize>::new(), "{when}");
    };
    check(&store, "while it is written").await;
    drop(store);
    assert_eq!(place.number(TO_INDEX).await, 0, "it is closed");

    // The state that a killed process leaves: some queued texts are new, some are already indexed.
    place.edit("INSERT INTO texts_to_index (text_id) SELECT id FROM texts WHERE id % 2 = 0").await;
    place.edit("DELETE FROM text_search_docsize WHERE id % 4 = 0").await;
    let reading = Store::open_read_only(place.target.clone()).await.expect("opens");
    check(&reading, "left by another").await;
    drop(reading);
    drop(place.store().await);
    assert_eq!(place.number(TO_INDEX).await, 0, "the next one does it");
    check(&place.store().await, "caught up").await;
}

/// Goal: the list of texts that are not indexed yet stays short although the writer never pauses.
#[tokio::test]
async fn the_index_keeps_up_under_load() {
    let place = Place::sqlite();
    let store = place.store().await;
    store.enqueue(new_job("first", &[], 0)).await.expect("queues");
    let lease = claim(&store, "first").await;
    let new = NewSession { agent: "agent-00".into(), date: date("2012-03-01"), at: at(0) };
    let session = store.open_session(&lease, new).await.expect("opens").id;
    for round in 0..6 {
        let writes = (0..200).map(|turn| {
            let words = format!("everywhere word{round}x{turn}");
            let writes = said(&format!("node{round}#1/message#{turn}"), &words);
            store.commit(commit(&lease, session, writes))
        });
        futures::future::try_join_all(writes.collect::<Vec<_>>()).await.expect("commits");
        let waiting = place.number(TO_INDEX).await;
        assert!(waiting <= 512, "{waiting} texts wait");
    }
    for word in ["word0x0", "word3x199", "everywhere word5x7"] {
        assert_eq!(found(&store, None, word).await, [0], "{word}");
    }
}
