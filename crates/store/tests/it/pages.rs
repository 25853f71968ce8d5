//! Pages never drop or repeat a row, whatever is added between them.

use crate::desk::{at, claim, new_job};
use crate::places::Place;
use papertape_core::id::{AgentName, JobId};
use papertape_core::ports::{Queue as _, RecordStore as _};
use papertape_core::record::{Lease, NewSession};
use papertape_core::time::Date;
use papertape_store::{JobFilter, Page, PageRequest, ResultFilter, SessionFilter, Store, StoreError};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// What happens between two pages.
#[derive(Clone, Debug)]
struct Turn {
    limit: u32,
    /// Instants and days of sessions and jobs that are added before the page.
    added: Vec<(i64, i8)>,
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let added = proptest::collection::vec((0..6_i64, 1..6_i8), 0..3);
    let turn = (1..4_u32, added).prop_map(|(limit, added)| Turn { limit, added });
    proptest::collection::vec(turn, 1..6)
}

struct Lists {
    store: Store,
    lease: Lease,
    count: u32,
}

impl Lists {
    async fn add(&mut self, instant: i64, day: i8) {
        self.count += 1;
        // Many share an instant, so that the second part of the key decides.
        let job = format!("job-{:03}", (self.count * 37) % 101);
        self.store.enqueue(new_job(&job, &[], instant)).await.expect("queues");
        let agent = AgentName::new(format!("agent-{}", (self.count * 7) % 13 + 13 * (self.count / 13)));
        let date = Date::new(2012, 3, day).expect("is a day");
        let new = NewSession { agent, date, at: at(instant) };
        self.store.open_session(&self.lease, new).await.expect("opens");
    }

    async fn page(&self, list: usize, request: &PageRequest) -> Page<String> {
        fn keys<T>(page: Page<T>, key: impl Fn(T) -> String) -> Page<String> {
            Page { items: page.items.into_iter().map(key).collect(), next: page.next }
        }
        match list {
            0 => {
                let page = self.store.jobs(&JobFilter::default(), request).await.expect("reads");
                keys(page, |item| item.job.id.to_string())
            }
            1 => {
                let all = SessionFilter::default();
                let page = self.store.sessions(&all, false, request).await.expect("reads");
                keys(page, |item| item.id.to_string())
            }
            _ => {
                let page = self.store.results(&ResultFilter::default(), request).await.expect("reads");
                keys(page, |item| item.id.to_string())
            }
        }
    }

    async fn all(&self, list: usize) -> Vec<String> {
        let page = self.page(list, &PageRequest::first(200)).await;
        assert_eq!(page.next, None);
        page.items
    }
}

async fn check(turns: Vec<Turn>) {
    let place = Place::sqlite();
    let store = place.store().await;
    store.enqueue(new_job("host", &[], -1)).await.expect("queues");
    let lease = claim(&store, "host").await;
    let mut lists = Lists { store, lease, count: 0 };
    for n in 0..7 {
        lists.add(n % 4, 1 + (n % 3) as i8).await;
    }
    for list in 0..3 {
        let before = lists.all(list).await;
        let mut seen: Vec<String> = Vec::new();
        let mut cursor = None;
        let mut turns = turns.iter().cycle();
        for round in 0.. {
            let turn = turns.next().expect("cycles");
            // Additions stop eventually, or the list would never end.
            for (instant, day) in turn.added.iter().filter(|_| round < 4) {
                lists.add(*instant, *day).await;
            }
            let request = PageRequest { limit: turn.limit, cursor: cursor.take() };
            let page = lists.page(list, &request).await;
            assert!(page.items.len() <= turn.limit as usize);
            seen.extend(page.items);
            match page.next {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        let once: BTreeSet<&String> = seen.iter().collect();
        assert_eq!(once.len(), seen.len(), "a row came twice: {seen:?}");
        let kept: Vec<&String> = seen.iter().filter(|key| before.contains(key)).collect();
        assert_eq!(kept, before.iter().collect::<Vec<_>>(), "rows were dropped or moved");
        let order: Vec<String> = lists.all(list).await.into_iter().filter(|key| once.contains(key)).collect();
        assert_eq!(seen, order, "the pages are in another order than the list");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_row_comes_exactly_once_whatever_is_added_meanwhile(turns in turns()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("starts");
        runtime.block_on(check(turns));
    }
}

#[tokio::test]
async fn a_cursor_that_no_page_gave_is_refused() {
    let place = Place::sqlite();
    let store = place.store().await;
    for id in ["a", "b", "c"] {
        store.enqueue(new_job(id, &[], 0)).await.expect("queues");
    }
    let page = store.jobs(&JobFilter::default(), &PageRequest::first(1)).await.expect("reads");
    let cursor = page.next.expect("there is more");
    // A cursor of another list is invalid.
    let other = store.sessions(&SessionFilter::default(), false, &PageRequest::after(1, &cursor)).await;
    assert!(matches!(other, Err(StoreError::BadCursor)), "{other:?}");
    for bad in ["", "zz", "00", "é0", "5b5d", &cursor[1..], "5b226a6f6273225d"] {
        let refused = store.jobs(&JobFilter::default(), &PageRequest::after(1, bad)).await;
        assert!(matches!(refused, Err(StoreError::BadCursor)), "{bad:?}: {refused:?}");
    }
    let rest = store.jobs(&JobFilter::default(), &PageRequest::after(0, &cursor)).await.expect("reads");
    assert_eq!(rest.items.len(), 2);
    assert!(store.get_job(&JobId::new("a")).await.expect("reads").is_some());
}
