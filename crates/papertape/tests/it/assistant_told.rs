//! What the assistant tells users: what is not done yet, what was done before, what a deletion would remove,
//! and what went wrong, each in the user's language.

use crate::assistant_support::{Desk, actions, started, until};
use papertape_core::id::JobId;
use papertape_llm::{ProviderConfig, ProviderKind};
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use serde_json::{Value, json};

fn content(message: &Value) -> &str {
    message["content"].as_str().expect("words")
}

fn messages(told: &Value) -> Vec<&str> {
    let summary = told["metadata"]["actions_summary"].as_array().expect("a summary");
    summary.iter().filter_map(|one| one["message"].as_str()).collect()
}

/// Goal: if the wait for a run ends before the run does, the answer says what is still running and how to ask
/// again, and does nothing that needs the result; the same question is answered once the run has ended; in
/// both languages.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_goes_on_is_told_as_that() {
    let server = ModelServer::scripted([
        ScriptedAnswer::text("<FINISH_SIGNAL>").held(),
        ScriptedAnswer::text("<FINISH_SIGNAL>").held(),
    ])
    .await;
    let desk = Desk::new(|config| {
        let provider = ProviderConfig {
            kind: Some(ProviderKind::OpenaiCompatible),
            base_url: Some(server.url()),
            ..ProviderConfig::default()
        };
        config.models.providers.insert("test".to_owned(), provider);
        config.chat.job_wait_secs = 0;
        config.simulation.summaries = false;
        config.simulation.memory.mode = papertape_agents::config::MemoryMode::Off;
    })
    .await;
    let store = &desk.world.app.store;
    let english = "Backtest test::slow on AAPL on 2012-10-01, compare it with buy and hold";
    let chinese = "回测 test::slow，标的 IBM，2012-10-01，并与买入持有比较";
    for (nth, words, language) in [(1, english, "en"), (2, chinese, "zh")] {
        let told = desk.say_with(json!({ "message": words }), language).await;
        assert_eq!(actions(&told), [("run_simulation".to_owned(), Some(true))], "{told:#}");
        let turn = JobId::new(told["metadata"]["job_id"].as_str().expect("a job"));
        let run = started(store, &turn, "run_simulation").await;
        let (goes_on, status, results) = match language {
            "en" => ("is still", format!("status of {run}"), format!("results of {run}")),
            _ => ("仍在", format!("查询 {run} 的状态"), format!("{run} 的结果")),
        };
        for part in [goes_on, &status, &results] {
            assert!(content(&told).contains(part), "{part}: {}", content(&told));
        }
        server.request(nth).await;
        let asked = desk.say_with(json!({ "message": status }), language).await;
        assert_eq!(actions(&asked), [("job_status".to_owned(), Some(true))], "{asked:#}");
        let running = if language == "en" { "running" } else { "运行中" };
        assert!(content(&asked).contains(running), "{}", content(&asked));
        server.release();
        until(store, &run, |row| row.status.is_stopped()).await;
        let asked = desk.say_with(json!({ "message": results }), language).await;
        assert_eq!(actions(&asked), [("query_results".to_owned(), Some(true))], "{asked:#}");
        assert!(content(&asked).contains("2012-10-01"), "{}", content(&asked));
    }
    desk.stop().await;
}

