//! Executes a plan's tasks: a task starts when all its dependencies and children are done; independent tasks run
//! concurrently. If a task fails, the tasks that depend on it fail too.

use crate::actions::ActionSpec;
use crate::conversation::{
    ActionContext, ConversationEnd, ConversationRequest, instructions, run_conversation,
};
use crate::plan_snapshot::{PlanSnapshot, ReadTask, set_plan, set_task};
use crate::prompt::Prompts;
use crate::settings::{Execute, ModelSettings, Settings};
use crate::tree::{HELD_BACK, READ_TEXT_OF_OTHERS, result_text};
use futures::channel::oneshot;
use futures::future::{FutureExt as _, Shared};
use papertape_core::action::ActionKind;
use papertape_core::fence::{Author, fence, is_blank};
use papertape_core::json::to_value;
use papertape_core::language::Language;
use papertape_core::message::Message;
use papertape_core::plan::{TaskId, TaskStatus};
use papertape_core::prompt::lines::{FAILED, TASK};
use papertape_core::record::JobStatus;
use papertape_core::tape::{ActionOptions, Branch, Ctx, ScopeKey, SessionStop};
use serde::Serialize;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Max characters of an earlier result in a task's prompt.
const RESULT_CHARS: usize = 8_000;

/// Result of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Execution {
    /// `completed`, `partial` or `failed`: never `completed` if a task is not.
    pub status: JobStatus,
    /// Number of tasks by current status, including earlier runs.
    pub tasks: BTreeMap<TaskStatus, u32>,
    /// The tasks that failed in this run, with the reason.
    pub failed: Vec<FailedTask>,
    /// Those of them that were not allowed to incur cost, because they had read untrusted text.
    pub held_back: Vec<TaskId>,
}

/// A task that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedTask {
    /// The task.
    pub task_id: TaskId,
    /// Why.
    pub error: String,
}

/// TaskOutcome of a task, as passed on to others.
#[derive(Clone, Debug)]
struct TaskOutcome {
    status: TaskStatus,
    text: String,
    tainted: bool,
    /// It was not allowed to incur cost, because it had read untrusted text.
    held_back: bool,
}

impl TaskOutcome {
    fn failed(text: String, tainted: bool) -> Self {
        Self { status: TaskStatus::Failed, text, tainted, held_back: false }
    }
}

type SharedOutcome = Shared<oneshot::Receiver<TaskOutcome>>;

/// Executes a plan.
///
/// # Errors
/// Returns a stop if the session must stop; the inner error says why there is nothing to execute.
pub async fn execute(
    ctx: &mut Ctx,
    params: &Execute,
    settings: &Settings,
    prompts: &Prompts,
) -> Result<Result<Execution, String>, SessionStop> {
    let options = settings.once();
    let plan = match PlanSnapshot::read(ctx, params.plan_id, options).await? {
        Ok(plan) => plan,
        Err(why) => return Ok(Err(why)),
    };
    if plan.tasks.is_empty() {
        return Ok(Err(format!("plan {} has no tasks: decompose it first", params.plan_id)));
    }
    let selected = match selected_tasks(&plan, params.task_id) {
        Ok(selected) => selected,
        Err(why) => return Ok(Err(why)),
    };
    let mut scope = ctx.child(ScopeKey::node("begin"))?;
    if let Err(failure) = set_plan(&mut scope, params.plan_id, JobStatus::Running, options).await? {
        return Ok(Err(failure.message));
    }
    let queue = TaskQueue { params, settings, prompts, plan: &plan, options };
    let outcomes = queue.run(ctx, &selected).await?;
    let mut tasks: BTreeMap<TaskStatus, u32> = BTreeMap::new();
    let (mut failed, mut held_back) = (Vec::new(), Vec::new());
    for task in &plan.tasks {
        let outcome = outcomes.get(&task.id);
        *tasks.entry(outcome.map_or(task.status, |outcome| outcome.status)).or_default() += 1;
        if let Some(outcome) = outcome.filter(|outcome| outcome.status == TaskStatus::Failed) {
            failed.push(FailedTask { task_id: task.id, error: outcome.text.clone() });
            held_back.extend(outcome.held_back.then_some(task.id));
        }
    }
    let status = conclude(&tasks);
    let mut scope = ctx.child(ScopeKey::node("end"))?;
    if let Err(failure) = set_plan(&mut scope, params.plan_id, status, options).await? {
        return Ok(Err(failure.message));
    }
    Ok(Ok(Execution { status, tasks, failed, held_back }))
}

