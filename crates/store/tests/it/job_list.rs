//! Names, tags and notes of jobs, and the lists that are searched, filtered and sorted by them, on both databases.

use crate::desk::{DAYS, at, claim, commit, date, export, new_job, run_job};
use crate::places::{Place, on_both};
use papertape_core::id::{AgentName, JobId};
use papertape_core::job_list::{JobOrder, ListQuality};
use papertape_core::label::{JobLabels, LabelChanges};
use papertape_core::ports::{Queue as _, RecordStore as _};
use papertape_core::record::{JobKind, JobStatus, NewJob, NewSession, Write};
use papertape_redact::{Redactor, Sanitized};
use papertape_store::{Deletion, JobFilter, JobSearch, LabelsWrite, Page, PageRequest, Store, StoreError};
use serde_json::json;
use std::collections::BTreeSet;

on_both!(
    labels_change_nothing_that_is_proved,
    labels_are_limited_and_deleted_with_their_job,
    filters_find_what_they_name,
    pages_stay_in_the_order_of_the_first,
    every_order_is_total,
);

fn job(id: &str, (dataset, agents): (&str, &[(&str, &str)]), created: i64) -> NewJob {
    let agents: Vec<_> = agents.iter().map(|(name, model)| json!({ "name": name, "model": model })).collect();
    let config = json!({
        "dataset": { "name": dataset, "hash": "00ff" }, "start_date": "2012-10-01", "agents": agents,
    });
    NewJob { config, ..new_job(id, &["momentum"], created) }
}

async fn label(store: &Store, job: &str, changes: LabelChanges) -> LabelsWrite {
    let changes = Sanitized::of(&Redactor::default(), changes);
    let by = Some("desk".to_owned());
    store.write_labels(&JobId::new(job), changes, by, at(77)).await.expect("writes")
}

async fn name(store: &Store, job: &str, name: &str) {
    let changes = LabelChanges { name: Some(name.to_owned()), ..LabelChanges::default() };
    assert!(matches!(label(store, job, changes).await, LabelsWrite::Written(_)));
}

/// Marks a model-day of the job as failed.
async fn fail_day(store: &Store, job: &str, day: usize) {
    let lease = claim(store, job).await;
    let new = NewSession { agent: AgentName::new("momentum"), date: date(DAYS[day]), at: at(5) };
    let session = store.open_session(&lease, new).await.expect("opens");
    let write = Write::FailDay { error: "no model".to_owned() };
    store.commit(commit(&lease, session.id, vec![write])).await.expect("commits");
    store.finish(&lease, JobStatus::Partial, None).await.expect("ends");
}

async fn page(store: &Store, search: &JobSearch, request: &PageRequest) -> Page<String> {
    let page = store.find_jobs(search, request).await.expect("reads");
    Page { items: page.items.into_iter().map(|item| item.job.id.to_string()).collect(), next: page.next }
}

async fn all(store: &Store, search: &JobSearch) -> Vec<String> {
    let page = page(store, search, &PageRequest::first(200)).await;
    assert_eq!(page.next, None);
    page.items
}

fn ordered(order: &str) -> JobSearch {
    JobSearch { order: order.parse().expect("an order"), ..JobSearch::default() }
}

/// Goal: naming, tagging and annotating a finished job changes neither its chain, its head, its fingerprint nor its
/// canonical export.
async fn labels_change_nothing_that_is_proved(place: Place) {
    let store = place.store().await;
    run_job(&store, "job", &["momentum"], &[]).await;
    let id = JobId::new("job");
    let row = store.get_job(&id).await.expect("reads").expect("is there");
    let (head, exported) = (store.job_head(&id).await.expect("reads"), export(&store, "job").await);
    let changes = LabelChanges {
        name: Some("Autumn".to_owned()),
        note: Some("Lost in November".to_owned()),
        add_tags: vec!["paper".to_owned()],
        ..LabelChanges::default()
    };
    let LabelsWrite::Written(labels) = label(&store, "job", changes).await else { panic!("is written") };
    assert_eq!((labels.updated_at, labels.updated_by.as_deref()), (Some(at(77)), Some("desk")));
    let overview = store.job_overview(&id).await.expect("reads").expect("is there");
    assert_eq!(overview.labels, labels);

    assert_eq!(store.verify_chain(&id).await.expect("verifies").broken, None);
    let after = store.get_job(&id).await.expect("reads").expect("is there");
    assert_eq!((after.fingerprint, after.config), (row.fingerprint, row.config));
    assert_eq!(store.job_head(&id).await.expect("reads"), head);
    assert_eq!(export(&store, "job").await, exported);
}

