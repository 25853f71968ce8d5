//! The tree of a plan's tasks: allowed changes and their effects.

use papertape_core::action::Origin;
use papertape_core::id::JobId;
use papertape_core::plan::{
    MAX_DEPTH, MAX_TASKS, NewTask, PlanChanges, PlanError, PlanId, Task, TaskChanges, TaskId, TaskWrite, Tree,
};
use papertape_core::time::{Timestamp, from_micros};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn at(micros: i64) -> Timestamp {
    from_micros(micros).expect("in range")
}

fn new(name: &str, parent: Option<i64>, dependencies: &[i64]) -> TaskWrite {
    TaskWrite::Create(NewTask {
        id: None,
        parent: parent.map(TaskId),
        name: name.to_owned(),
        instruction: String::new(),
        position: None,
        dependencies: dependencies.iter().copied().map(TaskId).collect(),
        origin: None,
    })
}

fn depends(task: i64, dependencies: &[i64]) -> TaskWrite {
    let dependencies = Some(dependencies.iter().copied().map(TaskId).collect());
    let changes = TaskChanges { dependencies, ..TaskChanges::default() };
    TaskWrite::Update { task: TaskId(task), changes }
}

fn shift(task: i64, parent: Option<i64>, position: Option<u32>) -> TaskWrite {
    TaskWrite::Move { task: TaskId(task), parent: parent.map(TaskId), position }
}

/// 1(2(3), 4), 5
fn small() -> Tree {
    let mut tree = Tree::new(PlanId(1), []);
    for (id, write) in [
        (1, new("one", None, &[])),
        (2, new("two", Some(1), &[])),
        (3, new("three", Some(2), &[])),
        (4, new("four", Some(1), &[])),
        (5, new("five", None, &[])),
    ] {
        tree.apply(&write, TaskId(id), at(id)).expect("is taken");
    }
    tree
}

fn shape(tree: &Tree) -> Vec<(i64, &str, u32, u32)> {
    tree.in_order()
        .into_iter()
        .map(|task| (task.id.0, task.path.as_str(), task.depth, task.position))
        .collect()
}

fn refused(tree: &mut Tree, write: &TaskWrite) -> PlanError {
    let before = tree.clone();
    let refusal = tree.apply(write, TaskId(9_999), at(99)).expect_err("is refused");
    assert_eq!(*tree, before, "a refusal changes nothing");
    refusal
}

/// Goal: each task comes before its children, and moving a task moves its subtree, with correct paths, depths
/// and positions of old and new siblings.
#[test]
fn a_moved_task_takes_its_subtree_along() {
    let mut tree = small();
    let first = [(1, "/1", 0, 0), (2, "/1/2", 1, 0), (3, "/1/2/3", 2, 0), (4, "/1/4", 1, 1), (5, "/5", 0, 1)];
    assert_eq!(shape(&tree), first);
    let changed = tree.apply(&shift(2, Some(5), None), TaskId(0), at(10)).expect("is taken");
    let then = [(1, "/1", 0, 0), (4, "/1/4", 1, 0), (5, "/5", 0, 1), (2, "/5/2", 1, 0), (3, "/5/2/3", 2, 0)];
    assert_eq!(shape(&tree), then);
    assert_eq!(changed.kept, BTreeSet::from([2, 3, 4].map(TaskId)), "and nobody else");
    tree.apply(&shift(3, None, Some(0)), TaskId(0), at(11)).expect("is taken");
    let order: Vec<i64> = tree.children(None).iter().map(|task| task.id.0).collect();
    assert_eq!(order, [3, 1, 5]);
    // Among the same siblings too.
    tree.apply(&shift(3, None, Some(7)), TaskId(0), at(12)).expect("is taken");
    let order: Vec<i64> = tree.children(None).iter().map(|task| task.id.0).collect();
    assert_eq!(order, [1, 5, 3]);
    assert_eq!(refused(&mut tree, &shift(5, Some(2), None)), PlanError::BelowItself);
    assert_eq!(refused(&mut tree, &shift(5, Some(5), None)), PlanError::BelowItself);
    assert_eq!(refused(&mut tree, &shift(5, Some(77), None)), PlanError::NoParent(TaskId(77)));
    assert_eq!(refused(&mut tree, &shift(77, None, None)), PlanError::NoTask(TaskId(77)));
}