/// A plan is completed if every task is completed or skipped, partial if some are completed, otherwise failed.
fn conclude(tasks: &BTreeMap<TaskStatus, u32>) -> JobStatus {
    let count = |status| tasks.get(&status).copied().unwrap_or(0);
    let open = count(TaskStatus::Failed) + count(TaskStatus::Queued) + count(TaskStatus::Running);
    match (open, count(TaskStatus::Completed)) {
        (0, _) => JobStatus::Completed,
        (_, 0) => JobStatus::Failed,
        _ => JobStatus::Partial,
    }
}

/// The tasks to run, in dependency order. A requested task is rerun; of the others, those neither completed nor
/// skipped are run.
fn selected_tasks(plan: &PlanSnapshot, again: Option<TaskId>) -> Result<Vec<TaskId>, String> {
    let is_open = |task: &ReadTask| !matches!(task.status, TaskStatus::Completed | TaskStatus::Skipped);
    let mut chosen: BTreeSet<TaskId> = BTreeSet::new();
    match again {
        None => chosen.extend(plan.tasks.iter().filter(|task| is_open(task)).map(|task| task.id)),
        Some(id) => {
            plan.task(id).ok_or_else(|| format!("the plan has no task {id}"))?;
            let mut ahead = vec![id];
            while let Some(at) = ahead.pop() {
                if chosen.insert(at) {
                    let before = before(plan, at);
                    let open = before.into_iter().filter(|id| plan.task(*id).is_some_and(is_open));
                    ahead.extend(open);
                }
            }
        }
    }
    let mut order = Vec::new();
    while order.len() < chosen.len() {
        let ready = |id: &&TaskId| {
            let waits = before(plan, **id);
            !order.contains(*id) && waits.iter().all(|one| !chosen.contains(one) || order.contains(one))
        };
        match chosen.iter().find(ready) {
            Some(next) => order.push(*next),
            // Cycles are rejected on creation.
            None => return Err("the plan's tasks depend on each other in a cycle".to_owned()),
        }
    }
    Ok(order)
}

/// What a task waits for: its children, its own dependencies and those of its ancestors.
fn before(plan: &PlanSnapshot, id: TaskId) -> Vec<TaskId> {
    let mut waits: Vec<TaskId> =
        plan.tasks.iter().filter(|task| task.parent_id == Some(id)).map(|task| task.id).collect();
    let mut at = plan.task(id);
    while let Some(task) = at {
        waits.extend(&task.dependencies);
        at = task.parent_id.and_then(|parent| plan.task(parent));
    }
    waits.sort_unstable();
    waits.dedup();
    waits
}

struct TaskQueue<'a> {
    params: &'a Execute,
    settings: &'a Settings,
    prompts: &'a Prompts,
    plan: &'a PlanSnapshot,
    options: ActionOptions,
}

