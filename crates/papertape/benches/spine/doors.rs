//! The days of a solo agent again, but of an external agent that makes the same model calls through the model endpoint and
//! the same tool calls as requests over stdio: the product's own CPU time, next to that of its own solo agent. Then again
//! of one that has tools of its own and makes the model calls only.
//!
//! The agent and the model server are processes of their own, whose costs are in no figure.

use crate::product;
use futures::FutureExt as _;
use papertape_core::json::to_value;
use papertape_core::time::Date;
use papertape_runtime::simulate::NoopObserver;
use papertape_service::app::{Access, App};
use papertape_service::config::ExternalAgent;
use papertape_service::trigger::{Request, request_of_json};
use papertape_testkit::bench::server::{Conversation, ServerProcess};
use papertape_testkit::bench::{BenchTarget, ROUNDS, Series, Table, Timed, Unit, median_fsync};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::time::Duration;
use tokio::runtime::Runtime;

const START: Date = jiff::civil::date(2012, 1, 3);
const END: Date = jiff::civil::date(2012, 5, 24);
/// The maximum CPU seconds per model call through the endpoint.
const AIM: f64 = 0.002;
/// The maximum ratio to a call of our own solo agent, with its tool call.
const RATIO: f64 = 1.3;
/// The argument that turns this program into the agent, followed by the file with its [`Script`].
const ARGUMENT: &str = "--external-agent";
/// Providers, which are also the names of the agents.
const WAYS: [(&str, &str); 2] = [("streamed", "streamed answers"), ("whole", "whole answers")];
/// External agents of each way: where their tool results come from.
const AGENTS: [(&str, &str); 2] =
    [("", "through the endpoint, with its tool call over stdio"), ("-alone", "through the endpoint, alone")];

/// What an external agent does on a day.
#[derive(Serialize, Deserialize)]
struct Script {
    request: Value,
    /// The results of its tools, in order; `None`: it asks for them.
    tools: Option<Vec<Value>>,
}

pub(crate) fn run() {
    let dir = product::directory();
    let _ = median_fsync(dir.path());
    let runtime = product::runtime();
    let mut table = Table::default();
    for conversation in [Conversation::Short, Conversation::Long] {
        measure(&runtime, conversation, &mut table);
    }
    table.print();
}

fn measure(runtime: &Runtime, conversation: Conversation, table: &mut Table) {
    let dir = product::directory();
    let server = ServerProcess::start(Duration::ZERO, conversation);
    let talk = runtime.block_on(product::Talk::record(conversation));
    let app = runtime.block_on(open(dir.path(), server.url(), &talk));

    // Of the external agents, then of our own, each in both ways.
    let mut cpu: [Series; 6] = Default::default();
    let (mut days, mut all, mut steps) = (0, 0, 0);
    // The first round is a warm-up.
    for round in 0..=ROUNDS {
        let external =
            AGENTS.map(|(of, _)| WAYS.map(|(provider, _)| through_doors(&format!("{provider}{of}"), round)));
        let own = WAYS.map(|(provider, _)| {
            product::request(provider, &[format!("own-{provider}-{round}")], START, END)
        });
        for (which, request) in external.into_iter().flatten().chain(own).enumerate() {
            let (job, queued) = runtime.block_on(product::queue(&app, request));
            days = queued;
            steps += days * steps_of_day(conversation, which) as usize;
            all += days;
            let timed = Timed::start();
            runtime.block_on(product::work_observed(&app, &job, &NoopObserver));
            let (_, processor) = timed.end();
            if round > 0 {
                cpu[which]
                    .push(processor.as_secs_f64() / (days * conversation.model_calls() as usize) as f64);
            }
        }
        runtime.block_on(check(&app, all, steps));
    }
    let calls = conversation.model_calls();
    println!(
        "{days} model-days a round, of {calls} model calls and {} tool calls each",
        conversation.tool_calls()
    );
    for (which, measured) in cpu[..4].iter().enumerate() {
        let (of, way) = (AGENTS[which / 2].1, which % 2);
        let what = format!("processor time of a call of {calls} a day {of}, {}", WAYS[way].1);
        let with = Some(("our own solo agent, with its tool call", &cpu[4 + way]));
        table.add(&what, Unit::Millis, measured, with, BenchTarget::To(AIM));
        table.add(format!("{what}, again"), Unit::Millis, measured, with, BenchTarget::RatioTo(RATIO));
    }
}

/// The least steps of a day: every model call, and every tool call unless the agent makes none.
const fn steps_of_day(conversation: Conversation, which: usize) -> u32 {
    let is_alone = which / 2 == 1;
    conversation.model_calls() + if is_alone { 0 } else { conversation.tool_calls() }
}

