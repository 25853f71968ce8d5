//! Cancel and resume in every order: the last request wins, whatever the worker has seen of it.

use crate::desk::new_job;
use crate::places::{Place, on_both};
use papertape_core::id::JobId;
use papertape_core::ports::Queue as _;
use papertape_core::record::{JobStatus, Lease};
use papertape_store::Store;
use std::time::Duration;

on_both!(the_last_word_counts, a_job_is_left_to_its_worker);

const LONG: Duration = Duration::from_secs(60);

/// What happens to a running job, in order.
#[derive(Clone, Copy, Debug)]
enum Does {
    Cancel,
    Resume,
    /// Its worker finishes it.
    Ends(JobStatus),
    /// Its worker dies, and another one claims the job.
    Dies,
}

/// A job's name, what happens to it, and the expected result of [`done`].
type Case<'a> = (&'a str, &'a [Does], (JobStatus, Option<bool>));

async fn status(store: &Store, job: &JobId) -> JobStatus {
    store.get_job(job).await.expect("reads").expect("is there").status
}

/// Applies the steps to a new job. Returns its final status and whether its next worker is to stop it; `None` if
/// no worker can claim it.
async fn done(store: &Store, name: &str, all: &[Does]) -> (JobStatus, Option<bool>) {
    store.enqueue(new_job(name, &["momentum"], 0)).await.expect("queues");
    let job = JobId::new(name);
    let leased = async |lease_for| -> Option<Lease> {
        Some(store.claim("w", lease_for, Some(&job)).await.expect("asks")?.0)
    };
    let mut lease = leased(LONG).await.expect("it is queued");
    for one in all {
        match one {
            Does::Cancel => drop(store.cancel(&job).await.expect("asks")),
            Does::Resume => drop(store.requeue(&job).await.expect("asks")),
            Does::Ends(status) => store.finish(&lease, *status, None).await.expect("ends"),
            Does::Dies => {
                store.renew(&lease, Duration::ZERO).await.expect("renews");
                lease = leased(LONG).await.expect("its lease has run out");
            }
        }
    }
    let now = status(store, &job).await;
    let next = match now {
        JobStatus::Running => Some(store.renew(&lease, LONG).await.expect("renews")),
        _ => match leased(LONG).await {
            Some(lease) => Some(store.renew(&lease, LONG).await.expect("renews")),
            None => None,
        },
    };
    (now, next)
}

// Goal: cancel and resume never overwrite each other: in whatever order they and the worker's end come, the last
// request decides, and a worker can claim a job that is to run.
async fn the_last_word_counts(place: Place) {
    use Does::{Cancel, Dies, Ends, Resume};
    use JobStatus::{Cancelled, Completed, Failed, Queued, Running};
    let store = place.store().await;
    let cases: &[Case<'_>] = &[
        ("resumed-first", &[Cancel, Resume, Ends(Cancelled)], (Queued, Some(false))),
        ("resumed-last", &[Cancel, Ends(Cancelled), Resume], (Queued, Some(false))),
        ("cancelled-again", &[Cancel, Resume, Cancel, Ends(Cancelled)], (Cancelled, None)),
        ("resumed-again", &[Cancel, Resume, Cancel, Resume, Ends(Cancelled)], (Queued, Some(false))),
        ("cancelled-in-queue", &[Cancel, Resume, Ends(Cancelled), Cancel], (Cancelled, None)),
        ("not-yet", &[Cancel, Resume], (Running, Some(false))),
        ("only-cancelled", &[Cancel, Ends(Cancelled)], (Cancelled, None)),
        ("shutdown", &[Cancel, Ends(Queued)], (Queued, Some(true))),
        ("shutdown-resumed", &[Cancel, Ends(Queued), Resume], (Queued, Some(false))),
        ("resumed-shutdown", &[Cancel, Resume, Ends(Queued)], (Queued, Some(false))),
        ("died", &[Cancel, Dies], (Running, Some(true))),
        ("died-resumed", &[Cancel, Dies, Resume], (Running, Some(false))),
        ("resumed-died", &[Cancel, Resume, Dies], (Running, Some(false))),
        ("completed", &[Cancel, Resume, Ends(Completed)], (Completed, None)),
        ("failed", &[Cancel, Resume, Ends(Failed)], (Failed, None)),
        ("failed-resumed", &[Cancel, Resume, Ends(Failed), Resume], (Queued, Some(false))),
        ("never-cancelled", &[Resume, Ends(Cancelled)], (Cancelled, None)),
    ];
    for (name, all, expected) in cases {
        assert_eq!(done(&store, name, all).await, *expected, "{name}: {all:?}");
    }
}

// Goal: a job left to its worker stays queued, and the worker that claims it sees the cancellation; if the job
// was resumed first, it sees none.
async fn a_job_is_left_to_its_worker(place: Place) {
    let store = place.store().await;
    for (name, resumed) in [("left", false), ("resumed", true)] {
        let job = JobId::new(name);
        store.enqueue(new_job(name, &["momentum"], 0)).await.expect("queues");
        assert_eq!(store.request_cancel(&job).await.expect("asks"), Some(JobStatus::Queued));
        if resumed {
            assert!(store.requeue(&job).await.expect("asks"));
        }
        let (lease, _) = store.claim("w", LONG, Some(&job)).await.expect("asks").expect("it is queued");
        assert_eq!(store.renew(&lease, LONG).await.expect("renews"), !resumed, "{name}");
    }
    assert_eq!(store.request_cancel(&JobId::new("none")).await.expect("asks"), None);
}