/// Goal: a rejected change writes nothing, an absent field stays, and a deleted job leaves no labels behind.
async fn labels_are_limited_and_deleted_with_their_job(place: Place) {
    let store = place.store().await;
    run_job(&store, "job", &["momentum"], &[]).await;
    let none = LabelChanges::default;
    assert_eq!(
        label(&store, "other", LabelChanges { name: Some("x".to_owned()), ..none() }).await,
        LabelsWrite::NotFound
    );
    name(&store, "job", "Autumn").await;
    let tags: Vec<String> = (0..21).map(|n| format!("t{n}")).collect();
    let both = LabelChanges { name: Some("Winter".to_owned()), tags: Some(tags.clone()), ..none() };
    assert!(
        matches!(label(&store, "job", both).await, LabelsWrite::Rejected(error) if error.field == "tags")
    );
    let some = LabelChanges { tags: Some(tags[..20].to_vec()), ..none() };
    let LabelsWrite::Written(labels) = label(&store, "job", some).await else { panic!("is written") };
    assert_eq!((labels.name.as_deref(), labels.tags.len()), (Some("Autumn"), 20));
    let more = LabelChanges { add_tags: vec!["t20".to_owned()], ..none() };
    assert!(matches!(label(&store, "job", more).await, LabelsWrite::Rejected(_)));
    let swap =
        LabelChanges { add_tags: vec!["t20".to_owned()], remove_tags: vec!["t0".to_owned()], ..none() };
    assert!(
        matches!(label(&store, "job", swap).await, LabelsWrite::Written(labels) if labels.tags.len() == 20)
    );

    let deleted = store.delete_job(&JobId::new("job"), false).await.expect("deletes");
    assert!(matches!(deleted, Deletion::Deleted(_)), "{deleted:?}");
    for table in ["job_labels", "job_tags", "job_search", "job_sort_changes"] {
        assert_eq!(place.number(&format!("SELECT count(*) FROM {table}")).await, 0, "{table}");
    }
}

/// Goal: each filter finds its jobs and no others, search ignores case and needs every word, and filters combine.
async fn filters_find_what_they_name(place: Place) {
    let store = place.store().await;
    let day = 24 * 60 * 60 * 1_000_000;
    store.enqueue(job("one-1", ("us", &[("solo", "openai::gpt-5")]), 0)).await.expect("queues");
    store
        .enqueue(job("two-2", ("us", &[("desk", "openai::gpt"), ("Solo", "house::x")]), day))
        .await
        .expect("queues");
    let mut branch = job("three-3", ("cn", &[("desk", "openai::gpt")]), 2 * day);
    branch.config["branch"] = json!({ "agent": { "name": "desk", "model": "anthropic::opus" } });
    store.enqueue(branch).await.expect("queues");
    let plan = NewJob { kind: JobKind::PlanDecompose, config: json!({}), ..new_job("plan-4", &[], 3 * day) };
    store.enqueue(plan).await.expect("queues");
    name(&store, "one-1", "Vorsicht ÄPFEL").await;
    let changes = LabelChanges {
        tags: Some(vec!["paper".to_owned()]),
        note: Some("100%_sure".to_owned()),
        ..LabelChanges::default()
    };
    label(&store, "two-2", changes).await;
    fail_day(&store, "three-3", 0).await;

    let found = async |search: JobSearch| all(&store, &search).await;
    let terms = |terms: &[&str]| JobSearch {
        terms: terms.iter().map(|term| (*term).to_owned()).collect(),
        ..JobSearch::default()
    };
    assert_eq!(found(JobSearch::default()).await, ["plan-4", "three-3", "two-2", "one-1"]);
    assert_eq!(found(terms(&["äpfel"])).await, ["one-1"]);
    assert_eq!(found(terms(&["solo"])).await, ["two-2", "one-1"]);
    assert_eq!(found(terms(&["solo", "gpt-5"])).await, ["one-1"]);
    assert_eq!(found(terms(&["0%_s"])).await, ["two-2"], "no wildcards");
    assert_eq!(found(terms(&["paper"])).await, ["two-2"]);
    assert_eq!(found(terms(&["three"])).await, ["three-3"]);
    assert_eq!(found(terms(&["opus"])).await, ["three-3"]);
    assert_eq!(found(terms(&["nothing"])).await, [""; 0]);
    let with = |model: &str| JobSearch { model: Some(model.to_owned()), ..JobSearch::default() };
    assert_eq!(
        found(with("openai::gpt")).await,
        ["two-2"],
        "not the prefix of another, and not what a branch replaced"
    );
    assert_eq!(found(with("solo")).await, ["one-1"], "an agent's name");
    let on = |dataset: &str| JobSearch { dataset: Some(dataset.to_owned()), ..JobSearch::default() };
    assert_eq!(found(on("cn")).await, ["three-3"]);
    assert_eq!(found(on("00ff")).await, ["three-3", "two-2", "one-1"]);
    let tagged = |tag: &str| JobSearch { tag: Some(tag.to_owned()), ..JobSearch::default() };
    assert_eq!(found(tagged("paper")).await, ["two-2"]);
    assert_eq!(found(tagged("pap")).await, [""; 0]);
    let of = |quality| JobSearch { quality: Some(quality), ..JobSearch::default() };
    assert_eq!(found(of(ListQuality::Degraded)).await, ["three-3"]);
    assert_eq!(found(of(ListQuality::Ok)).await, ["plan-4", "two-2", "one-1"]);
    let between = JobSearch { from: Some(at(day)), before: Some(at(2 * day)), ..JobSearch::default() };
    assert_eq!(found(between).await, ["two-2"]);
    let filter = JobFilter { kind: Some(JobKind::Simulate), status: Some(JobStatus::Queued) };
    assert_eq!(found(JobSearch { filter: filter.clone(), ..JobSearch::default() }).await, ["two-2", "one-1"]);
    assert_eq!(found(JobSearch { filter, ..tagged("paper") }).await, ["two-2"]);
}

