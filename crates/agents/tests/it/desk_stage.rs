//! Shared helpers for the tests of a desk: a desk on small data, and a model that plays every role.

use crate::stage::{Day, Stage, call, data};
use papertape_agents::config::AgentConfig;
use papertape_agents::day::StartState;
use papertape_core::message::{ModelReply, ModelRequest};
use papertape_core::tape::{SessionStop, StepPath};
use papertape_testkit::clock::FakeClock;
use papertape_testkit::host::{Act, MemoryHost};
use papertape_testkit::kept::StoredSnapshot;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// The nodes of an undisturbed symbol in graph order.
pub(crate) const NODES: [&str; 12] = [
    "Market Analyst#1",
    "Sentiment Analyst#1",
    "News Analyst#1",
    "Fundamentals Analyst#1",
    "Bull Researcher#1",
    "Bear Researcher#1",
    "Research Manager#1",
    "Trader#1",
    "Aggressive Analyst#1",
    "Conservative Analyst#1",
    "Neutral Analyst#1",
    "Portfolio Manager#1",
];

/// A desk over AAPL and IBM.
pub(crate) fn desk() -> Stage {
    let mut stage = Stage::new(data());
    let model = "openai::gpt-5".parse().expect("a model's name");
    stage.agent = AgentConfig::desk("desk".into(), model);
    stage
}

/// A desk with only AAPL.
pub(crate) fn one_symbol() -> Stage {
    let mut stage = desk();
    stage.symbols = ["AAPL"].map(papertape_core::id::Symbol::new).into();
    stage
}

pub(crate) fn plan(rating: &str) -> Value {
    json!({ "recommendation": rating, "rationale": "Bull has the numbers.", "strategic_actions": "Enter at the open." })
}

pub(crate) fn proposal(action: &str) -> Value {
    json!({
        "action": action, "reasoning": "The plan says so.", "entry_price": null, "stop_loss": null,
        "take_profit": null, "leverage": null, "position_sizing": null
    })
}

pub(crate) fn decision(rating: &str) -> Value {
    json!({
        "rating": rating, "executive_summary": "We go on.", "investment_thesis": "The trend is up.",
        "price_target": null, "time_horizon": "two weeks"
    })
}

/// The usual answers of every role: one data read, arguments with their round, a Buy.
pub(crate) fn usual(path: &StepPath, request: &ModelRequest) -> Act<ModelReply> {
    let node = path.node();
    let first = path.as_str().ends_with("/model#1");
    let symbol = path.as_str().split('/').next().unwrap_or_default();
    match node {
        "Market Analyst#1" if first => call("get_snapshot", json!({ "symbol": symbol })),
        "Sentiment Analyst#1" | "News Analyst#1" if first => call("get_news", json!({ "symbol": symbol })),
        "Fundamentals Analyst#1" if first => call("get_statements", json!({ "symbol": symbol })),
        "Research Manager#1" => Act::text(plan("Buy").to_string()),
        "Trader#1" => Act::text(proposal("Buy").to_string()),
        "Portfolio Manager#1" => Act::text(decision("Buy").to_string()),
        _ => {
            assert!(request.response_schema.is_none(), "{path} needs no form");
            Act::text(format!("{symbol} {node} says so."))
        }
    }
}

/// Runs the second day of a desk.
pub(crate) fn run(
    stage: &Stage,
    model: impl Fn(&StepPath, &ModelRequest) -> Act<ModelReply> + Send + Sync + 'static,
) -> Day {
    let clock = FakeClock::new();
    run_timed(stage, &clock, model)
}

/// The same with a clock that the caller can read.
pub(crate) fn run_timed(
    stage: &Stage,
    clock: &FakeClock,
    model: impl Fn(&StepPath, &ModelRequest) -> Act<ModelReply> + Send + Sync + 'static,
) -> Day {
    let kept: Arc<Mutex<StoredSnapshot>> = Arc::default();
    let host = MemoryHost::new(clock, &kept, model);
    on(stage, clock, &kept, host, stage.start()).unwrap_or_else(|stop| panic!("the day stopped: {stop}"))
}

/// Runs the second day on the recorded tape.
pub(crate) fn on(
    stage: &Stage,
    clock: &FakeClock,
    kept: &Arc<Mutex<StoredSnapshot>>,
    host: MemoryHost,
    start: StartState,
) -> Result<Day, SessionStop> {
    stage.run(1, start, clock, kept, host)
}

impl Day {
    /// The session's metadata.
    pub(crate) fn metadata(&self) -> &Value {
        &self.result.closing.metadata
    }

    /// One symbol's whole state, read back by its hash.
    pub(crate) fn state(&self, symbol: &str) -> Value {
        let hash = self.metadata()["by_symbol"][symbol]["state"].as_str().expect("a reference");
        let hash = papertape_core::id::ContentHash::from_hex(hash).expect("a hash");
        self.kept.document(hash).expect("the state is kept")
    }

    /// The model calls, in order.
    pub(crate) fn calls(&self) -> Vec<String> {
        let trace = self.host.trace();
        trace.iter().filter_map(|line| line.strip_prefix("call ").map(str::to_owned)).collect()
    }

    /// The node steps of a symbol: arguments and outcome.
    pub(crate) fn nodes(&self, symbol: &str) -> Vec<(Value, Value)> {
        let of = |step: &&papertape_testkit::kept::KeptStep| {
            step.path.kind() == "node" && step.path.scope() == symbol
        };
        let read = |step: &papertape_testkit::kept::KeptStep| {
            let asked = self.kept.document(step.request_ref).expect("it is kept");
            let outcome = self.kept.document(step.outcome_ref.expect("it has ended")).expect("it is kept");
            (asked, outcome)
        };
        self.kept.steps.iter().filter(of).map(read).collect()
    }

    /// A step's request to its model.
    pub(crate) fn first_call(&self, path: &str) -> Value {
        let step = self.kept.step(path).unwrap_or_else(|| panic!("{path} was asked"));
        self.kept.document(step.request_ref).expect("it is kept")
    }

    /// The task of a node: the first message of its conversation.
    pub(crate) fn task(&self, node: &str) -> String {
        let request = self.first_call(&format!("{node}/model#1"));
        request["messages"][0]["content"].as_str().expect("a text").to_owned()
    }

    /// The system prompt of a node.
    pub(crate) fn instructions(&self, node: &str) -> String {
        self.first_call(&format!("{node}/model#1"))["instructions"].as_str().expect("a text").to_owned()
    }
}
