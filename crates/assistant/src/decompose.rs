//! Decomposes a plan into tasks, breadth first: each node is sent to the model, whose response becomes the node's
//! children, which are sent to the model in turn.

use crate::calls::call;
use crate::children::{self, ChildReason, Children, DependencyReason, LeftOut, LeftOutDependency};
use crate::plan_snapshot::{PlanSnapshot, ReadTask};
use crate::prompt::Prompts;
use crate::settings::{Decompose, Settings};
use papertape_core::action::{ActionDraft, ActionKind, ActionStatus};
use papertape_core::fence::{Author, fence};
use papertape_core::language::Language;
use papertape_core::message::{Message, ModelRequest, ResponseSchema, ToolChoice};
use papertape_core::plan::{MAX_NAME_CHARS, TaskId};
use papertape_core::tape::{ActionOptions, ActionRequest, Ctx, ScopeKey, SessionStop};
use serde::Serialize;
use serde_json::json;
use std::collections::VecDeque;

/// Max characters of a node's context in a prompt.
const MAX_CONTEXT_CHARS: usize = 8_000;

/// Result of a decomposition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decomposition {
    /// Why it stopped.
    pub stopped_reason: StoppedReason,
    /// What it did.
    pub stats: Stats,
    /// The created tasks, in order of creation.
    pub created: Vec<TaskId>,
    /// Nodes that could not be decomposed, with the reason.
    pub failed: Vec<FailedNode>,
    /// What was left out of the model's responses.
    #[serde(skip_serializing_if = "LeftOut::is_empty")]
    pub left_out: LeftOut,
}

/// Why a decomposition stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StoppedReason {
    /// The model would decompose no further node.
    Completed,
    /// Nodes at the maximum depth are not decomposed.
    MaxDepth,
    /// The limit on new tasks is reached.
    NodeBudget,
    /// No node could be decomposed.
    Failed,
}

/// Statistics of a decomposition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Nodes sent to the model.
    pub nodes_asked: u32,
    /// Tasks created.
    pub nodes_created: u32,
    /// Nodes sent to the model that it leaves as they are.
    pub leaves: u32,
    /// Nodes sent to the model that failed.
    pub nodes_failed: u32,
    /// The deepest level of a created task, relative to the start.
    pub depth_reached: u32,
    /// Children left out, for any reason.
    pub children_left_out: u32,
}

/// A node that could not be decomposed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedNode {
    /// The task; `None` for the plan itself.
    pub task_id: Option<TaskId>,
    /// Why.
    pub error: String,
}

/// A node to be sent to the model.
struct Node {
    task: Option<TaskId>,
    name: String,
    instruction: String,
    /// Names of its ancestors, outermost first.
    path: Vec<String>,
    depth: u32,
}

/// Decomposes a plan.
///
/// # Errors
/// Returns a stop if the session must stop; the inner error says why there is nothing to decompose.
pub async fn decompose(
    ctx: &mut Ctx,
    params: &Decompose,
    settings: &Settings,
    prompts: &Prompts,
) -> Result<Result<Decomposition, String>, SessionStop> {
    let options = settings.once();
    let plan = match PlanSnapshot::read(ctx, params.plan_id, options).await? {
        Ok(plan) => plan,
        Err(why) => return Ok(Err(why)),
    };
    let first = match first(&plan, params.task_id) {
        Ok(first) => first,
        Err(why) => return Ok(Err(why)),
    };
    let decomposer = Decomposer { params, settings, prompts, plan: &plan, options };
    let mut result = Decomposition {
        stopped_reason: StoppedReason::Completed,
        stats: Stats::default(),
        created: Vec::new(),
        failed: Vec::new(),
        left_out: LeftOut::default(),
    };
    let mut queue = VecDeque::from([first]);
    let mut number = 0;
    while let Some(node) = queue.pop_front() {
        if node.depth >= params.limits.max_depth {
            if result.stopped_reason == StoppedReason::Completed {
                result.stopped_reason = StoppedReason::MaxDepth;
            }
            continue;
        }
        if result.stats.nodes_created >= params.limits.total_node_budget {
            result.stopped_reason = StoppedReason::NodeBudget;
            break;
        }
        number += 1;
        result.stats.nodes_asked += 1;
        let mut scope = ctx.child(ScopeKey::Node("node".to_owned(), number))?;
        let room = params.limits.total_node_budget.saturating_sub(result.stats.nodes_created);
        match decomposer.children(&mut scope, &node, room).await? {
            Ok(mut children) => {
                result.leave_out(&node, &children);
                if children.made.is_empty() && node.task.is_none() && plan.tasks.is_empty() {
                    // A single piece of work: a plan without tasks could not be executed.
                    let (name, instruction) = (plan.plan.name.clone(), node.instruction.clone());
                    children = Children::one(name, instruction);
                    decomposer.make(&mut scope, &node, children, &mut result).await?;
                    result.stats.leaves += 1;
                    continue;
                }
                let made = decomposer.make(&mut scope, &node, children, &mut result).await?;
                result.stats.leaves += u32::from(made.is_empty());
                queue.extend(made);
            }
            Err(error) => {
                result.stats.nodes_failed += 1;
                result.failed.push(FailedNode { task_id: node.task, error });
            }
        }
    }
    if result.stats.nodes_failed > 0 && result.stats.nodes_failed == result.stats.nodes_asked {
        result.stopped_reason = StoppedReason::Failed;
    }
    Ok(Ok(result))
}