/// Every model call and every tool call of all days is on the tape.
async fn check(app: &App, days: usize, steps: usize) {
    let counts = app.store.counts().await.expect("counts");
    assert_eq!(counts.rows["trading_sessions"], days as u64, "every day was traded");
    assert!(counts.rows["steps"] >= steps as u64, "{counts:?}");
}

/// The product with its doors, and an external agent for each way.
async fn open(dir: &Path, url: &str, talk: &product::Talk) -> App {
    let mut config = product::config(dir, url, 8);
    for ((provider, _), talk) in WAYS.into_iter().zip([talk.streamed(), talk.clone()]) {
        for ((of, _), tools) in AGENTS.into_iter().zip([None, Some(talk.tools)]) {
            let name = format!("{provider}{of}");
            let file = dir.join(format!("{name}.json"));
            let script = to_value(&Script { request: talk.request.clone(), tools });
            std::fs::write(&file, script.to_string()).expect("writes");
            let own = std::env::current_exe().expect("this program has a path");
            let command = [own.as_os_str(), ARGUMENT.as_ref(), file.as_os_str()];
            let command = command.map(|part| part.to_str().expect("UTF-8").to_owned()).to_vec();
            let models = vec![format!("{provider}::scripted").parse().expect("a model")];
            let agent = ExternalAgent { command, models, ..ExternalAgent::default() };
            config.external_agents.insert(name, agent);
        }
    }
    let app = App::open(config, Access::Own, papertape::integrations()).await.expect("opens");
    let app = app.with_doors(|app, listener| papertape_api::serve_doors(app, listener).boxed());
    app.open_doors().await.expect("they open");
    app
}

/// A simulation of the external agent with the same symbols as the solo agent's.
fn through_doors(name: &str, round: usize) -> Request {
    let agent = json!({ "name": format!("{name}-{round}"), "kind": "external", "external": name });
    let body = json!({ "start_date": START, "end_date": END, "agents": [agent] });
    let agents = request_of_json(&body).expect("a request").agents;
    product::simulation(agents, &["AAPL", "IBM"], START, END)
}

/// Whether this process is to be the agent; if so, trades until its input ends.
pub(crate) fn trade_if_asked() -> bool {
    let mut arguments = std::env::args().skip_while(|argument| argument != ARGUMENT);
    let Some(file) = arguments.nth(1) else { return false };
    let script = std::fs::read(file).expect("reads");
    let script: Script = serde_json::from_slice(&script).expect("is JSON");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("starts");
    let client = product::client();
    while let Some(day) = receive() {
        if day["type"] == "day" {
            runtime.block_on(trade(&client, &day, &script));
        }
    }
    true
}

/// A day: asks the model, does what it says, and passes the results on, until it says no more.
async fn trade(client: &reqwest::Client, day: &Value, script: &Script) {
    let mut request = script.request.clone();
    let doors = &day["doors"];
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let url = format!("{}/chat/completions", text(&doors["model_base_url"]));
    request["model"] = doors["models"][0].clone();
    let mut id = 0;
    loop {
        let message = product::send(client.post(&url).bearer_auth(text(&doors["token"])), &request).await;
        let call = message["tool_calls"][0].clone();
        let said = message["content"].clone();
        let messages = request["messages"].as_array_mut().expect("has messages");
        messages.push(message);
        id += 1;
        if call.is_null() {
            exchange(&json!({ "type": "done", "id": id, "decision": said }));
            return;
        }
        let mut result = match &script.tools {
            Some(tools) => tools[id - 1].clone(),
            None => json!({ "role": "tool", "content": ask(id, &call["function"]).to_string() }),
        };
        result["tool_call_id"] = call["id"].clone();
        messages.push(result);
    }
}

/// Makes a tool call of the model as a request over stdio, and returns its result.
fn ask(id: usize, function: &Value) -> Value {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let name = text(&function["name"]);
    let arguments: BTreeMap<String, Value> =
        serde_json::from_str(&text(&function["arguments"])).expect("is JSON");
    let asked = if name == "buy" {
        let mut order = json!({ "type": "order", "id": id, "side": name });
        for (key, value) in arguments {
            order[key] = value;
        }
        order
    } else {
        json!({ "type": "read", "id": id, "tool": name, "arguments": arguments })
    };
    let mut reply = exchange(&asked);
    assert_eq!(reply["ok"], true, "{reply}");
    reply["result"].take()
}

fn exchange(request: &Value) -> Value {
    let mut output = std::io::stdout().lock();
    output.write_all(format!("{request}\n").as_bytes()).and_then(|()| output.flush()).expect("is read");
    receive().expect("is answered")
}

fn receive() -> Option<Value> {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line).expect("reads");
    (read > 0).then(|| serde_json::from_str(&line).expect("is JSON"))
}
