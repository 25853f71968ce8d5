//! How the days of a job ended.

use crate::desk::{DAYS, claim, date, new_job, run_day};
use crate::places::{Place, on_both};
use papertape_core::id::{AgentName, JobId};
use papertape_core::ports::{Queue as _, RecordStore as _};

on_both!(ended_days_are_those_of_one_agent,);

/// The ended days of an agent are those that each of its sessions reports; an interrupted day and another agent's or
/// job's days are not among them.
async fn ended_days_are_those_of_one_agent(place: Place) {
    let store = place.store().await;
    for job in ["one", "other"] {
        store.enqueue(new_job(job, &["alpha", "beta"], 0)).await.expect("queues");
        let lease = claim(&store, job).await;
        let days = if job == "one" { 2 } else { 1 };
        for day in 0..days {
            run_day(&store, &lease, "alpha", day, i64::MAX).await.expect("ends");
        }
        run_day(&store, &lease, "beta", 0, 1).await.expect_err("is interrupted");
    }
    let (job, agent) = (JobId::new("one"), AgentName::new("alpha"));
    let ended = store.ended_days(&job, &agent).await.expect("reads");
    assert_eq!(ended.keys().copied().collect::<Vec<_>>(), DAYS.map(date));
    for (date, status) in ended {
        let session = store.find_session(&job, &agent, date).await.expect("reads").expect("is there");
        assert_eq!(session.ended, Some(status));
    }
    let beta = store.ended_days(&job, &AgentName::new("beta")).await.expect("reads");
    assert!(beta.is_empty(), "{beta:?}");
}
