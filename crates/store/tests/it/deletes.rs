//! Deleting jobs: nothing of them remains, and everything else does.

use crate::desk::{DAYS, claim, date, export, new_job, run_day, run_job};
use crate::places::{Place, on_both};
use papertape_core::action::Origin;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::ports::{Queue as _, RecordStore as _};
use papertape_core::record::{Continuation, JobStatus, NewJob, SkippedDay, Supersession};
use papertape_core::tape::text;
use papertape_store::{DatabaseTarget, Deleted, Deletion, Store};
use serde_json::json;
use std::collections::BTreeSet;

on_both!(
    a_deleted_job_leaves_no_trace,
    what_others_were_built_on_stays,
    texts_of_others_stay,
    published_heads_go_too,
);

fn id(job: &str) -> JobId {
    JobId::new(job)
}

/// Another database of the same kind.
fn beside(place: &Place) -> Place {
    match place.target {
        DatabaseTarget::Sqlite(_) => Place::sqlite(),
        DatabaseTarget::Postgres(..) => Place::postgres(),
    }
}

/// A database's contents: the number of rows per table, and the stored texts. IDs and times may differ.
async fn contents(place: &Place) -> (Vec<String>, String) {
    let is_sqlite = matches!(place.target, DatabaseTarget::Sqlite(_));
    let tables = match is_sqlite {
        // Tables of the full text index are left out: its progress does not depend on the jobs.
        true => "SELECT group_concat(name) FROM (SELECT name FROM sqlite_schema WHERE type = 'table'
            AND name NOT LIKE 'text_search%' AND name <> 'texts_to_index' AND name NOT LIKE 'sqlite_%' ORDER BY name)",
        false => "SELECT string_agg(table_name, ',' ORDER BY table_name) FROM information_schema.tables
            WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'",
    };
    let mut counts = Vec::new();
    for table in place.text(tables).await.split(',') {
        counts.push(format!("{table} {}", place.number(&format!("SELECT count(*) FROM {table}")).await));
    }
    if is_sqlite {
        let indexed = "SELECT (SELECT count(*) FROM texts_to_index WHERE text_id NOT IN
            (SELECT id FROM text_search_docsize)) + (SELECT count(*) FROM text_search_docsize)";
        counts.push(format!("words {}", place.number(indexed).await));
    }
    let texts = match is_sqlite {
        true => {
            "SELECT coalesce(group_concat(hash), '') FROM (SELECT hex(hash) AS hash FROM texts ORDER BY 1)"
        }
        false => "SELECT coalesce(string_agg(upper(encode(hash, 'hex')), ',' ORDER BY hash), '') FROM texts",
    };
    (counts, place.text(texts).await)
}

/// Runs the job `goes`, which stores texts of its own.
async fn run_goes(store: &Store) {
    let leaf = text("its own state");
    let node = text(json!({ "state": leaf.hash.to_hex() }).to_string());
    let config = json!({ "start": node.hash.to_hex() });
    let agents = ["momentum", "contrarian"];
    let job = NewJob { config, texts: vec![leaf, node], ..new_job("goes", &agents, 1) };
    store.enqueue(job).await.expect("queues");
    let lease = claim(store, "goes").await;
    for agent in agents {
        for day in 0..DAYS.len() {
            run_day(store, &lease, agent, day, i64::MAX).await.expect("runs");
        }
    }
    store.finish(&lease, JobStatus::Completed, None).await.expect("ends");
}

async fn deleted(store: &Store, job: &str, with_dependents: bool) -> Vec<String> {
    match store.delete_job(&id(job), with_dependents).await.expect("deletes") {
        Deletion::Deleted(Deleted { jobs, .. }) => jobs.into_iter().map(|job| job.to_string()).collect(),
        other => panic!("{job}: {other:?}"),
    }
}

// Goal: after a deletion, tables have as many rows and the same texts as if the job had never run; the other job
// verifies and exports as before; and the job can be run again under its ID.
async fn a_deleted_job_leaves_no_trace(place: Place) {
    let other = beside(&place);
    let (store, never) = (place.store().await, other.store().await);
    // All its texts are its own, and so are their entries in the index.
    run_goes(&store).await;
    assert_eq!(deleted(&store, "goes", false).await, ["goes"]);
    assert_eq!(contents(&place).await, contents(&other).await);
    if matches!(place.target, DatabaseTarget::Sqlite(_)) {
        place.edit("INSERT INTO text_search (text_search) VALUES ('integrity-check')").await;
    }
    for store in [&store, &never] {
        run_job(store, "stays", &["momentum"], &[]).await;
    }
    let before = export(&store, "stays").await;
    run_goes(&store).await;
    let gone = export(&store, "goes").await;
    let [with, without] = [contents(&place).await, contents(&other).await];
    assert!(with.1.len() > without.1.len(), "it has texts of its own");

    assert_eq!(deleted(&store, "goes", false).await, ["goes"]);
    assert_eq!(contents(&place).await, without);
    assert_eq!(store.delete_job(&id("goes"), false).await.expect("asks"), Deletion::NotFound);
    assert_eq!(export(&store, "stays").await, before);
    assert_eq!(store.verify_chain(&id("stays")).await.expect("verifies").broken, None);
    assert!(store.get_job(&id("goes")).await.expect("reads").is_none());
    assert!(store.tail(&id("goes"), &0.into(), None, 10).await.expect("reads").is_none(), "its streams end");
    run_goes(&store).await;
    assert_eq!(export(&store, "goes").await, gone);
    assert_eq!(contents(&place).await, with);
}

