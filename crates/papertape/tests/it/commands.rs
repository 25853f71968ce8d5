//! Commands that the API returns for requests: run as they are, they make the same requests.

use crate::api_support::World;
use crate::cli_tool::Tool;
use papertape_protocol::experiments::ExperimentBody;
use papertape_protocol::simulate::BranchBody;
use papertape_service::command::{branch_command, run_command};
use papertape_service::config::Config;
use papertape_service::experiments::ExperimentRequest;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A body for two days of IBM, with these fields changed.
fn body(changes: &Value) -> Value {
    let mut simulation = json!({
        "start_date": "2012-10-01", "end_date": "2012-10-02", "symbols": ["IBM"],
        "models": ["house::momentum"], "costs": "frictionless",
    });
    let mut body = json!({});
    for (name, value) in changes.as_object().expect("an object") {
        let is_outer = ["trials", "windows", "compare", "masks"].contains(&name.as_str());
        let into = if is_outer { &mut body } else { &mut simulation };
        into[name] = value.clone();
    }
    body["simulation"] = simulation;
    body
}

async fn command(world: &World, body: &Value) -> Option<String> {
    let answer = world.post("/experiments/command", body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["command"].as_str().map(str::to_owned)
}

/// An inline agent as the form for new runs sends it.
fn solo(model: &str, changes: &Value) -> Value {
    let mut agent = json!({"name": model, "kind": "solo", "model": model, "language": "en"});
    for (name, value) in changes.as_object().expect("an object") {
        agent[name] = value.clone();
    }
    agent
}

fn desk(model: &str, desk: &Value) -> Value {
    solo(model, &json!({"name": format!("desk:{model}"), "kind": "desk", "desk": desk}))
}

/// Goal: each option is in the command where it is needed, and the command, run in a terminal, plans exactly what the
/// request plans.
#[tokio::test(flavor = "multi_thread")]
async fn a_command_plans_what_its_request_plans() {
    let world = World::empty().await;
    let tool = Tool::new();
    for (changes, expected) in [
        (json!({}), "--model house::momentum --symbols IBM --start 2012-10-01 --end 2012-10-02"),
        (json!({"symbols": null, "initial_cash": 2500, "seed": 7}), "--cash 2500 --seed 7"),
        (
            json!({"benchmark": "MSFT", "memory": "rounds+open", "summaries": false}),
            "--memory rounds+open --no-summaries",
        ),
        (json!({"market": "crypto", "masking": "dates", "replace_existing": true}), "--market crypto"),
        (json!({"budget": {"job": {"usd": 1.5, "tokens": 9000}}}), "--budget-tokens 9000 --budget-usd 1.5"),
        (
            json!({"trials": 3, "windows": {"count": 2, "days": 1}, "compare": "buy_and_hold"}),
            "--trials 3 --windows 2x1d --compare buy_and_hold",
        ),
        (json!({"masks": ["none", "dates", "entities", "all"]}), "--vary mask"),
        (
            json!({"models": null, "agents": [solo("house::momentum", &json!({"language": "zh"}))]}),
            "--language zh --model house::momentum",
        ),
        (
            json!({"models": null, "agents": [solo("house::momentum", &json!({"limits": {"max_steps": 3}}))]}),
            "--max-steps 3",
        ),
        (
            json!({"models": null, "agents": [desk("house::momentum", &json!({"max_debate_rounds": 2, "deep_think_llm": "house::contrarian", "selected_analysts": ["market", "news"]}))]}),
            "--kind desk --deep-model house::contrarian --analysts market,news --debate-rounds 2 --model house::momentum",
        ),
        (
            json!({"agents": [solo("house::contrarian", &json!({}))]}),
            "--model house::contrarian --model house::momentum",
        ),
    ] {
        let body = body(&changes);
        let command = command(&world, &body).await.unwrap_or_else(|| panic!("no command for {changes}"));
        assert!(command.contains(expected), "{changes}: {command}");
        let mut args = shlex::split(&command).expect("it is quoted");
        assert_eq!(args.remove(0), "papertape");
        args.push("--estimate".to_owned());
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let by_command = tool.json(&args);
        let answer = world.post("/experiments/estimate", &body).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let by_request = answer.json();
        for part in ["manifest", "estimate"] {
            assert_eq!(by_command[part], by_request[part], "{part} of {command}");
        }
    }
}

/// Goal: what no option expresses has no command, rather than a wrong one.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_without_options_has_no_command() {
    let world = World::empty().await;
    let sampling = json!({"sampling": {"temperature": 0.5}});
    for changes in [
        json!({"models": null, "agents": [solo("house::momentum", &sampling)]}),
        json!({"models": null, "agents": [solo("house::momentum", &json!({"name": "mine"}))]}),
        json!({"models": null, "agents": [solo("house::momentum", &json!({"language": "zh"})), solo("house::contrarian", &json!({}))]}),
        json!({"models": null, "agents": [desk("house::momentum", &json!({})), solo("house::contrarian", &json!({}))]}),
        json!({"agents": [desk("house::contrarian", &json!({"max_debate_rounds": 2}))]}),
        json!({"budget": {"day": {"tokens": 5}}}),
        json!({"masks": ["none", "dates"]}),
        // The configuration of this test has no costs, and no option turns them on.
        json!({"costs": "market"}),
    ] {
        assert_eq!(command(&world, &body(&changes)).await, None, "{changes}");
    }
    for invalid in [
        json!({"trials": 101}),
        json!({"symbols": ["NONE"]}),
        json!({"models": null, "agents": [solo("house::momentum", &json!({"sampling": {"max_tokens": 3_000_000_000_u32}}))]}),
        json!({"end_date": "noon"}),
    ] {
        let answer = world.post("/experiments/command", &body(&invalid)).await;
        assert_eq!(answer.status, 400, "{invalid}: {}", answer.text);
    }
}

