//! Full conversations with the assistant through the API.

use crate::assistant_support::{Desk, Searched, actions, pages, searching};
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use serde_json::{Value, json};

/// What a user wants executed as a plan.
const PLAN: &str = "Create a plan Autumn: Backtest house::momentum on AAPL and IBM from 2012-10-01 to \
    2012-10-05, compare it with buy and hold, search memory for AAPL; search the web for Apple news; then \
    decompose it and execute it";

/// Goal: with the house assistant a plan is created, decomposed and executed (a backtest on the bundled data,
/// a comparison, a memory search, a web search), the answer summarizes it, plan and log contain all of it,
/// and a restart loses nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_is_made_decomposed_and_executed() {
    let web = Searched::answering(pages()).await;
    let desk = Desk::new(|config| searching(config, &web.url)).await;
    let answer = desk.say(None, PLAN).await;
    let done = |name: &str| (name.to_owned(), Some(true));
    assert_eq!(
        actions(&answer),
        [done("create_plan"), done("decompose_task"), done("execute_plan")],
        "{answer:#}"
    );
    let content = answer["content"].as_str().expect("words");
    assert!(content.contains("Actions:\n1. plan_operation/create_plan → succeeded"), "{content}");
    assert_eq!(answer["metadata"]["type"], "job_log");

    let plans = desk.world.good("/plans").await;
    let plan = &plans["plans"][0];
    assert_eq!((&plan["name"], &plan["status"]), (&json!("Autumn"), &json!("completed")), "{plans:#}");
    let id = plan["id"].as_i64().expect("an id");
    let tasks = desk.world.good(&format!("/plans/{id}/tasks")).await;
    let tasks = tasks["tasks"].as_array().expect("tasks");
    let names: Vec<&str> = tasks.iter().filter_map(|task| task["name"].as_str()).collect();
    assert_eq!(names, ["Run the backtest", "Compare", "Search memory", "Search the web"]);
    assert!(tasks.iter().all(|task| task["status"] == "completed"), "{tasks:#?}");
    let compared = tasks[1]["execution_result"]["message"].as_str().expect("a result");
    assert!(compared.contains("buy_and_hold over the same days: return "), "{compared}");
    assert_eq!(tasks[1]["dependencies"], json!([tasks[0]["id"]]));
    assert_eq!(web.asked().len(), 1, "the web was searched once");

    let job = answer["job_id"].as_str().expect("a job");
    let log = desk.world.good(&format!("/plans/{id}/jobs/{job}")).await;
    let states: Vec<(String, String)> = log["logs"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| (row["action_name"].to_string(), row["status"].to_string()))
        .filter(|(name, _)| name.contains("create_plan"))
        .collect();
    assert_eq!(states.len(), 2, "a row before it and one after: {log:#}");
    let jobs = desk.world.good("/jobs").await;
    let simulations =
        jobs["jobs"].as_array().expect("jobs").iter().filter(|job| job["kind"] == "simulate").count();
    assert_eq!(simulations, 1);

    let session = answer["session_id"].as_str().expect("a session").to_owned();
    let desk = desk.restarted().await;
    let talk = desk.world.good(&format!("/chat/sessions/{session}")).await;
    assert_eq!(talk["messages"][0], answer, "the conversation is as it was");
    assert_eq!(talk["session"]["plan_id"], id);
    let status = desk.say(Some(&session), "status of the plan").await;
    assert!(status["content"].as_str().expect("words").contains("completed"), "{status:#}");
    desk.stop().await;
}

