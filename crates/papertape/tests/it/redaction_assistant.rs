//! Secrets that enter through the assistant (messages to it, responses of models and pages, plans, tasks,
//! errors), and leave nowhere: no file, no log, no response, no stream, no export, nothing that is sent to a
//! model, a search service or a receiver of spans.

use crate::assistant_support::Searched;
use crate::cli_tool::Tool;
use crate::otlp::Receiver;
use crate::redaction_support::{KEY, Net, Planted, Serving, TOOL_SECRET};
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer, Tokens};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A model that outputs all secrets: in text, in actions that are valid, invalid and unknown, in a task's
/// fields, in an unusable answer; or in an error.
struct Telltale {
    all: String,
    pieces: Vec<String>,
    asked: AtomicUsize,
    refuses: AtomicBool,
}

impl Telltale {
    fn answer(&self, body: &Value) -> ScriptedAnswer {
        let all = self.all.as_str();
        if self.refuses.load(Ordering::SeqCst) {
            let error = json!({ "error": { "message": all, "code": "invalid_request", "type": all } });
            return ScriptedAnswer::raw("application/json", error.to_string()).status(400);
        }
        let schema = body["response_format"]["json_schema"]["name"].as_str();
        if schema == Some("children") {
            let child = |name: &String| json!({ "name": name, "instruction": all, "dependencies": [] });
            return text(
                json!({ "children": self.pieces.iter().map(child).collect::<Vec<_>>() }).to_string(),
            );
        }
        match self.asked.fetch_add(1, Ordering::SeqCst) {
            0 => text(json!({ "llm_reply": { "message": all }, "actions": self.actions() }).to_string()),
            1 => text(format!("This is no JSON. {all}")),
            _ => text(json!({ "llm_reply": { "message": all }, "actions": [] }).to_string()),
        }
    }

    fn actions(&self) -> Value {
        let (all, name) = (self.all.as_str(), self.pieces[0].as_str());
        let wanted = [
            ("plan_operation", "create_plan", json!({ "name": name, "goal": all })),
            ("task_operation", "create_task", json!({ "name": name, "instruction": all })),
            ("task_operation", "update_task", json!({ "task_id": all })),
            ("tool_operation", "web_search", json!({ "query": all })),
            ("tool_operation", "search_memory", json!({ "query": all, "symbol": all })),
            ("tool_operation", "job_status", json!({ "job_id": all })),
            ("tool_operation", "market_data", json!({ "symbol": all, "password": KEY })),
            ("tool_operation", "run_simulation", json!({ "end_date": all, "dataset": all })),
            ("tool_operation", name, json!({ "token": all })),
            ("context_request", "request_subgraph", json!({ "query": all })),
        ];
        let action = |((kind, name, parameters), order): ((&str, &str, Value), usize)| {
            json!({ "kind": kind, "name": name, "parameters": parameters, "order": order,
                "metadata": { "secret": all } })
        };
        wanted.into_iter().zip(1..).map(action).collect()
    }
}

fn text(words: String) -> ScriptedAnswer {
    let tokens = Some(Tokens { input: 10, cached: 0, output: 5 });
    ScriptedAnswer::reply(papertape_testkit::model_server::Reply {
        text: words,
        tokens,
        ..Default::default()
    })
}

/// Sends a request and checks the response.
async fn asked(net: &mut Net, place: &str, request: RequestBuilder) -> Value {
    let answer = request.send().await.expect("an answer");
    let status = answer.status();
    let headers = format!("{:?}", answer.headers());
    let text = answer.text().await.expect("text");
    assert!(status.is_success(), "{place}: {status} {text}");
    net.check(place, format!("{headers}{text}"));
    serde_json::from_str(&text).unwrap_or_default()
}

/// Reads a job's stream to its end, as raw bytes.
async fn told(net: &mut Net, client: &Client, url: &str, job: &str) {
    let stream = client.get(format!("{url}/jobs/{job}/stream?after=0")).send().await.expect("an answer");
    let told = stream.bytes().await.expect("it ends");
    assert!(String::from_utf8_lossy(&told).contains("event: end"));
    net.check("the stream", told);
}

/// Goal: whatever a user tells the assistant, and whatever a model or a page returns to it, its secrets are
/// removed before anything is stored, shown, logged or sent on.
#[tokio::test(flavor = "multi_thread")]
async fn secrets_told_to_the_assistant_come_out_nowhere() {
    come_out_nowhere(&Planted::half(0)).await;
}

/// Goal: the same with the other half of the secrets, because a message cannot hold all of them.
#[tokio::test(flavor = "multi_thread")]
async fn other_secrets_told_to_the_assistant_come_out_nowhere() {
    come_out_nowhere(&Planted::half(1)).await;
}

