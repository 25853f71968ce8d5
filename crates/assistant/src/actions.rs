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

const PLAN: Parameter = Parameter::required("plan_id", ParamType::Whole, "the plan's id");
const OPTIONAL_PLAN: Parameter =
    Parameter::optional("plan_id", ParamType::Whole, "the plan's id; the conversation's own where absent");
const TASK: Parameter = Parameter::required("task_id", ParamType::Whole, "the task's id");
const LIMIT: Parameter = Parameter::optional("limit", ParamType::Whole, "the most entries of the answer");
const JOB: Parameter = Parameter::required("job_id", ParamType::Text, "the job's id, or `latest`");
const OPTIONAL_JOB: Parameter = Parameter::optional("job_id", ParamType::Text, "the job's id, or `latest`");
const OPTIONAL_MODEL: Parameter =
    Parameter::optional("model", ParamType::Text, "the agent's name in the job");

const TRUSTED: Parameter = Parameter::optional(
    "trusted",
    ParamType::Flag,
    "let its tasks start work that costs after they have read text of others; the person is asked first",
);

/// Parameters that every action has. Next to its own parameters in native calls, and next to `parameters` in
/// JSON.
pub const COMMON_PARAMETERS: [Parameter; 3] = [
    Parameter::optional(
        "order",
        ParamType::Whole,
        "which of the calls comes first; as they stand where absent",
    ),
    Parameter::optional("blocking", ParamType::Flag, "do later calls wait for it? true where absent"),
    Parameter::optional(
        "retry_policy",
        ParamType::Object,
        "{\"max_retries\": 0 to 5, \"backoff_sec\": seconds before each}; no retries where absent",
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
            "make a plan; its tasks are made by create_task or decompose_task",
            "新建计划；任务由 create_task 或 decompose_task 建立",
        ),
        &[
            Parameter::required("name", ParamType::Text, "a short name"),
            Parameter::optional("goal", ParamType::Text, "what it is to reach"),
        ],
    ),
    plain(PlanOperation, "list_plans", ("list the newest plans", "列出最新的计划"), &[LIMIT]),
    deleting(plain(
        PlanOperation,
        "delete_plan",
        ("delete a plan with its tasks; the person is asked first", "删除计划及其任务；先征求用户同意"),
        &[PLAN],
    )),
    incurring_cost(plain(
        PlanOperation,
        "execute_plan",
        (
            "run a plan's tasks: dependencies first, then children, then the node",
            "执行计划的任务：先依赖，再子任务，最后本任务",
        ),
        &[
            OPTIONAL_PLAN,
            Parameter::optional("wait", ParamType::Flag, "wait for its end; true where absent"),
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
            Parameter::optional("instruction", ParamType::Text, "what is to be done, complete in itself"),
            Parameter::optional("parent_id", ParamType::Whole, "the task that it is a part of"),
            Parameter::optional(
                "dependencies",
                ParamType::Wholes,
                "ids of tasks that must be completed before it",
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
                "ids of tasks that must be completed before it",
            ),
        ],
    ),
    plain(
        TaskOperation,
        "update_task_instruction",
        ("replace what a task says is to be done", "修改任务的说明"),
        &[
            TASK,
            OPTIONAL_PLAN,
            Parameter::required("instruction", ParamType::Text, "what is to be done, complete in itself"),
        ],
    ),
    plain(
        TaskOperation,
        "move_task",
        ("move a task below another one, or to another place among its siblings", "移动任务"),
        &[
            TASK,
            OPTIONAL_PLAN,
            Parameter::optional("parent_id", ParamType::Whole, "the task that it becomes a part of; 0: none"),
            Parameter::optional("position", ParamType::Whole, "its place among its siblings, from 0"),
        ],
    ),
    deleting(plain(
        TaskOperation,
        "delete_task",
        (
            "delete a task with those below it; the person is asked first",
            "删除任务及其子任务；先征求用户同意",
        ),
        &[TASK, OPTIONAL_PLAN],
    )),
    incurring_cost(plain(
        TaskOperation,
        "decompose_task",
        ("break a plan or one of its tasks into smaller tasks", "把计划或任务分解为更小的任务"),
        &[
            OPTIONAL_PLAN,
            Parameter::optional("task_id", ParamType::Whole, "the task; the whole plan where absent"),
            Parameter::optional("max_depth", ParamType::Whole, "levels below it, 1 to 4; 2 where absent"),
            Parameter::optional(
                "max_children",
                ParamType::Whole,
                "children of one task, 1 to 10; 5 where absent",
            ),
            Parameter::optional(
                "total_node_budget",
                ParamType::Whole,
                "new tasks in all, 1 to 200; 50 where absent",
            ),
            Parameter::optional("wait", ParamType::Flag, "wait for its end; true where absent"),
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
        ("say how far a plan or a task is", "查询计划或任务的进度"),
        &[
            OPTIONAL_PLAN,
            Parameter::optional("task_id", ParamType::Whole, "the task; the whole plan where absent"),
        ],
    ),
    incurring_cost(plain(
        TaskOperation,
        "rerun_task",
        (
            "run a task again, and whatever it needs that is not completed",
            "重新执行任务及其尚未完成的前置任务",
        ),
        &[
            TASK,
            OPTIONAL_PLAN,
            Parameter::optional("wait", ParamType::Flag, "wait for its end; true where absent"),
            TRUSTED,
        ],
    )),
    returning_untrusted_text(plain(
        ToolOperation,
        "web_search",
        ("search the web by the configured service", "用所配置的服务搜索网络"),
        &[Parameter::required("query", ParamType::Text, "what is looked for"), LIMIT],
    )),
    incurring_cost(plain(
        ToolOperation,
        "run_simulation",
        (
            "backtest traders over past trading days on paper; at most 3 years of one dataset at a time are sensible",
            "在历史交易日上回测交易员（模拟资金）",
        ),
        &[
            Parameter::optional("start_date", ParamType::Day, "first day"),
            Parameter::required("end_date", ParamType::Day, "last day, included"),
            Parameter::optional(
                "models",
                ParamType::Texts,
                "configured agents by name, or models as solo traders, provider::model",
            ),
            Parameter::optional(
                "agents",
                ParamType::Objects,
                "traders given whole: {\"name\", \"kind\": \"solo\" or \"desk\", \"model\": \"provider::model\", \"instructions\"}",
            ),
            Parameter::optional(
                "symbols",
                ParamType::Texts,
                "what may be traded; all of the dataset where absent",
            ),
            Parameter::optional("dataset", ParamType::Text, "the dataset's name"),
            Parameter::optional("market", ParamType::Text, "the market profile's name"),
            Parameter::optional("initial_cash", ParamType::Amount, "what each trader starts with"),
            Parameter::optional("seed", ParamType::Whole, "the seed of the run's randomness"),
            Parameter::optional("budget", ParamType::Object, "{\"job\": {\"tokens\", \"usd\"}}"),
            Parameter::optional("memory", ParamType::Text, "off, rounds, rounds+open or all"),
            Parameter::optional("wait", ParamType::Flag, "wait for its end; true where absent"),
        ],
    )),
    plain(ToolOperation, "job_status", ("say how far a job is", "查询任务进度"), &[JOB]),
    returning_untrusted_text(plain(
        ToolOperation,
        "query_reasoning",
        (
            "read what traders decided and said on a day, with their theses and their reflections on it",
            "读取交易员当天的决定、原话、持仓理由与反思",
        ),
        &[
            OPTIONAL_JOB,
            OPTIONAL_MODEL,
            Parameter::optional("date", ParamType::Day, "the trading day; the newest where absent"),
            LIMIT,
        ],
    )),
    plain(
        ToolOperation,
        "query_results",
        ("read a run's returns, drawdown, trades and values by day", "读取运行的收益、回撤、交易与每日净值"),
        &[
            JOB,
            OPTIONAL_MODEL,
            Parameter::optional("start_date", ParamType::Day, "first day"),
            Parameter::optional("end_date", ParamType::Day, "last day, included"),
        ],
    ),
    plain(
        ToolOperation,
        "compare_runs",
        (
            "set runs beside each other, with buy and hold and equal weight; describes, proves nothing",
            "并列比较多个运行，并附买入持有与等权基准；仅作描述",
        ),
        &[
            Parameter::required("job_ids", ParamType::Texts, "the runs, or `latest`"),
            Parameter::optional("start_date", ParamType::Day, "first day"),
            Parameter::optional("end_date", ParamType::Day, "last day, included"),
        ],
    ),
    returning_untrusted_text(plain(
        ToolOperation,
        "search_memory",
        ("find reflections on closed trades by words", "按词语搜索已平仓交易的反思"),
        &[
            Parameter::required("query", ParamType::Text, "what is looked for"),
            OPTIONAL_JOB,
            OPTIONAL_MODEL,
            LIMIT,
        ],
    )),
    plain(
        ToolOperation,
        "market_data",
        ("read daily bars of a symbol", "读取某代码的日线行情"),
        &[
            Parameter::required("symbol", ParamType::Text, "the instrument"),
            Parameter::optional("start_date", ParamType::Day, "first day"),
            Parameter::optional("end_date", ParamType::Day, "last day, included"),
            Parameter::optional("dataset", ParamType::Text, "the dataset's name"),
            LIMIT,
        ],
    ),
    plain(
        ToolOperation,
        "audit_run",
        (
            "replay a run on its tape without a model, and say what of the market it was shown and how late that became known",
            "不调用模型重放运行，并说明它看到了哪些数据、最晚何时可知",
        ),
        &[JOB],
    ),
    stopping(plain(
        ToolOperation,
        "cancel_job",
        (
            "stop a job that is queued or running; it can be resumed; the person is asked first",
            "停止排队中或运行中的任务，之后可恢复；先征求用户同意",
        ),
        &[Parameter::required(
            "job_id",
            ParamType::Text,
            "the job's id, not `latest`; list_runs gives those of runs",
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
                "only those queued, running, completed, partial, failed or cancelled",
            ),
            LIMIT,
        ],
    ),
    plain(
        ToolOperation,
        "list_data",
        ("list the datasets with their days and symbols", "列出数据集及其日期与代码"),
        &[Parameter::optional(
            "dataset",
            ParamType::Text,
            "one dataset by its name, with all of its symbols",
        )],
    ),
    plain(
        ContextRequest,
        "request_subgraph",
        (
            "show more of a plan: a task with those below it, instructions and results whole",
            "显示计划的一部分：任务及其子任务、说明与结果全文",
        ),
        &[
            OPTIONAL_PLAN,
            Parameter::optional("task_id", ParamType::Whole, "where to begin; the whole plan where absent"),
            Parameter::optional("depth", ParamType::Whole, "levels below it; all where absent"),
        ],
    ),
    plain(SystemOperation, "help", ("say what the assistant can do", "说明助手能做什么"), &[]),
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