/// Goal: a run whose first days another run did is reported as a whole, and the days done before are named;
/// its result equals that of a single run over the same days. The same holds for a request for part of what was done.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_was_partly_done_is_told_whole() {
    let desk = Desk::new(|_| {}).await;
    let other = Desk::new(|_| {}).await;
    let run = |to: &str| format!("Backtest momentum on IBM from 2012-10-01 to {to}");
    desk.say(None, &run("2012-10-03")).await;
    let jobs = desk.world.good("/jobs?kind=simulate").await;
    let first = jobs["jobs"][0]["job_id"].as_str().expect("an id").to_owned();
    let told = desk.say(None, &run("2012-10-10")).await;
    let before = format!("2012-10-01 to 2012-10-03 were already done by job {first}");
    assert!(content(&told).contains(&before), "{}", content(&told));
    assert!(content(&told).contains("momentum, 2012-10-01 to 2012-10-10: return "), "{}", content(&told));
    assert!(content(&told).contains("3 of its model-days were already done"), "{}", content(&told));
    let whole = other.say(None, &run("2012-10-10")).await;
    let line = |told: &Value| {
        let lines = content(told).lines().find(|line| line.contains("return ")).map(str::to_owned);
        let line = lines.expect("figures");
        line.split(" Run ").next().expect("one").to_owned()
    };
    assert_eq!(line(&told), line(&whole), "the same days, the same figures");

    let part = desk.say(None, &run("2012-10-02")).await;
    assert!(content(&part).contains("momentum, 2012-10-01 to 2012-10-02: return "), "{}", content(&part));
    assert!(content(&part).contains(&format!("already done by job {first}")), "{}", content(&part));
    let chinese = json!({ "message": "回测动量，标的 IBM，从 2012-10-01 到 2012-10-11" });
    let told = desk.say_with(chinese, "zh").await;
    assert!(content(&told).contains("2012-10-01 至 2012-10-11：收益"), "{}", content(&told));
    assert!(
        content(&told).contains(&format!("2012-10-01 至 2012-10-03 此前已由任务 {first} 完成")),
        "{}",
        content(&told)
    );
    desk.stop().await;
    other.stop().await;
}

/// Goal: the number of plans is the total, not the page size; before a deletion its target and everything
/// deleted with it are named; for a missing item no confirmation is requested.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deletion_names_what_goes() {
    let desk = Desk::new(|_| {}).await;
    for n in 1..=23 {
        let made = desk.world.post("/plans", &json!({ "name": format!("Plan number {n}") })).await;
        assert_eq!(made.status, 201, "{}", made.text);
    }
    let body = json!({ "name": "Run", "instruction": "Backtest house::momentum on AAPL on 2012-10-01." });
    desk.world.post("/plans/3/tasks", &body).await;
    let listed = desk.say(None, "list plans").await;
    assert_eq!(messages(&listed), ["23 plan(s); these are the newest 20"]);
    let listed = desk.say_with(json!({ "message": "列出计划" }), "zh").await;
    assert_eq!(messages(&listed), ["23 个计划，以下为最新的 20 个"]);

    let asked = desk.say(None, "delete plan 3").await;
    let question = asked["metadata"]["pending"][0]["question"].as_str().expect("a question");
    assert!(question.contains("plan 3 “Plan number 3” with its 1 task(s)"), "{question}");
    assert!(content(&asked).contains(question), "{}", content(&asked));
    let asked = desk.say_with(json!({ "message": "删除计划 4" }), "zh").await;
    assert!(content(&asked).contains("计划 4“Plan number 4”及其 0 个任务"), "{}", content(&asked));
    let missing = desk.say(None, "delete plan 99").await;
    assert_eq!(actions(&missing), [("delete_plan".to_owned(), Some(false))], "{missing:#}");
    assert!(content(&missing).contains("there is no plan 99"), "{}", content(&missing));
    let missing = desk.say_with(json!({ "message": "删除计划 99" }), "zh").await;
    assert!(content(&missing).contains("没有计划 99"), "{}", content(&missing));
    desk.stop().await;
}

/// Goal: a model's mistakes are reported to the user in the conversation's language.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_are_in_the_persons_language() {
    let wrong = json!({ "llm_reply": { "message": "…" }, "actions": [
        { "kind": "tool_operation", "name": "fly", "parameters": {} },
        { "kind": "plan_operation", "name": "create_plan", "parameters": {} },
        { "kind": "task_operation", "name": "show_tasks", "parameters": { "plan_id": 7 } },
    ] });
    let answers = || {
        let done = json!({ "llm_reply": { "message": "." }, "actions": [] });
        [ScriptedAnswer::text(wrong.to_string()), ScriptedAnswer::text(done.to_string())]
    };
    let server = ModelServer::scripted(answers().into_iter().chain(answers())).await;
    let desk = Desk::scripted(&server, |_| {}).await;
    let told = desk.say_with(json!({ "message": "你好，请飞" }), "zh").await;
    assert_eq!(messages(&told), ["没有动作 `fly`", "缺少 `name`", "没有计划 7"]);
    let told = desk.say_with(json!({ "message": "Hello, fly" }), "en").await;
    let said = messages(&told);
    assert_eq!((said[0], said[2]), ("unknown action `fly`", "there is no plan 7"));
    assert!(said[1].starts_with("`name` is missing: "), "{said:?}");
    desk.stop().await;
}
