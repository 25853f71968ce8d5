//! The action log: complete, ordered, paged and bounded, on both databases.

use crate::desk::{at, claim, new_job};
use crate::places::{Place, on_both};
use futures::future::join_all;
use papertape_core::action::{
    ActionDraft, ActionEntry, ActionKind, ActionRow, ActionStatus, CleanupReport, LogPage, LogPosition,
    WHOLE_JOB, still_open,
};
use papertape_core::id::{AgentName, JobId};
use papertape_core::page::PageRequest;
use papertape_core::plan::PlanId;
use papertape_core::ports::{ActionLog as _, Queue as _, RecordError};
use papertape_core::record::{JobStatus, Lease, NewJob};
use papertape_redact::Redactor;
use papertape_store::Store;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use std::time::Duration;

on_both!(
    rows_are_numbered_without_gaps,
    many_jobs_lose_nothing,
    a_plan_can_be_bound_in_mid_job,
    retention_removes_what_is_old_and_nothing_else,
    pages_drop_and_repeat_nothing,
    a_job_that_nobody_has_is_cancelled_with_its_rows,
    parts_that_start_together_write_one_row,
);

pub(crate) fn entry(name: &str, status: ActionStatus) -> ActionEntry {
    let draft = ActionDraft::of(ActionKind::ToolOperation, name, status, "turn#1/action#1");
    ActionEntry::redacted(&Redactor::default(), draft)
}

pub(crate) fn planned(plan: i64) -> ActionEntry {
    let draft = ActionDraft {
        plan: Some(PlanId(plan)),
        ..ActionDraft::of(ActionKind::PlanOperation, "create_plan", ActionStatus::Completed, "a")
    };
    ActionEntry::redacted(&Redactor::default(), draft)
}

pub(crate) async fn running(store: &Store, job: &str) -> Lease {
    store.enqueue(new_job(job, &[], 0)).await.expect("queues");
    claim(store, job).await
}

async fn all(store: &Store, job: &str) -> LogPage {
    store.list_action_logs(&JobId::new(job), LogPosition::Newest, 500).await.expect("reads")
}

fn numbers(rows: &[ActionRow]) -> Vec<i64> {
    rows.iter().map(|row| row.sequence).collect()
}

/// Goal: each row gets the next number, is read back as written, and is an event of the job; a row written under
/// a lost lease is rejected.
async fn rows_are_numbered_without_gaps(place: Place) {
    let store = place.store().await;
    let old = running(&store, "job").await;
    for (status, number) in [(ActionStatus::Running, 1), (ActionStatus::Failed, 2)] {
        let given = store.append_action_log(&old, entry("web_search", status), at(number)).await;
        assert_eq!(given.expect("writes"), number);
    }
    let lease = claim(&store, "job").await;
    let lost = store.append_action_log(&old, entry("late", ActionStatus::Running), at(3)).await;
    assert!(matches!(lost, Err(RecordError::LostLease)), "{lost:?}");
    assert_eq!(
        store.append_action_log(&lease, entry("next", ActionStatus::Running), at(4)).await.expect("writes"),
        3
    );
    let page = all(&store, "job").await;
    assert_eq!(numbers(&page.rows), [1, 2, 3]);
    let told: Vec<(Option<bool>, &str)> =
        page.rows.iter().map(|row| (row.success(), row.row.name.as_str())).collect();
    assert_eq!(told, [(None, "web_search"), (Some(false), "web_search"), (None, "next")]);
    assert_eq!(&page.rows[1].row, entry("web_search", ActionStatus::Failed).row());
    assert_eq!(page.rows[1].created_at, at(2));
    let events = store.events(&JobId::new("job"), 0, 100).await.expect("reads");
    let logged: Vec<i64> = events
        .iter()
        .filter(|event| event.kind == "log_entry")
        .map(|event| event.log.as_ref().expect("its row").sequence)
        .collect();
    assert_eq!(logged, [1, 2, 3]);
    assert!(events.iter().zip(1..).all(|(event, n)| event.n == n), "events have no gaps");
}