/// Goal: a deletion waits for the user's confirmation, another message drops it, and an ID confirms as well.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleting_asks_first() {
    let desk = Desk::new(|_| {}).await;
    let made = desk.say(None, "Create a plan Short: look at IBM").await;
    let session = made["session_id"].as_str().expect("a session");
    let plan = desk.world.good("/plans").await["plans"][0]["id"].as_i64().expect("an id");
    let asked = desk.say(Some(session), &format!("delete plan {plan}")).await;
    assert_eq!(actions(&asked), [("delete_plan".to_owned(), None)]);
    assert!(asked["content"].as_str().expect("words").contains("Answer yes to confirm"), "{asked:#}");
    assert_eq!(desk.world.get(&format!("/plans/{plan}")).await.status, 200, "it is there until confirmed");

    desk.say(Some(session), "list plans").await;
    desk.say(Some(session), "yes").await;
    assert_eq!(desk.world.get(&format!("/plans/{plan}")).await.status, 200, "another message let it go");

    let asked = desk.say(Some(session), &format!("delete plan {plan}")).await;
    let id = asked["metadata"]["pending"][0]["id"].clone();
    let body =
        json!({ "message": "Do what I confirm.", "session_id": session, "context": { "confirm": [id] } });
    let done = desk.say_with(body, "en").await;
    assert_eq!(actions(&done), [("delete_plan".to_owned(), Some(true))], "{done:#}");
    assert_eq!(desk.world.get(&format!("/plans/{plan}")).await.status, 404);
    desk.stop().await;
}

/// Goal: the specification's complete example works in English and in Chinese: a backtest, a comparison and
/// the reasons for the loss, from the database.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backtest_is_run_compared_and_explained() {
    let desk = Desk::new(|_| {}).await;
    let answer = desk
        .say(
            None,
            "Backtest the cautious trader on IBM and AAPL from 2012-11-01 to 2012-11-16, compare it with buy \
             and hold, and tell me why it lost in November",
        )
        .await;
    let names: Vec<String> = actions(&answer).into_iter().map(|(name, _)| name).collect();
    let expected = ["run_simulation", "compare_runs", "job_status", "query_results", "query_reasoning"];
    assert_eq!(names[..5], expected, "{answer:#}");
    let content = answer["content"].as_str().expect("words");
    for part in [
        "Understood: backtest house::contrarian on IBM, AAPL from 2012-11-01 to 2012-11-16",
        "buy_and_hold over the same days",
        "worst day 2012-11-",
        "Thesis of AAPL (long), written on 2012-11-05",
        "rule-based stand-in",
    ] {
        assert!(content.contains(part), "{part}: {content}");
    }
    let chinese = json!({ "message": "回测动量交易员，标的 AAPL，2012年10月，并与买入持有比较" });
    let answer = desk.say_with(chinese, "zh-CN").await;
    let content = answer["content"].as_str().expect("words");
    assert!(
        content.contains("同期买入持有") && content.contains("：已完成") && content.contains("动作摘要："),
        "{content}"
    );
    assert_eq!(answer["metadata"]["actions_summary"][0]["display"], "tool_operation/run_simulation → 成功");
    desk.stop().await;
}

fn answer(message: &str, actions: Value) -> ScriptedAnswer {
    let reply = json!({ "llm_reply": { "message": message }, "actions": actions });
    // Models often add text around the object.
    ScriptedAnswer::text(format!("Here it is:\n```json\n{reply}\n```"))
}

