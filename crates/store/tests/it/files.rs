//! A data file has one owner, is its owner's alone to read, and can be read and copied meanwhile.

use crate::desk::new_job;
use crate::places::Place;
use papertape_core::id::JobId;
use papertape_core::ports::{Queue as _, RecordError};
use papertape_store::{Store, StoreError, Target};
use std::os::unix::fs::PermissionsExt as _;

#[tokio::test]
async fn a_second_writer_is_told_who_the_first_is() {
    let place = Place::sqlite();
    let store = place.store().await;
    let refused = Store::open(place.target.clone()).await.expect_err("it is in use");
    assert!(
        matches!(&refused, StoreError::InUse { pid: Some(pid), .. } if *pid == std::process::id()),
        "{refused}"
    );
    drop(store);
    place.store().await;
}

#[tokio::test]
async fn others_read_beside_the_owner_and_cannot_write() {
    let place = Place::sqlite();
    let store = place.store().await;
    store.enqueue(new_job("job", &["momentum"], 0)).await.expect("queues");
    let reader = Store::open_read_only(place.target.clone()).await.expect("opens beside the owner");
    assert!(reader.job(&JobId::new("job")).await.expect("reads").is_some());
    let refused = reader.enqueue(new_job("other", &[], 0)).await;
    assert!(matches!(&refused, Err(RecordError::Database(why)) if why.contains("reading")), "{refused:?}");
}

#[tokio::test]
async fn files_are_their_owners_alone_and_a_copy_has_all() {
    let place = Place::sqlite();
    let store = place.store().await;
    store.enqueue(new_job("job", &["momentum"], 0)).await.expect("queues");
    let Target::Sqlite(path) = &place.target else { unreachable!("it is SQLite") };
    let copy = path.with_file_name("copy.db");
    store.backup(&copy).await.expect("copies");
    for file in [path.clone(), path.with_file_name("tape.db-wal"), copy.clone()] {
        let mode = file.metadata().expect("is there").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "of {}", file.display());
    }
    let again = store.backup(&copy).await;
    assert!(matches!(again, Err(StoreError::File { .. })), "a copy is never written over: {again:?}");
    let copied = Store::open(Target::Sqlite(copy)).await.expect("opens the copy");
    assert!(copied.job(&JobId::new("job")).await.expect("reads").is_some());
}

#[tokio::test]
async fn a_file_that_is_not_there_is_not_made_by_reading() {
    let place = Place::sqlite();
    let missing = Store::open_read_only(place.target.clone()).await.expect_err("there is nothing");
    assert!(matches!(missing, StoreError::File { .. }), "{missing}");
}

#[tokio::test]
async fn an_acknowledged_write_is_in_the_file_after_the_last_handle_went() {
    let place = Place::sqlite();
    let store = place.store().await;
    // Nobody waits for this one: it was begun, and that is enough.
    drop(store.enqueue(new_job("job", &["momentum"], 0)));
    drop(store);
    let store = place.store().await;
    assert!(store.job(&JobId::new("job")).await.expect("reads").is_some());
}
