//! Shared helpers for the tests of a day.

use papertape_agents::config::{AgentConfig, MemorySettings};
use papertape_agents::day::{DayResult, StartState, run_day};
use papertape_agents::day_input::{AgentOverride, DayInput};
use papertape_agents::prompt::PromptSet;
use papertape_agents::universe::symbols_of;
use papertape_core::broker::MarketProfile;
use papertape_core::fence::unfenced;
use papertape_core::id::Symbol;
use papertape_core::market::{Dataset, Listed};
use papertape_core::message::{Message, ModelName, ModelReply, ModelRequest, ToolCall};
use papertape_core::money::Money;
use papertape_core::record::{DerivedRow, OrderRow, PositionRow, Write};
use papertape_core::tape::{SessionRun, SessionStop, StepPath, Tape};
use papertape_redact::Redactor;
use papertape_testkit::clock::FakeClock;
use papertape_testkit::data::SmallData;
use papertape_testkit::host::{Act, MemoryHost};
use papertape_testkit::kept::StoredSnapshot;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// AAPL over five days, with (open, high, low, close).
pub(crate) const AAPL: [[&str; 4]; 5] = [
    ["100", "110", "90", "105"],
    ["106", "112", "104", "110"],
    ["111", "115", "108", "112"],
    ["50", "56", "48", "55"],
    ["56", "60", "54", "58"],
];

pub(crate) fn data() -> SmallData {
    SmallData::new("2024-01-02", 5).symbol("AAPL", &AAPL).symbol("IBM", &[["10", "11", "9", "10"]; 2])
}

/// A trader, its market and the data.
pub(crate) struct Stage {
    pub(crate) agent: AgentConfig,
    pub(crate) profile: MarketProfile,
    pub(crate) prompts: PromptSet,
    pub(crate) data: Dataset,
    pub(crate) symbols: BTreeSet<Symbol>,
    /// The index whose members may be traded.
    pub(crate) universe: Option<String>,
    pub(crate) cash: i64,
    pub(crate) memory: MemorySettings,
    pub(crate) embedding: Option<ModelName>,
    /// The changes made by a branch.
    pub(crate) changes: Vec<AgentOverride>,
}

/// A completed day.
pub(crate) struct Day {
    pub(crate) result: DayResult,
    pub(crate) kept: StoredSnapshot,
    pub(crate) host: Arc<MemoryHost>,
}

impl Stage {
    pub(crate) fn new(data: SmallData) -> Self {
        let model = "openai::gpt-5".parse().expect("a model's name");
        Self {
            agent: AgentConfig::solo("gpt".into(), model),
            profile: MarketProfile::us_equity().frictionless(),
            prompts: PromptSet::built_in(),
            data: data.build(),
            symbols: ["AAPL", "IBM"].map(Symbol::new).into(),
            universe: None,
            cash: 10_000,
            memory: MemorySettings::off(),
            embedding: None,
            changes: Vec::new(),
        }
    }

    /// The tradable symbols on the nth day.
    pub(crate) fn listed(&self, n: usize) -> Listed {
        self.data.view(self.data.days()[n].open).listed(&self.symbols)
    }

    pub(crate) fn start(&self) -> StartState {
        StartState::new(&self.agent, self.profile.clone(), Money(Decimal::from(self.cash)), 7)
    }

    /// The nth day, from 0, with a model that answers its nth request with the nth reply.
    pub(crate) fn day(&self, n: usize, start: StartState, replies: Vec<Act<ModelReply>>) -> Day {
        self.day_with(n, start, move |question, _| replies.get(question - 1).cloned().unwrap_or_else(done))
    }

    /// The nth day with a model that gets its request's number, from 1, and the request.
    pub(crate) fn day_with(
        &self,
        n: usize,
        start: StartState,
        model: impl Fn(usize, &ModelRequest) -> Act<ModelReply> + Send + Sync + 'static,
    ) -> Day {
        let kept: Arc<Mutex<StoredSnapshot>> = Arc::default();
        let clock = FakeClock::new();
        let host = MemoryHost::new(&clock, &kept, move |path, request| model(number(path), request));
        self.run(n, start, &clock, &kept, host).unwrap_or_else(|stop| panic!("the day stopped: {stop}"))
    }

    /// Runs the nth day on the recorded tape.
    pub(crate) fn run(
        &self,
        n: usize,
        start: StartState,
        clock: &FakeClock,
        kept: &Arc<Mutex<StoredSnapshot>>,
        host: MemoryHost,
    ) -> Result<Day, SessionStop> {
        let tape = Tape::new(kept.lock().expect("a lock").rows());
        self.run_on(tape, n, start, clock, kept, host)
    }

