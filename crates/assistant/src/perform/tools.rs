//! Actions that use a tool: simulations, what is known of them, the web.

use super::{Arguments, Performer, bad, failed, reply};
use crate::table::{ACTIONS, ActionSpec};
use papertape_core::action::{Language, Origin};
use papertape_core::id::JobId;
use papertape_core::message::CallFailure;
use papertape_core::ports::{ExternalCall, JobTool};
use papertape_core::tape::Acted;
use serde_json::{Value, json};

/// Hits of a search where no number is asked for, and at the most.
const HITS: u32 = 5;
const MOST_HITS: u32 = 20;
/// The most characters of a search.
const QUERY_CHARS: usize = 400;

impl Performer<'_> {
    /// A simulation is queued by the origin's id, and waited for unless that is not wanted.
    pub(super) async fn run_simulation(
        &self,
        given: &Arguments<'_>,
        origin: &Origin,
    ) -> Result<Acted, CallFailure> {
        let mut asked = given.0.clone();
        asked.remove("wait");
        let started = self.jobs.call(JobTool::RunSimulation, origin, &Value::Object(asked)).await?;
        let Some(job) = started["job_id"].as_str().map(JobId::new) else {
            return Err(failed("the simulation was queued without an id"));
        };
        if given.flag("wait") == Some(false) {
            let message = self.say(format!("job {job} is queued"), format!("任务 {job} 已排队"));
            return Ok(reply(message, started));
        }
        let row = self.wait(&job).await?;
        let data = self.jobs.call(JobTool::JobStatus, origin, &json!({ "job_id": job })).await?;
        self.ended(&row, data, None)
    }

    /// What the jobs' side answers.
    pub(super) async fn ask_jobs(
        &self,
        tool: &str,
        call: &ExternalCall,
        origin: &Origin,
    ) -> Result<Acted, CallFailure> {
        let tool: JobTool = tool.parse().map_err(|_| bad(format!("there is no action `{tool}`")))?;
        let mut data = self.jobs.call(tool, origin, &call.arguments).await?;
        let said = data.as_object_mut().and_then(|data| data.remove("message"));
        let message = match said {
            Some(Value::String(message)) => message,
            _ => self.say("answered", "已返回"),
        };
        Ok(reply(message, data))
    }

    pub(super) async fn web_search(&self, given: &Arguments<'_>) -> Result<Acted, CallFailure> {
        let query: String = given.text("query").unwrap_or_default().chars().take(QUERY_CHARS).collect();
        let limit = given.number("limit", HITS).clamp(1, MOST_HITS);
        let hits = self.web.search(&query, limit).await?;
        let count = hits.len();
        let message = self.say(format!("{count} page(s) found"), format!("找到 {count} 个网页"));
        Ok(reply(message, json!({ "query": query, "hits": hits })))
    }

    pub(super) fn help(&self) -> Acted {
        let what = |spec: &ActionSpec| if self.language == Language::Zh { spec.what_zh } else { spec.what };
        let actions: Vec<Value> = ACTIONS
            .iter()
            .map(|spec| json!({ "kind": spec.kind, "name": spec.name, "what": what(spec) }))
            .collect();
        let count = actions.len();
        reply(self.say(format!("{count} actions"), format!("{count} 个动作")), json!({ "actions": actions }))
    }
}
