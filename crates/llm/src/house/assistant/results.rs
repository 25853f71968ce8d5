//! What was done since the question, as the model is told it.

use super::ask::jobs;
use papertape_core::message::Message;
use papertape_core::time::{Date, parse_date};
use serde_json::Value;

/// The results of actions, in order.
#[derive(Debug, Default)]
pub(super) struct Results {
    all: Vec<Value>,
    /// The job that earlier tasks tell of.
    told: Option<String>,
    /// The plan that the conversation works on.
    plan: Option<i64>,
}

impl Results {
    pub(super) fn read(after: &[Message], before: &str) -> Self {
        let mut all = Vec::new();
        // What a person confirmed was done before the question.
        let confirmed = [
            "The person has confirmed what waited. It was done; the results: ",
            "用户已确认等待中的动作。动作已执行，结果：",
        ];
        for line in before.lines() {
            let found = confirmed.iter().find_map(|mark| line.strip_prefix(mark));
            if let Some(Value::Array(results)) = found.and_then(|json| serde_json::from_str(json).ok()) {
                all.extend(results);
            }
        }
        for message in after {
            let Ok(value) = serde_json::from_str::<Value>(message.content()) else { continue };
            match message {
                Message::User { .. } => {
                    all.extend(value["action_results"].as_array().cloned().unwrap_or_default())
                }
                Message::Tool { .. } => all.push(value),
                Message::Assistant { .. } => {}
            }
        }
        let lines =
            before.lines().filter(|line| line.starts_with("Result of task ") || line.starts_with("任务 "));
        let marks = ["The conversation's plan: ", "本对话的计划："];
        let plan = before.lines().find_map(|line| marks.iter().find_map(|mark| line.strip_prefix(mark)));
        Self { all, told: lines.flat_map(jobs).last(), plan: plan.and_then(|id| id.trim().parse().ok()) }
    }

    /// All of them.
    pub(super) fn all(&self) -> &[Value] {
        &self.all
    }

    /// What came of an action.
    pub(super) fn of(&self, name: &str) -> Option<&Value> {
        self.all.iter().find(|result| result["name"] == name)
    }

    /// How often this was asked for.
    pub(super) fn count(&self, name: &str) -> usize {
        self.all.iter().filter(|result| result["name"] == name).count()
    }

    /// The plan that was made, else the one that the conversation works on.
    pub(super) fn plan(&self) -> Option<i64> {
        self.of("create_plan").and_then(|made| made["data"]["plan_id"].as_i64()).or(self.plan)
    }

    /// The first and the last day of the run, of what was told of it.
    pub(super) fn days(&self) -> Option<(Date, Date)> {
        ["run_simulation", "job_status"].iter().find_map(|name| {
            let range = &self.of(name)?["data"]["date_range"];
            let day = |at: usize| parse_date(range[at].as_str()?).ok();
            Some((day(0)?, day(1)?))
        })
    }

    /// The run that the question is about, as far as that is known.
    pub(super) fn job(&self) -> Option<String> {
        let own = self.of("run_simulation").and_then(|result| result["data"]["job_id"].as_str());
        own.map(str::to_owned).or_else(|| self.told.clone())
    }

    /// Did this fail?
    pub(super) fn failed(&self, name: &str) -> bool {
        self.of(name).is_some_and(|result| result["success"] == false)
    }

    /// The day on which a run lost the most, of what `query_results` has told.
    pub(super) fn worst_day(&self) -> Option<(&str, &str)> {
        let runs = self.of("query_results")?["data"]["runs"].as_array()?;
        let worst = runs.iter().filter_map(|run| {
            let day = &run["worst_day"];
            Some((day["return_pct"].as_f64()?, day["date"].as_str()?, run["model"].as_str()?))
        });
        worst.min_by(|left, right| left.0.total_cmp(&right.0)).map(|(_, date, model)| (date, model))
    }
}
