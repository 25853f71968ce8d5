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

/// The suffix of a reason: the agent never wrote the finish signal.
const NO_FINISH_SIGNAL: &str = "no_finish_signal";
/// The suffixes of a solo trader's reasons; the others come from its calls.
pub const SOLO_REASONS: [&str; 4] = [NO_FINISH_SIGNAL, "cut_short", "step_limit", "bad_prompt"];
/// The tool name that requests a tool server's list of tools.
pub const LIST_TOOLS: &str = "$list";

/// The input of a day's conversation.
pub struct SoloInput<'a> {
    /// The agent.
    pub agent: &'a AgentConfig,
    /// Its model's version, if it is a house model.
    pub house_version: Option<u32>,
    /// The prompts.
    pub prompts: &'a PromptSet,
    /// The symbols of the day.
    pub symbols: &'a Listed,
    /// The index whose members on the day may be traded; `None`: all of `symbols`.
    pub universe: Option<&'a str>,
    /// The trading day.
    pub date: Date,
    /// Changes to the books since the agent's last session, in sentences.
    pub notices: &'a [String],
}

/// How a conversation ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum ConversationEnd {
    /// The agent wrote the finish signal.
    FinishSignal,
    /// It answered without calling a tool.
    #[serde(rename = "final_answer")]
    FinalResponse,
    /// Its last response was truncated by its token limit.
    #[serde(rename = "cut_short")]
    Truncated,
    /// It used all of its steps.
    StepLimit,
    /// A model call failed permanently.
    Failed {
        /// The reason.
        failure: CallFailure,
    },
    /// A prompt could not be rendered.
    BadPrompt {
        /// The reason.
        message: String,
    },
}

/// A finished conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// How it ended.
    #[serde(flatten)]
    pub ended: ConversationEnd,
    /// The number of model calls.
    pub steps: u32,
    /// The number of tool calls that returned data.
    #[serde(default)]
    pub reads: u32,
    /// The number of orders, including rejected ones.
    #[serde(default)]
    pub orders: u32,
    /// Unavailable tool servers, with the reason.
    pub tools_missing: BTreeMap<String, String>,
    /// The model's last message. It is in the transcript, so the metadata omit it.
    #[serde(skip)]
    pub final_text: String,
    /// The mark of the memory in its prompt. The session's mark includes it.
    #[serde(skip)]
    pub unverified_memory: Option<Unverified>,
}

impl Conversation {
    /// How the session ended, for the trader's memory.
    #[must_use]
    pub fn trader_outcome(&self) -> TraderOutcome {
        TraderOutcome {
            has_reply: self.has_reply(),
            degraded: matches!(self.ended, ConversationEnd::Failed { .. } | ConversationEnd::Truncated)
                || self.is_undecided(),
            decision: self.final_text.replace(FINISH_SIGNAL, "").trim().to_owned(),
        }
    }

    /// Whether the model answered at all, and so has read the day's prompt.
    #[must_use]
    pub fn has_reply(&self) -> bool {
        match self.ended {
            ConversationEnd::BadPrompt { .. } => false,
            ConversationEnd::Failed { .. } => self.steps > 1,
            _ => self.steps > 0,
        }
    }