/// Goal: 64 jobs write 400 rows each, with several concurrent writers per job; every row is there, numbered
/// without gaps.
async fn many_jobs_lose_nothing(place: Place) {
    let store = place.store().await;
    let (jobs, rows) = (64, 400);
    let work = (0..jobs).map(|job| {
        let store = store.clone();
        async move {
            let name = format!("job-{job}");
            let lease = running(&store, &name).await;
            let writers = (0..4).map(|_| async {
                for _ in 0..rows / 4 {
                    let row = entry("query_status", ActionStatus::Completed);
                    store.append_action_log(&lease, row, at(1)).await.expect("writes");
                }
            });
            join_all(writers).await;
            let mut found = Vec::new();
            let mut page =
                store.list_action_logs(&JobId::new(&name), LogPosition::After("0.0".to_owned()), 150).await;
            while let Ok(LogPage { rows, cursor, .. }) = page
                && !rows.is_empty()
            {
                found.extend(numbers(&rows));
                page = store.list_action_logs(&JobId::new(&name), LogPosition::After(cursor), 150).await;
            }
            assert_eq!(found, (1..=rows).collect::<Vec<i64>>(), "{name}");
        }
    });
    join_all(work).await;
}

/// Goal: a job bound to a plan halfway keeps a single sequence, and its whole log belongs to the plan, through
/// which the job is found; its first plan stays its plan.
async fn a_plan_can_be_bound_in_mid_job(place: Place) {
    let store = place.store().await;
    let job = JobId::new("job");
    assert_eq!(store.plan_job(&job).await.expect("reads"), None, "there is no such job");
    let lease = running(&store, "job").await;
    let plan = async || store.plan_job(&job).await.expect("reads").expect("is there").plan;
    store.append_action_log(&lease, entry("help", ActionStatus::Completed), at(1)).await.expect("writes");
    assert_eq!(plan().await, None);
    store.append_action_log(&lease, planned(7), at(2)).await.expect("writes");
    store.append_action_log(&lease, entry("help", ActionStatus::Completed), at(3)).await.expect("writes");
    store.append_action_log(&lease, planned(8), at(4)).await.expect("writes");
    assert_eq!(plan().await, Some(PlanId(7)));
    let page = all(&store, "job").await;
    assert_eq!(numbers(&page.rows), [1, 2, 3, 4]);
    assert!(page.rows.iter().all(|row| row.row.plan == Some(PlanId(7))), "{:?}", page.rows);
    assert_eq!((page.rows[0].created_at, page.rows[0].updated_at), (at(1), at(2)));

    let known = NewJob { plan: Some(PlanId(7)), ..new_job("later", &[], 5) };
    store.enqueue(known).await.expect("queues");
    let jobs = store.plan_jobs(PlanId(7), &PageRequest::first(1)).await.expect("reads");
    assert_eq!(jobs.items[0].job, JobId::new("later"));
    assert_eq!((jobs.items[0].status, jobs.items[0].job_type.as_str()), (JobStatus::Queued, "simulate"));
    let next = PageRequest::after(1, &jobs.next.expect("there is more"));
    let jobs = store.plan_jobs(PlanId(7), &next).await.expect("reads");
    assert_eq!((jobs.items[0].job.clone(), jobs.next), (job.clone(), None));
    assert_eq!(store.plan_jobs(PlanId(8), &PageRequest::default()).await.expect("reads").items, []);

    store.finish(&lease, JobStatus::Partial, None).await.expect("ends");
    let index = store.plan_job(&job).await.expect("reads").expect("is there");
    assert_eq!((index.status, index.next_sequence, index.rows_kept), (JobStatus::Partial, 5, 4));
}

/// Goal: rows older than the instant are removed and one exactly at it stays; of the rest, a job's newest rows
/// stay; a running job keeps everything; the index is recounted, and numbers are never reused.
async fn retention_removes_what_is_old_and_nothing_else(place: Place) {
    let store = place.store().await;
    let lease = running(&store, "stopped").await;
    for n in 1..=10 {
        store.append_action_log(&lease, entry("help", ActionStatus::Completed), at(n)).await.expect("writes");
    }
    let busy = running(&store, "busy").await;
    for n in 1..=10 {
        store.append_action_log(&busy, entry("help", ActionStatus::Completed), at(n)).await.expect("writes");
    }
    store.finish(&lease, JobStatus::Failed, None).await.expect("ends");
    let wanted = CleanupReport { by_age: 3, by_count: 2, jobs: 1 };
    assert_eq!(store.cleanup_action_logs(at(4), 5, true).await.expect("counts"), wanted);
    assert_eq!(all(&store, "stopped").await.rows.len(), 10, "a dry run removes nothing");
    assert_eq!(store.cleanup_action_logs(at(4), 5, false).await.expect("removes"), wanted);
    assert_eq!(numbers(&all(&store, "stopped").await.rows), [6, 7, 8, 9, 10]);
    assert_eq!(all(&store, "busy").await.rows.len(), 10);
    assert_eq!(place.number("SELECT rows_kept FROM plan_job_index WHERE job_id = 'stopped'").await, 5);
    let told = "SELECT count(*) FROM job_events WHERE job_id = 'stopped' AND kind = 'log_entry'";
    assert_eq!(place.number(told).await, 5, "their events went with them");
    assert_eq!(store.cleanup_action_logs(at(4), 5, false).await.expect("removes"), CleanupReport::default());

    assert_eq!(store.cleanup_action_logs(at(4), 7, false).await.expect("removes"), CleanupReport::default());
    let wanted = CleanupReport { by_age: 5, by_count: 0, jobs: 1 };
    assert_eq!(store.cleanup_action_logs(at(11), 5, false).await.expect("removes"), wanted);
    store.requeue(&JobId::new("stopped")).await.expect("queues");
    let lease = claim(&store, "stopped").await;
    let next = store.append_action_log(&lease, entry("help", ActionStatus::Running), at(12)).await;
    assert_eq!(next.expect("writes"), 11);
}