impl TaskQueue<'_> {
    /// Runs the tasks concurrently, each once its dependencies have finished.
    async fn run(
        &self,
        ctx: &mut Ctx,
        order: &[TaskId],
    ) -> Result<BTreeMap<TaskId, TaskOutcome>, SessionStop> {
        let mut senders = BTreeMap::new();
        let mut outcomes: BTreeMap<TaskId, SharedOutcome> = BTreeMap::new();
        for id in order {
            let (sender, receiver) = oneshot::channel();
            senders.insert(*id, sender);
            outcomes.insert(*id, receiver.shared());
        }
        let outcomes = &outcomes;
        let mut branches: Vec<(ScopeKey, Branch<'_, (TaskId, TaskOutcome)>)> = Vec::new();
        for id in order {
            let (Some(task), Some(sender)) = (self.plan.task(*id), senders.remove(id)) else { continue };
            let number = u32::try_from(id.0)
                .map_err(|_| SessionStop::ContractViolation(format!("task {id} is too large")))?;
            let body: Branch<'_, (TaskId, TaskOutcome)> = Box::new(move |mut ctx| {
                async move {
                    let outcome = self.task(&mut ctx, task, outcomes).await?;
                    // It may have no receiver.
                    drop(sender.send(outcome.clone()));
                    Ok((task.id, outcome))
                }
                .boxed()
            });
            branches.push((ScopeKey::Node("task".to_owned(), number), body));
        }
        // Each waits only for tasks before it in the order, so limiting concurrency cannot cause a deadlock.
        Ok(ctx.all_bounded(self.settings.parallel_tasks, branches).await?.into_iter().collect())
    }

    async fn task(
        &self,
        ctx: &mut Ctx,
        task: &ReadTask,
        outcomes: &BTreeMap<TaskId, SharedOutcome>,
    ) -> Result<TaskOutcome, SessionStop> {
        let mut results = Vec::new();
        let mut tainted = false;
        let mut missing = None;
        for id in before(self.plan, task.id) {
            let Some(earlier) = self.plan.task(id) else { continue };
            let outcome = match outcomes.get(&id) {
                // A sender is dropped only if a stop ends all tasks.
                Some(awaited) => awaited.clone().await.map_err(|_| SessionStop::Shutdown)?,
                None => earlier.outcome(),
            };
            tainted |= outcome.tainted;
            match outcome.status {
                TaskStatus::Completed => {
                    let source = format!("{TASK}{id}: {}", earlier.name);
                    results.push(fence(Author::Colleague, &source, &outcome.text, RESULT_CHARS));
                }
                TaskStatus::Skipped => {}
                _ => missing = missing.or(Some(format!("task {id} “{}” is not completed", earlier.name))),
            }
        }
        let at = (self.params.plan_id, task.id);
        if let Some(why) = missing {
            return self.close(ctx, task, TaskOutcome::failed(why, tainted)).await;
        }
        if let Err(failure) = set_task(ctx, at, TaskStatus::Running, None, self.options).await? {
            return Ok(TaskOutcome::failed(failure.message, tainted));
        }
        let outcome = self.work(ctx, task, results, tainted).await?;
        self.close(ctx, task, outcome).await
    }

    /// Records a task's outcome.
    async fn close(
        &self,
        ctx: &mut Ctx,
        task: &ReadTask,
        outcome: TaskOutcome,
    ) -> Result<TaskOutcome, SessionStop> {
        let mut result = json!({ "message": outcome.text, READ_TEXT_OF_OTHERS: outcome.tainted });
        if outcome.held_back {
            result[HELD_BACK] = true.into();
        }
        let at = (self.params.plan_id, task.id);
        Ok(match set_task(ctx, at, outcome.status, Some(result), self.options).await? {
            Ok(_) => outcome,
            Err(failure) => TaskOutcome { status: TaskStatus::Failed, text: failure.message, ..outcome },
        })
    }

    /// Runs a task's own conversation.
    async fn work(
        &self,
        ctx: &mut Ctx,
        task: &ReadTask,
        results: Vec<String>,
        tainted: bool,
    ) -> Result<TaskOutcome, SessionStop> {
        let instruction = if task.instruction.trim().is_empty() { &task.name } else { &task.instruction };
        let language = Language::detect(instruction);
        let model = ModelSettings { language, ..self.settings.model.clone() };
        let instructions = instructions(self.prompts, "task", &model, allows);
        let question = self.prompts.render(
            "task-message",
            language,
            json!({
                "agents": self.settings.agents,
                "datasets": self.settings.datasets,
                "plan": fence(Author::Colleague, "the plan's name", &self.plan.plan.name, RESULT_CHARS),
                "results": results,
                "id": to_value(&task.id),
                "name": task.name,
                "instruction": instruction,
            }),
        );
        let (instructions, question) = match (instructions, question) {
            (Ok(instructions), Ok(question)) => (instructions, question),
            (Err(error), _) | (_, Err(error)) => {
                return Ok(TaskOutcome::failed(error.to_string(), tainted));
            }
        };
        let conversation = run_conversation(
            ctx,
            ConversationRequest {
                model: &model,
                limits: self.settings.conversation_limits(),
                instructions,
                messages: vec![Message::user(question)],
                allows,
                context: ActionContext {
                    plan: Some(self.plan.plan.id),
                    chat: None,
                    user_message: Some(task.name.clone()),
                },
                can_confirm: false,
                trusted: self.params.trusted,
                tainted,
                actions: Vec::new(),
            },
        )
        .await?;
        let held_back = conversation.actions.iter().any(|one| one.held_back);
        let failed = |text: String| (TaskStatus::Failed, text);
        let (status, text) = match conversation.ended {
            ConversationEnd::Truncated => failed("the answer was truncated at its token limit".to_owned()),
            ConversationEnd::Answered => match conversation.message.trim().strip_prefix(FAILED) {
                Some(why) => failed(why.trim().to_owned()),
                None if is_blank(&conversation.message) => failed("the worker returned no result".to_owned()),
                None => (TaskStatus::Completed, conversation.message),
            },
            ConversationEnd::OutOfRounds => failed("the task did not finish within its rounds".to_owned()),
            ConversationEnd::Failed(failure) => failed(failure.to_string()),
        };
        Ok(TaskOutcome { status, text, tainted: conversation.tainted, held_back })
    }
}

/// What a task may use: every tool, but nothing that changes a plan.
fn allows(spec: &ActionSpec) -> bool {
    matches!(spec.kind, ActionKind::ToolOperation | ActionKind::ContextRequest)
}

impl ReadTask {
    /// Its outcome in an earlier run.
    fn outcome(&self) -> TaskOutcome {
        let text = self.execution_result.as_ref().map(result_text).unwrap_or_default();
        let tainted =
            self.execution_result.as_ref().is_some_and(|result| result[READ_TEXT_OF_OTHERS] == true);
        TaskOutcome { status: self.status, text, tainted, held_back: false }
    }
}
