//! Superseded, continued and skipped days, per job and agent, on both databases.

use crate::desk::{DAYS, claim, date, new_job, run_day};
use crate::places::{Place, on_both};
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::ports::{Queue as _, RecordError};
use papertape_core::record::{Continuation, DayStatus, JobStatus, NewJob, SkippedDay, Supersession};
use papertape_store::{Deletion, ResultFilter, Store};
use std::collections::BTreeMap;

on_both!(
    agents_are_replaced_one_by_one,
    what_continues_a_replaced_account_is_replaced_too,
    of_a_replacement_and_a_continuation_at_once_the_second_sees_the_first,
    skipped_days_name_their_session,
);

fn agent(name: &str) -> AgentName {
    AgentName::new(name)
}

fn replaces(agents: &[&str], job: &str) -> Vec<Supersession> {
    agents.iter().map(|name| Supersession { agent: agent(name), job: JobId::new(job) }).collect()
}

fn continues(name: &str, job: &str) -> Vec<Continuation> {
    vec![Continuation { agent: agent(name), job: JobId::new(job), date: date(DAYS[1]) }]
}

/// Queues a job and runs the days of these agents.
async fn run(store: &Store, job: NewJob, agents: &[&str]) {
    let id = job.id.to_string();
    store.enqueue(job).await.expect("queues");
    let lease = claim(store, &id).await;
    for agent in agents {
        for day in 0..DAYS.len() {
            run_day(store, &lease, agent, day, i64::MAX).await.expect("runs");
        }
    }
    store.finish(&lease, JobStatus::Completed, None).await.expect("ends");
}

async fn newest(store: &Store) -> Vec<(String, String)> {
    let found = store.newest_results(&ResultFilter::default()).await.expect("reads");
    found.into_iter().map(|(agent, job)| (agent.to_string(), job.to_string())).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(agent, job)| ((*agent).to_owned(), (*job).to_owned())).collect()
}

/// Goal: agents are superseded independently, the job as a whole only with its last agent; an agent is reinstated
/// when its successor is deleted.
async fn agents_are_replaced_one_by_one(place: Place) {
    let store = place.store().await;
    run(&store, new_job("both", &["a", "b"], 1), &["a", "b"]).await;
    run(&store, NewJob { supersedes: replaces(&["a"], "both"), ..new_job("of a", &["a"], 2) }, &["a"]).await;
    assert_eq!(newest(&store).await, pairs(&[("a", "of a"), ("b", "both")]));
    let both = JobId::new("both");
    let superseded = async || {
        let found = store.job_overview(&both).await.expect("reads").expect("is there");
        let details = store.job_details(&both).await.expect("reads").expect("is there");
        assert_eq!(found.superseded, details.superseded);
        assert_eq!(found.superseded, store.superseded(&both).await.expect("reads"));
        (found.superseded, found.job.superseded_by)
    };
    let of_a = (agent("a"), JobId::new("of a"));
    assert_eq!(superseded().await, (BTreeMap::from([of_a.clone()]), None));
    let hash = |name: &str| ContentHash::of(name.as_bytes());
    for (name, jobs) in [("a", vec!["of a"]), ("b", vec!["both"])] {
        let found = store.accounts_from(&agent(name), hash(name), date(DAYS[0])).await.expect("reads");
        assert_eq!(found.iter().map(|found| found.job.as_str()).collect::<Vec<_>>(), jobs, "of {name}");
        let spans = store.completed_spans(&agent(name), hash(name), (date(DAYS[1]), date(DAYS[1]))).await;
        assert_eq!(spans.expect("reads"), [(JobId::new(jobs[0]), date(DAYS[1]), date(DAYS[1]))]);
    }
    run(&store, NewJob { supersedes: replaces(&["b"], "both"), ..new_job("of b", &["b"], 3) }, &["b"]).await;
    assert_eq!(newest(&store).await, pairs(&[("a", "of a"), ("b", "of b")]));
    let of_b = (agent("b"), JobId::new("of b"));
    assert_eq!(superseded().await, (BTreeMap::from([of_a, of_b.clone()]), Some(JobId::new("of b"))));
    let gone = store.delete_job(&JobId::new("of a"), false).await.expect("deletes");
    assert!(matches!(gone, Deletion::Deleted(_)), "{gone:?}");
    assert_eq!(superseded().await, (BTreeMap::from([of_b]), None), "it counts again for one of them");
    assert_eq!(newest(&store).await, pairs(&[("a", "both"), ("b", "of b")]));
}