/// Goal: a change that would make tasks wait for each other is rejected, however it arises, and the error
/// names the tasks.
#[test]
fn tasks_never_wait_for_each_other() {
    let mut tree = small();
    for (task, on) in [(4, 2), (5, 4)] {
        tree.apply(&depends(task, &[on]), TaskId(0), at(10)).expect("is taken");
    }
    let is_cycle = |refusal: PlanError, of: &[i64]| match refusal {
        PlanError::Cycle(tasks) => of.iter().all(|task| tasks.contains(&TaskId(*task))),
        _ => false,
    };
    assert!(is_cycle(refused(&mut tree, &depends(2, &[4])), &[2, 4]), "each after the other");
    assert!(is_cycle(refused(&mut tree, &depends(2, &[5])), &[2, 4, 5]), "in a round");
    assert!(is_cycle(refused(&mut tree, &depends(2, &[2])), &[2]), "on itself");
    assert!(is_cycle(refused(&mut tree, &depends(1, &[3])), &[1, 3]), "on what is below it");
    assert!(is_cycle(refused(&mut tree, &depends(3, &[1])), &[1, 3]), "on what it is a part of");
    assert!(is_cycle(refused(&mut tree, &depends(3, &[5])), &[3, 5]), "through a part");
    assert!(is_cycle(refused(&mut tree, &shift(2, Some(5), None)), &[2, 5]), "by being moved");
    assert!(is_cycle(refused(&mut tree, &new("six", Some(2), &[5])), &[5]), "from the start");
    assert_eq!(refused(&mut tree, &depends(1, &[77])), PlanError::NoDependency(TaskId(77)));
    tree.apply(&depends(5, &[4, 2, 4]), TaskId(0), at(11)).expect("is taken");
    assert_eq!(tree.get(TaskId(5)).expect("is there").dependencies, [TaskId(2), TaskId(4)], "each once");
}

/// Goal: deleting a task deletes its subtree, and no task still depends on it.
#[test]
fn a_deleted_task_leaves_nothing_behind() {
    let mut tree = small();
    tree.apply(&depends(5, &[3, 4]), TaskId(0), at(10)).expect("is taken");
    let changed = tree.apply(&TaskWrite::Delete { task: TaskId(2) }, TaskId(0), at(11)).expect("is taken");
    assert_eq!(changed.gone, BTreeSet::from([2, 3].map(TaskId)));
    assert_eq!(changed.kept, BTreeSet::from([4, 5].map(TaskId)));
    assert_eq!(tree.get(TaskId(5)).expect("is there").dependencies, [TaskId(4)]);
    assert_eq!(tree.get(TaskId(4)).expect("is there").position, 0);
}

/// Goal: a plan is bounded in number, depth and length, and an empty name is rejected with its field.
#[test]
fn a_plan_is_bounded() {
    let mut tree = Tree::new(PlanId(1), []);
    assert_eq!(refused(&mut tree, &new("  ", None, &[])), PlanError::Empty("name"));
    for (name, found) in
        [("a\0b", '\0'), ("a\nb", '\n'), ("a\u{1b}[2J", '\u{1b}'), ("a\u{202e}b", '\u{202e}')]
    {
        assert_eq!(refused(&mut tree, &new(name, None, &[])), PlanError::Control { field: "name", found });
    }
    let goal = |goal: &str| PlanChanges { goal: Some(goal.to_owned()), ..PlanChanges::default() }.check();
    assert_eq!(goal("two lines,\n\tone set in"), Ok(()));
    assert_eq!(goal("a\0b"), Err(PlanError::Control { field: "goal", found: '\0' }));
    let long = refused(&mut tree, &new(&"x".repeat(201), None, &[]));
    assert_eq!(long, PlanError::TooLong { field: "name", most: 200 });
    for id in 1..=i64::from(MAX_DEPTH) + 1 {
        let parent = (id > 1).then(|| id - 1);
        tree.apply(&new("deeper", parent, &[]), TaskId(id), at(id)).expect("is taken");
    }
    let deepest = i64::from(MAX_DEPTH) + 1;
    assert_eq!(refused(&mut tree, &new("too deep", Some(deepest), &[])), PlanError::TooDeep);
    tree.apply(&new("top", None, &[]), TaskId(500), at(1)).expect("is taken");
    assert_eq!(refused(&mut tree, &shift(1, Some(500), None)), PlanError::TooDeep);
    let task = tree.get(TaskId(500)).expect("is there").clone();
    let many =
        (1..=1000).map(|id| Task { id: TaskId(id), position: 0, path: format!("/{id}"), ..task.clone() });
    let mut full = Tree::new(PlanId(1), many);
    assert_eq!(full.len(), MAX_TASKS);
    assert_eq!(refused(&mut full, &new("one more", None, &[])), PlanError::TooManyTasks);
}

