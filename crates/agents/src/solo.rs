//! The solo trader: one conversation with tools.

use crate::config::AgentConfig;
use crate::memory::{self, DayMemory, TraderOutcome, recall};
use crate::prompt::PromptSet;
use crate::rules::{Allowed, rules};
use crate::tools::{self, Arguments, ToolOutput, calculate, market, number, portfolio, trade};
use crate::universe;
use papertape_core::broker::{Books, MarketProfile};
use papertape_core::fence::{Author, fence, is_blank};
use papertape_core::market::{Listed, MarketView};
use papertape_core::message::{
    CallFailure, FinishReason, Message, ModelRequest, ToolCall, ToolChoice, ToolSpec,
};
use papertape_core::point_in_time::Unverified;
use papertape_core::ports::ExternalCall;
use papertape_core::prompt::lines::FINISH_SIGNAL;
use papertape_core::provenance::{DataQuality, QualityState, reason};
use papertape_core::record::DerivedRow;
use papertape_core::tape::{Ctx, SessionStop, ToolInvocation};
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The end of a reason where an agent never said that it was done.
const NO_FINISH_SIGNAL: &str = "no_finish_signal";
/// The ends of a solo trader's reasons that are not those of its calls.
pub const SOLO_REASONS: [&str; 4] = [NO_FINISH_SIGNAL, "cut_short", "step_limit", "bad_prompt"];
/// The tool name by which a tool server is asked what it offers.
pub const LIST_TOOLS: &str = "$list";

/// What a day's conversation is about.
pub struct SoloInput<'a> {
    /// The agent.
    pub agent: &'a AgentConfig,
    /// Its model's version, where it is a house model.
    pub house_version: Option<u32>,
    /// The prompts.
    pub prompts: &'a PromptSet,
    /// What may be traded.
    pub symbols: &'a Listed,
    /// The index whose members on the day may be traded; `None`: all of `symbols`.
    pub universe: Option<&'a str>,
    /// The trading day.
    pub date: Date,
    /// What has happened to the books since the agent's last session, in sentences.
    pub notices: &'a [String],
}

/// How a conversation ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum ConversationEnd {
    /// The agent said that it was done.
    FinishSignal,
    /// It answered without calling a tool.
    FinalAnswer,
    /// Its last response was truncated by its token limit.
    #[serde(rename = "cut_short")]
    Truncated,
    /// It used all of its steps.
    StepLimit,
    /// A model call failed for good.
    Failed {
        /// Why.
        failure: CallFailure,
    },
    /// A prompt could not be made.
    BadPrompt {
        /// Why.
        message: String,
    },
}

/// A conversation that is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// How it ended.
    #[serde(flatten)]
    pub ended: ConversationEnd,
    /// How many model calls were made.
    pub steps: u32,
    /// How many tool calls showed it something.
    #[serde(default)]
    pub reads: u32,
    /// How many orders it placed, rejected ones among them.
    #[serde(default)]
    pub orders: u32,
    /// Tool servers that could not be asked, with the reason.
    pub tools_missing: BTreeMap<String, String>,
    /// The last thing that the model said. It is a message, and so no part of the metadata.
    #[serde(skip)]
    pub last_words: String,
    /// The mark of the memory that it began with. The session's says so.
    #[serde(skip)]
    pub unverified_memory: Option<Unverified>,
}

impl Conversation {
    /// How the session ended, for the trader's memory.
    #[must_use]
    pub fn trader_outcome(&self) -> TraderOutcome {
        TraderOutcome {
            heard: self.has_reply(),
            degraded: matches!(self.ended, ConversationEnd::Failed { .. } | ConversationEnd::Truncated)
                || self.is_undecided(),
            decision: self.last_words.replace(FINISH_SIGNAL, "").trim().to_owned(),
        }
    }

    /// Has the model answered at all, and so read the day's question?
    #[must_use]
    pub fn has_reply(&self) -> bool {
        match self.ended {
            ConversationEnd::BadPrompt { .. } => false,
            ConversationEnd::Failed { .. } => self.steps > 1,
            _ => self.steps > 0,
        }
    }

