//! An external agent's day: its requests, one after the other, until it is done. Each is a turn, see
//! [`papertape_core::external`]; what it reads and orders goes through the code behind the tools of a solo trader.

use crate::config::{AgentConfig, ExternalConfig, NormalizeRules};
use crate::memory::TraderOutcome;
use crate::recorded::SAID;
use crate::tools::{self, ToolOutput, calculate, facts, market, portfolio, snapshot, trade};
use papertape_core::broker::Books;
use papertape_core::external::{
    AgentReply, AgentRequest, ErrorCode, Exchange, Nondeterminism, ReplyError, SessionEnding, Turn,
};
use papertape_core::fence::is_blank;
use papertape_core::json::canonical;
use papertape_core::market::{Listed, MarketView};
use papertape_core::message::{CallFailure, FailureKind, Role, ToolCall, ToolSpec};
use papertape_core::provenance::{DataQuality, QualityState, reason};
use papertape_core::record::DerivedRow;
use papertape_core::tape::{
    Ctx, LocalStep, ModelDoor, OutcomeKind, ScopeKey, SessionStop, StepClass, StepPath, ToolInvocation,
    TranscriptMessage,
};
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The version of the messages.
pub const PROTOCOL_VERSION: u32 = 1;
/// Maximum bytes of a line, in either direction.
pub const MAX_LINE_BYTES: usize = 4 << 20;
/// Maximum bytes of a state, as JSON.
pub const MAX_STATE_BYTES: usize = 1 << 20;

/// The suffixes of an external agent's reasons; the others come from how it failed.
pub const EXTERNAL_REASONS: [&str; 3] = [LIMIT, NO_DECISION, NONDETERMINISTIC];
const LIMIT: &str = "limit";
const NO_DECISION: &str = "no_decision";
const NONDETERMINISTIC: &str = "nondeterministic";

/// The input of an external agent's day.
pub struct ExternalInput<'a> {
    /// The agent.
    pub agent: &'a AgentConfig,
    /// The symbols of the day.
    pub symbols: &'a Listed,
    /// The index whose members on the day may be traded; `None`: all of `symbols`.
    pub universe: Option<&'a str>,
    /// The trading day.
    pub date: Date,
    /// Changes to the books since the agent's last session, in sentences.
    pub notices: &'a [String],
    /// The agent's state.
    pub state: Option<Value>,
}

/// How an external agent's session ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum ExternalEnd {
    /// It was done.
    Done,
    /// It used all of its requests.
    Limit,
    /// It can make no more requests, or its time was up.
    Failed {
        /// The reason.
        failure: CallFailure,
    },
}

/// A finished session of an external agent: the key `external` of its metadata.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExternalDay {
    /// How it ended.
    #[serde(flatten)]
    pub ended: ExternalEnd,
    /// The number of its requests.
    pub requests: usize,
    /// The number of reads that returned data.
    pub reads: u32,
    /// The number of orders, including rejected ones.
    pub orders: u32,
    /// The number of requests that could not be read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub malformed: u32,
    /// Whether it ran in a sandbox.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sandboxed: bool,
    /// Where it first differed from its record, when it began the day again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nondeterministic: Option<Nondeterminism>,
    /// Recorded model calls that it did not make again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread_model_calls: Vec<StepPath>,
    /// Its decision, in its own words. It is in the transcript, so the metadata omit it.
    #[serde(skip)]
    pub decision: String,
    /// Its state for the next day.
    #[serde(skip)]
    pub state: Option<Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl ExternalDay {
    /// Whether it has read the day.
    #[must_use]
    pub fn has_reply(&self) -> bool {
        self.requests > 0
    }

    /// How the session ended, for the trader's memory.
    #[must_use]
    pub fn trader_outcome(&self) -> TraderOutcome {
        TraderOutcome {
            has_reply: self.has_reply(),
            degraded: self.ended != ExternalEnd::Done,
            decision: self.decision.clone(),
        }
    }

    /// Whether it read nothing, ordered nothing and said nothing.
    fn is_undecided(&self) -> bool {
        self.reads == 0 && self.orders == 0 && is_blank(&self.decision)
    }

    /// The quality of the day's decision. A session whose time or requests were used up has a result: its orders. An agent
    /// that broke off has none.
    #[must_use]
    pub fn data_quality(&self) -> DataQuality {
        let coded = |why: &str| reason("external", Some(why));
        let (state, why) = match &self.ended {
            ExternalEnd::Done if self.is_undecided() => (QualityState::NoDecision, Some(coded(NO_DECISION))),
            ExternalEnd::Done => (QualityState::Ok, None),
            ExternalEnd::Limit => (QualityState::NodeDegraded, Some(coded(LIMIT))),
            ExternalEnd::Failed { failure } if failure.kind == FailureKind::TimedOut => {
                (QualityState::NodeDegraded, Some(coded(failure.kind.as_str())))
            }
            ExternalEnd::Failed { failure } => (QualityState::Failed, Some(coded(failure.kind.as_str()))),
        };
        let differs = self.nondeterministic.is_some().then(|| coded(NONDETERMINISTIC));
        let reason_codes = why.into_iter().chain(differs).collect();
        DataQuality { state, reason_codes, ..DataQuality::default() }
    }

    /// The error, if it failed.
    #[must_use]
    pub fn error(&self) -> Option<String> {
        match &self.ended {
            ExternalEnd::Failed { failure } if failure.kind != FailureKind::TimedOut => {
                Some(failure.to_string())
            }
            _ => None,
        }
    }
}

