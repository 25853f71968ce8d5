//! Actions on tasks.

use super::{ActionExecutor, Arguments, bad, reply, reply_about};
use crate::calls::CallResult;
use crate::tree;
use papertape_core::action::{IdKind, Origin};
use papertape_core::language::Language;
use papertape_core::plan::{
    NewTask, PlanError, PlanId, PlanWrite, Task, TaskChanges, TaskId, TaskStatus, TaskWrite, Tree,
};
use papertape_core::tape::ActionOutcome;
use serde_json::json;

impl ActionExecutor<'_> {
    pub(super) async fn task_of(&self, plan: PlanId, task: TaskId) -> CallResult<Task> {
        let tasks = self.tasks(plan).await?;
        tasks.into_iter().find(|one| one.id == task).ok_or_else(|| self.rejected(&PlanError::NoTask(task)))
    }

    /// Validates a change against the current plan, and returns it as a write.
    async fn change_task(
        &self,
        plan: PlanId,
        write: TaskWrite,
        message: impl FnOnce(&Task) -> String,
    ) -> CallResult<ActionOutcome> {
        self.plan(plan).await?;
        let tasks = self.tasks(plan).await?;
        let mut tree = Tree::new(plan, tasks);
        let before = match &write {
            TaskWrite::Delete { task } => tree.get(*task).cloned(),
            _ => None,
        };
        let changed =
            tree.apply(&write, TaskId(i64::MAX), self.clock.now()).map_err(|why| self.rejected(&why))?;
        let id = changed.task.unwrap_or(TaskId(i64::MAX));
        let task =
            before.or_else(|| tree.get(id).cloned()).ok_or_else(|| self.rejected(&PlanError::NoTask(id)))?;
        let write = self.change(PlanWrite::Task { plan, write });
        Ok(reply_about(Some(plan), message(&task), tree::task(&task, tree::Depth::Brief), Some(write)))
    }

    pub(super) async fn create_task(
        &self,
        args: &Arguments<'_>,
        origin: &Origin,
    ) -> CallResult<ActionOutcome> {
        let plan = args.plan()?;
        let id = self
            .plans
            .reserve(self.lease, origin, IdKind::Task)
            .await
            .map_err(|error| self.unavailable(error))?;
        let new = NewTask {
            id: Some(TaskId(id)),
            parent: args.whole("parent_id").filter(|id| *id != 0).map(TaskId),
            name: args.text("name").unwrap_or_default().to_owned(),
            instruction: args.text("instruction").unwrap_or_default().to_owned(),
            position: None,
            dependencies: args.tasks("dependencies").unwrap_or_default(),
            origin: Some(origin.clone()),
        };
        self.change_task(plan, TaskWrite::Create(new), |task| {
            self.localized(
                format!("task {} “{}” was added", task.id, task.name),
                format!("已添加任务 {}“{}”", task.id, task.name),
            )
        })
        .await
    }

    pub(super) async fn update_task(&self, args: &Arguments<'_>) -> CallResult<ActionOutcome> {
        let status = match args.text("status") {
            None => None,
            Some("queued") => Some(TaskStatus::Queued),
            Some("skipped") => Some(TaskStatus::Skipped),
            Some(other) => {
                let other: String = other.chars().take(40).collect();
                return Err(bad(self.localized(
                    format!(
                        "`status` must be queued or skipped, not {other}: running a task sets the others"
                    ),
                    format!("`status` 只能是 queued 或 skipped，不能是 {other}：其余状态由执行任务设定"),
                )));
            }
        };
        let changes = TaskChanges {
            name: args.text("name").map(str::to_owned),
            status,
            dependencies: args.tasks("dependencies"),
            ..TaskChanges::default()
        };
        self.update(args, changes).await
    }

    pub(super) async fn update_instruction(&self, args: &Arguments<'_>) -> CallResult<ActionOutcome> {
        let instruction = args.text("instruction").map(str::to_owned);
        self.update(args, TaskChanges { instruction, ..TaskChanges::default() }).await
    }

    async fn update(&self, args: &Arguments<'_>, changes: TaskChanges) -> CallResult<ActionOutcome> {
        let task = args.task()?;
        self.change_task(args.plan()?, TaskWrite::Update { task, changes }, |task| {
            self.localized(
                format!("task {} “{}” was changed", task.id, task.name),
                format!("已修改任务 {}“{}”", task.id, task.name),
            )
        })
        .await
    }

    pub(super) async fn move_task(&self, args: &Arguments<'_>) -> CallResult<ActionOutcome> {
        let (plan, task) = (args.plan()?, args.task()?);
        let parent = match args.whole("parent_id") {
            Some(0) => None,
            Some(id) => Some(TaskId(id)),
            None => self.task_of(plan, task).await?.parent_id,
        };
        let position = args.whole("position").map(|at| u32::try_from(at).unwrap_or(u32::MAX));
        self.change_task(plan, TaskWrite::Move { task, parent, position }, |task| {
            self.localized(
                format!("task {} “{}” is now at {}", task.id, task.name, task.path),
                format!("任务 {}“{}”现位于 {}", task.id, task.name, task.path),
            )
        })
        .await
    }

    pub(super) async fn delete_task(&self, args: &Arguments<'_>) -> CallResult<ActionOutcome> {
        let task = args.task()?;
        self.change_task(args.plan()?, TaskWrite::Delete { task }, |task| {
            self.localized(
                format!("task {} “{}” was deleted", task.id, task.name),
                format!("已删除任务 {}“{}”", task.id, task.name),
            )
        })
        .await
    }

    pub(super) async fn show_tasks(&self, args: &Arguments<'_>) -> CallResult<ActionOutcome> {
        let (plan, tasks) = self.plan_with_tasks(args).await?;
        let message = self.localized(
            format!("plan {} “{}” has {} task(s)", plan.id, plan.name, tasks.len()),
            format!("计划 {}“{}”有 {} 个任务", plan.id, plan.name, tasks.len()),
        );
        let data = json!({
            "plan": tree::plan(&plan),
            "tasks": tree::nested(&tasks, None, None, tree::Depth::Brief),
        });
        Ok(reply_about(Some(plan.id), message, data, None))
    }

    pub(super) async fn query_status(&self, args: &Arguments<'_>) -> CallResult<ActionOutcome> {
        let (plan, tasks) = self.plan_with_tasks(args).await?;
        if let Some(id) = args.whole("task_id").map(TaskId) {
            let task = tasks
                .iter()
                .find(|task| task.id == id)
                .ok_or_else(|| self.rejected(&PlanError::NoTask(id)))?;
            let message = self.localized(
                format!("task {id} “{}” is {}", task.name, task.status),
                format!("任务 {id}“{}”：{}", task.name, Language::Zh.status(task.status.as_str())),
            );
            return Ok(reply(message, tree::task(task, tree::Depth::Whole)));
        }
        let counts = tree::counts(&tasks);
        let of = |language: Language| -> String {
            let (first, next) = if language == Language::En { (": ", ", ") } else { ("：", "、") };
            let each = counts.as_object().into_iter().flatten();
            let each = each.map(|(status, count)| format!("{count} {}", language.status(status)));
            let all = each.collect::<Vec<_>>().join(next);
            if all.is_empty() { all } else { format!("{first}{all}") }
        };
        let message = self.localized(
            format!("plan {} “{}” is {}{}", plan.id, plan.name, plan.status, of(Language::En)),
            format!(
                "计划 {}“{}”：{}{}",
                plan.id,
                plan.name,
                Language::Zh.status(plan.status.as_str()),
                of(Language::Zh)
            ),
        );
        Ok(reply(message, json!({ "plan": tree::plan(&plan), "tasks": counts })))
    }

    pub(super) async fn subgraph(&self, args: &Arguments<'_>) -> CallResult<ActionOutcome> {
        let (plan, tasks) = self.plan_with_tasks(args).await?;
        let root = args.whole("task_id").map(TaskId);
        if let Some(root) = root
            && !tasks.iter().any(|task| task.id == root)
        {
            return Err(self.rejected(&PlanError::NoTask(root)));
        }
        let depth = args.whole("depth").map(|depth| u32::try_from(depth).unwrap_or(u32::MAX));
        let message =
            self.localized(format!("a part of plan {}", plan.id), format!("计划 {} 的一部分", plan.id));
        let data = json!({
            "plan": tree::plan(&plan),
            "tasks": tree::nested(&tasks, root, depth, tree::Depth::Whole),
        });
        Ok(reply(message, data))
    }
}