/// Goal: the command of a branch names the job and each change; a missing job is not found.
#[tokio::test(flavor = "multi_thread")]
async fn a_branch_has_its_command() {
    let world = World::new().await;
    let path = format!("/simulate/{}/branch/command", world.job);
    let body = json!({"date": "2012-10-02", "agent": "it's me", "node": "AAPL/Trader#1", "instructions": "Be bold."});
    let answer = world.post(&path, &body).await.json();
    let command = answer["command"].as_str().expect("a command");
    let args = shlex::split(command).expect("it is quoted");
    let expected = ["papertape", "branch", &world.job, "--date", "2012-10-02", "--agent", "it's me", "--at"];
    assert_eq!(args[..8], expected);
    assert_eq!(args[8..], ["AAPL/Trader#1", "--instructions", "Be bold."]);
    for body in [
        json!({"date": "2012-10-02", "sampling": {"temperature": 0.5}}),
        json!({"date": "2012-10-02", "instructions": "@a file's name"}),
    ] {
        assert_eq!(world.post(&path, &body).await.json()["command"], Value::Null, "{body}");
    }
    let invalid = json!({"date": "2012-10-02", "sampling": {"temperature": 3}});
    assert_eq!(world.post(&path, &invalid).await.status, 400);
    let body = json!({"date": "2012-10-02"});
    let missing = world.post("/simulate/00000000-0000-4000-8000-000000000000/branch/command", &body).await;
    assert_eq!(missing.status, 404, "{}", missing.text);
}

proptest! {
    /// Goal: whatever a name or a text contains, a shell reads it as the one argument that it is, and never as an option.
    #[test]
    fn every_text_is_one_argument(name in "[^\0]{1,40}", text in "[^\0@][^\0]{0,40}") {
        let branch: BranchBody = serde_json::from_value(
            json!({"date": "2012-10-02", "agent": &name, "instructions": &text}),
        ).expect("a body");
        let args = shlex::split(&branch_command("job", branch).expect("it is valid").expect("a command")).expect("it is quoted");
        let value = |option: &str| {
            let at = args.iter().position(|arg| arg == option);
            let joined = args.iter().find_map(|arg| arg.strip_prefix(&format!("{option}=")));
            joined.map(str::to_owned).or_else(|| at.map(|at| args[at + 1].clone()))
        };
        prop_assert_eq!(value("--agent"), Some(name.clone()));
        prop_assert_eq!(value("--instructions"), Some(text));
        let body: ExperimentBody = serde_json::from_value(body(&json!({"dataset": &name}))).expect("a body");
        let request = ExperimentRequest::of(body).expect("a request");
        let mut config = Config::default();
        config.simulation.costs = papertape_core::broker::CostModel::Frictionless;
        let args = shlex::split(&run_command(&config, &request).expect("a command")).expect("it is quoted");
        let joined = format!("--dataset={name}");
        prop_assert!(args.windows(2).any(|pair| pair == ["--dataset", name.as_str()]) || args.contains(&joined));
    }
}