/// Runs the day. Orders are applied to `books` one after the other.
///
/// # Errors
/// A stop.
pub async fn run_external_day(
    root: &Ctx,
    input: &ExternalInput<'_>,
    view: &MarketView<'_>,
    books: &mut Books,
) -> Result<ExternalDay, SessionStop> {
    let missing = || SessionStop::ContractViolation("an external agent without its settings".to_owned());
    let config = input.agent.external.as_ref().ok_or_else(missing)?;
    let rules = NormalizeRules::of(&config.normalize).map_err(SessionStop::ContractViolation)?;
    let normalize = |text: &str| rules.apply(text);
    let options = input.agent.limits.call_options();
    let mut ctx = root.child(ScopeKey::node("external"))?;
    let mut door = ModelDoor::open(root, &normalize, options)?;
    let tools = Tools::of(books, view);
    let day = record_day(&mut ctx, input, (config, &tools), view, books).await?;
    let mut session = Session { input, config, tools, view, result: ExternalDay::new(input, config) };
    let mut history: Vec<Exchange> = Vec::new();
    session.result.ended = loop {
        if history.len() >= config.max_requests as usize {
            break ExternalEnd::Limit;
        }
        let turn = Turn { agent: &config.name, day: &day, history: &history };
        let next = match Box::pin(ctx.turn(&turn, &mut door, options)).await? {
            Ok(next) => next,
            Err(failure) => break ExternalEnd::Failed { failure },
        };
        session.result.requests += 1;
        session.result.nondeterministic = session.result.nondeterministic.take().or(next.nondeterministic);
        let stored = next.repeats.and_then(|at| history.get(at)).map(|exchange| exchange.reply.clone());
        let (reply, is_done) = match stored {
            Some(reply) => (reply, false),
            None => session.answer(&mut ctx, books, &next.request).await?,
        };
        let (repeats, course) = (next.repeats, next.course);
        history.push(Exchange { request: next.request, reply, repeats, course });
        if is_done {
            break ExternalEnd::Done;
        }
    };
    door.drain().await?;
    let left = door.close()?;
    let mut result = session.result;
    result.nondeterministic = result.nondeterministic.or(left.nondeterministic);
    result.unread_model_calls = left.unread;
    record_end(&mut ctx, &result).await?;
    let ending = match &result.ended {
        ExternalEnd::Done => SessionEnding::Completed,
        ExternalEnd::Limit => SessionEnding::Deadline,
        ExternalEnd::Failed { failure } if failure.kind == FailureKind::TimedOut => SessionEnding::Deadline,
        ExternalEnd::Failed { .. } => SessionEnding::Stopped,
    };
    let turn = Turn { agent: &config.name, day: &day, history: &history };
    ctx.end_turns(&turn, ending).await?;
    Ok(result)
}

impl ExternalDay {
    fn new(input: &ExternalInput<'_>, config: &ExternalConfig) -> Self {
        Self {
            ended: ExternalEnd::Limit,
            requests: 0,
            reads: 0,
            orders: 0,
            malformed: 0,
            sandboxed: config.sandbox,
            nondeterministic: None,
            unread_model_calls: Vec::new(),
            decision: String::new(),
            state: input.state.clone(),
        }
    }
}

/// What an agent may use on a day.
struct Tools {
    reads: Vec<ToolSpec>,
    orders: Vec<ToolSpec>,
}

impl Tools {
    fn of(books: &Books, view: &MarketView<'_>) -> Self {
        let trade = trade::tools(books.profile());
        let (orders, account): (Vec<_>, Vec<_>) =
            trade.into_iter().partition(|tool| trade::side(&tool.name).is_some());
        let mut reads = market::tools(&view.all_intervals());
        reads.extend([
            snapshot::tool(),
            facts::statements_tool(),
            facts::profile_tool(),
            facts::macro_tool(),
            calculate::tool(),
        ]);
        reads.extend(account);
        Self { reads, orders }
    }