    /// Whether it read nothing, ordered nothing and never wrote the finish signal: that is not a decision.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        let broke_off = self.error().is_some();
        !broke_off && self.ended != ConversationEnd::FinishSignal && self.reads == 0 && self.orders == 0
    }

    /// The quality of the data behind the day's decision.
    #[must_use]
    pub fn data_quality(&self) -> DataQuality {
        let (state, why) = match &self.ended {
            ConversationEnd::Failed { failure } => (QualityState::Failed, Some(failure.kind.as_str())),
            ConversationEnd::BadPrompt { .. } => (QualityState::Failed, Some("bad_prompt")),
            _ if !self.is_undecided() => (QualityState::Ok, None),
            ConversationEnd::Truncated => (QualityState::NoDecision, Some("cut_short")),
            ConversationEnd::StepLimit => (QualityState::NoDecision, Some("step_limit")),
            ConversationEnd::FinalResponse | ConversationEnd::FinishSignal => {
                (QualityState::NoDecision, Some(NO_FINISH_SIGNAL))
            }
        };
        DataQuality {
            state,
            reason_codes: why.map(|why| reason("solo", Some(why))).into_iter().collect(),
            sources_missing: self.tools_missing.clone(),
        }
    }

    /// The error, if it failed.
    #[must_use]
    pub fn error(&self) -> Option<String> {
        match &self.ended {
            ConversationEnd::Failed { failure } => Some(failure.to_string()),
            ConversationEnd::BadPrompt { message } => Some(message.clone()),
            ConversationEnd::FinishSignal
            | ConversationEnd::FinalResponse
            | ConversationEnd::Truncated
            | ConversationEnd::StepLimit => None,
        }
    }
}

/// Runs the day's conversation. Orders are applied to `books` one after the other.
///
/// # Errors
/// A stop.
pub async fn run_conversation(
    ctx: &mut Ctx,
    input: &SoloInput<'_>,
    view: &MarketView<'_>,
    books: &mut Books,
    memory: &DayMemory<'_>,
) -> Result<Conversation, SessionStop> {
    let external = ExternalTools::start(ctx, input).await?;
    let tools_missing = external.missing.clone();
    let final_text = String::new();
    let past = recall(ctx, &memory.reader(books.account()), None).await?;
    let unverified_memory = past.as_ref().ok().and_then(|past| past.unverified.clone());
    let mut conversation = Conversation {
        ended: ConversationEnd::StepLimit,
        steps: 0,
        reads: 0,
        orders: 0,
        tools_missing,
        final_text,
        unverified_memory,
    };
    let rendered = past.and_then(|past| prompts(input, view, books, &past.prompt));
    let (instructions, opening, shown) = match rendered {
        Ok(texts) => texts,
        Err(message) => {
            conversation.ended = ConversationEnd::BadPrompt { message };
            return Ok(conversation);
        }
    };
    let instructions = ctx.set_system_prompt(&instructions);
    let opening = ctx.push_with_exposure(&opening, shown).await?;
    let mut request = ModelRequest {
        model: input.agent.model.clone(),
        house_version: input.house_version,
        instructions: Some(instructions),
        messages: vec![Message::user(opening)],
        tools: tool_specs(books.profile(), view, &external),
        tool_choice: ToolChoice::Auto,
        response_schema: None,
        sampling: input.agent.sampling.clone(),
    };
    let options = input.agent.limits.call_options();
    while conversation.steps < input.agent.limits.max_steps {
        conversation.steps += 1;
        let reply = match ctx.model(&request, options).await? {
            Ok(reply) => reply,
            Err(failure) => {
                conversation.ended = ConversationEnd::Failed { failure };
                return Ok(conversation);
            }
        };
        request.messages.push(reply.to_message());
        if !is_blank(&reply.text) {
            conversation.final_text.clone_from(&reply.text);
        }
        for call in &reply.tool_calls {
            let offered = (&external, request.tools.as_slice());
            let (content, effect) = run_tool(ctx, input, view, books, offered, call).await?;
            conversation.reads += u32::from(effect == ToolEffect::Read);
            conversation.orders += u32::from(effect == ToolEffect::Ordered);
            let (call_id, name) = (call.id.clone(), call.name.clone());
            request.messages.push(Message::Tool { call_id, name, content });
        }
        let signal = reply.text.contains(FINISH_SIGNAL);
        let ended = match (signal, reply.tool_calls.is_empty(), reply.finish) {
            (true, ..) => ConversationEnd::FinishSignal,
            (false, true, FinishReason::Length) => ConversationEnd::Truncated,
            (false, true, _) => ConversationEnd::FinalResponse,
            (false, false, _) => continue,
        };
        conversation.ended = ended;
        return Ok(conversation);
    }
    Ok(conversation)
}

