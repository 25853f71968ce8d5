//! What leaderboards read of completed runs, on both databases.

use crate::desk::{DAYS, claim, date, new_job};
use crate::places::{Place, on_both};
use papertape_core::id::JobId;
use papertape_core::ports::Queue as _;
use papertape_core::record::{JobKind, JobStatus, NewJob};
use serde_json::json;

on_both!(completed_simulations_are_listed_newest_first);

/// Goal: only completed simulations with planned days are listed, newest first, each with its span and its epoch; and configs are
/// read for many jobs at once, without those that do not exist.
async fn completed_simulations_are_listed_newest_first(place: Place) {
    let store = place.store().await;
    assert_eq!(store.completed_runs().await.expect("reads"), []);
    let empty = NewJob { days: Vec::new(), ..new_job("empty", &[], 3) };
    let other = NewJob { kind: JobKind::Profile, ..new_job("profile", &["a"], 3) };
    for job in
        [new_job("old", &["a", "b"], 1), new_job("new", &["a"], 2), new_job("open", &["a"], 3), empty, other]
    {
        store.enqueue(job).await.expect("queues");
    }
    for job in ["old", "new", "empty", "profile"] {
        let lease = claim(&store, job).await;
        store.finish(&lease, JobStatus::Completed, None).await.expect("ends");
    }
    let lease = claim(&store, "open").await;
    store.finish(&lease, JobStatus::Partial, None).await.expect("ends");
    let runs = store.completed_runs().await.expect("reads");
    let found: Vec<_> = runs.iter().map(|run| (run.job.as_str(), run.first, run.last)).collect();
    let span = DAYS.map(date);
    assert_eq!(found, [("new", span[0], span[1]), ("old", span[0], span[1])]);
    assert!(runs.iter().all(|run| run.epoch > 0) && runs[0].created_at > runs[1].created_at);

    let many: Vec<JobId> =
        (0..40).map(|at| JobId::new(format!("none-{at}"))).chain(["old", "new"].map(JobId::new)).collect();
    let configs = store.job_configs(&many).await.expect("reads");
    assert_eq!(configs.len(), 2);
    assert_eq!(configs.get(&JobId::new("old")).map(|config| &config["seed"]), Some(&json!(7)));
    assert!(store.job_configs(&[]).await.expect("reads").is_empty());
}
