//! Dev data are written only to a database marked as dev data.

use crate::places::{Place, on_both};
use papertape_core::id::{ContentHash, JobId};
use papertape_core::ports::Queue as _;
use papertape_core::record::{JobKind, NewJob};
use papertape_core::time::from_micros;
use papertape_store::{Store, StoreError};
use std::time::Duration;

async fn dev(place: &Place, wipe: bool) -> Result<Store, StoreError> {
    Store::open_dev(place.target.clone(), wipe).await
}

async fn add_a_job(store: &Store) {
    let job = NewJob {
        id: JobId::new("j"),
        kind: JobKind::Simulate,
        config: serde_json::json!({}),
        fingerprint: ContentHash::of(b""),
        warnings: Vec::new(),
        days: Vec::new(),
        parent: None,
        plan: None,
        supersedes: Vec::new(),
        continues: Vec::new(),
        texts: Vec::new(),
        created_at: from_micros(0).expect("is an instant"),
    };
    store.enqueue(job).await.expect("is queued");
}

async fn has_the_job(store: &Store) -> bool {
    store.get_job(&JobId::new("j")).await.expect("reads").is_some()
}

on_both!(marked_data_are_wiped_when_it_is_asked_for_and_then_only);
async fn marked_data_are_wiped_when_it_is_asked_for_and_then_only(place: Place) {
    let store = dev(&place, true).await.expect("makes it");
    add_a_job(&store).await;
    drop(store);
    let store = dev(&place, false).await.expect("opens it");
    assert!(has_the_job(&store).await);
    drop(store);
    let store = dev(&place, true).await.expect("wipes it");
    assert!(!has_the_job(&store).await);
    add_a_job(&store).await;
    drop(store);
    // The recreated database is marked too.
    assert!(!has_the_job(&dev(&place, true).await.expect("wipes it again")).await);
}

on_both!(data_without_the_mark_are_neither_wiped_nor_used);
async fn data_without_the_mark_are_neither_wiped_nor_used(place: Place) {
    let store = place.store().await;
    add_a_job(&store).await;
    drop(store);
    for wipe in [true, false] {
        let refused = dev(&place, wipe).await.expect_err("it is not dev data");
        assert!(matches!(refused, StoreError::NotDev { .. }), "{refused}");
    }
    assert!(has_the_job(&place.store().await).await);
}

#[tokio::test]
async fn data_of_a_living_process_are_not_wiped() {
    let place = Place::sqlite();
    let store = dev(&place, true).await.expect("makes it");
    add_a_job(&store).await;
    let refused = dev(&place, true).await.expect_err("it is owned");
    assert!(matches!(refused, StoreError::InUse { .. }), "{refused}");
    assert!(has_the_job(&store).await);
}

on_both!(leases_of_a_dead_owner_end_where_there_is_one_owner);
async fn leases_of_a_dead_owner_end_where_there_is_one_owner(place: Place) {
    let store = place.store().await;
    add_a_job(&store).await;
    let claim = |owner| store.claim(owner, Duration::from_secs(3600), None);
    assert!(claim("dead").await.expect("claims").is_some());
    assert!(claim("alive").await.expect("asks").is_none());
    let ended = store.end_leases().await.expect("ends them");
    let is_free = claim("alive").await.expect("asks").is_some();
    // On PostgreSQL the other worker may be alive.
    let has_one_owner = matches!(place.target, papertape_store::DatabaseTarget::Sqlite(_));
    assert_eq!((ended, is_free), (u64::from(has_one_owner), has_one_owner));
}