/// Goal: a job that continues a superseded account is superseded for that agent, and so are the jobs that
/// continue it.
async fn what_continues_a_replaced_account_is_replaced_too(place: Place) {
    let store = place.store().await;
    run(&store, new_job("first", &["a", "b"], 1), &["a", "b"]).await;
    let next = NewJob { continues: continues("a", "first"), ..new_job("next", &["a", "b"], 2) };
    run(&store, next, &["a", "b"]).await;
    let last = NewJob { continues: continues("a", "next"), ..new_job("last", &["a"], 3) };
    run(&store, last, &["a"]).await;
    let found = store.continuations_of(&JobId::new("first"), &agent("a")).await.expect("reads");
    let [found] = &found[..] else { panic!("one: {found:?}") };
    assert_eq!((found.job.as_str(), found.continued), ("next", Some(date(DAYS[1]))));
    let newer = NewJob { supersedes: replaces(&["a"], "first"), ..new_job("newer", &["a"], 4) };
    run(&store, newer, &["a"]).await;
    assert_eq!(newest(&store).await, pairs(&[("a", "newer"), ("b", "next")]));
    for (job, whole) in [("first", None), ("next", None), ("last", Some(JobId::new("newer")))] {
        let found = store.job_overview(&JobId::new(job)).await.expect("reads").expect("is there");
        assert_eq!(found.superseded, BTreeMap::from([(agent("a"), JobId::new("newer"))]), "of {job}");
        assert_eq!(found.job.superseded_by, whole, "of {job}");
    }
    assert!(store.continuations_of(&JobId::new("first"), &agent("a")).await.expect("reads").is_empty());
    let newest = store.newest_completed_job(&agent("a")).await.expect("reads").expect("is there");
    assert_eq!(newest.job.as_str(), "newer");
    // Nothing of a job that would continue it is written; a branch may still share its past.
    let late = NewJob { continues: continues("a", "next"), ..new_job("late", &["a"], 5) };
    let refused = store.enqueue(late.clone()).await;
    assert!(
        matches!(&refused, Err(RecordError::Superseded { job, agent }) if job.as_str() == "next" && agent.as_str() == "a"),
        "{refused:?}"
    );
    assert!(store.get_job(&late.id).await.expect("reads").is_none());
    store.enqueue(NewJob { parent: Some(JobId::new("last")), ..late }).await.expect("queues a branch");
}

/// Goal: whichever of two concurrent jobs comes first, no current account continues a superseded one.
async fn of_a_replacement_and_a_continuation_at_once_the_second_sees_the_first(place: Place) {
    let store = place.store().await;
    for round in 0..12 {
        let name = |what: &str| format!("{what} {round}");
        run(&store, new_job(&name("old"), &["a"], round), &["a"]).await;
        let continuing =
            NewJob { continues: continues("a", &name("old")), ..new_job(&name("on"), &["a"], 100 + round) };
        let replacing = NewJob {
            supersedes: replaces(&["a"], &name("old")),
            ..new_job(&name("new"), &["a"], 200 + round)
        };
        let (continued, replaced) = tokio::join!(store.enqueue(continuing), store.enqueue(replacing));
        replaced.expect("queues");
        let on = store.superseded(&JobId::new(name("on"))).await.expect("reads");
        match continued {
            Ok(()) => {
                assert_eq!(on, BTreeMap::from([(agent("a"), JobId::new(name("new")))]), "round {round}")
            }
            Err(error) => assert!(matches!(error, RecordError::Superseded { .. }), "{error}"),
        }
    }
}

/// Goal: a skipped day refers to the session that completed it, in the job's details, its curves and its account;
/// a job whose days were all skipped does not count as a newer result.
async fn skipped_days_name_their_session(place: Place) {
    let store = place.store().await;
    run(&store, new_job("done", &["a"], 1), &["a"]).await;
    let hash = ContentHash::of(b"a");
    let [account] = &store.accounts_from(&agent("a"), hash, date(DAYS[0])).await.expect("reads")[..] else {
        panic!("one account")
    };
    let done: Vec<SkippedDay> = account.days.iter().filter_map(|day| day.done.clone()).collect();
    assert!(done.len() == 2 && done.iter().all(|day| day.job.as_str() == "done"), "{done:?}");
    let skipping = |id: &str, count: usize, created| {
        let mut job = NewJob { continues: continues("a", "done"), ..new_job(id, &["a"], created) };
        for (day, done) in job.days.iter_mut().zip(&done).take(count) {
            day.skipped = Some(done.clone());
        }
        job
    };
    store.enqueue(skipping("half", 1, 2)).await.expect("queues");
    let lease = claim(&store, "half").await;
    run_day(&store, &lease, "a", 1, i64::MAX).await.expect("runs");
    store.finish(&lease, JobStatus::Completed, None).await.expect("ends");
    let half = store.job_details(&JobId::new("half")).await.expect("reads").expect("is there");
    assert_eq!(half.days[0].skipped, Some(done[0].clone()));
    assert_eq!(half.days[0].error.as_deref(), Some("completed in job done"));
    assert_eq!((half.days[1].skipped.as_ref(), half.days[1].status), (None, DayStatus::Completed));
    let curves = store.job_curves(&JobId::new("half")).await.expect("reads").expect("is there");
    assert_eq!(curves.closes.len(), 2);
    assert_eq!(curves.starts.len(), 1);
    let in_jobs: Vec<Option<&str>> =
        curves.days.iter().map(|(.., job)| job.as_ref().map(JobId::as_str)).collect();
    assert_eq!(in_jobs, [Some("done"), None]);
    store.enqueue(skipping("none", 2, 3)).await.expect("queues");
    let lease = claim(&store, "none").await;
    store.finish(&lease, JobStatus::Completed, None).await.expect("ends");
    assert_eq!(newest(&store).await, pairs(&[("a", "half")]));
    let on_first = ResultFilter { to: Some(date(DAYS[0])), ..ResultFilter::default() };
    let found = store.newest_results(&on_first).await.expect("reads");
    assert_eq!(found, [(agent("a"), JobId::new("half"))], "its skipped day is its own result's");
    let metadata = store.metadata_of(&[done[0].session, done[1].session]).await.expect("reads");
    assert_eq!(metadata.len(), 2);
}
