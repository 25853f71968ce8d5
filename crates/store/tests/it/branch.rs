//! What a branch takes over from its parent's record.

use crate::desk::{claim, export, new_job, run_day, run_day_after};
use crate::places::{Place, on_both};
use papertape_core::id::JobId;
use papertape_core::ports::Queue as _;
use papertape_core::record::JobStatus;
use papertape_core::tape::{SessionStop, StepState};
use papertape_store::PageRequest;

on_both!(a_verdicts_body_comes_with_it,);

/// A node that timed out is not rerun in a branch: its outcome is copied with its request and the interrupted
/// call, under an unbroken chain, wherever the branch is killed.
async fn a_verdicts_body_comes_with_it(place: Place) {
    let store = place.store().await;
    store.enqueue(new_job("parent", &["alpha"], 0)).await.expect("queues");
    let lease = claim(&store, "parent").await;
    let parent = run_day(&store, &lease, "alpha", 0, i64::MAX).await.expect("ends");
    store.finish(&lease, JobStatus::Partial, None).await.expect("ends the job");
    let wanted = export(&store, "parent").await;

    for cut in 0_i64.. {
        let name = format!("branch-{cut}");
        store.enqueue(new_job(&name, &["alpha"], 1)).await.expect("queues");
        let lease = claim(&store, &name).await;
        let from = Some(("parent", parent));
        let (session, was_killed) = match run_day_after(&store, &lease, "alpha", 0, (cut, from)).await {
            Ok(session) => (session, false),
            Err(SessionStop::Shutdown) => {
                let whole = run_day_after(&store, &lease, "alpha", 0, (i64::MAX, from)).await;
                (whole.expect("goes on"), true)
            }
            Err(other) => panic!("{name}: {other}"),
        };
        let steps = store.steps(session, &PageRequest::default()).await.expect("reads").items;
        let below: Vec<_> = steps.iter().filter(|step| step.path.is_within("AAPL/Slow Analyst#1")).collect();
        let mut found: Vec<(&str, bool)> =
            below.iter().map(|step| (step.path.kind(), step.state == StepState::Abandoned)).collect();
        found.sort_unstable();
        assert_eq!(found, [("guard", false), ("message", false), ("model", true)], "{name}");
        for step in &below {
            let from = format!("parent/alpha/{}/{}", crate::desk::DAYS[0], step.path);
            assert_eq!(step.reused_from, Some(from), "{name}");
            assert_eq!((step.attempts, step.cost_usd), (0, None), "{name}: {}", step.path);
        }
        store.finish(&lease, JobStatus::Partial, None).await.expect("ends the job");
        let report = store.verify_chain(&JobId::new(&*name)).await.expect("verifies");
        assert_eq!(report.broken, None, "{name}");
        assert_eq!(export(&store, &name).await, wanted, "{name}");
        if !was_killed {
            return;
        }
    }
}