fn first(plan: &PlanSnapshot, task: Option<TaskId>) -> Result<Node, String> {
    let Some(id) = task else {
        let plan = &plan.plan;
        let goal = if plan.goal.trim().is_empty() { &plan.name } else { &plan.goal };
        return Ok(Node {
            task: None,
            name: String::new(),
            instruction: goal.clone(),
            path: Vec::new(),
            depth: 0,
        });
    };
    let found = plan.task(id).ok_or_else(|| format!("the plan has no task {id}"))?;
    let mut path = Vec::new();
    let mut above = found.parent_id;
    while let Some(parent) = above.and_then(|id| plan.task(id)) {
        path.insert(0, parent.name.clone());
        above = parent.parent_id;
    }
    let ReadTask { name, instruction, .. } = found.clone();
    let instruction = if instruction.trim().is_empty() { name.clone() } else { instruction };
    Ok(Node { task, name, instruction, path, depth: 0 })
}

impl Decomposition {
    /// A sentence on the result and what was left out.
    #[must_use]
    pub fn sentence(&self, language: Language) -> String {
        use StoppedReason::{Completed, Failed, MaxDepth, NodeBudget};
        let (made, left_out) = (self.stats.nodes_created, self.stats.children_left_out);
        let (why, why_zh) = match self.stopped_reason {
            Completed => ("nothing is left to break down", "没有可继续分解的任务"),
            MaxDepth => ("the maximum depth was reached", "已到最大深度"),
            NodeBudget => ("the limit of new tasks was reached", "已用完任务数上限"),
            Failed => ("nothing could be broken down", "无法分解"),
        };
        let details = self.left_out.words(language);
        match (language, details.is_empty()) {
            (Language::En, true) => format!("{made} task(s) created, {left_out} left out; {why}"),
            (Language::En, false) => {
                format!("{made} task(s) created, {left_out} left out ({details}); {why}")
            }
            (Language::Zh, true) => format!("新建 {made} 个任务，略去 {left_out} 个；{why_zh}"),
            (Language::Zh, false) => {
                format!("新建 {made} 个任务，略去 {left_out} 个（{details}）；{why_zh}")
            }
        }
    }

    /// Counts the children of a response that are not created.
    fn leave_out(&mut self, node: &Node, children: &Children) {
        for (reason, count) in &children.left_out {
            self.left_out.children(node.task, *reason, *count);
            self.stats.children_left_out += u32::try_from(*count).unwrap_or(u32::MAX);
            if *reason == ChildReason::NodeBudget {
                self.stopped_reason = StoppedReason::NodeBudget;
            }
        }
    }
}

struct Decomposer<'a> {
    params: &'a Decompose,
    settings: &'a Settings,
    prompts: &'a Prompts,
    plan: &'a PlanSnapshot,
    options: ActionOptions,
}

