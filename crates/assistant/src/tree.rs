//! Plans and tasks in the form for the model.

use papertape_core::plan::{Plan, Task, TaskId};
use serde_json::{Map, Value, json};

/// Key in a task's result: it read untrusted text.
pub(crate) const READ_TEXT_OF_OTHERS: &str = "read_text_of_others";
/// Key in a task's result: it was not allowed to incur cost, because it had read untrusted text.
pub(crate) const HELD_BACK: &str = "held_back";

/// Max characters of a text in a brief task.
const BRIEF_CHARS: usize = 300;

/// Level of detail of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Long texts truncated.
    Brief,
    /// Complete.
    Whole,
}

pub(crate) fn plan(plan: &Plan) -> Value {
    json!({ "plan_id": plan.id, "name": plan.name, "goal": plan.goal, "status": plan.status,
        "tasks": plan.tasks })
}

pub(crate) fn task(task: &Task, depth: Depth) -> Value {
    let mut shown = json!({ "task_id": task.id, "name": task.name, "status": task.status });
    if let Some(parent) = task.parent_id {
        shown["parent_id"] = json!(parent);
    }
    if !task.dependencies.is_empty() {
        shown["dependencies"] = json!(task.dependencies);
    }
    if !task.instruction.is_empty() {
        shown["instruction"] = cut(&task.instruction, depth).into();
    }
    if let Some(result) = &task.execution_result {
        if result[READ_TEXT_OF_OTHERS] == true {
            shown[READ_TEXT_OF_OTHERS] = true.into();
        }
        shown["result"] = match (depth, result) {
            (Depth::Whole, result) => result.clone(),
            (Depth::Brief, result) => cut(&result_text(result), depth).into(),
        };
    }
    shown
}

/// A task's result as text.
pub(crate) fn result_text(result: &Value) -> String {
    match result["message"].as_str().or_else(|| result.as_str()) {
        Some(text) => text.to_owned(),
        None => result.to_string(),
    }
}

/// The tasks below `root` (`None`: all) as a tree with this many levels. In `tasks`, parents precede their
/// children.
pub(crate) fn nested(tasks: &[Task], root: Option<TaskId>, levels: Option<u32>, depth: Depth) -> Value {
    let of = |parent: Option<TaskId>| tasks.iter().filter(move |task| task.parent_id == parent);
    match root.and_then(|root| tasks.iter().find(|task| task.id == root)) {
        Some(task) => json!([branch(tasks, task, levels, depth)]),
        None => of(None).map(|task| branch(tasks, task, levels, depth)).collect(),
    }
}

fn branch(tasks: &[Task], at: &Task, levels: Option<u32>, depth: Depth) -> Value {
    let mut shown = task(at, depth);
    let children: Vec<&Task> = tasks.iter().filter(|task| task.parent_id == Some(at.id)).collect();
    if children.is_empty() {
        return shown;
    }
    shown["children"] = match levels {
        Some(0) => json!(format!("{} more below; request them", children.len())),
        levels => {
            let below = levels.map(|levels| levels - 1);
            children.into_iter().map(|child| branch(tasks, child, below, depth)).collect()
        }
    };
    shown
}

/// Number of tasks by status.
pub(crate) fn counts(tasks: &[Task]) -> Value {
    let mut counts = Map::new();
    for task in tasks {
        let count = counts.get(task.status.as_str()).and_then(Value::as_u64).unwrap_or(0);
        counts.insert(task.status.as_str().to_owned(), (count + 1).into());
    }
    Value::Object(counts)
}

fn cut(text: &str, depth: Depth) -> String {
    let whole = depth == Depth::Whole || text.chars().count() <= BRIEF_CHARS;
    if whole { text.to_owned() } else { text.chars().take(BRIEF_CHARS).chain(['…']).collect() }
}
