//! What is done next for a message, by what was done already.

use super::request::{ParsedMessage, RUN, Request};
use super::tokens::{Form, form};
use crate::data;
use papertape_core::message::Message;
use papertape_core::prompt::lines::{ACTION_RESULTS, TASK};
use papertape_core::time::parse_date;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// An action that is requested: its form and parameters.
pub(super) type Action = (&'static Form, Value);
/// What was done, or what is to be done now.
type Done<T> = Result<T, Vec<Action>>;

/// What was done since the question, in order, and what is known of the work that it is about.
pub(super) struct Results {
    /// Done because a person has confirmed it: the question itself requests nothing then.
    pub(super) confirmed: Vec<Value>,
    rest: std::vec::IntoIter<Value>,
    /// The runs that are meant by `it`: the one that was made, those that earlier tasks tell of, or the newest.
    jobs: Vec<Value>,
}

impl Results {
    pub(super) fn read(after: &[Message], before: &str) -> Self {
        let fenced = papertape_core::fence::parts(before).fenced;
        let of = |source: &'static str| fenced.iter().filter(move |(name, _)| name.starts_with(source));
        let confirmed = of(ACTION_RESULTS).filter_map(|(_, text)| data(text)?.as_array().cloned());
        let results = |message: &Message| match data(message.content()).unwrap_or_default() {
            result if matches!(message, Message::Tool { .. }) => vec![result],
            found => found["action_results"].as_array().cloned().unwrap_or_default(),
        };
        let all: Vec<Value> = after.iter().flat_map(results).collect();
        let ids = of(TASK).flat_map(|(_, text)| text.split(|c: char| !c.is_ascii_hexdigit() && c != '-'));
        let ids: BTreeSet<&str> = ids.filter(|id| id.split('-').map(str::len).eq([8, 4, 4, 4, 12])).collect();
        let job_ids = ids.into_iter().map(Value::from).collect();
        let made = all.iter().filter(|it| it["name"] == RUN).map(|it| it["data"]["job_id"].clone()).collect();
        let jobs = [made, job_ids, vec!["latest".into()]].into_iter().find(|jobs: &Vec<_>| !jobs.is_empty());
        let (confirmed, jobs) = (confirmed.flatten().collect(), jobs.unwrap_or_default());
        Self { confirmed, rest: all.into_iter(), jobs }
    }

    /// Does each request: gives the results by form, as far as they go, or what is to be done now.
    pub(super) fn step(mut self, message: &ParsedMessage) -> Done<Vec<Value>> {
        let (mut requests, readers) = (message.requests.clone(), ["query_results", "compare_runs", "why"]);
        if message.has(RUN) && !readers.iter().any(|form| message.has(form)) {
            requests.extend(form(readers[0]).map(Request::of));
        }
        let mut done = vec![json!({ "form": "", "results": self.confirmed, "is_open": false })];
        for request in requests {
            let results = self.results(&request)?;
            // Nothing is built on what failed or goes on.
            let is_open =
                results.iter().any(|it| it["success"] == false || it["data"]["still_running"] == true);
            done.push(json!({ "form": request.form.name, "results": results, "is_open": is_open }));
            if is_open {
                break;
            }
        }
        Ok(done)
    }

    fn results(&mut self, request: &Request) -> Done<Vec<Value>> {
        let (name, mut facts) = (request.form.name, request.facts());
        // What is stopped is certain: without an ID, the only run that is running.
        if name == "cancel_job" && facts["jobs"].is_null() {
            let listed = self.take(actions("list_runs", &json!({ "status": "running" })))?;
            let running = listed[0]["data"]["runs"].as_array().map(Vec::as_slice);
            let Some([run]) = running else { return Ok(listed) };
            facts["jobs"] = json!([run["job_id"]]);
        }
        let named = facts["jobs"].as_array().cloned().unwrap_or_default();
        let meant = if named.is_empty() || facts["latest"].is_array() { &*self.jobs } else { &[] };
        facts["jobs"] = meant.iter().cloned().chain(named).collect();
        // Only what reads runs may leave out the year.
        if let Some(days) = request.days().filter(|days| days.from.year.is_none()) {
            let status = self.take(actions("job_status", &json!({ "jobs": [facts["jobs"][0]] })))?;
            let day = |at: usize| parse_date(status[0]["data"]["date_range"][at].as_str()?).ok();
            let found = day(0).zip(day(1)).and_then(|(first, last)| days.within(first, last));
            let Some((first, last)) = found else { return Ok(status) };
            (facts["start_date"], facts["end_date"]) = (first.to_string().into(), last.to_string().into());
        }
        if name != "why" {
            return self.take(actions(name, &facts));
        }
        // With what was thought on up to three days that say the most.
        let mut results = self.take(actions("query_results", &facts))?;
        let key = if facts["outcome"][0] == "won" { "best_days" } else { "worst_days" };
        let runs = results.iter().flat_map(|result| result["data"]["runs"].as_array().into_iter().flatten());
        let days = runs.flat_map(|run| run[key].as_array().into_iter().flatten().map(move |day| (run, day)));
        let mut days: Vec<(&Value, &Value)> = days.collect();
        let size = |day: &Value| day["return_pct"].as_f64().unwrap_or_default().abs();
        days.sort_by(|one, other| size(other.1).total_cmp(&size(one.1)));
        let reasoning = |(run, day): &(&Value, &Value)| {
            let facts = json!({ "job_id": run["job_id"], "model": run["model"], "date": day["date"] });
            actions("query_reasoning", &facts)
        };
        let reasoning = days.iter().take(3).flat_map(reasoning);
        results.extend(self.take(reasoning.collect())?);
        Ok(results)
    }

    /// The results of these actions, or the actions where they are to be done now.
    fn take(&mut self, actions: Vec<Action>) -> Done<Vec<Value>> {
        let done: Vec<Value> = self.rest.by_ref().take(actions.len()).collect();
        if done.len() == actions.len() { Ok(done) } else { Err(actions) }
    }
}

/// The actions that the line of the form in `phrases.txt` makes of facts.
fn actions(name: &str, facts: &Value) -> Vec<Action> {
    let Some(form) = form(name) else { return Vec::new() };
    let mut all = vec![json!({})];
    for parameter in form.parameters.split_whitespace() {
        if let Some((key, list)) = parameter.split_once('*') {
            all = facts[list].as_array().into_iter().flatten().map(|one| json!({ key: one })).collect();
            continue;
        }
        let (key, path) = parameter.split_once('=').unwrap_or((parameter, parameter));
        let fact = facts.pointer(&format!("/{path}")).filter(|fact| !fact.is_null() && **fact != json!([]));
        if let Some(fact) = fact {
            all.iter_mut().for_each(|one| one[key] = fact.clone());
        }
    }
    all.into_iter().map(|parameters| (form, parameters)).collect()
}