async fn come_out_nowhere(planted: &Planted) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let all = planted.everything();
    let mut net = planted.net();
    let telltale = Arc::new(Telltale {
        all: all.clone(),
        pieces: (0..4).map(|n| planted.piece(3 * n)).collect(),
        asked: AtomicUsize::new(0),
        refuses: AtomicBool::new(false),
    });
    let model = {
        let telltale = Arc::clone(&telltale);
        ModelServer::answering(move |body| telltale.answer(body)).await
    };
    let pages = Searched::answering(json!({ "results": [
        { "title": all, "url": format!("https://pages.example/?api_key={KEY}"), "content": all },
    ] }))
    .await;
    let spans = Receiver::start().await;
    let config = format!(
        "log = 'trace'\n[models.providers.test]\nkind = 'openai_compatible'\nbase_url = '{}'\n\
         api_key_env = 'PLANTED_KEY'\n[chat]\nmodel = 'test::talks'\nmax_attempts = 1\n\
         [tools.desk]\ncommand = ['true']\nenv = ['PLANTED_TOOL_SECRET']\n\
         [web_search]\nservice = 'searxng'\nbase_url = '{}'\napi_key_env = 'PLANTED_KEY'\n\
         [otlp]\nendpoint = '{}'\nexport_interval_secs = 1\nheaders = {{ 'X-Key' = 'PLANTED_KEY' }}\n",
        model.url(),
        pages.url,
        spans.0.url
    );
    let tool =
        Tool::new().configured(&config).with("PLANTED_KEY", KEY).with("PLANTED_TOOL_SECRET", TOOL_SECRET);
    let serving = Serving::start(&tool);
    let url = serving.url.clone();
    let client = Client::new();

    // Manually, then by message, then by a plan's own jobs.
    let name = planted.piece(1);
    let plan = json!({ "name": name, "goal": all });
    let made = asked(&mut net, "a plan", client.post(format!("{url}/plans")).json(&plan)).await;
    let plan = made["plan"]["id"].as_i64().expect("an id");
    let task = json!({ "name": name, "instruction": all });
    let made = asked(&mut net, "a task", client.post(format!("{url}/plans/{plan}/tasks")).json(&task)).await;
    let task = made["task"]["id"].as_i64().expect("an id");
    let patch = json!({ "instruction": format!("Further: {all}") });
    asked(&mut net, "a change", client.patch(format!("{url}/plans/{plan}/tasks/{task}")).json(&patch)).await;
    let message = json!({ "message": all, "plan_id": plan, "context": { "page": all, "api_key": KEY } });
    let say = |message: &Value| client.post(format!("{url}/chat/message")).json(message);
    let taken = asked(&mut net, "a message", say(&message)).await;
    let session = taken["session"]["id"].as_str().expect("an id").to_owned();
    let mut jobs = vec![taken["job_id"].as_str().expect("a job").to_owned()];
    told(&mut net, &client, &url, &jobs[0]).await;
    for (what, body) in [("decompose", json!({ "task_id": task })), ("execute", json!({}))] {
        let begun = client.post(format!("{url}/plans/{plan}/{what}")).json(&body);
        let begun = asked(&mut net, what, begun).await;
        jobs.push(begun["job_id"].as_str().expect("a job").to_owned());
        told(&mut net, &client, &url, jobs.last().expect("one")).await;
    }
    telltale.refuses.store(true, Ordering::SeqCst);
    let message = json!({ "message": format!("Again. {all}"), "session_id": session });
    let taken = asked(&mut net, "a message", say(&message)).await;
    jobs.push(taken["job_id"].as_str().expect("a job").to_owned());
    told(&mut net, &client, &url, jobs.last().expect("one")).await;
    assert!(!pages.asked().is_empty() && telltale.asked.load(Ordering::SeqCst) >= 4, "all was asked");

    // What readers receive.
    let mut paths: Vec<String> =
        ["/jobs", "/plans", "/chat/sessions", "/metrics", "/health"].map(str::to_owned).into();
    paths.extend([format!("/chat/sessions/{session}"), format!("/plans/{plan}")]);
    paths.extend(["tasks", "jobs"].map(|what| format!("/plans/{plan}/{what}")));
    paths.push(format!("/plans/{plan}/tasks/{task}"));
    for job in &jobs {
        paths.push(format!("/jobs/{job}"));
        let of_plan = client.get(format!("{url}/plans/{plan}/jobs/{job}")).send().await.expect("an answer");
        if of_plan.status().is_success() {
            paths.push(format!("/plans/{plan}/jobs/{job}"));
            paths.push(format!("/plans/{plan}/jobs/{job}/actions?limit=500"));
        }
    }
    assert!(paths.iter().any(|path| path.contains("/actions")), "{paths:?}");
    for path in &paths {
        asked(&mut net, path, client.get(format!("{url}{path}"))).await;
    }

    // What is sent elsewhere. Sessions of the assistant have spans as well.
    for request in spans.requests(1).await {
        net.check("the spans", request.to_string());
    }
    for request in model.requests() {
        net.check("what a model is asked", request.body.to_string());
    }
    for request in pages.asked() {
        net.check("what a search service is asked", format!("{}{}", request.uri, request.body));
    }
    net.check_directory(&tool.path("data"));
    let mut commands: Vec<Vec<&str>> = vec![vec!["plans", "--json"], vec!["doctor"], vec!["config", "show"]];
    for job in &jobs {
        commands.push(vec!["actions", job, "--json"]);
        commands.push(vec!["export", "canonical", job]);
        commands.push(vec!["export", "otlp", job]);
        commands.push(vec!["jobs", job, "--json"]);
    }
    for command in commands {
        let done = tool.run(&command);
        net.check(&command.join(" "), format!("{}{}", done.out, done.err));
    }
    serving.stop();
    let file = tool.path("data").join(format!("plans/plan_{plan}.sqlite"));
    assert!(file.is_file(), "the plan has its portable file");
    net.check_directory(&tool.path("data"));
    net.check("the server's log", std::fs::read(tool.path("serve.log")).expect("reads"));
    net.assert_empty(1_000_000);
}