    pub(crate) fn run_on(
        &self,
        tape: Tape,
        n: usize,
        start: StartState,
        clock: &FakeClock,
        kept: &Arc<Mutex<StoredSnapshot>>,
        host: MemoryHost,
    ) -> Result<Day, SessionStop> {
        let host = Arc::new(host);
        let day = self.data.days()[n];
        let redactor = Arc::new(Redactor::new(Vec::new()).expect("a redactor"));
        let seed = start.day_seed(&self.agent, day.date);
        let session_host: Arc<MemoryHost> = Arc::clone(&host);
        let session = SessionRun::new(session_host, tape, redactor, seed);
        let universe = self.universe.as_deref();
        let symbols = symbols_of((&self.data, day), universe, &self.symbols, &start.books);
        let input = DayInput {
            agent: &self.agent,
            changes: &self.changes,
            house_versions: &BTreeMap::new(),
            prompts: &self.prompts,
            symbols: &symbols,
            universe,
            dataset: &self.data,
            day,
            last: n + 1 == self.data.days().len(),
            memory: self.memory,
            embedding: self.embedding.as_ref(),
            recorded: None,
        };
        let result = clock.run(async {
            let mut root = session.root();
            let result = run_day(&mut root, &input, start).await?;
            let mut writes: Vec<Write> = result.texts.iter().cloned().map(Write::Text).collect();
            writes.extend(result.vectors.iter().cloned().map(Write::Vector));
            writes.push(Write::Text(result.closing.state.clone()));
            writes.push(Write::CloseSession(Box::new(result.closing.clone())));
            session.finish(writes).await?;
            Ok(result)
        })?;
        let kept = kept.lock().expect("a lock").clone();
        Ok(Day { result, kept, host })
    }

    /// The result that the model gets when it calls a tool on the nth day.
    pub(crate) fn told(&self, n: usize, tool: &str, arguments: Value) -> Value {
        let day = self.day(n, self.start(), vec![call(tool, arguments)]);
        serde_json::from_str(&day.told()[0]).expect("a tool answers with JSON")
    }
}

impl Day {
    /// The tools' results, in order, without the fences.
    pub(crate) fn told(&self) -> Vec<String> {
        let told = self.told_fenced().into_iter();
        told.map(|told| unfenced(&told).unwrap_or(told)).collect()
    }

    /// The tools' results, in order.
    pub(crate) fn told_fenced(&self) -> Vec<String> {
        let messages = self.kept.messages().into_iter();
        messages.filter(|(role, _)| role == "tool").map(|(_, content)| content).collect()
    }

    /// The day's question.
    pub(crate) fn question(&self) -> String {
        let mut messages = self.kept.messages().into_iter();
        messages.find(|(role, _)| role == "user").map(|(_, content)| content).expect("a question")
    }

    pub(crate) fn orders(&self) -> Vec<OrderRow> {
        self.rows(|row| match row {
            DerivedRow::Order(order) => Some(OrderRow::clone(order)),
            _ => None,
        })
    }

    pub(crate) fn positions(&self) -> Vec<PositionRow> {
        self.rows(|row| match row {
            DerivedRow::Position(position) => Some(position.clone()),
            _ => None,
        })
    }

    pub(crate) fn rows<T>(&self, of: impl Fn(&DerivedRow) -> Option<T>) -> Vec<T> {
        self.kept.implied().into_iter().filter_map(of).collect()
    }

    pub(crate) fn conversation(&self) -> &Value {
        &self.result.closing.metadata["conversation"]
    }

    /// The nth request to the model, from 1.
    pub(crate) fn request(&self, n: usize) -> Value {
        let step = self.kept.step(&format!("solo#1/model#{n}")).expect("it was asked");
        self.kept.document(step.request_ref).expect("it is kept")
    }
}

fn number(path: &StepPath) -> usize {
    path.as_str().rsplit('#').next().and_then(|n| n.parse().ok()).expect("a step's number")
}

pub(crate) fn call(tool: &str, arguments: Value) -> Act<ModelReply> {
    calls(&[(tool, arguments)])
}

pub(crate) fn calls(list: &[(&str, Value)]) -> Act<ModelReply> {
    let call = |(at, (name, arguments)): (usize, &(&str, Value))| ToolCall {
        id: format!("call_{at}"),
        name: (*name).to_owned(),
        arguments: arguments.clone(),
    };
    let tool_calls = list.iter().enumerate().map(call).collect();
    Act::Answer(ModelReply { text: "Because.".to_owned(), tool_calls, ..ModelReply::default() })
}

pub(crate) fn done() -> Act<ModelReply> {
    Act::text("Done. <FINISH_SIGNAL>")
}

pub(crate) fn buy(symbol: &str, quantity: i64) -> Act<ModelReply> {
    call("buy", json!({ "symbol": symbol, "quantity": quantity, "reason": "it is cheap" }))
}

pub(crate) fn last(request: &ModelRequest) -> &str {
    request.messages.last().map_or("", Message::content)
}
