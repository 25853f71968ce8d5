//! Experiments and the budget that their jobs share, on both databases.

use crate::desk::{at, claim, dec, new_job};
use crate::places::{Place, on_both};
use papertape_core::budget::{Grant, JobBudget, Limit, ShareOutcome, ShareRequest, SharedLimit};
use papertape_core::id::{ExperimentId, JobId};
use papertape_core::ports::{Queue as _, RecordError, SharedBudgets as _};
use papertape_core::record::{ExperimentJob, JobStatus, Lease, NewExperiment, PartEnd};
use papertape_store::{Deletion, PageRequest, Store};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

on_both!(
    an_experiment_is_added_as_a_whole_or_not_at_all,
    experiments_are_paged_and_end_with_their_last_job,
    grants_never_exceed_the_limit,
    parts_share_the_limit_of_an_experiment,
);

fn experiment(id: &str, jobs: &[&str], created: i64, limit: Limit) -> NewExperiment {
    let job = |(job, trial): (&&str, u32)| ExperimentJob {
        job: new_job(job, &["a"], created),
        window: 1,
        trial,
        parts: 1,
        agents: vec!["a".into()],
    };
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

async fn ask(store: &Store, lease: &Lease, held: u64, needed: Grant) -> Result<ShareOutcome, RecordError> {
    let job_limit = tokens(50);
    let request = ShareRequest { line: JobBudget::Sessions, held: grant(held), needed, job_limit };
    store.request_share(lease, request).await
}

/// The tokens of a share, or those that are committed if it was denied.
async fn share(store: &Store, lease: &Lease, held: u64, needed: u64) -> Result<u64, (SharedLimit, u64)> {
    match ask(store, lease, held, grant(needed)).await.expect("answers") {
        ShareOutcome::Granted(share) => Ok(share.tokens.expect("is limited")),
        ShareOutcome::Denied { by, committed, .. } => Err((by, committed.tokens)),
    }
}

/// Goal: the shares of running jobs and the usage of stopped ones never exceed the limit; a job that stops frees what it
/// has not used, a job whose worker has died does not; a lease that was lost gets nothing; a raised limit is granted.
async fn grants_never_exceed_the_limit(place: Place) {
    use SharedLimit::Experiment;
    let store = place.store().await;
    let limit = Limit { tokens: Some(1_000), usd: Some(dec("2.5")) };
    add(&store, experiment("e", &["1", "2", "3"], 1, limit)).await.expect("is added");
    store.enqueue(new_job("alone", &["a"], 2)).await.expect("queues");
    let alone = claim(&store, "alone").await;
    assert_eq!(store.experiment_limit(&alone.job).await.expect("reads"), None, "it belongs to no experiment");
    let free = ask(&store, &alone, 0, grant(1)).await.expect("answers");
    assert_eq!(free, ShareOutcome::Granted(Limit::default()));

    let (first, second) = (claim(&store, "1").await, claim(&store, "2").await);
    let found = store.experiment_limit(&first.job).await.expect("reads");
    assert_eq!(found, Some((ExperimentId::new("e"), limit)));
    assert_eq!(share(&store, &first, 0, 100).await, Ok(120), "and a slice");
    assert_eq!(share(&store, &second, 0, 700).await, Ok(720));
    assert_eq!(share(&store, &first, 120, 161).await, Err((Experiment, 840)));
    let money = Grant { tokens: 0, usd: dec("2.6") };
    let none = ask(&store, &first, 120, money).await.expect("answers");
    assert!(matches!(none, ShareOutcome::Denied { .. }), "more money than there is: {none:?}");

    // It has used nothing, so that all that it held is free once it stops.
    store.finish(&first, JobStatus::Partial, None).await.expect("ends");
    assert_eq!(share(&store, &second, 720, 280).await, Ok(1_000));
    let lost = ask(&store, &first, 0, grant(1)).await;
    assert!(matches!(lost, Err(RecordError::LostLease)), "{lost:?}");

    let third = claim(&store, "3").await;
    assert_eq!(share(&store, &third, 0, 1).await, Err((Experiment, 1_000)));
    assert!(store.set_experiment_limit(&ExperimentId::new("e"), tokens(1_001)).await.expect("is raised"));
    assert_eq!(share(&store, &third, 0, 1).await, Ok(1));

    // What a dead worker was granted may have been spent, until the next one knows.
    let again = claim(&store, "2").await;
    assert_eq!(share(&store, &third, 1, 1).await, Err((Experiment, 1_001)));
    assert_eq!(share(&store, &again, 0, 1_000).await, Ok(1_000));
    assert_eq!(share(&store, &again, 400, 601).await, Err((Experiment, 401)));
    assert_eq!(share(&store, &third, 1, 600).await, Ok(601), "what the other gave up");

    // A job that runs without a limit holds no share: the first limit waits until no job runs.
    let free = ExperimentId::new("free");
    add(&store, experiment("free", &["4"], 3, Limit::default())).await.expect("is added");
    let running = claim(&store, "4").await;
    assert_eq!(store.experiment_limit(&running.job).await.expect("reads"), None);
    assert!(!store.set_experiment_limit(&free, tokens(10)).await.expect("answers"));
    store.finish(&running, JobStatus::Partial, None).await.expect("ends");
    assert!(store.set_experiment_limit(&free, tokens(10)).await.expect("is set"));
}

/// Goal: the parts of a job of an experiment share its limit and that of the experiment with its other jobs, and each
/// denial names the limit that is too small.
async fn parts_share_the_limit_of_an_experiment(place: Place) {
    use SharedLimit::{Experiment, Job};
    let store = place.store().await;
    let mut two = experiment("e", &["split", "whole"], 1, tokens(100));
    two.jobs[0].job = new_job("split", &["a", "b"], 1);
    (two.jobs[0].parts, two.jobs[0].agents) = (2, ["a", "b"].map(Into::into).into());
    add(&store, two).await.expect("is added");
    let claim = async |job: &str| {
        let claimed = store.claim("worker", Duration::from_secs(60), Some(&JobId::new(job))).await;
        claimed.expect("claims").expect("there is a part").0
    };
    let (one, two, whole) = (claim("split").await, claim("split").await, claim("whole").await);
    assert_eq!((one.part, two.part, whole.part), (1, 2, 0));
    assert_eq!(share(&store, &one, 0, 40).await, Ok(41), "and a slice");
    assert_eq!(share(&store, &two, 0, 10).await, Err((Job, 41)));
    assert_eq!(share(&store, &whole, 0, 60).await, Err((Experiment, 41)));
    assert_eq!(share(&store, &whole, 0, 59).await, Ok(59));
    assert_eq!(share(&store, &two, 0, 1).await, Err((Experiment, 100)));
    let end = PartEnd { status: JobStatus::Completed, reasons: BTreeSet::new() };
    store.finish_part(&one, end).await.expect("has used nothing");
    assert_eq!(share(&store, &two, 0, 41).await, Ok(41));
    store.finish(&whole, JobStatus::Completed, None).await.expect("has used nothing");
    assert_eq!(share(&store, &two, 0, 50).await, Ok(50), "the job's own limit");
}