/// Goal: over a language model's wire format, typical mistakes (an unknown action, a malformed one and an
/// answer that is not JSON) become failed actions that the model can read; spending after reading text from
/// the web waits for the user.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_models_faults_are_told_and_spending_after_the_web_asks() {
    let server = ModelServer::scripted([
        answer(
            "I begin.",
            json!([
                { "kind": "tool_operation", "name": "fly", "parameters": {}, "order": 1 },
                { "kind": "plan_operation", "name": "create_plan", "parameters": { "goal": "no name" }, "order": 2 },
                { "kind": "plan_operation", "name": "create_plan", "parameters": { "name": "P" }, "order": 4 },
                { "kind": "tool_operation", "name": "web_search", "parameters": { "query": "apple" }, "order": 3, "blocking": false },
            ]),
        ),
        ScriptedAnswer::text("{\"llm_reply\": {\"message\": \"oops\"}, \"actions\": [}"),
        answer(
            "Now the run.",
            json!([{ "kind": "tool_operation", "name": "run_simulation", "order": 1,
                "parameters": { "start_date": "2012-10-01", "end_date": "2012-10-02", "models": ["house::momentum"], "symbols": "AAPL" } }]),
        ),
        answer("Shall I?", json!([])),
        answer("It is done.", json!([])),
    ])
    .await;
    let web = Searched::answering(pages()).await;
    let desk = Desk::scripted(&server, |config| searching(config, &web.url)).await;
    let asked = desk.say(None, "Look at Apple, then run it.").await;
    let found = actions(&asked);
    let expected = [
        ("fly", Some(false)),
        ("create_plan", Some(false)),
        ("web_search", Some(true)),
        ("create_plan", Some(true)),
        ("unreadable_answer", Some(false)),
        ("run_simulation", None),
    ];
    let expected: Vec<(String, Option<bool>)> =
        expected.into_iter().map(|(name, success)| (name.to_owned(), success)).collect();
    assert_eq!(found, expected, "{asked:#}");
    let told = server.requests()[1].body["messages"].to_string();
    for part in ["unknown action `fly`", "`name` is missing", "Shares fell in October"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let session = asked["session_id"].as_str().expect("a session");
    let simulations = "/jobs?kind=simulate";
    assert_eq!(desk.world.good(simulations).await["count"], 0, "nothing was spent");

    let done = desk.say(Some(session), "Yes!").await;
    assert_eq!(actions(&done), [("run_simulation".to_owned(), Some(true))], "{done:#}");
    assert_eq!(desk.world.good(simulations).await["count"], 1);
    let told = server.requests()[4].body["messages"].to_string();
    assert!(told.contains("The user confirmed the pending actions"), "{told}");
    desk.stop().await;
}

/// Goal: native tool calls are actions too, each with its own result.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn native_tool_calls_are_actions() {
    let server = ModelServer::scripted([
        ScriptedAnswer::call("a", "create_plan", r#"{"name": "Native"}"#),
        ScriptedAnswer::call("b", "create_task", r#"{"name": "First"}"#),
        ScriptedAnswer::text("The plan Native has one task."),
    ])
    .await;
    let desk = Desk::scripted(&server, |config| {
        config.chat.reply_format = papertape_assistant::settings::ReplyFormat::Tools;
        config.settings.chat.include_action_summary = false;
    })
    .await;
    let done = desk.say(None, "A plan with one task, please.").await;
    assert_eq!(
        actions(&done),
        [("create_plan".to_owned(), Some(true)), ("create_task".to_owned(), Some(true))],
        "the conversation's plan is the task's: {done:#}"
    );
    assert_eq!(done["content"], "The plan Native has one task.");
    let requests = server.requests();
    let offered = requests[0].body["tools"].as_array().expect("tools");
    assert!(offered.iter().any(|tool| tool["function"]["name"] == "web_search"));
    let answered = requests[1].body["messages"].to_string();
    assert!(answered.contains("\"tool_call_id\""), "{answered}");
    desk.stop().await;
}

/// Goal: a turn has a budget; when it is used up, a message says so, and the job's state shows it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_has_a_budget() {
    let desk = Desk::new(|config| config.chat.budget.tokens = Some(10)).await;
    let answer = desk.say(None, "help").await;
    let content = answer["content"].as_str().expect("words");
    assert!(content.contains("budget exhausted"), "{content}");
    let job = desk.world.good(&format!("/jobs/{}", answer["job_id"].as_str().expect("a job"))).await;
    assert_eq!(job["job"]["status"], "failed");
    desk.stop().await;
}

