//! Plans, their tasks, and the IDs of what actions create, on both databases.

use crate::actions::{entry, running};
use crate::desk::{at, commit, date};
use crate::places::{Place, on_both};
use futures::future::join_all;
use papertape_core::action::{ActionStatus, IdKind, Origin};
use papertape_core::page::PageRequest;
use papertape_core::plan::{
    NewPlan, NewTask, PlanChanges, PlanError, PlanId, PlanWrite, TaskChanges, TaskId, TaskStatus, TaskWrite,
};
use papertape_core::ports::{ActionLog as _, Plans as _, RecordError, RecordStore as _};
use papertape_core::record::{JobStatus, NewSession, Write};
use papertape_redact::{Redactor, Sanitized};
use papertape_store::Store;
use serde_json::json;

on_both!(
    a_plan_and_its_tasks_are_kept,
    what_a_job_makes_it_makes_once,
    a_refused_change_takes_its_commit_back,
    many_hands_make_one_tree,
    plans_are_paged,
);

fn clean(writes: Vec<PlanWrite>) -> Sanitized<Vec<PlanWrite>> {
    let secrets = vec![("key".to_owned(), "correct-horse-battery".to_owned())];
    Sanitized::of(&Redactor::new(secrets).expect("long enough"), writes)
}

fn new_plan(name: &str) -> PlanWrite {
    PlanWrite::Create(NewPlan {
        id: None,
        name: name.to_owned(),
        goal: "use correct-horse-battery".to_owned(),
        chat_session: None,
        origin: None,
    })
}

fn task(plan: PlanId, name: &str, parent: Option<TaskId>) -> PlanWrite {
    let write = TaskWrite::Create(NewTask {
        id: None,
        parent,
        name: name.to_owned(),
        instruction: "do it".to_owned(),
        position: None,
        dependencies: Vec::new(),
        origin: None,
    });
    PlanWrite::Task { plan, write }
}

async fn one(store: &Store, write: PlanWrite, micros: i64) -> (PlanId, Option<TaskId>) {
    let written = store.write_plans(clean(vec![write]), at(micros)).await.expect("writes");
    (written[0].plan, written[0].task)
}

/// Goal: a plan and its tasks are read back as written, redacted, in tree order; moving or deleting a task
/// includes its subtree; deleting a plan deletes everything in it.
async fn a_plan_and_its_tasks_are_kept(place: Place) {
    let store = place.store().await;
    let (plan, _) = one(&store, new_plan("autumn"), 1).await;
    let kept = store.plan(plan).await.expect("reads").expect("is there");
    assert_eq!((kept.name.as_str(), kept.goal.as_str()), ("autumn", "use [redacted:key]"));
    assert_eq!((kept.status, kept.created_at), (JobStatus::Queued, at(1)));
    let mut ids = Vec::new();
    for (n, parent) in [None, Some(0), Some(0), Some(1), None].into_iter().enumerate() {
        let parent = parent.map(|at: usize| ids[at]);
        ids.push(one(&store, task(plan, &format!("task {n}"), parent), 2).await.1.expect("a task"));
    }
    let changes = TaskChanges {
        status: Some(TaskStatus::Completed),
        dependencies: Some(vec![ids[1]]),
        execution_result: Some(Some(json!({ "said": "correct-horse-battery" }))),
        ..TaskChanges::default()
    };
    let writes = vec![
        PlanWrite::Task { plan, write: TaskWrite::Move { task: ids[1], parent: None, position: Some(0) } },
        PlanWrite::Task { plan, write: TaskWrite::Update { task: ids[4], changes } },
    ];
    store.write_plans(clean(writes), at(3)).await.expect("writes");
    let tasks = store.tasks(plan).await.expect("reads");
    let shape: Vec<(TaskId, String)> = tasks.iter().map(|task| (task.id, task.path.clone())).collect();
    let path = |ids: &[TaskId]| ids.iter().map(|id| format!("/{id}")).collect::<String>();
    let wanted = [
        (ids[1], path(&[ids[1]])),
        (ids[3], path(&[ids[1], ids[3]])),
        (ids[0], path(&[ids[0]])),
        (ids[2], path(&[ids[0], ids[2]])),
        (ids[4], path(&[ids[4]])),
    ];
    assert_eq!(shape, wanted);
    assert_eq!(tasks[4].execution_result, Some(json!({ "said": "[redacted:key]" })));
    assert_eq!((tasks[4].status, &tasks[4].dependencies), (TaskStatus::Completed, &vec![ids[1]]));
    let cycle = TaskChanges { dependencies: Some(vec![ids[4]]), ..TaskChanges::default() };
    let write = PlanWrite::Task { plan, write: TaskWrite::Update { task: ids[3], changes: cycle } };
    let refused = store.write_plans(clean(vec![write]), at(4)).await;
    assert!(matches!(refused, Err(RecordError::Refused(PlanError::Cycle(_)))), "{refused:?}");

    one(&store, PlanWrite::Task { plan, write: TaskWrite::Delete { task: ids[1] } }, 5).await;
    let left: Vec<TaskId> = store.tasks(plan).await.expect("reads").iter().map(|task| task.id).collect();
    assert_eq!(left, [ids[0], ids[2], ids[4]]);
    assert_eq!(store.plan(plan).await.expect("reads").expect("is there").tasks, 3);
    let changes = PlanChanges { name: Some("winter".to_owned()), ..PlanChanges::default() };
    one(&store, PlanWrite::Update { plan, changes }, 6).await;
    let kept = store.plan(plan).await.expect("reads").expect("is there");
    assert_eq!(
        (kept.name.as_str(), kept.goal.as_str(), kept.updated_at),
        ("winter", "use [redacted:key]", at(6))
    );

    one(&store, PlanWrite::Delete { plan }, 7).await;
    assert_eq!(store.plan(plan).await.expect("reads"), None);
    assert_eq!(place.number("SELECT count(*) FROM plan_tasks").await, 0);
    let gone = store.write_plans(clean(vec![task(plan, "late", None)]), at(8)).await;
    assert!(matches!(gone, Err(RecordError::Refused(PlanError::NoPlan(_)))), "{gone:?}");
    assert_ne!(one(&store, new_plan("next"), 9).await.0, plan, "no number is given twice");
}