    /// Did it read nothing, order nothing and never say that it was done? Nobody can call that a decision.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        let broke_off = self.error().is_some();
        !broke_off && self.ended != ConversationEnd::FinishSignal && self.reads == 0 && self.orders == 0
    }

    /// What the day rests on.
    #[must_use]
    pub fn data_quality(&self) -> DataQuality {
        let (state, why) = match &self.ended {
            ConversationEnd::Failed { failure } => (QualityState::Failed, Some(failure.kind.as_str())),
            ConversationEnd::BadPrompt { .. } => (QualityState::Failed, Some("bad_prompt")),
            _ if !self.is_undecided() => (QualityState::Ok, None),
            ConversationEnd::Truncated => (QualityState::NoDecision, Some("cut_short")),
            ConversationEnd::StepLimit => (QualityState::NoDecision, Some("step_limit")),
            ConversationEnd::FinalAnswer | ConversationEnd::FinishSignal => {
                (QualityState::NoDecision, Some(NO_FINISH_SIGNAL))
            }
        };
        DataQuality {
            state,
            reason_codes: why.map(|why| reason("solo", Some(why))).into_iter().collect(),
            sources_missing: self.tools_missing.clone(),
        }
    }

    /// Why it failed, if it did.
    #[must_use]
    pub fn error(&self) -> Option<String> {
        match &self.ended {
            ConversationEnd::Failed { failure } => Some(failure.to_string()),
            ConversationEnd::BadPrompt { message } => Some(message.clone()),
            ConversationEnd::FinishSignal
            | ConversationEnd::FinalAnswer
            | ConversationEnd::Truncated
            | ConversationEnd::StepLimit => None,
        }
    }
}

/// Holds the day's conversation. Orders apply to `books` one after the other.
///
/// # Errors
/// A stop.
pub async fn run_conversation(
    ctx: &mut Ctx,
    brief: &SoloInput<'_>,
    view: &MarketView<'_>,
    books: &mut Books,
    diary: &DayMemory<'_>,
) -> Result<Conversation, SessionStop> {
    let outside = ExternalTools::start(ctx, brief).await?;
    let tools_missing = outside.missing.clone();
    let last_words = String::new();
    let past = recall(ctx, &diary.reader(books.account()), None).await?;
    let unverified_memory = past.as_ref().ok().and_then(|past| past.unverified.clone());
    let mut talk = Conversation {
        ended: ConversationEnd::StepLimit,
        steps: 0,
        reads: 0,
        orders: 0,
        tools_missing,
        last_words,
        unverified_memory,
    };
    let made = past.and_then(|past| prompts(brief, view, books, &past.prompt));
    let (instructions, opening, shown) = match made {
        Ok(texts) => texts,
        Err(message) => {
            talk.ended = ConversationEnd::BadPrompt { message };
            return Ok(talk);
        }
    };
    let instructions = ctx.set_system_prompt(&instructions);
    let opening = ctx.push_with_exposure(&opening, shown).await?;
    let mut request = ModelRequest {
        model: brief.agent.model.clone(),
        house_version: brief.house_version,
        instructions: Some(instructions),
        messages: vec![Message::user(opening)],
        tools: offered(books.profile(), view, &outside),
        tool_choice: ToolChoice::Auto,
        response_schema: None,
        sampling: brief.agent.sampling.clone(),
    };
    let options = brief.agent.limits.call_options();
    while talk.steps < brief.agent.limits.max_steps {
        talk.steps += 1;
        let reply = match ctx.model(&request, options).await? {
            Ok(reply) => reply,
            Err(failure) => {
                talk.ended = ConversationEnd::Failed { failure };
                return Ok(talk);
            }
        };
        request.messages.push(reply.to_message());
        if !is_blank(&reply.text) {
            talk.last_words.clone_from(&reply.text);
        }
        for call in &reply.tool_calls {
            let (content, did) = run_tool(ctx, brief, view, books, &outside, call).await?;
            talk.reads += u32::from(did == Did::Read);
            talk.orders += u32::from(did == Did::Ordered);
            let (call_id, name) = (call.id.clone(), call.name.clone());
            request.messages.push(Message::Tool { call_id, name, content });
        }
        let signal = reply.text.contains(FINISH_SIGNAL);
        let ended = match (signal, reply.tool_calls.is_empty(), reply.finish) {
            (true, ..) => ConversationEnd::FinishSignal,
            (false, true, FinishReason::Length) => ConversationEnd::Truncated,
            (false, true, _) => ConversationEnd::FinalAnswer,
            (false, false, _) => continue,
        };
        talk.ended = ended;
        return Ok(talk);
    }
    Ok(talk)
}