/// The tools of the configured servers.
struct ExternalTools {
    tools: BTreeMap<String, ToolBinding>,
    missing: BTreeMap<String, String>,
}

/// A tool of a server; `spec` has its name for the model.
struct ToolBinding {
    server: String,
    name: String,
    spec: ToolSpec,
    repeatable: bool,
}

/// One tool of a server's list, as recorded on the tape.
#[derive(Deserialize)]
struct ListedTool {
    spec: ToolSpec,
    repeatable: bool,
}

impl ExternalTools {
    /// Requests each server's list of tools: an external step, so that a re-run has the same ones.
    async fn start(ctx: &mut Ctx, input: &SoloInput<'_>) -> Result<Self, SessionStop> {
        let mut external = Self { tools: BTreeMap::new(), missing: BTreeMap::new() };
        for server in &input.agent.tools {
            let call =
                ExternalCall { server: server.clone(), tool: LIST_TOOLS.to_owned(), arguments: json!({}) };
            let options = input.agent.limits.call_options();
            let listed = match ctx.external(&call, true, options, None).await? {
                Ok(reply) => {
                    serde_json::from_str::<Vec<ListedTool>>(&reply.text).map_err(|error| error.to_string())
                }
                Err(failure) => Err(failure.to_string()),
            };
            match listed {
                Ok(list) => external.tools.extend(list.into_iter().map(|listed| {
                    // The prefix separates servers from each other and from the built-in tools.
                    let mut spec = listed.spec;
                    let name = std::mem::take(&mut spec.name);
                    spec.name = format!("{server}__{name}");
                    fence_descriptions(server, &mut spec);
                    let repeatable = listed.repeatable;
                    (spec.name.clone(), ToolBinding { server: server.clone(), name, spec, repeatable })
                })),
                Err(reason) => {
                    external.missing.insert(server.clone(), reason);
                }
            }
        }
        Ok(external)
    }
}

/// Maximum characters of a tool server's answer in a prompt.
const MAX_EXTERNAL_CHARS: usize = 40_000;
/// Maximum characters of a tool server's description of a tool, and of a parameter.
const MAX_TOOL_CHARS: usize = 2_000;
const MAX_PARAMETER_CHARS: usize = 300;

/// A server's description of its tool is untrusted text: in the prompt it is fenced like an answer.
fn fence_descriptions(server: &str, spec: &mut ToolSpec) {
    let source = format!("tool server {server}");
    spec.description = fence(Author::Outside, &source, &spec.description, MAX_TOOL_CHARS);
    fence_parameters(&source, &mut spec.parameters);
}

fn fence_parameters(source: &str, schema: &mut Value) {
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
            members.values_mut().for_each(|value| fence_parameters(source, value));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| fence_parameters(source, value)),
        _ => {}
    }
}

fn tool_specs(profile: &MarketProfile, view: &MarketView<'_>, external: &ExternalTools) -> Vec<ToolSpec> {
    let mut tools = trade::tools(profile);
    tools.extend(market::tools(&view.all_intervals()));
    tools.push(calculate::tool());
    tools.extend(external.tools.values().map(|tool| tool.spec.clone()));
    tools
}

/// The outcome of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToolEffect {
    /// It returned data.
    Read,
    /// It placed an order, which may have been rejected.
    Ordered,
    /// Neither: an error, or a calculation.
    Nothing,
}

impl ToolEffect {
    fn read(is_error: bool) -> Self {
        if is_error { Self::Nothing } else { Self::Read }
    }
}

