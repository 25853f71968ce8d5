//! What is done next for what is asked, by what was done already.

use super::super::day::Language;
use super::ask::{PlanAsk, Wanted};
use super::period::Period;
use super::results::Results;
use super::say;
use serde_json::{Value, json};

/// How a result says that a person can let a plan's tasks spend.
const TRUSTED: &str = "\"trusted\": true";

/// A turn.
pub(super) struct Step {
    pub(super) message: String,
    pub(super) actions: Vec<Action>,
}

/// An action that is asked for.
pub(super) struct Action {
    pub(super) kind: &'static str,
    pub(super) name: &'static str,
    pub(super) parameters: Value,
    pub(super) blocking: bool,
}

fn tool(name: &'static str, parameters: Value) -> Action {
    Action { kind: "tool_operation", name, parameters, blocking: true }
}

/// The next step: the actions that can be taken now, or the answer.
pub(super) fn step(wanted: &Wanted, results: &Results, language: Language, is_worker: bool) -> Step {
    let waits = results.all().iter().any(|result| result["waits_for_confirmation"] == true);
    let actions = match (waits, wanted.plan.is_empty()) {
        (true, _) => Vec::new(),
        (false, false) => plans(&wanted.plan, results).into_iter().collect(),
        (false, true) => tools(wanted, results),
    };
    let message = if !actions.is_empty() {
        say::doing(&actions, language)
    } else if wanted.greets && !is_worker {
        say::greeting(language)
    } else if results.all().is_empty() {
        say::cannot(wanted.without_days, is_worker, language)
    } else {
        let mut answer = say::answer(results, language, is_worker);
        if let (Some(_), None, Some((first, last))) =
            (wanted.why_months, why_days(wanted, results), results.days())
        {
            answer = format!("{}\n{answer}", say::not_of_the_run(first, last, language));
        }
        answer
    };
    Step { message, actions }
}

/// The first of what is asked for about plans that is not done; none after one that failed.
fn plans(asks: &[PlanAsk], results: &Results) -> Option<Action> {
    let plan = |given: &Option<i64>| match given.or_else(|| results.plan()) {
        Some(id) => json!({ "plan_id": id }),
        None => json!({}),
    };
    for ask in asks {
        let (kind, name, parameters) = match ask {
            PlanAsk::Create { name, goal } => {
                ("plan_operation", "create_plan", json!({ "name": name, "goal": goal }))
            }
            PlanAsk::Decompose(id) => ("task_operation", "decompose_task", plan(id)),
            PlanAsk::Execute(id) => ("plan_operation", "execute_plan", plan(id)),
            PlanAsk::Show(id) => ("task_operation", "show_tasks", plan(id)),
            PlanAsk::Status(id) => ("task_operation", "query_status", plan(id)),
            PlanAsk::Delete(id) => ("plan_operation", "delete_plan", plan(id)),
            PlanAsk::AddTask { plan: id, name } => {
                let mut parameters = plan(id);
                parameters["name"] = name.as_str().into();
                parameters["instruction"] = name.as_str().into();
                ("task_operation", "create_task", parameters)
            }
            PlanAsk::Rerun(task) => ("task_operation", "rerun_task", json!({ "task_id": task })),
            PlanAsk::List => ("plan_operation", "list_plans", json!({})),
        };
        match results.of(name) {
            None => return Some(Action { kind, name, parameters, blocking: true }),
            Some(result) if result["success"] == false => {
                // A plan that was held back from spending can be let by the person, who is asked once.
                let can_be_let = result["message"].as_str().is_some_and(|why| why.contains(TRUSTED));
                if !can_be_let || results.count(name) > 1 {
                    return None;
                }
                let mut parameters = parameters;
                parameters["trusted"] = true.into();
                return Some(Action { kind, name, parameters, blocking: true });
            }
            // What follows needs its end.
            Some(result) if result["data"]["still_running"] == true => return None,
            Some(_) => {}
        }
    }
    None
}

/// The days that a reason is asked for: those that are named, or the months in the run.
fn why_days(wanted: &Wanted, results: &Results) -> Option<Period> {
    wanted.why.flatten().or_else(|| {
        let (first, last) = results.days()?;
        wanted.why_months?.between(first, last)
    })
}

fn tools(wanted: &Wanted, results: &Results) -> Vec<Action> {
    let mut actions = Vec::new();
    let open = |name: &str| results.of(name).is_none();
    if let Some(query) = wanted.web.as_ref().filter(|_| open("web_search")) {
        actions.push(Action { blocking: false, ..tool("web_search", json!({ "query": query })) });
    }
    if let Some(query) = wanted.memory.as_ref().filter(|_| open("search_memory")) {
        actions.push(Action { blocking: false, ..tool("search_memory", json!({ "query": query })) });
    }
    if let Some((symbol, days)) = wanted.prices.as_ref().filter(|_| open("market_data")) {
        let mut parameters = json!({ "symbol": symbol });
        if let Some(days) = days {
            parameters["start_date"] = days.from.to_string().into();
            parameters["end_date"] = days.to.to_string().into();
        }
        actions.push(tool("market_data", parameters));
    }
    let failed = results.failed("run_simulation");
    // One after the other: how far one has come decides whether there is a next.
    let next = wanted.backtests.get(results.count("run_simulation"));
    if let Some(backtest) = next.filter(|_| !failed && !results.goes_on()) {
        actions.push(tool("run_simulation", backtest.parameters()));
        return actions;
    }
    if wanted.help && open("help") && actions.is_empty() && !wanted.needs_run() {
        actions.push(Action { kind: "system_operation", ..tool("help", json!({})) });
    }
    if !wanted.needs_run() || failed || results.goes_on() || (wanted.without_days && wanted.jobs.is_empty()) {
        return actions;
    }
    let job = wanted.jobs.first().cloned().or_else(|| results.job()).unwrap_or_else(|| "latest".to_owned());
    // Which November is meant, the run's days say.
    let asks_days = wanted.why_months.is_some() && results.days().is_none();
    if (wanted.status || asks_days) && open("job_status") {
        actions.push(tool("job_status", json!({ "job_id": job })));
    }
    if wanted.audit && open("audit_run") {
        actions.push(tool("audit_run", json!({ "job_id": job })));
    }
    if wanted.compare && open("compare_runs") {
        let mut jobs = wanted.jobs.clone();
        let runs = results.runs();
        let asked = if runs.is_empty() { vec![job.clone()] } else { runs };
        for job in asked.into_iter().rev().filter(|job| !wanted.jobs.contains(job)) {
            jobs.insert(0, job);
        }
        actions.push(tool("compare_runs", json!({ "job_ids": jobs })));
    }
    if (wanted.results || wanted.why.is_some())
        && open("query_results")
        && (!asks_days || !open("job_status"))
    {
        let runs = results.runs();
        for job in if runs.len() > 1 { runs } else { vec![job.clone()] } {
            let mut parameters = json!({ "job_id": job });
            if let Some(period) = why_days(wanted, results) {
                parameters["start_date"] = period.from.to_string().into();
                parameters["end_date"] = period.to.to_string().into();
            }
            actions.push(tool("query_results", parameters));
        }
    }
    if actions.is_empty()
        && wanted.why.is_some()
        && open("query_reasoning")
        && let Some((date, model, of)) = results.worst_day()
    {
        let job = if of.is_empty() { job.as_str() } else { of };
        actions.push(tool(
            "query_reasoning",
            json!({ "job_id": job, "model": model, "date": date, "limit": 20 }),
        ));
    }
    actions
}