impl Decomposer<'_> {
    /// The children into which the model would decompose a node, with room for this many tasks.
    async fn children(
        &self,
        ctx: &mut Ctx,
        node: &Node,
        room: u32,
    ) -> Result<Result<Children, String>, SessionStop> {
        let settings = &self.settings.model;
        let language = Language::detect(&node.instruction);
        let instructions = self.prompts.render(
            "decompose",
            language,
            json!({ "max_children": self.params.limits.max_children }),
        );
        let question = self.prompts.render(
            "decompose-message",
            language,
            json!({
                "context": self.context(node),
                "name": node.name,
                "instruction": node.instruction,
            }),
        );
        let (instructions, question) = match (instructions, question) {
            (Ok(instructions), Ok(question)) => (instructions, question),
            (Err(error), _) | (_, Err(error)) => return Ok(Err(error.to_string())),
        };
        let instructions = ctx.set_system_prompt(&instructions);
        let question = ctx.push_user_message(&question).await?;
        let request = ModelRequest {
            model: settings.model.clone(),
            house_version: settings.house_version,
            instructions: Some(instructions),
            messages: vec![Message::user(question)],
            tools: Vec::new(),
            tool_choice: ToolChoice::None,
            response_schema: Some(ResponseSchema { name: "children".to_owned(), schema: children::schema() }),
            sampling: settings.sampling.clone(),
        };
        Ok(match ctx.model(&request, self.settings.call_options()).await? {
            Ok(reply) => children::read(&reply.text, self.params.limits.max_children, room),
            Err(failure) => Err(failure.to_string()),
        })
    }

    /// The node's context, fenced: names and goals may be written by models too.
    fn context(&self, node: &Node) -> String {
        let plan = &self.plan.plan;
        let goal = Some(&plan.goal).filter(|goal| !goal.is_empty() && node.task.is_some());
        let lines = std::iter::once(&plan.name).chain(goal).chain(&node.path);
        let lines: Vec<&str> = lines.map(String::as_str).collect();
        fence(Author::Colleague, "the plan", &lines.join("\n"), MAX_CONTEXT_CHARS)
    }

    /// Creates the children, each by its own action. Returns them as nodes.
    async fn make(
        &self,
        ctx: &mut Ctx,
        node: &Node,
        mut children: Children,
        result: &mut Decomposition,
    ) -> Result<Vec<Node>, SessionStop> {
        let mut made: Vec<(usize, TaskId)> = Vec::new();
        let mut nodes = Vec::new();
        for child in std::mem::take(&mut children.made) {
            let mut dependencies = Vec::new();
            for place in child.after {
                match made.iter().find(|(earlier, _)| *earlier == place) {
                    Some((_, task)) => dependencies.push(*task),
                    None => children.dropped.push((child.place, place.into(), DependencyReason::NotMade)),
                }
            }
            let name: String = child.name.chars().take(MAX_NAME_CHARS).collect();
            let instruction = if child.instruction.trim().is_empty() { &name } else { &child.instruction };
            match self.create(ctx, node, (&name, instruction), dependencies).await? {
                Ok(id) => {
                    made.push((child.place, id));
                    result.created.push(id);
                    result.stats.nodes_created += 1;
                    result.stats.depth_reached = result.stats.depth_reached.max(node.depth + 1);
                    let above = (!node.name.is_empty()).then(|| node.name.clone());
                    let path = node.path.iter().cloned().chain(above).collect();
                    let (instruction, depth) = (instruction.clone(), node.depth + 1);
                    nodes.push(Node { task: Some(id), name, instruction, path, depth });
                }
                Err(error) => {
                    result.stats.children_left_out += 1;
                    result.left_out.children(node.task, ChildReason::Failed, 1);
                    result.failed.push(FailedNode { task_id: node.task, error });
                }
            }
        }
        for (from, to, reason) in &children.dropped {
            let (from, to) = (children.reference(&(*from).into(), &made), children.reference(to, &made));
            let dropped = LeftOutDependency { parent: node.task, from, to, reason: *reason };
            result.left_out.dependency(dropped);
        }
        Ok(nodes)
    }

    async fn create(
        &self,
        ctx: &mut Ctx,
        node: &Node,
        (name, instruction): (&str, &str),
        dependencies: Vec<TaskId>,
    ) -> Result<Result<TaskId, String>, SessionStop> {
        let plan = self.params.plan_id;
        let arguments = json!({
            "plan_id": plan, "name": name, "instruction": instruction, "parent_id": node.task.unwrap_or(TaskId(0)),
            "dependencies": dependencies,
        });
        let row = ActionDraft {
            plan: Some(plan),
            details: Some(json!({ "parameters": arguments })),
            ..ActionDraft::of(ActionKind::TaskOperation, "create_task", ActionStatus::Running, "")
        };
        let call = call("create_task", arguments);
        let request = ActionRequest { call, row: Some(row), hold: None, options: self.options };
        Ok(match ctx.action(request).await? {
            Ok(reply) => match reply.data["task_id"].as_i64() {
                Some(id) => Ok(TaskId(id)),
                None => Err("the task was made without an id".to_owned()),
            },
            Err(failure) => Err(failure.message),
        })
    }
}
