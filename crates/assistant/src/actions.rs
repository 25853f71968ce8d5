//! The table of actions, each with its parameters and rules.

use crate::parameters::{ParamType, Parameter};
use papertape_core::action::ActionKind;
use serde_json::{Value, json};

/// One action.
#[derive(Debug)]
pub struct ActionSpec {
    /// Its kind.
    pub kind: ActionKind,
    /// Its name, unique among all kinds.
    pub name: &'static str,
    /// Its description for the model.
    pub description: &'static str,
    /// The same in Chinese.
    pub description_zh: &'static str,
    /// Whether it deletes something, which requires confirmation.
    pub deletes: bool,
    /// Whether it stops running work, which requires confirmation.
    pub stops: bool,
    /// Whether it starts work that incurs cost, which requires confirmation once untrusted text has entered the
    /// turn.
    pub incurs_cost: bool,
    /// Whether its result contains untrusted text: from the web, tools or models.
    pub returns_untrusted_text: bool,
    /// Its parameters.
    pub parameters: &'static [Parameter],
}

const PLAN: Parameter = Parameter::required("plan_id", ParamType::Whole, "plan ID");
const OPTIONAL_PLAN: Parameter =
    Parameter::optional("plan_id", ParamType::Whole, "plan ID; the conversation's plan by default");
const TASK: Parameter = Parameter::required("task_id", ParamType::Whole, "task ID");
const LIMIT: Parameter = Parameter::optional("limit", ParamType::Whole, "maximum number of entries");
const JOB: Parameter = Parameter::required("job_id", ParamType::Text, "job ID, or `latest`");
const OPTIONAL_JOB: Parameter = Parameter::optional("job_id", ParamType::Text, "job ID, or `latest`");
const OPTIONAL_MODEL: Parameter =
    Parameter::optional("model", ParamType::Text, "the agent's name in the job");

const TRUSTED: Parameter = Parameter::optional(
    "trusted",
    ParamType::Flag,
    "let its tasks incur costs after they read text written by others; the user must confirm",
);

/// Parameters that every action has. Next to its own parameters in native calls, and next to `parameters` in
/// JSON.
pub const COMMON_PARAMETERS: [Parameter; 3] = [
    Parameter::optional("order", ParamType::Whole, "position in the sequence; as listed by default"),
    Parameter::optional("blocking", ParamType::Flag, "whether later calls wait for it; true by default"),
    Parameter::optional(
        "retry_policy",
        ParamType::Object,
        "{\"max_retries\": 0 to 5, \"backoff_sec\": seconds before each}; no retries by default",
    ),
];

const fn plain(
    kind: ActionKind,
    name: &'static str,
    (description, description_zh): (&'static str, &'static str),
    parameters: &'static [Parameter],
) -> ActionSpec {
    ActionSpec {
        kind,
        name,
        description,
        description_zh,
        deletes: false,
        stops: false,
        incurs_cost: false,
        returns_untrusted_text: false,
        parameters,
    }
}

const fn deleting(spec: ActionSpec) -> ActionSpec {
    ActionSpec { deletes: true, ..spec }
}

const fn stopping(spec: ActionSpec) -> ActionSpec {
    ActionSpec { stops: true, ..spec }
}

const fn incurring_cost(spec: ActionSpec) -> ActionSpec {
    ActionSpec { incurs_cost: true, ..spec }
}

const fn returning_untrusted_text(spec: ActionSpec) -> ActionSpec {
    ActionSpec { returns_untrusted_text: true, ..spec }
}

use ActionKind::{ContextRequest, PlanOperation, SystemOperation, TaskOperation, ToolOperation};