// Goal: deleting a job that others build on, in whatever way and however indirectly, is rejected with their
// names, or deletes them too; an unfinished job is rejected; a superseded job is reinstated when its successor is
// deleted.
async fn what_others_were_built_on_stays(place: Place) {
    let store = place.store().await;
    let agent = AgentName::new("momentum");
    let completed = async |job: NewJob| {
        let name = job.id.to_string();
        store.enqueue(job).await.expect("queues");
        let lease = claim(&store, &name).await;
        store.finish(&lease, JobStatus::Completed, None).await.expect("ends");
    };
    run_job(&store, "base", &["momentum"], &[]).await;
    let continues = vec![Continuation { agent: agent.clone(), job: id("base"), date: date(DAYS[1]) }];
    completed(NewJob { continues, ..new_job("continues", &["momentum"], 1) }).await;
    completed(NewJob { parent: Some(id("continues")), ..new_job("branch", &["momentum"], 2) }).await;
    let session = store.find_session(&id("base"), &agent, date(DAYS[0])).await.expect("reads");
    let session = session.expect("is there").id;
    let mut skips = new_job("skips", &["momentum"], 3);
    skips.days[0].skipped = Some(SkippedDay { job: id("base"), session });
    completed(skips).await;
    let config = json!({ "memory": { "from": ["base"] } });
    completed(NewJob { config, ..new_job("named", &["momentum"], 4) }).await;
    // A longer ID with the same prefix is a different job.
    let config = json!({ "memory": { "from": ["base-2"] } });
    completed(NewJob { config, ..new_job("apart", &["momentum"], 5) }).await;
    let path = "turn#1/action#1";
    place.edit(&format!("UPDATE steps SET path = '{path}' WHERE id = (SELECT max(id) FROM steps)")).await;
    let child = Origin::new(&id("base"), path, 0).job_id();
    completed(new_job(child.as_str(), &["momentum"], 6)).await;
    let old = Supersession { agent: agent.clone(), job: id("apart") };
    completed(NewJob { supersedes: vec![old], ..new_job("newer", &["momentum"], 7) }).await;

    let all: BTreeSet<String> =
        ["branch", "continues", "named", "skips", child.as_str()].map(str::to_owned).into();
    let Deletion::InUse(jobs) = store.delete_job(&id("base"), false).await.expect("asks") else {
        panic!("it is in use");
    };
    assert_eq!(jobs.iter().map(ToString::to_string).collect::<BTreeSet<_>>(), all);
    assert!(store.get_job(&id("base")).await.expect("reads").is_some(), "nothing is deleted");
    assert_eq!(store.deletion_of(&id("base"), false).await.expect("asks"), Deletion::InUse(jobs));
    assert!(store.requeue(&id("branch")).await.is_ok_and(|queued| !queued), "it is completed");
    place.edit("UPDATE jobs SET status = 'queued' WHERE job_id = 'branch'").await;
    let refused = Deletion::Unfinished(id("branch"), JobStatus::Queued);
    assert_eq!(store.delete_job(&id("base"), true).await.expect("asks"), refused);
    assert_eq!(store.delete_job(&id("branch"), false).await.expect("asks"), refused);
    place.edit("UPDATE jobs SET status = 'cancelled' WHERE job_id = 'branch'").await;
    let gone: BTreeSet<String> = deleted(&store, "base", true).await.into_iter().collect();
    assert_eq!(gone, all.into_iter().chain(["base".to_owned()]).collect());

    let replaced_by =
        async || store.get_job(&id("apart")).await.expect("reads").expect("is there").superseded_by;
    assert_eq!(replaced_by().await, Some(id("newer")));
    assert_eq!(deleted(&store, "newer", false).await, ["newer"]);
    assert_eq!(replaced_by().await, None);
}

// Goal: a text is deleted with the last job that uses it, including a queued job that references it only in its
// config, or a use through another text.
async fn texts_of_others_stay(place: Place) {
    let store = place.store().await;
    let leaf = text("the state of an account");
    let document = json!({ "list": [leaf.hash.to_hex()] }).to_string();
    let node = text(document);
    let alone = text("of one job only");
    let job = |name: &str, created: i64, own: &[&ContentHash]| NewJob {
        config: json!({ "states": own.iter().map(|hash| hash.to_hex()).collect::<Vec<_>>() }),
        texts: vec![leaf.clone(), node.clone(), alone.clone()],
        ..new_job(name, &["momentum"], created)
    };
    store.enqueue(job("waits", 0, &[&node.hash])).await.expect("queues");
    store.enqueue(job("goes", 1, &[&node.hash, &alone.hash])).await.expect("queues");
    store.cancel(&id("goes")).await.expect("cancels");
    let all: Vec<ContentHash> = [&leaf, &node, &alone].map(|text| text.hash).into();
    let there = async || {
        let found = store.texts(all.clone()).await.expect("reads");
        all.iter().map(|hash| found.contains_key(hash)).collect::<Vec<bool>>()
    };
    assert_eq!(there().await, [true, true, true]);
    deleted(&store, "goes", false).await;
    assert_eq!(there().await, [true, true, false]);
    store.cancel(&id("waits")).await.expect("cancels");
    deleted(&store, "waits", false).await;
    assert_eq!(there().await, [false, false, false]);
}

// Goal: a job's published heads are deleted with it, and those of other jobs stay.
async fn published_heads_go_too(place: Place) {
    let store = place.store().await;
    let mut heads = Vec::new();
    for job in ["goes", "stays"] {
        run_job(&store, job, &["momentum"], &[]).await;
        heads.push(store.publish_job_head(&id(job)).await.expect("stores").expect("is there").hash());
    }
    deleted(&store, "goes", false).await;
    assert_eq!(store.stored_job_head(heads[0]).await.expect("reads"), None);
    assert!(store.stored_job_head(heads[1]).await.expect("reads").is_some());
}