/// Goal: while a list sorted by name, status or quality is paged, jobs change these, and others are added: each job that
/// was there at first comes exactly once, in the order of the first page.
async fn pages_stay_in_the_order_of_the_first(place: Place) {
    let store = place.store().await;
    for n in 0..9 {
        store.enqueue(job(&format!("job-{n}"), ("us", &[]), n)).await.expect("queues");
    }
    for n in [0, 3, 4, 7] {
        name(&store, &format!("job-{n}"), &format!("Name {}", 9 - n)).await;
    }
    fail_day(&store, "job-5", 0).await;
    let mut added = 0;
    for order in ["name", "-name", "status", "-status", "quality", "-quality", "created", "-created"] {
        let search = ordered(order);
        let before = all(&store, &search).await;
        let mut request = PageRequest::first(2);
        let mut paged = Vec::new();
        loop {
            let page = page(&store, &search, &request).await;
            paged.extend(page.items);
            let Some(next) = page.next else { break };
            request.cursor = Some(next);
            // To the front, to the end, and back.
            let (first, last) = (paged[0].clone(), before.last().expect("has jobs").clone());
            name(&store, &last, &format!("0 {added}")).await;
            name(&store, &first, &format!("zz {added}")).await;
            name(&store, "job-4", if added % 2 == 0 { "a" } else { "z" }).await;
            store.cancel(&JobId::new(["job-2", "job-6"][added as usize % 2])).await.expect("cancels");
            store.requeue(&JobId::new(["job-6", "job-2"][added as usize % 2])).await.expect("queues");
            if order.ends_with("quality") {
                store.requeue(&JobId::new("job-8")).await.expect("queues");
                fail_day(&store, "job-8", added as usize % 2).await;
            }
            if paged.len() < 8 {
                let new = job(&format!("new-{added}"), ("us", &[]), -1 - added);
                store.enqueue(new).await.expect("queues");
            }
            added += 1;
        }
        let old: BTreeSet<&String> = before.iter().collect();
        let seen: Vec<&String> = paged.iter().filter(|id| old.contains(id)).collect();
        assert_eq!(seen, before.iter().collect::<Vec<_>>(), "{order}");
    }
}

/// Goal: every order lists all jobs, backwards in descending order, whatever the page size; a cursor of another order or
/// of another kind of list is rejected.
async fn every_order_is_total(place: Place) {
    let store = place.store().await;
    for n in 0..7 {
        let dataset = ["us", "cn", ""][n as usize % 3];
        store.enqueue(job(&format!("job-{n}"), (dataset, &[("a", "m")]), n % 2)).await.expect("queues");
    }
    name(&store, "job-3", "three").await;
    for sort in papertape_core::job_list::JobSort::ALL {
        let (up, down) = (ordered(sort.as_str()), ordered(&format!("-{sort}")));
        let mut whole = all(&store, &up).await;
        assert_eq!(whole.len(), 7, "{sort}");
        for size in [1, 3] {
            let (mut request, mut paged) = (PageRequest::first(size), Vec::new());
            loop {
                let page = page(&store, &up, &request).await;
                paged.extend(page.items);
                let Some(next) = page.next else { break };
                request.cursor = Some(next);
            }
            assert_eq!(paged, whole, "{sort} by {size}");
        }
        whole.reverse();
        assert_eq!(all(&store, &down).await, whole, "{sort}");
        let cursor = page(&store, &up, &PageRequest::first(1)).await.next.expect("there are more");
        let other = store.find_jobs(&down, &PageRequest::after(1, &cursor)).await;
        assert!(matches!(other, Err(StoreError::BadCursor)), "{sort}");
    }
    let plain = store.jobs(&JobFilter::default(), &PageRequest::first(1)).await.expect("reads");
    let cursor = plain.next.expect("there are more");
    let search = JobSearch { order: JobOrder::default(), ..JobSearch::default() };
    let other = store.find_jobs(&search, &PageRequest::after(1, &cursor)).await;
    assert!(matches!(other, Err(StoreError::BadCursor)));
    assert_eq!(
        store.job_overview(&JobId::new("job-0")).await.expect("reads").expect("is there").labels,
        JobLabels::default()
    );
}