/// Runs one call of an offered tool, given with the specs of all. Returns the answer for the model.
async fn run_tool(
    ctx: &mut Ctx,
    input: &SoloInput<'_>,
    view: &MarketView<'_>,
    books: &mut Books,
    (external, specs): (&ExternalTools, &[ToolSpec]),
    call: &ToolCall,
) -> Result<(String, ToolEffect), SessionStop> {
    let note = ToolInvocation { name: call.name.clone(), input: call.arguments.clone() };
    // A server validates the arguments of its own tools.
    if !external.tools.contains_key(&call.name) {
        let also = if trade::side(&call.name).is_some() { trade::ARGUMENTS } else { &[] };
        if let Some(wrong) = tools::unknown_arguments(specs, call, also) {
            return Ok((tools::answer(ctx, view, note, wrong).await?, ToolEffect::Nothing));
        }
    }
    if let Some(side) = trade::side(&call.name) {
        let market = (input.symbols, input.date);
        let placed = trade::place(ctx, books, view, market, side, (note, trade::Reader::Model)).await?;
        let effect = if placed.is_order { ToolEffect::Ordered } else { ToolEffect::Nothing };
        return Ok((placed.answer.as_str().unwrap_or_default().to_owned(), effect));
    }
    if let Some(tool) = external.tools.get(&call.name) {
        if let Err(message) = Arguments::of(&call.arguments) {
            return Ok((
                tools::answer(ctx, view, note, ToolOutput::error(message)).await?,
                ToolEffect::Nothing,
            ));
        }
        let external_call = ExternalCall {
            server: tool.server.clone(),
            tool: tool.name.clone(),
            arguments: call.arguments.clone(),
        };
        let options = input.agent.limits.call_options();
        let reply = ctx.external(&external_call, tool.repeatable, options, Some(note)).await?;
        let (answer, effect) = match reply {
            Ok(reply) => (reply.text, ToolEffect::read(reply.is_error)),
            Err(failure) => (failure.to_string(), ToolEffect::Nothing),
        };
        return Ok((fence(Author::Outside, &call.name, &answer, MAX_EXTERNAL_CHARS), effect));
    }
    let output = match call.name.as_str() {
        "get_portfolio" => portfolio::read(books, view, input.date),
        "calculate" => calculate::run(&call.arguments),
        name => market::run(view, name, &call.arguments).unwrap_or_else(|| {
            let known: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
            ToolOutput::error(format!("unknown tool `{name}`; expected one of {}", known.join(", ")))
        }),
    };
    let effect = ToolEffect::read(output.value.get("error").is_some() || call.name == "calculate");
    Ok((tools::answer(ctx, view, note, output).await?, effect))
}

/// The system prompt and the day's prompt, with the rows for the market data in it.
fn prompts(
    input: &SoloInput<'_>,
    view: &MarketView<'_>,
    books: &Books,
    past: &str,
) -> Result<(String, String, Vec<DerivedRow>), String> {
    let language = input.agent.language;
    let allowed = rules(books.profile(), Allowed::by(books.profile()), language, input.date);
    let system = input.prompts.render(
        "solo",
        language,
        json!({
            "agent": input.agent.name,
            "symbols": input.symbols,
            "rules": allowed + &universe::rule(input.universe, language),
            "finish": FINISH_SIGNAL,
            "instructions": input.agent.instructions,
        }),
    );
    let mut opens = serde_json::Map::new();
    let mut shown: Vec<DerivedRow> =
        view.universe_exposure().cloned().map(DerivedRow::Exposure).into_iter().collect();
    for symbol in input.symbols.iter() {
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
    let closing_only = universe::closing_only(view, input.symbols, input.universe, language);
    let pending: Vec<Value> =
        books.pending().iter().map(|pending| portfolio::pending_json(&pending.order)).collect();
    let day = input.prompts.render(
        "solo-day",
        language,
        json!({
            "date": input.date,
            "symbols": input.symbols,
            "opens": Value::Object(opens).to_string(),
            "cash": number(account.cash().0).to_string(),
            "holdings": (Value::Object(holdings).to_string() + "\n" + &closing_only).trim_end(),
            "pending": (!pending.is_empty()).then(|| Value::Array(pending).to_string()),
            "past": past,
            "notices": memory::book_lines(input.notices),
        }),
    );
    match (system, day) {
        (Ok(system), Ok(day)) => Ok((system, day, shown)),
        (Err(error), _) | (_, Err(error)) => Err(error.to_string()),
    }
}