/// What the configured tool servers offer.
struct ExternalTools {
    tools: BTreeMap<String, ToolBinding>,
    missing: BTreeMap<String, String>,
}

/// A tool of a server, under the name by which the model is told of it.
struct ToolBinding {
    server: String,
    name: String,
    spec: ToolSpec,
    repeatable: bool,
}

/// One tool of a server's list, as the tape keeps it.
#[derive(Deserialize)]
struct ListedTool {
    spec: ToolSpec,
    repeatable: bool,
}

impl ExternalTools {
    /// Asks each server for its tools: an external step, so that a re-run offers the same ones.
    async fn start(ctx: &mut Ctx, brief: &SoloInput<'_>) -> Result<Self, SessionStop> {
        let mut outside = Self { tools: BTreeMap::new(), missing: BTreeMap::new() };
        for server in &brief.agent.tools {
            let call =
                ExternalCall { server: server.clone(), tool: LIST_TOOLS.to_owned(), arguments: json!({}) };
            let options = brief.agent.limits.call_options();
            let listed = match ctx.external(&call, true, options, None).await? {
                Ok(reply) => {
                    serde_json::from_str::<Vec<ListedTool>>(&reply.text).map_err(|error| error.to_string())
                }
                Err(failure) => Err(failure.to_string()),
            };
            match listed {
                Ok(list) => outside.tools.extend(list.into_iter().map(|listed| {
                    // A prefix keeps servers apart from each other and from our own tools.
                    let mut spec = listed.spec;
                    let name = std::mem::take(&mut spec.name);
                    spec.name = format!("{server}__{name}");
                    describe_as_data(server, &mut spec);
                    let repeatable = listed.repeatable;
                    (spec.name.clone(), ToolBinding { server: server.clone(), name, spec, repeatable })
                })),
                Err(reason) => {
                    outside.missing.insert(server.clone(), reason);
                }
            }
        }
        Ok(outside)
    }
}

/// The limit on an answer of a tool server in a prompt, in characters.
const MAX_OUTSIDE_CHARS: usize = 40_000;
/// Limits on what a tool server says of one of its tools, and of a parameter, in characters.
const MAX_TOOL_CHARS: usize = 2_000;
const MAX_PARAMETER_CHARS: usize = 300;

/// What a server says of its tool was written outside: it enters the prompt fenced like an answer.
fn describe_as_data(server: &str, spec: &mut ToolSpec) {
    let source = format!("tool server {server}");
    spec.description = fence(Author::Outside, &source, &spec.description, MAX_TOOL_CHARS);
    describe_parameters(&source, &mut spec.parameters);
}

fn describe_parameters(source: &str, schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for note in ["title", "$comment", "examples"] {
                if members.get(note).is_some_and(|value| !value.is_object()) {
                    members.remove(note);
                }
            }
            if let Some(Value::String(text)) = members.get_mut("description") {
                *text = fence(Author::Outside, source, text, MAX_PARAMETER_CHARS);
            }
            members.values_mut().for_each(|value| describe_parameters(source, value));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| describe_parameters(source, value)),
        _ => {}
    }
}

fn offered(profile: &MarketProfile, view: &MarketView<'_>, outside: &ExternalTools) -> Vec<ToolSpec> {
    let mut tools = trade::tools(profile);
    tools.extend(market::tools(&view.all_intervals()));
    tools.push(calculate::tool());
    tools.extend(outside.tools.values().map(|tool| tool.spec.clone()));
    tools
}

/// What a tool call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Did {
    /// It showed something.
    Read,
    /// It placed an order, which may have been rejected.
    Ordered,
    /// Neither: an error, or a calculation.
    Nothing,
}

impl Did {
    fn read(is_error: bool) -> Self {
        if is_error { Self::Nothing } else { Self::Read }
    }
}

