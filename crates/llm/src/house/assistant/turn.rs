//! What is done next for a request, by what was done already.

use super::request::{Clause, Request};
use super::tokens::form;
use crate::house::data;
use papertape_core::fence::{self, Parts};
use papertape_core::message::Message;
use papertape_core::time::parse_date;
use serde_json::{Value, json};

/// How a result says that a person can let a plan's tasks spend.
const TRUSTED: &str = "\"trusted\": true";
/// How many days a reason is looked for on.
const WORST_DAYS: usize = 3;

/// An action that is requested.
#[derive(Debug)]
pub(super) struct Action {
    pub(super) kind: &'static str,
    pub(super) name: &'static str,
    pub(super) parameters: Value,
}

/// What was done since the question, in order, and what is known of the work that it is about.
pub(super) struct Results {
    /// Done because a person has confirmed it: the question itself requests nothing then.
    pub(super) confirmed: Vec<Value>,
    all: Vec<Value>,
    at: usize,
    /// The jobs that earlier tasks tell of.
    told: Vec<Value>,
    plan: Option<i64>,
}

/// What was done, or what is to be done now.
type Done<T> = Result<T, Vec<Action>>;

impl Results {
    pub(super) fn read(after: &[Message], before: &str, plan: Option<i64>) -> Self {
        let Parts { fenced, .. } = fence::parts(before);
        let of = |source: &'static str| fenced.iter().filter(move |(name, _)| name.starts_with(source));
        let confirmed = of("the results of actions:").filter_map(|(_, text)| data(text)?.as_array().cloned());
        let done = after.iter().filter_map(|message| Some((message, data(message.content())?)));
        let all = done.flat_map(|(message, value)| match message {
            Message::User { .. } => value["action_results"].as_array().cloned().unwrap_or_default(),
            Message::Tool { .. } => vec![value],
            Message::Assistant { .. } => Vec::new(),
        });
        let words =
            of("task ").flat_map(|(_, text)| text.split(|c: char| !c.is_ascii_hexdigit() && c != '-'));
        let is_id = |word: &&str| word.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
        let mut told: Vec<Value> = words.filter(is_id).map(Value::from).collect();
        told.dedup();
        Self { confirmed: confirmed.flatten().collect(), all: all.collect(), at: 0, told, plan }
    }

    /// The results of these actions, or the actions where they are to be done now.
    fn take(&mut self, actions: Vec<Action>) -> Done<Vec<Value>> {
        let end = self.at + actions.len();
        let Some(done) = self.all.get(self.at..end) else { return Err(actions) };
        self.at = end;
        Ok(done.to_vec())
    }

    fn data(&self, name: &str, key: &str) -> Vec<Value> {
        let of = self.all.iter().filter(|result| result["name"] == name);
        of.map(|result| result["data"][key].clone()).filter(|value| !value.is_null()).collect()
    }

    /// The runs that a clause is about: those that it names, those that were made, or the newest.
    fn jobs(&self, clause: &Clause) -> Vec<Value> {
        let named = clause.slot("jobs").iter().map(|job| json!(job));
        let means = clause.slot("jobs").is_empty() || !clause.slot("latest").is_empty();
        let meant = [self.data("run_simulation", "job_id"), self.told.clone(), vec![json!("latest")]];
        let meant = meant.into_iter().find(|jobs| means && !jobs.is_empty());
        meant.into_iter().flatten().chain(named).collect()
    }

    /// Does each clause; gives it with its results as far as they go, or what is to be done now.
    pub(super) fn step(mut self, request: &Request) -> Done<Vec<(Clause, Vec<Value>)>> {
        let mut clauses = request.clauses.clone();
        if request.has(&["run_simulation"]) && !request.has(&["query_results", "compare_runs", "why"]) {
            clauses.push(Clause::of("query_results", Vec::new()));
        }
        let mut done = Vec::new();
        for clause in clauses {
            let results = self.clause(&clause)?;
            let needs = !matches!(clause.form, "search_memory" | "web_search" | "market_data");
            let stops = |result: &Value| is_open(result) || needs && result["success"] == false;
            let is_last = results.iter().any(stops);
            done.push((clause, results));
            if is_last {
                break;
            }
        }
        Ok(done)
    }