/// Goal: what an action creates has one ID, however often it is requested; the plan, its log row and the task are
/// committed together, and repeating the action creates nothing.
async fn what_a_job_makes_it_makes_once(place: Place) {
    let store = place.store().await;
    let lease = running(&store, "job").await;
    let new = NewSession { agent: "assistant".into(), date: date("2012-03-01"), at: at(0) };
    let session = store.open_session(&lease, new).await.expect("opens").id;
    let origin = Origin::new(&lease.job, "turn#1/action#1", 0);
    let id = store.reserve(&lease, &origin, IdKind::Plan).await.expect("reserves");
    let other = Origin::new(&lease.job, "turn#1/action#1", 1);
    let task_id = store.reserve(&lease, &other, IdKind::Task).await.expect("reserves");
    assert_eq!(store.reserve(&lease, &origin, IdKind::Plan).await.expect("reserves"), id);
    let another = Origin::new(&lease.job, "turn#1/action#2", 0);
    assert_ne!(store.reserve(&lease, &another, IdKind::Plan).await.expect("reserves"), id);
    let writes = || {
        let clean = |write| Write::Plan(Box::new(Sanitized::of(&Redactor::default(), write)));
        let PlanWrite::Create(plan) = new_plan("made") else { unreachable!() };
        let plan = NewPlan { id: Some(PlanId(id)), origin: Some(origin.clone()), ..plan };
        let PlanWrite::Task { plan: of, write: TaskWrite::Create(task) } = task(PlanId(id), "first", None)
        else {
            unreachable!()
        };
        let task = NewTask { id: Some(TaskId(task_id)), origin: Some(other.clone()), ..task };
        vec![
            clean(PlanWrite::Create(plan)),
            clean(PlanWrite::Task { plan: of, write: TaskWrite::Create(task) }),
            Write::Action(Box::new(entry("create_plan", ActionStatus::Completed))),
        ]
    };
    store.commit(commit(&lease, session, writes())).await.expect("commits");
    store.commit(commit(&lease, session, writes())).await.expect("commits again");
    let kept = store.plan(PlanId(id)).await.expect("reads").expect("is there");
    assert_eq!((kept.origin, kept.tasks), (Some(origin), 1));
    assert_eq!(place.number("SELECT count(*) FROM plans").await, 1);
    assert_eq!(store.action_log(&lease.job).await.expect("reads").len(), 2);
}

/// Goal: if a plan rule rejects a change, its whole commit is rolled back.
async fn a_refused_change_takes_its_commit_back(place: Place) {
    let store = place.store().await;
    let lease = running(&store, "job").await;
    let new = NewSession { agent: "assistant".into(), date: date("2012-03-01"), at: at(0) };
    let session = store.open_session(&lease, new).await.expect("opens").id;
    let delete = PlanWrite::Delete { plan: PlanId(77) };
    let writes = vec![
        Write::Action(Box::new(entry("delete_plan", ActionStatus::Completed))),
        Write::Plan(Box::new(Sanitized::of(&Redactor::default(), delete))),
    ];
    let refused = store.commit(commit(&lease, session, writes)).await;
    assert!(matches!(refused, Err(RecordError::Refused(PlanError::NoPlan(PlanId(77))))), "{refused:?}");
    assert_eq!(store.action_log(&lease.job).await.expect("reads"), []);
    let row = entry("delete_plan", ActionStatus::Failed);
    assert_eq!(store.append_action_log(&lease, row, at(1)).await.expect("writes"), 1);
    let both = vec![new_plan("kept?"), PlanWrite::Delete { plan: PlanId(77) }];
    store.write_plans(clean(both), at(1)).await.expect_err("is refused");
    assert_eq!(place.number("SELECT count(*) FROM plans").await, 0, "all or nothing");
}

/// Goal: concurrent changes to one tree leave one consistent tree: no task is lost, and positions are
/// consecutive.
async fn many_hands_make_one_tree(place: Place) {
    let store = place.store().await;
    let (plan, _) = one(&store, new_plan("busy"), 1).await;
    let hands = (0..16).map(|hand| {
        let store = store.clone();
        async move {
            for n in 0..6 {
                one(&store, task(plan, &format!("{hand}.{n}"), None), 2).await;
            }
        }
    });
    join_all(hands).await;
    let tasks = store.tasks(plan).await.expect("reads");
    let positions: Vec<u32> = tasks.iter().map(|task| task.position).collect();
    assert_eq!(positions, (0..96).collect::<Vec<_>>());
}

/// Goal: plans are listed newest first, in pages that neither repeat nor drop any.
async fn plans_are_paged(place: Place) {
    let store = place.store().await;
    for n in 0..7 {
        // Some at the same instant: only the ID distinguishes them.
        one(&store, new_plan(&format!("{n}")), n / 3).await;
    }
    let mut found = Vec::new();
    let mut page = store.plans(&PageRequest::first(3)).await.expect("reads");
    loop {
        found.extend(page.items.into_iter().map(|plan| plan.name));
        match page.next {
            Some(next) => page = store.plans(&PageRequest::after(3, &next)).await.expect("reads"),
            None => break,
        }
    }
    assert_eq!(found, ["6", "5", "4", "3", "2", "1", "0"]);
}
