//! What was done since the question, as the model is told it.

use super::ask::jobs;
use crate::house::data;
use papertape_core::fence::{self, Parts};
use papertape_core::message::Message;
use papertape_core::time::{Date, parse_date};
use serde_json::Value;

/// The results of actions, in order.
#[derive(Debug, Default)]
pub(super) struct Results {
    all: Vec<Value>,
    /// The jobs that earlier tasks tell of.
    told: Vec<String>,
    /// The plan that the conversation works on.
    plan: Option<i64>,
}

impl Results {
    pub(super) fn read(after: &[Message], before: &str) -> Self {
        let mut all = Vec::new();
        let Parts { own, fenced } = fence::parts(before);
        // What a person confirmed was done before the question.
        for (_, text) in fenced.iter().filter(|(source, _)| source.starts_with("the results of actions:")) {
            if let Some(Value::Array(results)) = data(text) {
                all.extend(results);
            }
        }
        for message in after {
            let Some(value) = data(message.content()) else { continue };
            match message {
                Message::User { .. } => {
                    all.extend(value["action_results"].as_array().cloned().unwrap_or_default())
                }
                Message::Tool { .. } => all.push(value),
                Message::Assistant { .. } => {}
            }
        }
        let tasks = fenced.iter().filter(|(source, _)| source.starts_with("task "));
        let marks = ["The conversation's plan: ", "本对话的计划："];
        let plan = own.iter().find_map(|line| marks.iter().find_map(|mark| line.strip_prefix(mark)));
        let mut told: Vec<String> = Vec::new();
        for job in tasks.flat_map(|(_, text)| jobs(text)) {
            told.retain(|one| *one != job);
            told.push(job);
        }
        Self { all, told, plan: plan.and_then(|id| id.trim().parse().ok()) }
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
        own.map(str::to_owned).or_else(|| self.told.last().cloned())
    }

    /// What was started and had not ended when the wait for it had.
    pub(super) fn goes_on(&self) -> bool {
        self.all.iter().any(|result| result["data"]["still_running"] == true)
    }

    /// The runs that were made for the question, else those that earlier tasks tell of.
    pub(super) fn runs(&self) -> Vec<String> {
        let made = self.all.iter().filter(|result| result["name"] == "run_simulation");
        let made: Vec<String> =
            made.filter_map(|result| result["data"]["job_id"].as_str()).map(str::to_owned).collect();
        if made.is_empty() { self.told.clone() } else { made }
    }

    /// Did this fail?
    pub(super) fn failed(&self, name: &str) -> bool {
        self.all.iter().any(|result| result["name"] == name && result["success"] == false)
    }

    /// The day on which a run lost the most, of what `query_results` has told.
    pub(super) fn worst_day(&self) -> Option<(&str, &str, &str)> {
        let told = self.all.iter().filter(|result| result["name"] == "query_results");
        let runs = told.flat_map(|result| {
            let job = result["data"]["job_id"].as_str().unwrap_or_default();
            result["data"]["runs"].as_array().into_iter().flatten().map(move |run| (job, run))
        });
        let worst = runs.filter_map(|(job, run)| {
            let day = &run["worst_day"];
            Some((day["return_pct"].as_f64()?, day["date"].as_str()?, run["model"].as_str()?, job))
        });
        let worst = worst.min_by(|left, right| left.0.total_cmp(&right.0));
        worst.map(|(_, date, model, job)| (date, model, job))
    }
}
