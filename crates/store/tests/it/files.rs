//! A data file has one owner process, is readable only by its owner, and can be read and copied while in use.

use crate::desk::new_job;
use crate::places::Place;
use papertape_core::id::JobId;
use papertape_core::ports::{Queue as _, RecordError};
use papertape_store::{DatabaseTarget, Store, StoreError};
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
    assert!(reader.get_job(&JobId::new("job")).await.expect("reads").is_some());
    let refused = reader.enqueue(new_job("other", &[], 0)).await;
    assert!(matches!(&refused, Err(RecordError::Database(why)) if why.contains("read-only")), "{refused:?}");
}

#[tokio::test]
async fn files_are_their_owners_alone_and_a_copy_has_all() {
    let place = Place::sqlite();
    let store = place.store().await;
    store.enqueue(new_job("job", &["momentum"], 0)).await.expect("queues");
    let DatabaseTarget::Sqlite(path) = &place.target else { unreachable!("it is SQLite") };
    let copy = path.with_file_name("copy.db");
    store.backup(&copy).await.expect("copies");
    for file in [path.clone(), path.with_file_name("tape.db-wal"), copy.clone()] {
        let mode = file.metadata().expect("is there").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "of {}", file.display());
    }
    let again = store.backup(&copy).await;
    assert!(matches!(again, Err(StoreError::File { .. })), "a copy is never written over: {again:?}");
    let copied = Store::open(DatabaseTarget::Sqlite(copy)).await.expect("opens the copy");
    assert!(copied.get_job(&JobId::new("job")).await.expect("reads").is_some());
}

#[tokio::test]
async fn a_file_that_is_not_there_is_not_made_by_reading() {
    let place = Place::sqlite();
    let missing = Store::open_read_only(place.target.clone()).await.expect_err("there is nothing");
    assert!(matches!(missing, StoreError::File { .. }), "{missing}");
}

/// Goal: a database in a directory where SQLite cannot create files can be read with everything committed: the
/// file itself if its WAL is empty, a copy if the WAL has commits, and nothing is left behind. A directory with
/// the file's name makes creation fail, even for root.
#[tokio::test]
async fn a_record_in_a_read_only_directory_is_read() {
    let place = Place::sqlite();
    let DatabaseTarget::Sqlite(path) = &place.target else { unreachable!("it is SQLite") };
    let store = place.store().await;
    store.enqueue(new_job("job", &["momentum"], 0)).await.expect("queues");
    for with_log in [true, false] {
        let dir = tempfile::tempdir().expect("a directory");
        let copy = dir.path().join("tape.db");
        if with_log {
            // The state that a killed process leaves.
            std::fs::copy(path, &copy).expect("copies");
            std::fs::copy(path.with_file_name("tape.db-wal"), dir.path().join("tape.db-wal"))
                .expect("copies");
        } else {
            store.backup(&copy).await.expect("copies");
        }
        std::fs::create_dir(dir.path().join("tape.db-shm")).expect("makes a directory");
        let before = names(dir.path());
        let reader = Store::open_read_only(DatabaseTarget::Sqlite(copy)).await.expect("opens");
        assert!(reader.get_job(&JobId::new("job")).await.expect("reads").is_some(), "log: {with_log}");
        drop(reader);
        assert_eq!(names(dir.path()), before);
    }
    let copies = format!("papertape-read-{}-", std::process::id());
    let left = names(&std::env::temp_dir()).into_iter().filter(|name| name.starts_with(&copies)).count();
    assert_eq!(left, 0, "no copy is left behind");
}

/// The entries of a directory, except empty files: SQLite may leave an empty WAL if it can create one.
fn names(dir: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("is a directory").map(|entry| entry.expect("an entry"));
    let full = entries.filter(|entry| entry.metadata().is_ok_and(|meta| meta.len() > 0));
    let mut names: Vec<String> = full.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Goal: opening an empty file for reading fails with a clear error and leaves the file unchanged.
#[tokio::test]
async fn an_empty_file_is_not_a_record() {
    let place = Place::sqlite();
    let DatabaseTarget::Sqlite(path) = &place.target else { unreachable!("it is SQLite") };
    std::fs::write(path, b"").expect("writes");
    let error = Store::open_read_only(place.target.clone()).await.expect_err("there is nothing in it");
    assert!(error.to_string().contains("the file is empty"), "{error}");
    assert_eq!(path.metadata().expect("is there").len(), 0);
}

#[tokio::test]
async fn an_acknowledged_write_is_in_the_file_after_the_last_handle_went() {
    let place = Place::sqlite();
    let store = place.store().await;
    // The future is dropped: the write has been started, and that is enough.
    drop(store.enqueue(new_job("job", &["momentum"], 0)));
    drop(store);
    let store = place.store().await;
    assert!(store.get_job(&JobId::new("job")).await.expect("reads").is_some());
}