#[derive(Clone, Debug)]
enum Turn {
    Write(u8),
    Newer(u32),
    Older(u32),
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let turn = prop_oneof![
        (1..5_u8).prop_map(Turn::Write),
        (1..6_u32).prop_map(Turn::Newer),
        (1..6_u32).prop_map(Turn::Older),
    ];
    proptest::collection::vec(turn, 1..14)
}

/// Goal: a reader that starts with the newest rows and follows both cursors ends up with every row once and in
/// order, whatever was written between the pages.
async fn pages_drop_and_repeat_nothing(place: Place) {
    let cases = if matches!(place.target, papertape_store::DatabaseTarget::Sqlite(_)) { 48 } else { 8 };
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    });
    let store = place.store().await;
    for case in 0..cases {
        let tree = (0_u8..6, 1..6_u32, turns()).new_tree(&mut runner).expect("a case");
        let (written, limit, turns) = tree.current();
        check_pages(&store, &format!("job-{case}"), written, limit, &turns).await;
    }
    for text in ["", "x", "1", "1.", "-1.0", "1.2.3"] {
        let bad = store.list_action_logs(&JobId::new("job-0"), LogPosition::After(text.to_owned()), 1).await;
        assert!(matches!(bad, Err(RecordError::BadCursor)), "{text}: {bad:?}");
    }
}

async fn check_pages(store: &Store, job: &str, written: u8, limit: u32, turns: &[Turn]) {
    let lease = running(store, job).await;
    let id = JobId::new(job);
    let write = async |count: u8| {
        for _ in 0..count {
            // All at the same instant: only the number distinguishes them.
            let row = entry("help", ActionStatus::Completed);
            store.append_action_log(&lease, row, at(1)).await.expect("writes");
        }
    };
    let page =
        async |from: LogPosition, limit: u32| store.list_action_logs(&id, from, limit).await.expect("reads");
    write(written).await;
    let first = page(LogPosition::Newest, limit).await;
    let mut seen: std::collections::VecDeque<i64> = numbers(&first.rows).into();
    let (mut cursor, mut before) = (first.cursor, first.before);
    let ends = [Turn::Newer(500), Turn::Older(500)];
    for turn in turns.iter().chain(&ends) {
        match turn {
            Turn::Write(count) => write(*count).await,
            Turn::Newer(limit) => {
                let next = page(LogPosition::After(cursor.clone()), *limit).await;
                seen.extend(numbers(&next.rows));
                cursor = next.cursor;
            }
            Turn::Older(limit) => {
                let Some(at) = before.clone() else { continue };
                let next = page(LogPosition::Before(at), *limit).await;
                numbers(&next.rows).into_iter().rev().for_each(|number| seen.push_front(number));
                before = next.before;
            }
        }
    }
    let total = all(store, job).await.rows.last().map_or(0, |row| row.sequence);
    assert_eq!(seen, (1..=total).collect::<Vec<i64>>(), "{turns:?}");
}