    fn names(tools: &[ToolSpec]) -> Vec<String> {
        tools.iter().map(|tool| tool.name.clone()).collect()
    }
}

/// Records the day as the agent gets it: the host adds the job, the session's time, and the doors, which are not the same
/// in each run. Returns it as recorded.
async fn record_day(
    ctx: &mut Ctx,
    input: &ExternalInput<'_>,
    (config, tools): (&ExternalConfig, &Tools),
    view: &MarketView<'_>,
    books: &Books,
) -> Result<Value, SessionStop> {
    let account = portfolio::read(books, view, input.date);
    let universe = view.universe_exposure().cloned();
    let implied = universe.into_iter().chain(account.exposures).map(DerivedRow::Exposure).collect();
    let mut day = json!({
        "type": "day",
        "protocol": PROTOCOL_VERSION,
        "agent": input.agent.name,
        "date": input.date,
        "instant": view.instant(),
        "language": input.agent.language,
        "account": account.value,
        "notices": input.notices,
        "symbols": input.symbols,
        "universe": input.universe,
        "tools": tools.reads,
        "order_tools": tools.orders,
        "limits": {
            "max_requests": config.max_requests,
            "max_orders": config.max_orders,
            "max_line_bytes": MAX_LINE_BYTES,
            "max_state_bytes": MAX_STATE_BYTES,
        },
        "state": input.state,
    });
    day["pending_orders"] = day["account"]["pending_orders"].clone();
    let mut shown = day.clone();
    if let Some(fields) = shown.as_object_mut() {
        fields.retain(|name, _| {
            !matches!(name.as_str(), "type" | "protocol" | "tools" | "order_tools" | "limits")
        });
    }
    ctx.record_local(LocalStep {
        kind: "day",
        class: StepClass::Local,
        arguments: tools::with_view_identity(view, json!({ "role": Role::User })),
        outcome: day,
        outcome_kind: OutcomeKind::Ok,
        message: Some(TranscriptMessage { role: Role::User, content: canonical(&shown), tool: None }),
        implied,
    })
    .await
}

/// Records how the session ended. Everything before it is durable before the agent hears of it.
async fn record_end(ctx: &mut Ctx, result: &ExternalDay) -> Result<(), SessionStop> {
    ctx.record_local(LocalStep {
        kind: "end",
        class: StepClass::Local,
        arguments: json!({ "requests": result.requests }),
        outcome: json!(result.ended),
        outcome_kind: OutcomeKind::Ok,
        message: None,
        implied: Vec::new(),
    })
    .await
    .map(drop)
}

/// A running session.
struct Session<'s> {
    input: &'s ExternalInput<'s>,
    config: &'s ExternalConfig,
    tools: Tools,
    view: &'s MarketView<'s>,
    result: ExternalDay,
}