/// Runs one call and gives what the model is told.
async fn run_tool(
    ctx: &mut Ctx,
    brief: &SoloInput<'_>,
    view: &MarketView<'_>,
    books: &mut Books,
    outside: &ExternalTools,
    call: &ToolCall,
) -> Result<(String, Did), SessionStop> {
    let note = ToolInvocation { name: call.name.clone(), input: call.arguments.clone() };
    // A tool of a server says itself what it takes.
    if !outside.tools.contains_key(&call.name) {
        let specs = offered(books.profile(), view, outside);
        let also = if trade::side(&call.name).is_some() { trade::ARGUMENTS } else { &[] };
        if let Some(wrong) = tools::unknown_arguments(&specs, call, also) {
            return Ok((tools::answer(ctx, view, note, wrong).await?, Did::Nothing));
        }
    }
    if let Some(side) = trade::side(&call.name) {
        let placed = trade::place(ctx, books, view, (brief.symbols, brief.date), side, note).await?;
        let did = if placed.is_order { Did::Ordered } else { Did::Nothing };
        return Ok((placed.reply, did));
    }
    if let Some(tool) = outside.tools.get(&call.name) {
        if let Err(message) = Arguments::of(&call.arguments) {
            return Ok((tools::answer(ctx, view, note, ToolOutput::error(message)).await?, Did::Nothing));
        }
        let outside_call = ExternalCall {
            server: tool.server.clone(),
            tool: tool.name.clone(),
            arguments: call.arguments.clone(),
        };
        let options = brief.agent.limits.call_options();
        let reply = ctx.external(&outside_call, tool.repeatable, options, Some(note)).await?;
        let (answer, did) = match reply {
            Ok(reply) => (reply.text, Did::read(reply.is_error)),
            Err(failure) => (failure.to_string(), Did::Nothing),
        };
        return Ok((fence(Author::Outside, &call.name, &answer, MAX_OUTSIDE_CHARS), did));
    }
    let reading = match call.name.as_str() {
        "get_portfolio" => portfolio::read(books, view, brief.date),
        "calculate" => calculate::run(&call.arguments),
        name => market::run(view, name, &call.arguments).unwrap_or_else(|| {
            let known: Vec<String> =
                offered(books.profile(), view, outside).into_iter().map(|t| t.name).collect();
            ToolOutput::error(format!("there is no tool `{name}`; there are: {}", known.join(", ")))
        }),
    };
    let did = Did::read(reading.value.get("error").is_some() || call.name == "calculate");
    Ok((tools::answer(ctx, view, note, reading).await?, did))
}

/// The system prompt and the day's question, with what of the market the question shows.
fn prompts(
    brief: &SoloInput<'_>,
    view: &MarketView<'_>,
    books: &Books,
    past: &str,
) -> Result<(String, String, Vec<DerivedRow>), String> {
    let language = brief.agent.language;
    let allowed = rules(books.profile(), Allowed::by(books.profile()), language, brief.date);
    let system = brief.prompts.render(
        "solo",
        language,
        json!({
            "agent": brief.agent.name,
            "symbols": brief.symbols,
            "rules": allowed + &universe::rule(brief.universe, language),
            "finish": FINISH_SIGNAL,
            "instructions": brief.agent.instructions,
        }),
    );
    let mut opens = serde_json::Map::new();
    let mut shown: Vec<DerivedRow> =
        view.universe_exposure().cloned().map(DerivedRow::Exposure).into_iter().collect();
    for symbol in brief.symbols.iter() {
        let read = view.open_price(symbol).ok();
        shown.extend(read.iter().map(|read| DerivedRow::Exposure(read.exposure.clone())));
        let open = read.map_or(Value::Null, |read| number(read.value.price.0));
        opens.insert(symbol.to_string(), open);
    }
    let account = books.account();
    let holdings: serde_json::Map<String, Value> = account
        .positions()
        .iter()
        .map(|(symbol, position)| (symbol.to_string(), number(position.quantity.0)))
        .collect();
    let closing_only = universe::closing_only(view, brief.symbols, brief.universe, language);
    let pending: Vec<Value> =
        books.pending().iter().map(|pending| trade::pending_json(&pending.order)).collect();
    let day = brief.prompts.render(
        "solo-day",
        language,
        json!({
            "date": brief.date,
            "symbols": brief.symbols,
            "opens": Value::Object(opens).to_string(),
            "cash": number(account.cash().0).to_string(),
            "holdings": (Value::Object(holdings).to_string() + "\n" + &closing_only).trim_end(),
            "pending": (!pending.is_empty()).then(|| Value::Array(pending).to_string()),
            "past": past,
            "notices": memory::book_lines(brief.notices),
        }),
    );
    match (system, day) {
        (Ok(system), Ok(day)) => Ok((system, day, shown)),
        (Err(error), _) | (_, Err(error)) => Err(error.to_string()),
    }
}
