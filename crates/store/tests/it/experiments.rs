//! Experiments and the budget that their jobs share, on both databases.

use crate::desk::{at, claim, dec, new_job};
use crate::places::{Place, on_both};
use papertape_core::budget::{Grant, Limit};
use papertape_core::id::{ExperimentId, JobId};
use papertape_core::ports::{ExperimentBudget as _, Queue as _, RecordError};
use papertape_core::record::{ExperimentJob, GrantOutcome, GrantRequest, JobStatus, NewExperiment};
use papertape_store::{Deletion, PageRequest, Store};
use serde_json::json;

on_both!(
    an_experiment_is_added_as_a_whole_or_not_at_all,
    experiments_are_paged_and_end_with_their_last_job,
    grants_never_exceed_the_limit,
);

fn experiment(id: &str, jobs: &[&str], created: i64, limit: Limit) -> NewExperiment {
    let job =
        |(job, trial): (&&str, u32)| ExperimentJob { job: new_job(job, &["a"], created), window: 1, trial };
    NewExperiment {
        id: ExperimentId::new(id),
        created_at: at(created),
        manifest: json!({ "version": 1, "name": id }),
        limit,
        jobs: jobs.iter().zip(1..).map(job).collect(),
    }
}

fn tokens(tokens: u64) -> Limit {
    Limit { tokens: Some(tokens), usd: None }
}

fn grant(tokens: u64) -> Grant {
    Grant { tokens, ..Grant::default() }
}

async fn add(store: &Store, experiment: NewExperiment) -> Result<(), RecordError> {
    store.add_experiment(experiment).await.map_err(RecordError::from)
}

/// Goal: if one job cannot be queued, neither are the others, and there is no experiment.
async fn an_experiment_is_added_as_a_whole_or_not_at_all(place: Place) {
    let store = place.store().await;
    store.enqueue(new_job("third", &["a"], 1)).await.expect("queues");
    let failed = add(&store, experiment("e", &["first", "second", "third"], 2, tokens(10))).await;
    assert!(failed.is_err(), "the third job is there already");
    assert_eq!(store.experiments(&PageRequest::first(10)).await.expect("reads").items, []);
    assert!(store.get_job(&JobId::new("first")).await.expect("reads").is_none());

    add(&store, experiment("e", &["1", "2"], 3, tokens(10))).await.expect("is added");
    let found = store.experiment(&ExperimentId::new("e")).await.expect("reads").expect("is there");
    assert_eq!((found.limit, &found.manifest["name"]), (tokens(10), &json!("e")));
    assert_eq!(found.hash, papertape_core::json::hash(&found.manifest));
    let jobs = store.experiment_jobs(&found.id).await.expect("reads");
    let jobs: Vec<_> =
        jobs.iter().map(|one| (one.job.as_str(), one.trial, one.status, one.days.queued)).collect();
    assert_eq!(jobs, [("1", 1, JobStatus::Queued, 2), ("2", 2, JobStatus::Queued, 2)]);
    let of = store.experiment_of(&JobId::new("2")).await.expect("reads");
    assert_eq!(of, Some((found.id, 1, 2)));
}

/// Goal: pages neither drop nor repeat an experiment; deleting its last job deletes it.
async fn experiments_are_paged_and_end_with_their_last_job(place: Place) {
    let store = place.store().await;
    for (name, created) in [("a", 1), ("b", 1), ("c", 2)] {
        let jobs = [format!("{name}1"), format!("{name}2")];
        let jobs = [jobs[0].as_str(), jobs[1].as_str()];
        add(&store, experiment(name, &jobs, created, Limit::default())).await.expect("is added");
    }
    let mut names = Vec::new();
    let mut page = PageRequest::first(1);
    loop {
        let found = store.experiments(&page).await.expect("reads");
        names.extend(found.items.iter().map(|one| one.id.to_string()));
        match found.next {
            Some(cursor) => page = PageRequest::after(1, &cursor),
            None => break,
        }
    }
    assert_eq!(names, ["c", "b", "a"]);
    for (job, left) in [("b1", true), ("b2", false)] {
        store.cancel(&JobId::new(job)).await.expect("cancels");
        let gone = store.delete_job(&JobId::new(job), false).await.expect("deletes");
        assert!(matches!(gone, Deletion::Deleted(_)), "{gone:?}");
        assert_eq!(store.experiment(&ExperimentId::new("b")).await.expect("reads").is_some(), left, "{job}");
    }
}