impl Session<'_> {
    /// Answers a request, and whether it ends the session.
    async fn answer(
        &mut self,
        ctx: &mut Ctx,
        books: &mut Books,
        request: &AgentRequest,
    ) -> Result<(AgentReply, bool), SessionStop> {
        Ok(match request {
            AgentRequest::Read { tool, arguments } => (self.read(ctx, books, tool, arguments).await?, false),
            AgentRequest::Order { side, arguments } => {
                (self.order(ctx, books, side, arguments).await?, false)
            }
            AgentRequest::Done { decision, state } => {
                self.done(ctx, decision.as_deref(), state.as_ref()).await?
            }
            AgentRequest::Malformed { error, .. } => {
                self.result.malformed += 1;
                (AgentReply::Error { error: error.clone() }, false)
            }
        })
    }

    async fn read(
        &mut self,
        ctx: &mut Ctx,
        books: &Books,
        tool: &str,
        arguments: &Value,
    ) -> Result<AgentReply, SessionStop> {
        if !self.tools.reads.iter().any(|spec| spec.name == tool) {
            return Ok(unknown(ErrorCode::UnknownTool, "tool", tool, Tools::names(&self.tools.reads)));
        }
        let arguments = if arguments.is_null() { json!({}) } else { arguments.clone() };
        let call = ToolCall { id: String::new(), name: tool.to_owned(), arguments };
        let output = tools::unknown_arguments(&self.tools.reads, &call, &[]);
        let output = output.unwrap_or_else(|| self.run(books, &call));
        let note = ToolInvocation { name: call.name, input: call.arguments };
        let answer = tools::plain_answer(ctx, self.view, note, output).await?;
        Ok(match answer.get("error").and_then(Value::as_str) {
            Some(message) => AgentReply::error(ErrorCode::BadArguments, message),
            None => {
                self.result.reads += 1;
                AgentReply::Ok { result: answer }
            }
        })
    }

    fn run(&self, books: &Books, call: &ToolCall) -> ToolOutput {
        let (view, arguments) = (self.view, &call.arguments);
        match call.name.as_str() {
            "get_portfolio" => portfolio::read(books, view, self.input.date),
            "get_snapshot" => snapshot::run(view, arguments),
            "calculate" => calculate::run(arguments),
            name => market::run(view, name, arguments)
                .or_else(|| facts::run(view, name, arguments))
                .unwrap_or_else(|| ToolOutput::error(format!("unknown tool `{name}`"))),
        }
    }

    async fn order(
        &mut self,
        ctx: &mut Ctx,
        books: &mut Books,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Result<AgentReply, SessionStop> {
        let Some(side) = trade::side(tool) else {
            return Ok(unknown(ErrorCode::BadMessage, "side", tool, Tools::names(&self.tools.orders)));
        };
        if self.result.orders >= self.config.max_orders {
            let message = format!("the limit of {} orders is used up", self.config.max_orders);
            return Ok(AgentReply::error(ErrorCode::Limit, message));
        }
        // A transport may leave its own fields in the message.
        let own = |name: &str| matches!(name, "id" | "type");
        let arguments = arguments.iter().filter(|(name, _)| !own(name));
        let arguments = arguments.map(|(name, value)| (name.clone(), value.clone())).collect();
        let call = ToolCall { id: String::new(), name: tool.to_owned(), arguments: Value::Object(arguments) };
        if let Some(wrong) = tools::unknown_arguments(&self.tools.orders, &call, trade::ARGUMENTS) {
            let message = wrong.value["error"].as_str().unwrap_or_default();
            return Ok(AgentReply::error(ErrorCode::BadArguments, message));
        }
        let note = ToolInvocation { name: call.name, input: call.arguments };
        let market = (self.input.symbols, self.input.date);
        let placed =
            trade::place(ctx, books, self.view, market, side, (note, trade::Reader::Program)).await?;
        self.result.orders += u32::from(placed.is_order);
        Ok(match placed.rejection {
            // The sentence as recorded.
            Some(rejection) => AgentReply::Error {
                error: ReplyError {
                    code: ErrorCode::OrderRejected,
                    message: placed.answer["message"].as_str().unwrap_or_default().to_owned(),
                    expected: Vec::new(),
                    reason: Some(rejection.code.as_str().to_owned()),
                },
            },
            None if placed.is_order => AgentReply::Ok { result: placed.answer },
            None => {
                let message = placed.answer["error"].as_str().unwrap_or_default();
                AgentReply::error(ErrorCode::BadArguments, message)
            }
        })
    }

    async fn done(
        &mut self,
        ctx: &mut Ctx,
        decision: Option<&str>,
        state: Option<&Value>,
    ) -> Result<(AgentReply, bool), SessionStop> {
        if let Some(state) = state {
            let bytes = canonical(state).len();
            if bytes > MAX_STATE_BYTES {
                let message = format!("the state has {bytes} bytes; the maximum is {MAX_STATE_BYTES}");
                return Ok((AgentReply::error(ErrorCode::BadMessage, message), false));
            }
            self.result.state = Some(state.clone()).filter(|state| !state.is_null());
        }
        if let Some(decision) = decision.filter(|decision| !is_blank(decision)) {
            self.result.decision = say(ctx, decision).await?;
        }
        Ok((AgentReply::Ok { result: json!({ "state_stored": true }) }, true))
    }
}

/// Adds the agent's decision to the transcript. Returns it as recorded.
async fn say(ctx: &mut Ctx, text: &str) -> Result<String, SessionStop> {
    let content = text.to_owned();
    let recorded = ctx
        .record_local(LocalStep {
            kind: SAID,
            class: StepClass::Local,
            arguments: json!({ "role": Role::Assistant }),
            outcome: json!({ "role": Role::Assistant, "content": content }),
            outcome_kind: OutcomeKind::Ok,
            message: Some(TranscriptMessage { role: Role::Assistant, content, tool: None }),
            implied: Vec::new(),
        })
        .await?;
    Ok(recorded["content"].as_str().unwrap_or_default().to_owned())
}

fn unknown(code: ErrorCode, what: &str, name: &str, expected: Vec<String>) -> AgentReply {
    let message = format!("unknown {what} `{name}`; expected one of {}", expected.join(", "));
    AgentReply::Error { error: ReplyError { code, message, expected, reason: None } }
}