/// Goal: if a job is canceled while it has no worker, because the worker died or released it, its open rows are
/// closed before its stream ends; the old worker can write nothing more; and numbering continues when the job is
/// resumed. A job with a worker is left to it.
async fn a_job_that_nobody_has_is_cancelled_with_its_rows(place: Place) {
    let store = place.store().await;
    let row = |status: ActionStatus, action: &str| {
        let draft = ActionDraft::of(ActionKind::ToolOperation, "run_simulation", status, action);
        ActionEntry::redacted(&Redactor::default(), draft)
    };
    let written = [
        row(ActionStatus::Running, WHOLE_JOB),
        row(ActionStatus::Running, "a"),
        row(ActionStatus::Running, "b"),
        row(ActionStatus::Completed, "a"),
    ];
    for (name, gives_back, is_held) in
        [("gone", false, false), ("waits", true, false), ("works", false, true)]
    {
        let (id, mut job) = (JobId::new(name), new_job(name, &["momentum"], 0));
        job.config["language"] = "en".into();
        store.enqueue(job).await.expect("queues");
        let long = std::time::Duration::from_secs(if is_held { 3600 } else { 0 });
        let (lease, _) = store.claim("worker", long, Some(&id)).await.expect("asks").expect("claims");
        for entry in &written {
            store.append_action_log(&lease, entry.clone(), at(1)).await.expect("writes");
        }
        if gives_back {
            store
                .append_action_log(&lease, row(ActionStatus::Queued, WHOLE_JOB), at(2))
                .await
                .expect("writes");
            store.finish(&lease, JobStatus::Queued, None).await.expect("gives back");
        }
        let before = store.action_log(&id).await.expect("reads");
        let status = store.cancel(&id).await.expect("asks");
        let rows = store.action_log(&id).await.expect("reads");
        if is_held {
            assert_eq!((status, rows), (Some(JobStatus::Running), before));
            continue;
        }
        assert_eq!(status, Some(JobStatus::Cancelled), "{name}");
        assert!(still_open(rows.clone()).is_empty(), "{name}: {rows:#?}");
        assert_eq!(numbers(&rows), (1..).take(before.len() + 2).collect::<Vec<i64>>());
        let ends: Vec<(&str, Option<&str>)> = rows[before.len()..]
            .iter()
            .map(|row| {
                let action = row.row.details.as_ref().and_then(|details| details["action"].as_str());
                assert_eq!(row.success(), Some(false));
                (action.expect("a path"), row.row.message.as_deref())
            })
            .collect();
        let (job, action) =
            ((WHOLE_JOB, Some("cancelled")), ("b", Some("stopped; it continues if the job is resumed")));
        assert_eq!(ends, if gives_back { [action, job] } else { [job, action] }, "{name}");
        let events = store.events(&id, 0, 100).await.expect("reads");
        let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
        assert_eq!(kinds[kinds.len() - 4..], ["log_entry", "log_entry", "job", "end"], "{name}");
        assert!(events.iter().zip(1..).all(|(event, n)| event.n == n), "{name}: without gaps");
        let late = store.append_action_log(&lease, row(ActionStatus::Completed, "b"), at(3)).await;
        assert!(matches!(late, Err(RecordError::LostLease)), "{late:?}");
        assert_eq!(store.cancel(&id).await.expect("asks"), Some(JobStatus::Cancelled));
        assert_eq!(store.action_log(&id).await.expect("reads"), rows, "once is enough");

        assert!(store.requeue(&id).await.expect("asks"));
        let again = claim(&store, name).await;
        let next = store.append_action_log(&again, row(ActionStatus::Running, "b"), at(4)).await;
        assert_eq!(next.expect("writes"), rows.last().expect("rows").sequence + 1);
    }
}

/// Goal: of the parts of a job that start at the same time, one writes that the job runs; once that has ended, the next
/// one that starts does so again.
async fn parts_that_start_together_write_one_row(place: Place) {
    let store = place.store().await;
    let names: Vec<String> = (0..16).map(|number| format!("a{number:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let agents: Vec<AgentName> = names.iter().copied().map(AgentName::new).collect();
    store.enqueue_in_parts(new_job("split", &names, 0), 16, &agents).await.expect("queues");
    let job = JobId::new("split");
    let mut leases = Vec::new();
    while let Some((lease, _)) = store.claim("w", Duration::from_secs(60), Some(&job)).await.expect("claims")
    {
        leases.push(lease);
    }
    let row = |status| {
        let draft = ActionDraft::of(ActionKind::SystemOperation, "simulate", status, WHOLE_JOB);
        ActionEntry::redacted(&Redactor::default(), draft)
    };
    for round in 0..2 {
        let start = |lease| store.start_action_log(lease, row(ActionStatus::Running), at(1));
        let started = join_all(leases.iter().map(start)).await;
        let numbers: Vec<i64> = started.into_iter().filter_map(|one| one.expect("writes")).collect();
        assert_eq!(numbers, [2 * round + 1]);
        let ended = store.append_action_log(&leases[0], row(ActionStatus::Completed), at(2)).await;
        assert_eq!(ended.expect("writes"), 2 * round + 2);
    }
    assert_eq!(store.action_log(&job).await.expect("reads").len(), 4);
}