/// All actions, in the order of the model's prompt.
pub const ACTIONS: &[ActionSpec] = &[
    plain(
        PlanOperation,
        "create_plan",
        (
            "create a plan; create_task or decompose_task adds its tasks",
            "新建计划；任务由 create_task 或 decompose_task 建立",
        ),
        &[
            Parameter::required("name", ParamType::Text, "a short name"),
            Parameter::optional("goal", ParamType::Text, "its goal"),
        ],
    ),
    plain(PlanOperation, "list_plans", ("list the newest plans", "列出最新的计划"), &[LIMIT]),
    deleting(plain(
        PlanOperation,
        "delete_plan",
        ("delete a plan with its tasks; the user must confirm", "删除计划及其任务；先征求用户同意"),
        &[PLAN],
    )),
    incurring_cost(plain(
        PlanOperation,
        "execute_plan",
        (
            "run a plan's tasks: dependencies first, then children, then the task itself",
            "执行计划的任务：先依赖，再子任务，最后本任务",
        ),
        &[
            OPTIONAL_PLAN,
            Parameter::optional("wait", ParamType::Flag, "wait until it ends; true by default"),
            TRUSTED,
        ],
    )),
    plain(
        TaskOperation,
        "create_task",
        ("add a task to a plan", "给计划添加任务"),
        &[
            OPTIONAL_PLAN,
            Parameter::required("name", ParamType::Text, "a short name"),
            Parameter::optional("instruction", ParamType::Text, "what to do, self-contained"),
            Parameter::optional("parent_id", ParamType::Whole, "parent task"),
            Parameter::optional(
                "dependencies",
                ParamType::Wholes,
                "IDs of tasks that must be completed first",
            ),
        ],
    ),
    plain(
        TaskOperation,
        "update_task",
        ("change a task's name, status or dependencies", "修改任务的名称、状态或依赖"),
        &[
            TASK,
            OPTIONAL_PLAN,
            Parameter::optional("name", ParamType::Text, "a short name"),
            Parameter::optional("status", ParamType::Text, "queued or skipped"),
            Parameter::optional(
                "dependencies",
                ParamType::Wholes,
                "IDs of tasks that must be completed first",
            ),
        ],
    ),
    plain(
        TaskOperation,
        "update_task_instruction",
        ("replace a task's instruction", "修改任务的说明"),
        &[
            TASK,
            OPTIONAL_PLAN,
            Parameter::required("instruction", ParamType::Text, "what to do, self-contained"),
        ],
    ),
    plain(
        TaskOperation,
        "move_task",
        ("move a task under another one, or to another position among its siblings", "移动任务"),
        &[
            TASK,
            OPTIONAL_PLAN,
            Parameter::optional("parent_id", ParamType::Whole, "new parent task; 0 for none"),
            Parameter::optional("position", ParamType::Whole, "position among its siblings, from 0"),
        ],
    ),
    deleting(plain(
        TaskOperation,
        "delete_task",
        ("delete a task and its subtasks; the user must confirm", "删除任务及其子任务；先征求用户同意"),
        &[TASK, OPTIONAL_PLAN],
    )),
    incurring_cost(plain(
        TaskOperation,
        "decompose_task",
        ("break a plan or one of its tasks into smaller tasks", "把计划或任务分解为更小的任务"),
        &[
            OPTIONAL_PLAN,
            Parameter::optional("task_id", ParamType::Whole, "the task; the whole plan by default"),
            Parameter::optional("max_depth", ParamType::Whole, "levels below it, 1 to 4; 2 by default"),
            Parameter::optional("max_children", ParamType::Whole, "children per task, 1 to 10; 5 by default"),
            Parameter::optional(
                "total_node_budget",
                ParamType::Whole,
                "new tasks in total, 1 to 200; 50 by default",
            ),
            Parameter::optional("wait", ParamType::Flag, "wait until it ends; true by default"),
        ],
    )),
    plain(
        TaskOperation,
        "show_tasks",
        ("show a plan's tasks as a tree", "显示计划的任务树"),
        &[OPTIONAL_PLAN],
    ),
    plain(
        TaskOperation,
        "query_status",
        ("report the progress of a plan or a task", "查询计划或任务的进度"),
        &[
            OPTIONAL_PLAN,
            Parameter::optional("task_id", ParamType::Whole, "the task; the whole plan by default"),
        ],
    ),
    incurring_cost(plain(
        TaskOperation,
        "rerun_task",
        ("rerun a task and its unfinished prerequisites", "重新执行任务及其尚未完成的前置任务"),
        &[
            TASK,
            OPTIONAL_PLAN,
            Parameter::optional("wait", ParamType::Flag, "wait until it ends; true by default"),
            TRUSTED,
        ],
    )),
    returning_untrusted_text(plain(
        ToolOperation,
        "web_search",
        ("search the web with the configured service", "用所配置的服务搜索网络"),
        &[Parameter::required("query", ParamType::Text, "search terms"), LIMIT],
    )),
    incurring_cost(plain(
        ToolOperation,
        "run_simulation",
        (
            "backtest paper traders over past trading days; keep each run within 3 years of one dataset",
            "在历史交易日上回测交易员（模拟资金）",
        ),
        &[
            Parameter::optional("start_date", ParamType::Day, "first day"),
            Parameter::required("end_date", ParamType::Day, "last day, inclusive"),
            Parameter::optional(
                "models",
                ParamType::Texts,
                "configured agents by name, or models as solo traders, provider::model",
            ),
            Parameter::optional(
                "agents",
                ParamType::Objects,
                "full trader definitions: {\"name\", \"kind\": \"solo\" or \"desk\", \"model\": \"provider::model\", \"instructions\"}",
            ),
            Parameter::optional(
                "symbols",
                ParamType::Texts,
                "symbols to trade; all of the dataset by default",
            ),
            Parameter::optional("dataset", ParamType::Text, "the dataset's name"),
            Parameter::optional("market", ParamType::Text, "the market profile's name"),
            Parameter::optional("initial_cash", ParamType::Amount, "each trader's starting cash"),
            Parameter::optional("seed", ParamType::Whole, "random seed"),
            Parameter::optional("budget", ParamType::Object, "{\"job\": {\"tokens\", \"usd\"}}"),
            Parameter::optional("memory", ParamType::Text, "off, rounds, rounds+open or all"),
            Parameter::optional("wait", ParamType::Flag, "wait until it ends; true by default"),
        ],
    )),
    plain(ToolOperation, "job_status", ("report a job's progress", "查询任务进度"), &[JOB]),
    returning_untrusted_text(plain(
        ToolOperation,
        "query_reasoning",
        (
            "read what traders decided and said on a day, with their theses and reflections",
            "读取交易员当天的决定、原话、持仓理由与反思",
        ),
        &[
            OPTIONAL_JOB,
            OPTIONAL_MODEL,
            Parameter::optional("date", ParamType::Day, "the trading day; the newest by default"),
            LIMIT,
        ],
    )),
    plain(
        ToolOperation,
        "query_results",
        ("read a run's returns, drawdown, trades and daily values", "读取运行的收益、回撤、交易与每日净值"),
        &[
            JOB,
            OPTIONAL_MODEL,
            Parameter::optional("start_date", ParamType::Day, "first day"),
            Parameter::optional("end_date", ParamType::Day, "last day, inclusive"),
        ],
    ),
    plain(
        ToolOperation,
        "compare_runs",
        (
            "compare runs with each other, buy and hold and equal weight; descriptive, not proof",
            "并列比较多个运行，并附买入持有与等权基准；仅作描述",
        ),
        &[
            Parameter::required("job_ids", ParamType::Texts, "the runs, or `latest`"),
            Parameter::optional("start_date", ParamType::Day, "first day"),
            Parameter::optional("end_date", ParamType::Day, "last day, inclusive"),
        ],
    ),
    returning_untrusted_text(plain(
        ToolOperation,
        "search_memory",
        ("search reflections on closed trades by keyword", "按关键词搜索已平仓交易的反思"),
        &[Parameter::required("query", ParamType::Text, "search terms"), OPTIONAL_JOB, OPTIONAL_MODEL, LIMIT],
    )),
    plain(
        ToolOperation,
        "market_data",
        ("read daily bars of a symbol", "读取某代码的日线行情"),
        &[
            Parameter::required("symbol", ParamType::Text, "the instrument"),
            Parameter::optional("start_date", ParamType::Day, "first day"),
            Parameter::optional("end_date", ParamType::Day, "last day, inclusive"),
            Parameter::optional("dataset", ParamType::Text, "the dataset's name"),
            LIMIT,
        ],
    ),
    plain(
        ToolOperation,
        "audit_run",
        (
            "replay a run on its tape without a model, and report the market data it read and when that data became known",
            "不调用模型重放运行，并说明它看到了哪些数据、最晚何时可知",
        ),
        &[JOB],
    ),
    stopping(plain(
        ToolOperation,
        "cancel_job",
        (
            "stop a job that is queued or running; it can be resumed; the user must confirm",
            "停止排队中或运行中的任务，之后可恢复；先征求用户同意",
        ),
        &[Parameter::required(
            "job_id",
            ParamType::Text,
            "job ID, not `latest`; list_runs shows the IDs of runs",
        )],
    )),
    plain(
        ToolOperation,
        "list_runs",
        ("list the newest runs with their status, traders and days", "列出最新的运行及其状态、交易员与日期"),
        &[
            Parameter::optional(
                "status",
                ParamType::Text,
                "only those that are queued, running, completed, partial, failed or cancelled",
            ),
            LIMIT,
        ],
    ),
    plain(
        ToolOperation,
        "list_data",
        ("list the datasets with their days and symbols", "列出数据集及其日期与代码"),
        &[Parameter::optional("dataset", ParamType::Text, "one dataset by name, with all its symbols")],
    ),
    plain(
        ContextRequest,
        "request_subgraph",
        (
            "show more of a plan: a task and its subtasks, with full instructions and results",
            "显示计划的一部分：任务及其子任务、说明与结果全文",
        ),
        &[
            OPTIONAL_PLAN,
            Parameter::optional("task_id", ParamType::Whole, "root task; the whole plan by default"),
            Parameter::optional("depth", ParamType::Whole, "levels below it; all by default"),
        ],
    ),
    plain(SystemOperation, "help", ("describe what the assistant can do", "说明助手能做什么"), &[]),
];

/// The action with this name.
#[must_use]
pub fn action(name: &str) -> Option<&'static ActionSpec> {
    ACTIONS.iter().find(|spec| spec.name == name)
}

impl ActionSpec {
    /// The JSON schema of its parameters, an object.
    #[must_use]
    pub fn schema(&self) -> Value {
        self.schema_with(&[])
    }

    /// The schema of its native calls: its own parameters plus the common ones.
    #[must_use]
    pub fn call_schema(&self) -> Value {
        self.schema_with(&COMMON_PARAMETERS)
    }

    fn schema_with(&self, beside: &[Parameter]) -> Value {
        let mut properties = serde_json::Map::new();
        for parameter in self.parameters.iter().chain(beside) {
            properties.insert(parameter.name.to_owned(), parameter.schema());
        }
        let required: Vec<&str> = self
            .parameters
            .iter()
            .filter(|parameter| parameter.required)
            .map(|parameter| parameter.name)
            .collect();
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }
}
