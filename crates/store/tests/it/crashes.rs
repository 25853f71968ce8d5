//! Consecutive crashes of a job's process.

use crate::desk::{claim, new_job, run_job};
use crate::places::{Place, on_both};
use papertape_core::id::JobId;
use papertape_core::ports::Queue as _;
use papertape_core::record::JobStatus;
use papertape_store::Store;

on_both!(deaths_are_counted_until_there_is_progress);

async fn crashes(store: &Store, job: &str) -> u32 {
    store.get_job(&JobId::new(job)).await.expect("reads").expect("is there").crashes
}

// Goal: claiming a job from a dead process is counted; a lost lease, a shutdown and a resume are not; progress
// resets the count.
async fn deaths_are_counted_until_there_is_progress(place: Place) {
    let store = place.store().await;
    store.enqueue(new_job("job", &["momentum"], 0)).await.expect("queues");
    // A lease of zero duration expires immediately, like that of a dead process.
    let first = claim(&store, "job").await;
    assert_eq!(crashes(&store, "job").await, 0);
    claim(&store, "job").await;
    let third = claim(&store, "job").await;
    assert_eq!(crashes(&store, "job").await, 2);
    store.survived(&third).await.expect("says so");
    assert_eq!(crashes(&store, "job").await, 2, "it has lost nothing");
    store.survived(&first).await.expect("says so");
    assert_eq!(crashes(&store, "job").await, 1, "the first was alive after all");

    store.finish(&third, JobStatus::Queued, None).await.expect("is given back");
    let again = claim(&store, "job").await;
    assert_eq!(crashes(&store, "job").await, 1, "a shutdown is no death");
    store.finish(&again, JobStatus::Failed, None).await.expect("ends");
    assert!(store.requeue(&JobId::new("job")).await.expect("asks"));
    assert_eq!(crashes(&store, "job").await, 0);

    run_job(&store, "cut", &["momentum"], &[5, 7, 3]).await;
    assert_eq!(crashes(&store, "cut").await, 0, "each of them has brought the job on");
}
