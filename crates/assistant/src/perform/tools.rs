//! Actions that use a tool: simulations, queries about them, web search.

use super::{ActionExecutor, ActionPlace, Arguments, bad, reply};
use crate::actions::{ACTIONS, ActionSpec};
use crate::calls::CallResult;
use papertape_core::action::Origin;
use papertape_core::budget::Limit;
use papertape_core::id::JobId;
use papertape_core::language::Language;
use papertape_core::ports::{ExternalCall, JobTool};
use papertape_core::tape::ActionOutcome;
use papertape_core::time::Timestamp;
use serde_json::{Value, json};

/// Number of search hits by default, and at most.
const HITS: u32 = 5;
const MAX_HITS: u32 = 20;
/// Max characters of a search query.
const QUERY_CHARS: usize = 400;

impl ActionExecutor<'_> {
    /// Queues a simulation under the origin's ID and waits for it, unless `wait` is false.
    pub(super) async fn run_simulation(
        &self,
        args: &Arguments<'_>,
        place: &ActionPlace<'_>,
    ) -> CallResult<ActionOutcome> {
        let until = self.deadline();
        let (last, origin) = self.job_of(place).await?;
        let job = match self.job_to_wait_for(place, last).await? {
            Some(begun) => begun,
            None => self.start_simulation(args, &origin, until).await?,
        };
        if args.flag("wait") == Some(false) {
            let message = self.localized(format!("job {job} is queued"), format!("任务 {job} 已排队"));
            return Ok(reply(message, json!({ "job_id": job, "status": "queued" })));
        }
        let row = self.wait(&job, until).await?;
        let by = self.caller(&origin, Limit::default());
        let data = self.jobs.call(JobTool::JobStatus, &by, &json!({ "job_id": job })).await?;
        // Days completed earlier are not rerun; the response says which job completed them.
        let more =
            data["message"].as_str().and_then(|said| said.split_once(['；', ';'])).map(|(_, more)| more);
        let more =
            more.map(|more| self.localized(format!(";{more}"), format!("；{more}"))).unwrap_or_default();
        self.ended(&row, data, None, &more)
    }

    /// Queues a simulation, with its budget allocation.
    async fn start_simulation(
        &self,
        args: &Arguments<'_>,
        origin: &Origin,
        until: Option<Timestamp>,
    ) -> CallResult<JobId> {
        let mut arguments = args.0.clone();
        arguments.remove("wait");
        let arguments = Value::Object(arguments);
        let job = origin.job_id();
        let bound = self
            .child_budget
            .for_simulation(&job, requested_limit(&arguments["budget"]["job"]), until)
            .await?;
        let by = self.caller(origin, bound);
        if let Err(failure) = self.jobs.call(JobTool::RunSimulation, &by, &arguments).await {
            self.child_budget.settle(&job).await?;
            return Err(failure);
        }
        Ok(job)
    }

    /// Response of the job tools.
    pub(super) async fn query_jobs(
        &self,
        tool: &str,
        call: &ExternalCall,
        origin: &Origin,
    ) -> CallResult<ActionOutcome> {
        let tool: JobTool = tool.parse().map_err(|_| bad(format!("unknown action `{tool}`")))?;
        let by = self.caller(origin, Limit::default());
        let mut data = self.jobs.call(tool, &by, &call.arguments).await?;
        let said = data.as_object_mut().and_then(|data| data.remove("message"));
        let message = match said {
            Some(Value::String(message)) => message,
            _ => self.localized("answered", "已返回"),
        };
        Ok(reply(message, data))
    }

    pub(super) async fn web_search(&self, args: &Arguments<'_>) -> CallResult<ActionOutcome> {
        let query: String = args.text("query").unwrap_or_default().chars().take(QUERY_CHARS).collect();
        let limit = args.number("limit", HITS).clamp(1, MAX_HITS);
        let hits = self.web.search(&query, limit).await?;
        let count = hits.len();
        let message = self.localized(format!("{count} page(s) found"), format!("找到 {count} 个网页"));
        Ok(reply(message, json!({ "query": query, "hits": hits })))
    }

    pub(super) fn help(&self) -> ActionOutcome {
        let description = |spec: &ActionSpec| {
            if self.language == Language::Zh { spec.description_zh } else { spec.description }
        };
        let actions: Vec<Value> = ACTIONS
            .iter()
            .map(|spec| json!({ "kind": spec.kind, "name": spec.name, "what": description(spec) }))
            .collect();
        let count = actions.len();
        reply(
            self.localized(format!("{count} actions"), format!("{count} 个动作")),
            json!({ "actions": actions }),
        )
    }
}

/// A budget limit as a model writes it. An unreadable one is rejected when the simulation is planned.
fn requested_limit(line: &Value) -> Limit {
    let usd = line["usd"].as_number().and_then(|usd| usd.to_string().parse().ok());
    Limit { tokens: line["tokens"].as_u64(), usd }
}