    fn clause(&mut self, clause: &Clause) -> Done<Vec<Value>> {
        let mut facts = clause.facts();
        facts["jobs"] = self.jobs(clause).into();
        let made = self.data("create_plan", "plan_id").first().and_then(Value::as_i64);
        let named = clause.number(usize::from(clause.form == "create_task"));
        facts["plan_id"] = json!(named.or(made).or(self.plan));
        match clause.form {
            "query_results" | "compare_runs" | "why" => return self.read_runs(clause, facts),
            "cancel_job" if clause.slot("jobs").is_empty() => {
                let status = |status: &str| actions("list_runs", &json!({ "status": status }));
                let listed = self.take(["running", "queued"].into_iter().flat_map(status).collect())?;
                let ids: Vec<Value> = runs(&listed).map(|run| run["job_id"].clone()).collect();
                if ids.len() != 1 {
                    return Ok(listed);
                }
                facts["jobs"] = ids.into();
            }
            _ => {}
        }
        let mut results = self.take(actions(clause.form, &facts))?;
        // A plan that was held back from spending can be let by the person, who is asked once.
        let is_held = |result: &Value| result["message"].as_str().is_some_and(|why| why.contains(TRUSTED));
        if results.first().is_some_and(is_held) {
            facts["trusted"] = true.into();
            results.extend(self.take(actions(clause.form, &facts))?);
        }
        Ok(results)
    }

    /// Figures of runs; and for a reason also what was thought on the days that say the most.
    fn read_runs(&mut self, clause: &Clause, mut facts: Value) -> Done<Vec<Value>> {
        if let Some(days) = clause.days.as_ref().filter(|_| clause.period().is_none()) {
            let mut range = self.data("run_simulation", "date_range");
            if range.is_empty() {
                let status = self.take(actions("job_status", &json!({ "jobs": [facts["jobs"][0]] })))?;
                if status[0]["success"] == false {
                    return Ok(status);
                }
                range = vec![status[0]["data"]["date_range"].clone()];
            }
            let day = |at: usize| parse_date(range[0][at].as_str()?).ok();
            let Some((from, to)) = day(0).zip(day(1)).and_then(|(first, last)| days.within(first, last))
            else {
                let outside = json!({ "name": "outside", "success": true, "data": { "range": range[0] } });
                return Ok(vec![outside]);
            };
            (facts["start_date"], facts["end_date"]) = (from.to_string().into(), to.to_string().into());
        }
        if clause.form != "why" {
            return self.take(actions(clause.form, &facts));
        }
        let mut results = self.take(actions("query_results", &facts))?;
        let key = if facts["outcome"][0] == "won" { "best_days" } else { "worst_days" };
        let days = days_of(&results, key).into_iter().take(WORST_DAYS);
        let days = days.flat_map(|(_, day)| actions("query_reasoning", &day)).collect();
        results.extend(self.take(days)?);
        Ok(results)
    }
}

/// Does what it tells of go on?
pub(super) fn is_open(result: &Value) -> bool {
    result["data"]["still_running"] == true
}

/// The actions that the line of the form in `phrases.txt` makes of facts.
fn actions(name: &str, facts: &Value) -> Vec<Action> {
    let Some(form) = form(name) else { return Vec::new() };
    let mut all = vec![json!({})];
    for parameter in &form.parameters {
        if let Some((key, list)) = parameter.split_once('*') {
            all = facts[list].as_array().into_iter().flatten().map(|one| json!({ key: one })).collect();
            continue;
        }
        let (key, fact) = parameter.split_once('=').unwrap_or((parameter, parameter));
        if !facts[fact].is_null() && facts[fact] != json!([]) {
            all.iter_mut().for_each(|one| one[key] = facts[fact].clone());
        }
    }
    all.into_iter().map(|parameters| Action { kind: form.kind, name: form.name, parameters }).collect()
}

/// The runs that results tell of.
fn runs(results: &[Value]) -> impl Iterator<Item = &Value> {
    results.iter().flat_map(|result| result["data"]["runs"].as_array().into_iter().flatten())
}

/// The days of runs that lost or won the most, by what `query_results` tells, the first the furthest from zero.
fn days_of(results: &[Value], key: &str) -> Vec<(f64, Value)> {
    let days =
        runs(results).flat_map(|run| run[key].as_array().into_iter().flatten().map(move |day| (run, day)));
    let day = |(run, day): (&Value, &Value)| {
        let facts =
            json!({ "job_id": run["job_id"], "model": run["model"], "date": day["date"], "limit": 20 });
        (day["return_pct"].as_f64().unwrap_or_default(), facts)
    };
    let mut days: Vec<(f64, Value)> = days.map(day).collect();
    days.sort_by(|one, other| other.0.abs().total_cmp(&one.0.abs()));
    days
}
