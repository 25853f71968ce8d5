//! What is done next for a request, by what was done already.

use super::request::{Clause, Request};
use super::tokens::FORMS;
use crate::house::data;
use papertape_core::fence::{self, Parts};
use papertape_core::message::Message;
use papertape_core::time::{Date, parse_date};
use rust_decimal::Decimal;
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
    told: Vec<String>,
    plan: Option<i64>,
}

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
        let is_id = |word: &&str| word.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
        let ids = |text: &str| {
            let words = text.split(|c: char| !c.is_ascii_hexdigit() && c != '-').filter(is_id);
            words.map(str::to_owned).collect::<Vec<_>>()
        };
        let mut told: Vec<String> = of("task ").flat_map(|(_, text)| ids(text)).collect();
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
        let made = self.data("run_simulation", "job_id");
        let named = clause.slot("jobs").iter().map(|job| json!(job));
        let meant = match (made.is_empty(), self.told.is_empty()) {
            (false, _) => made,
            (true, true) => vec![json!("latest")],
            (true, false) => self.told.iter().map(|job| json!(job)).collect(),
        };
        let means = clause.slot("jobs").is_empty() || !clause.slot("latest").is_empty();
        meant.into_iter().filter(|_| means).chain(named).collect()
    }

    /// Does each clause; gives it with its results as far as they go, or what is to be done now.
    pub(super) fn step(mut self, request: &Request) -> Done<Vec<(Clause, Vec<Value>)>> {
        let mut clauses = request.clauses.clone();
        let reads = |one: &Clause| matches!(one.form, "query_results" | "compare_runs" | "why");
        if clauses.iter().any(|one| one.form == "run_simulation") && !clauses.iter().any(reads) {
            clauses.push(Clause { form: "query_results", ..Clause::default() });
        }
        let mut done = Vec::new();
        for clause in clauses {
            let results = self.clause(&clause)?;
            let stops = |result: &Value| {
                let needs = !matches!(clause.form, "search_memory" | "web_search" | "market_data");
                result["success"] == false && needs || result["data"]["still_running"] == true
            };
            let is_last = results.iter().any(stops);
            done.push((clause, results));
            if is_last {
                break;
            }
        }
        Ok(done)
    }

    fn clause(&mut self, clause: &Clause) -> Done<Vec<Value>> {
        let text = || clause.given.last().cloned().unwrap_or_default();
        let number = |at: usize| clause.given.get(at).and_then(|id| id.parse::<i64>().ok());
        let jobs = self.jobs(clause);
        let each =
            |parameters: Vec<Value>| parameters.into_iter().map(|one| action(clause.form, one)).collect();
        let of_jobs = || jobs.iter().map(|job| json!({ "job_id": job })).collect();
        let one = match clause.form {
            "run_simulation" => run(clause),
            "job_status" | "audit_run" => return self.take(each(of_jobs())),
            "query_results" | "compare_runs" | "why" => return self.read_runs(clause, &jobs),
            "cancel_job" if clause.slot("jobs").is_empty() => {
                let status = |status: &str| action("list_runs", json!({ "status": status }));
                let listed = self.take(vec![status("running"), status("queued")])?;
                let runs = listed.iter().flat_map(|one| one["data"]["runs"].as_array().into_iter().flatten());
                let ids: Vec<Value> = runs.map(|run| json!({ "job_id": run["job_id"] })).collect();
                return if ids.len() == 1 { self.take(each(ids)) } else { Ok(listed) };
            }
            "cancel_job" => return self.take(each(of_jobs())),
            "market_data" => {
                let of = |symbol| with(json!({ "symbol": symbol }), clause.period());
                return self.take(each(clause.slot("symbols").iter().map(of).collect()));
            }
            "search_memory" | "web_search" => json!({ "query": text() }),
            "create_plan" => {
                let (name, goal) = named(&text());
                json!({ "name": name, "goal": goal })
            }
            "create_task" => {
                let name = clause.given.first().cloned().unwrap_or_default();
                self.of_plan(number(1), json!({ "name": name, "instruction": name }))
            }
            "rerun_task" => json!({ "task_id": number(0) }),
            "decompose_task" | "execute_plan" | "show_tasks" | "query_status" | "delete_plan" => {
                self.of_plan(number(0), json!({}))
            }
            _ => json!({}),
        };
        let mut results = self.take(vec![action(clause.form, one.clone())])?;
        // A plan that was held back from spending can be let by the person, who is asked once.
        if results[0]["message"].as_str().is_some_and(|why| why.contains(TRUSTED)) {
            let mut trusted = one;
            trusted["trusted"] = true.into();
            results.extend(self.take(vec![action(clause.form, trusted)])?);
        }
        Ok(results)
    }

    /// Figures of runs; and for a reason also what was thought on the days that say the most.
    fn read_runs(&mut self, clause: &Clause, jobs: &[Value]) -> Done<Vec<Value>> {
        let mut period = clause.period();
        if let Some(days) = clause.days.as_ref().filter(|_| period.is_none()) {
            let mut range = self.data("run_simulation", "date_range");
            if range.is_empty() {
                let status = self.take(vec![action("job_status", json!({ "job_id": jobs[0] }))])?;
                range = vec![status[0]["data"]["date_range"].clone()];
                if status[0]["success"] == false {
                    return Ok(status);
                }
            }
            let day = |at: usize| parse_date(range[0][at].as_str()?).ok();
            let run = day(0).zip(day(1));
            period = run.and_then(|(first, last)| days.within(first, last));
            if period.is_none() {
                return Ok(vec![
                    json!({ "name": "outside", "success": true, "data": { "range": range[0] } }),
                ]);
            }
        }
        let model = |mut parameters: Value| {
            if let [who] = clause.slot("who") {
                parameters["model"] = who.as_str().into();
            }
            with(parameters, period)
        };
        if clause.form == "compare_runs" {
            return self.take(vec![action("compare_runs", model(json!({ "job_ids": jobs })))]);
        }
        let read = jobs.iter().map(|job| action("query_results", model(json!({ "job_id": job })))).collect();
        let mut results = self.take(read)?;
        if clause.form == "why" {
            let key = if clause.slot("won").is_empty() { "worst_days" } else { "best_days" };
            let days = days_of(&results, key).into_iter().take(WORST_DAYS);
            let days = days.map(|(_, day)| action("query_reasoning", day)).collect();
            results.extend(self.take(days)?);
        }
        Ok(results)
    }

    fn of_plan(&self, named: Option<i64>, mut parameters: Value) -> Value {
        let made = self.data("create_plan", "plan_id").first().and_then(Value::as_i64);
        if let Some(plan) = named.or(made).or(self.plan) {
            parameters["plan_id"] = plan.into();
        }
        parameters
    }
}