/// Goal: what running jobs were granted and what stopped ones have used never exceeds the limit; a job that stops
/// releases what it has not used; a lease that was lost gets nothing; a raised limit is granted.
async fn grants_never_exceed_the_limit(place: Place) {
    let store = place.store().await;
    let limit = Limit { tokens: Some(1_000), usd: Some(dec("2.5")) };
    add(&store, experiment("e", &["1", "2", "3"], 1, limit)).await.expect("is added");
    store.enqueue(new_job("alone", &["a"], 2)).await.expect("queues");
    let alone = claim(&store, "alone").await;
    assert_eq!(store.open_share(&alone).await.expect("reads"), None, "it belongs to no experiment");

    let (first, second) = (claim(&store, "1").await, claim(&store, "2").await);
    for lease in [&first, &second] {
        assert_eq!(store.open_share(lease).await.expect("opens"), Some((limit, 3)));
    }
    let ask = |needed, preferred| GrantRequest { needed, preferred };
    let plenty = store.grant(&first, ask(grant(100), grant(400))).await.expect("answers");
    assert_eq!(plenty, GrantOutcome::Granted(grant(400)), "what it prefers");
    let plenty = store.grant(&second, ask(grant(100), grant(400))).await.expect("answers");
    assert_eq!(plenty, GrantOutcome::Granted(grant(400)));
    let little = store.grant(&second, ask(grant(150), grant(400))).await.expect("answers");
    assert_eq!(little, GrantOutcome::Granted(grant(150)), "only what it needs");
    let none = store.grant(&first, ask(grant(51), grant(51))).await.expect("answers");
    assert_eq!(none, GrantOutcome::Denied { committed: grant(950), limit });
    let money = Grant { tokens: 0, usd: dec("2.6") };
    let none = store.grant(&first, ask(money, money)).await.expect("answers");
    assert!(matches!(none, GrantOutcome::Denied { .. }), "more money than there is: {none:?}");

    // It has used nothing, so that all that it held is free once it stops.
    store.finish(&first, JobStatus::Partial, None).await.expect("ends");
    let freed = store.grant(&second, ask(grant(450), grant(0))).await.expect("answers");
    assert_eq!(freed, GrantOutcome::Granted(grant(450)));
    let lost = store.grant(&first, ask(grant(1), grant(1))).await;
    assert!(matches!(lost, Err(RecordError::LostLease)), "{lost:?}");

    let third = claim(&store, "3").await;
    assert_eq!(store.open_share(&third).await.expect("opens"), Some((limit, 3)));
    let none = store.grant(&third, ask(grant(1), grant(1))).await.expect("answers");
    assert_eq!(none, GrantOutcome::Denied { committed: grant(1_000), limit });
    assert!(store.set_experiment_limit(&ExperimentId::new("e"), tokens(1_001)).await.expect("is raised"));
    let raised = store.grant(&third, ask(grant(1), grant(1))).await.expect("answers");
    assert_eq!(raised, GrantOutcome::Granted(grant(1)));

    // A worker that claims the job again holds only what was used, not what a dead one was granted.
    let again = claim(&store, "2").await;
    store.open_share(&again).await.expect("opens");
    let freed = store.grant(&third, ask(grant(1_000), grant(0))).await.expect("answers");
    assert_eq!(freed, GrantOutcome::Granted(grant(1_000)));

    // A job that runs without a limit holds no share: the first limit waits until no job runs.
    let free = ExperimentId::new("free");
    add(&store, experiment("free", &["4"], 3, Limit::default())).await.expect("is added");
    let running = claim(&store, "4").await;
    assert_eq!(store.open_share(&running).await.expect("opens"), None);
    assert!(!store.set_experiment_limit(&free, tokens(10)).await.expect("answers"));
    store.finish(&running, JobStatus::Partial, None).await.expect("ends");
    assert!(store.set_experiment_limit(&free, tokens(10)).await.expect("is set"));
}