/// Goal: creating a task twice for the same origin creates it once.
#[test]
fn a_task_of_the_same_origin_is_the_same() {
    let mut tree = small();
    let origin = Origin::new(&JobId::new("job"), "turn#1/action#2", 0);
    let of = |id| match new("six", None, &[]) {
        TaskWrite::Create(task) => {
            TaskWrite::Create(NewTask { id: Some(TaskId(id)), origin: Some(origin.clone()), ..task })
        }
        other => other,
    };
    assert_eq!(tree.apply(&of(6), TaskId(0), at(10)).expect("is taken").task, Some(TaskId(6)));
    let again = tree.apply(&of(7), TaskId(0), at(11)).expect("is taken");
    assert_eq!((again.task, again.kept.len(), tree.len()), (Some(TaskId(6)), 0, 6));
    let (one, other) =
        (Origin::new(&origin.job, "turn#1/action#2", 1), Origin::new(&origin.job, "turn#1/action#3", 0));
    assert_eq!(origin.job_id(), origin.clone().job_id());
    assert_eq!(BTreeSet::from([origin.job_id(), one.job_id(), other.job_id()]).len(), 3);
    assert_eq!(origin.job_id().as_str().len(), 36);
}

fn writes() -> impl Strategy<Value = Vec<TaskWrite>> {
    let id = 1..14_i64;
    let some = proptest::option::of(id.clone());
    let write = prop_oneof![
        3 => (some.clone(), proptest::collection::vec(id.clone(), 0..3))
            .prop_map(|(parent, dependencies)| new("task", parent, &dependencies)),
        1 => (id.clone(), proptest::collection::vec(id.clone(), 0..4))
            .prop_map(|(task, dependencies)| depends(task, &dependencies)),
        2 => (id.clone(), some, proptest::option::of(0..5_u32))
            .prop_map(|(task, parent, position)| shift(task, parent, position)),
        1 => id.prop_map(|task| TaskWrite::Delete { task: TaskId(task) }),
    ];
    proptest::collection::vec(write, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    /// Goal: after any changes in any order the tree is consistent: paths and depths follow the parents,
    /// positions count from 0, dependencies exist, and the whole plan can run to its end.
    #[test]
    fn a_tree_stays_a_tree(writes in writes()) {
        let mut tree = Tree::new(PlanId(1), []);
        for (write, id) in writes.iter().zip(1..) {
            let before = tree.clone();
            match tree.apply(write, TaskId(id), at(id)) {
                Ok(changed) => {
                    for task in before.in_order() {
                        let now = tree.get(task.id);
                        prop_assert_eq!(changed.gone.contains(&task.id), now.is_none());
                        prop_assert_eq!(changed.kept.contains(&task.id), now.is_some_and(|now| now != task));
                    }
                }
                Err(_) => prop_assert_eq!(&tree, &before),
            }
            check(&tree)?;
        }
    }
}

fn check(tree: &Tree) -> Result<(), TestCaseError> {
    let order = tree.in_order();
    prop_assert_eq!(order.len(), tree.len(), "every task is reached from the top");
    let mut positions: BTreeMap<Option<TaskId>, Vec<u32>> = BTreeMap::new();
    for task in &order {
        positions.entry(task.parent_id).or_default().push(task.position);
        let above = task.parent_id.and_then(|parent| tree.get(parent));
        let path = above.map(|above| above.path.as_str()).unwrap_or_default();
        prop_assert_eq!(&task.path, &format!("{path}/{}", task.id));
        prop_assert_eq!(task.depth, above.map_or(0, |above| above.depth + 1));
        prop_assert!(task.dependencies.iter().all(|dependency| tree.get(*dependency).is_some()));
    }
    for (_, found) in positions {
        prop_assert_eq!(found.clone(), (0..u32::try_from(found.len()).unwrap_or(0)).collect::<Vec<_>>());
    }
    // Run it: whatever may start starts, whatever may end ends, until nothing changes.
    let (mut begun, mut ended) = (BTreeSet::new(), BTreeSet::new());
    loop {
        let before = (begun.len(), ended.len());
        for task in &order {
            let may_begin = task.parent_id.is_none_or(|parent| begun.contains(&parent))
                && task.dependencies.iter().all(|dependency| ended.contains(dependency));
            if may_begin {
                begun.insert(task.id);
            }
            let parts_done = tree.children(Some(task.id)).iter().all(|child| ended.contains(&child.id));
            if begun.contains(&task.id) && parts_done {
                ended.insert(task.id);
            }
        }
        if before == (begun.len(), ended.len()) {
            break;
        }
    }
    prop_assert_eq!(ended.len(), tree.len(), "all of it comes to an end");
    Ok(())
}