fn action(name: &str, parameters: Value) -> Action {
    // A reason is read by other forms' actions.
    let form = FORMS.iter().find(|form| form[1] == name);
    let (kind, name) = form.map_or(("tool_operation", "query_reasoning"), |form| (form[0], form[1]));
    Action { kind, name, parameters }
}

fn with(mut parameters: Value, period: Option<(Date, Date)>) -> Value {
    if let Some((from, to)) = period {
        (parameters["start_date"], parameters["end_date"]) = (json!(from.to_string()), json!(to.to_string()));
    }
    parameters
}

/// The days of runs that lost or won the most, by what `query_results` tells, the first the furthest from zero.
fn days_of(results: &[Value], key: &str) -> Vec<(f64, Value)> {
    let runs = results.iter().flat_map(|result| result["data"]["runs"].as_array().into_iter().flatten());
    let mut days: Vec<(f64, Value)> = runs
        .flat_map(|run| run[key].as_array().into_iter().flatten().map(move |day| (run, day)))
        .map(|(run, day)| {
            let parameters =
                json!({ "job_id": run["job_id"], "model": run["model"], "date": day["date"], "limit": 20 });
            (day["return_pct"].as_f64().unwrap_or_default(), parameters)
        })
        .collect();
    days.sort_by(|one, other| other.0.abs().total_cmp(&one.0.abs()));
    days
}

/// A backtest as parameters of `run_simulation`.
fn run(clause: &Clause) -> Value {
    let mut run = with(json!({}), clause.period());
    let (desks, models): (Vec<&String>, Vec<&String>) =
        clause.slot("who").iter().partition(|who| who.starts_with("desk "));
    let desk = |who: &&String| {
        let model = who.trim_start_matches("desk ");
        let name = format!("{}-desk", model.rsplit("::").next().unwrap_or(model));
        json!({ "name": name, "kind": "desk", "model": model })
    };
    let agents: Vec<Value> = desks.iter().map(desk).collect();
    let lists =
        [("models", json!(models)), ("agents", json!(agents)), ("symbols", json!(clause.slot("symbols")))];
    for (key, list) in lists.into_iter().filter(|(_, list)| *list != json!([])) {
        run[key] = list;
    }
    if let Some(cash) = clause.slot("cash").first().and_then(|cash| cash.parse::<Decimal>().ok()) {
        run["initial_cash"] = crate::house::number::write(cash);
    }
    run
}

/// `NAME: GOAL`, or a goal whose first words are the name.
pub(super) fn named(text: &str) -> (String, String) {
    const NAME_CHARS: usize = 60;
    let quotes = ['"', '“', '”', '「', '」', ' '];
    let (name, goal) = match text.split_once([':', '：']) {
        // `::` stands in a model's name.
        Some((name, goal)) if !goal.starts_with(':') => (name.trim_matches(quotes), goal.trim()),
        _ => (text.trim(), text.trim()),
    };
    let Some((end, _)) = name.char_indices().nth(NAME_CHARS) else {
        return (name.to_owned(), goal.to_owned());
    };
    // Chinese has no spaces between its words.
    let at = name[..end].rfind([' ', ',', '，', '、']).filter(|at| *at >= end / 2).unwrap_or(end);
    (name[..at].trim_end_matches([',', '，', '、', ' ']).to_owned(), goal.to_owned())
}