/// Goal: an invalid message is rejected with its field, and a conversation accepts one message at a time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_messages_are_refused() {
    let desk = Desk::new(|_| {}).await;
    let check = async |body: Value, status: u16, told: &str| {
        let answer = desk.world.post("/chat/message", &body).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.text);
        assert!(answer.text.contains(told), "{body}: {}", answer.text);
    };
    check(json!({ "message": " " }), 400, "message: it is empty").await;
    check(json!({ "message": "x".repeat(20_001) }), 400, "message: it has more than").await;
    check(json!({ "message": "a\u{0}b" }), 400, "NUL").await;
    check(json!({ "message": "a", "session_id": "nobody" }), 404, "there is no conversation nobody").await;
    check(json!({ "message": "a", "plan_id": 77 }), 404, "there is no plan 77").await;
    check(json!({ "message": "a", "context": [] }), 400, "context").await;
    check(json!({ "message": "a", "what": 1 }), 400, "what").await;
    assert_eq!(desk.world.get("/chat/sessions/none").await.status, 404);
    let none = desk.world.post("/plans/9/decompose", &json!({})).await;
    assert_eq!(none.status, 404, "{}", none.text);
    let wrong = desk.world.post("/plans/9/decompose", &json!({ "max_depth": 9 })).await;
    assert_eq!(wrong.status, 400, "{}", wrong.text);
    desk.stop().await;
}

/// Goal: deltas reach a subscriber while the answer is written, without the surrounding JSON, without an ID,
/// and before the job's end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn words_are_heard_as_they_are_written() {
    let words: String = (0..400).map(|n| format!("papertapes-{n} ")).collect();
    let reply = json!({ "llm_reply": { "message": words }, "actions": [] }).to_string();
    let server = ModelServer::scripted([ScriptedAnswer::text(reply)]).await;
    let desk = Desk::scripted(&server, |_| {}).await;
    let taken = desk.take(json!({ "message": "Speak." }), "en").await;
    let job = taken["job_id"].as_str().expect("a job");
    let mut heard = String::new();
    for (name, id, data) in desk.told(job).await {
        if name == "delta" {
            assert_eq!(id, None);
            heard.push_str(data["event"]["text"].as_str().expect("a text"));
        }
    }
    // Some deltas may be lost, and only text is received.
    assert!(heard.split_whitespace().all(|word| word.contains("papertapes-")), "{heard}");
    assert!(!heard.contains("llm_reply"), "{heard}");
    desk.stop().await;
}

/// Goal: a plan is executed, and decomposed, by one job at a time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_is_worked_on_by_one_job_of_a_kind() {
    let world = crate::api_support::World::empty().await;
    let made = world.post("/plans", &json!({ "name": "P", "goal": "Look at IBM" })).await;
    let plan = made.json()["plan"]["id"].as_i64().expect("an id");
    let execute = format!("/plans/{plan}/execute");
    let empty = world.post(&execute, &json!({})).await;
    assert_eq!(empty.status, 409, "nothing done is no success: {}", empty.text);
    let task = json!({ "name": "Bars", "instruction": "What is the price of AAPL in October 2012?" });
    assert_eq!(world.post(&format!("/plans/{plan}/tasks"), &task).await.status, 201);
    let queued = world.post(&execute, &json!({})).await;
    assert_eq!(queued.status, 202, "{}", queued.text);
    let again = world.post(&execute, &json!({})).await;
    assert_eq!(again.status, 409, "{}", again.text);
    let decompose = format!("/plans/{plan}/decompose");
    let beside = world.post(&decompose, &json!({})).await;
    assert_eq!(beside.status, 409, "what is executed is not decomposed beside: {}", beside.text);
    let job = queued.json()["job_id"].as_str().expect("a job").to_owned();
    world.work(&job).await;
    let twice = world.post(&decompose, &json!({})).await;
    assert!(twice.status == 409 && twice.text.contains("has tasks"), "nothing is made twice: {}", twice.text);
    assert_eq!(world.post(&execute, &json!({})).await.status, 202, "the first has ended");
    let found = world.good(&format!("/plans/{plan}/jobs/{job}")).await;
    assert_eq!(found["job"]["status"], "completed", "a plan without tasks has nothing left to do: {found:#}");
}
