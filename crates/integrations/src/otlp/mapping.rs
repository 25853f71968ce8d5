//! Which rows become which spans: the one place that decides it. Pure.
//!
//! | record | span | |
//! |---|---|---|
//! | a session | `invoke_agent {agent}` | the first of its trace |
//! | a scope: a symbol, a node with its round, a phase | its name | within the parent scope |
//! | a step `model` | `chat {model}` | within its scope |
//! | a step with a tool result | `execute_tool {tool}` | within its scope |
//! | a row of `orders` | `order {side} {symbol}` | within the tool's span, else its scope's |
//!
//! Attribute names follow OpenTelemetry's semantic conventions for generative AI (version 1.41) where these
//! define one; all others start with `papertape.`. The text of messages, prompts and tools is never exported:
//! it stays in the database. Summaries, which have a tape of their own, are left out.

use super::span::{Attribute, Span, SpanKind};
use papertape_core::message::{ModelName, Sampling};
use papertape_core::record::{DayStatus, DerivedRow, OrderRow};
use papertape_core::tape::{OutcomeKind, StepClass, StepState};
use papertape_core::time::Timestamp;
use papertape_service::view::ConventionsResponse;
use papertape_store::{SessionBrief, StepView};
use rust_decimal::prelude::ToPrimitive as _;
use serde_json::Value;
use std::collections::BTreeMap;

/// The prefix of everything that an ID is derived from, so that no other product creates the same IDs.
const DOMAIN: &str = "papertape otlp v1";

/// A session.
pub type SessionFacts = SessionBrief;

/// A step with its derived rows.
#[derive(Clone, Debug)]
pub struct StepFacts {
    /// The step.
    pub step: StepView,
    /// For a model call: which model was called, and with what sampling parameters.
    pub model: Option<(ModelName, Sampling)>,
    /// The step's derived rows.
    pub implied: Vec<DerivedRow>,
    /// The outcome, if the step did not succeed.
    pub outcome: Option<Value>,
}

/// The spans of a session that has ended: its own first, then its scopes', then its steps' in order.
#[must_use]
pub fn spans(
    session: &SessionFacts,
    conventions: Option<&ConventionsResponse>,
    steps: &[StepFacts],
) -> Vec<Span> {
    let ids = Ids::of(session);
    let steps: Vec<&StepFacts> = steps.iter().filter(|facts| !facts.step.detached).collect();
    let mut own = own(&ids, session, &steps);
    if let Some(conventions) = conventions {
        own.say("papertape.market", Attribute::from(conventions.market.as_str()));
        own.say("papertape.fill", Attribute::from(conventions.fill.as_str()));
        own.say("papertape.costs", Attribute::from(conventions.costs.as_str()));
        own.say("papertape.conventions", Attribute::from(conventions.summary.as_str()));
    }
    let mut all = vec![own];
    all.extend(scopes(&ids, session, &steps));
    for facts in steps {
        all.extend(of_step(&ids, session, facts));
    }
    all
}

/// Derives the IDs of a session's spans.
struct Ids {
    prefix: String,
    trace: [u8; 16],
}

impl Ids {
    fn of(session: &SessionFacts) -> Self {
        let prefix = format!("{DOMAIN}\0{}\0{}\0{}", session.job, session.date, session.agent);
        let trace = first(blake3::hash(prefix.as_bytes()).as_bytes());
        Self { prefix, trace }
    }

    /// The ID of the span at a path; the session's own is at the empty path.
    fn span(&self, path: &str) -> [u8; 8] {
        first(blake3::hash(format!("{}\0{path}", self.prefix).as_bytes()).as_bytes())
    }

    /// A span within the scope that contains the path.
    fn new_span(&self, path: &str, name: String, kind: SpanKind, times: (Timestamp, Timestamp)) -> Span {
        let above = path.rsplit_once('/').map_or("", |(above, _)| above);
        let parent = (!path.is_empty()).then(|| self.span(above));
        let (start, end) = times;
        let mut span = Span {
            trace: self.trace,
            id: self.span(path),
            parent,
            name,
            kind,
            start,
            end,
            attributes: Vec::new(),
            error: None,
        };
        span.say("papertape.path", Some(path).filter(|path| !path.is_empty()).map(Attribute::from));
        span
    }
}

/// The first `N` bytes of a hash. Never all zeros, which would not be a valid ID.
fn first<const N: usize>(hash: &[u8; 32]) -> [u8; N] {
    let mut id = [0; N];
    id.copy_from_slice(&hash[..N]);
    if id == [0; N] {
        id[N - 1] = 1;
    }
    id
}

/// When a step started and ended.
fn times(step: &StepView) -> (Timestamp, Timestamp) {
    (step.started_at, step.ended_at.unwrap_or(step.started_at))
}

/// Why a step failed: the broker's code of a rejected order, the kind of a failed call, else how the step ended.
fn failure(facts: &StepFacts) -> Option<String> {
    let code = |name: &str| facts.outcome.as_ref().and_then(|outcome| outcome[name].as_str());
    let ended = match facts.step.state {
        StepState::Done(OutcomeKind::Ok) => return None,
        StepState::Done(kind) => kind.as_str(),
        StepState::Abandoned => return Some("abandoned".to_owned()),
        StepState::Intent => return Some("unfinished".to_owned()),
    };
    let refused = orders(facts).find_map(|order| order.code.as_deref());
    Some(refused.or_else(|| code("code")).or_else(|| code("kind")).unwrap_or(ended).to_owned())
}

/// The order rows that a step implies.
fn orders(facts: &StepFacts) -> impl Iterator<Item = &OrderRow> {
    facts.implied.iter().filter_map(|row| match row {
        DerivedRow::Order(order) => Some(order.as_ref()),
        _ => None,
    })
}

fn fail(span: &mut Span, kind: &str, message: impl Into<String>) {
    span.say("error.type", Attribute::from(kind));
    span.error = Some(message.into());
}

/// The session's own span.
fn own(ids: &Ids, session: &SessionFacts, steps: &[&StepFacts]) -> Span {
    let last = steps.iter().map(|facts| times(&facts.step).1).max();
    let end = session.completed_at.or(last).unwrap_or(session.started_at);
    let name = format!("invoke_agent {}", session.agent);
    let mut span = ids.new_span("", name, SpanKind::Internal, (session.started_at, end));
    span.say("gen_ai.operation.name", Attribute::from("invoke_agent"));
    span.say("gen_ai.agent.name", Attribute::from(session.agent.as_str()));
    span.say("gen_ai.agent.id", Attribute::from(agent_id(session)));
    // A desk may use two models; the one called first is the session's.
    if let Some((model, _)) = steps.iter().find_map(|facts| facts.model.as_ref()) {
        span.say("gen_ai.provider.name", Attribute::from(model.provider.as_str()));
        span.say("gen_ai.request.model", Attribute::from(model.model.as_str()));
    }
    span.say("gen_ai.conversation.id", Attribute::from(conversation(session)));
    span.say("gen_ai.usage.input_tokens", Attribute::from(session.used.usage.input_tokens));
    span.say("gen_ai.usage.cache_read.input_tokens", Attribute::from(session.used.usage.cached_tokens));
    span.say("gen_ai.usage.output_tokens", Attribute::from(session.used.usage.output_tokens));
    span.say("papertape.job_id", Attribute::from(session.job.as_str()));
    span.say("papertape.session_id", Attribute::Int(session.id.0));
    span.say("papertape.trading_day", Attribute::from(session.date.to_string()));
    let cost = session.used.cost_usd.to_f64().filter(|_| session.used.unpriced_calls == 0);
    span.say("papertape.cost_usd", cost.map(Attribute::Float));
    span.say("papertape.estimated_calls", estimated(session.used.estimated_calls));
    if session.status == DayStatus::Failed {
        let message = session.error.as_deref().unwrap_or("the session failed");
        // A session fails because of a call that failed; its error says which.
        let code = steps.iter().rev().filter_map(|facts| failure(facts)).find(|code| message.contains(code));
        fail(&mut span, code.as_deref().unwrap_or("session_failed"), message);
    }
    span
}

/// One agent, wherever it runs: the hash of its definition, which includes its model, prompts and limits. The
/// assistant has no such hash and goes by its name.
fn agent_id(session: &SessionFacts) -> String {
    session.agent_hash.map_or_else(|| session.agent.to_string(), |hash| hash.to_string())
}

/// One ID per conversation: each turn of a chat is a session, and the chat is the conversation; any other
/// session is its own conversation.
fn conversation(session: &SessionFacts) -> String {
    match &session.chat {
        Some(chat) => chat.to_string(),
        None => format!("{}/{}", session.job, session.id),
    }
}

/// A span for each scope that contains a step, and for its parents.
fn scopes(ids: &Ids, session: &SessionFacts, steps: &[&StepFacts]) -> Vec<Span> {
    let mut spans: BTreeMap<&str, (Timestamp, Timestamp)> = BTreeMap::new();
    let mut verdicts: BTreeMap<&str, String> = BTreeMap::new();
    for facts in steps {
        let step = &facts.step;
        let (start, end) = times(step);
        let mut scope = step.path.scope();
        if let Some(verdict) = (step.class == StepClass::Guard).then(|| failure(facts)).flatten() {
            verdicts.insert(scope, verdict);
        }
        while !scope.is_empty() {
            let known = spans.entry(scope).or_insert((start, end));
            *known = (known.0.min(start), known.1.max(end));
            scope = scope.rsplit_once('/').map_or("", |(above, _)| above);
        }
    }
    let of = |(scope, times): (&str, (Timestamp, Timestamp))| {
        let last = scope.rsplit('/').next().unwrap_or_default();
        let (node, round) = last.rsplit_once('#').unwrap_or((last, ""));
        let mut span = ids.new_span(scope, node.to_owned(), SpanKind::Internal, times);
        span.say("papertape.job_id", Attribute::from(session.job.as_str()));
        match round.parse::<u64>() {
            Ok(round) => {
                span.say("papertape.node", Attribute::from(node));
                span.say("papertape.round", Attribute::from(round));
            }
            Err(_) => span.say("papertape.symbol", Attribute::from(node)),
        }
        if let Some(verdict) = verdicts.get(scope) {
            fail(&mut span, verdict, verdict.as_str());
        }
        span
    };
    spans.into_iter().map(of).collect()
}

/// The spans of a step: none if it is neither a model call, nor a tool call, nor an order.
fn of_step(ids: &Ids, session: &SessionFacts, facts: &StepFacts) -> Vec<Span> {
    let path = facts.step.path.as_str();
    let tool = facts.implied.iter().find_map(|row| match row {
        DerivedRow::Message(message) => message.tool_name.as_deref(),
        _ => None,
    });
    let mut spans: Vec<Span> = match (&facts.model, tool) {
        (Some((model, sampling)), _) => vec![chat(ids, session, facts, (model, sampling))],
        (None, Some(tool)) => vec![executed(ids, facts, tool)],
        (None, None) => Vec::new(),
    };
    let within = if spans.is_empty() { facts.step.path.scope() } else { path };
    // An order's path is its step's path plus its number there: one order can have several rows.
    let told = orders(facts).zip(1..).map(|(order, n)| ordered(ids, facts, order, (path, within), n));
    spans.extend(told);
    for span in &mut spans {
        span.say("papertape.job_id", Attribute::from(session.job.as_str()));
        span.say("papertape.reused_from", facts.step.reused_from.as_deref().map(Attribute::from));
    }
    spans
}

fn chat(
    ids: &Ids,
    session: &SessionFacts,
    facts: &StepFacts,
    (model, sampling): (&ModelName, &Sampling),
) -> Span {
    let step = &facts.step;
    let name = format!("chat {}", model.model);
    let mut span = ids.new_span(step.path.as_str(), name, SpanKind::Client, times(step));
    span.say("gen_ai.operation.name", Attribute::from("chat"));
    span.say("gen_ai.conversation.id", Attribute::from(conversation(session)));
    span.say("gen_ai.provider.name", Attribute::from(model.provider.as_str()));
    span.say("gen_ai.request.model", Attribute::from(model.model.as_str()));
    span.say("gen_ai.request.temperature", sampling.temperature.map(Attribute::Float));
    span.say("gen_ai.request.top_p", sampling.top_p.map(Attribute::Float));
    span.say("gen_ai.request.max_tokens", sampling.max_tokens.map(|most| Attribute::from(u64::from(most))));
    span.say("gen_ai.request.seed", sampling.seed.map(Attribute::from));
    span.say("gen_ai.usage.input_tokens", Attribute::from(step.usage.input_tokens));
    span.say("gen_ai.usage.cache_read.input_tokens", Attribute::from(step.usage.cached_tokens));
    span.say("gen_ai.usage.output_tokens", Attribute::from(step.usage.output_tokens));
    span.say("papertape.is_llm", Attribute::Flag(!model.is_house()));
    span.say("papertape.cost_usd", step.cost_usd.and_then(|cost| cost.to_f64()).map(Attribute::Float));
    span.say("papertape.estimated_calls", estimated(step.estimated_calls));
    attempts(&mut span, facts);
    span
}

fn executed(ids: &Ids, facts: &StepFacts, tool: &str) -> Span {
    let step = &facts.step;
    let name = format!("execute_tool {tool}");
    let mut span = ids.new_span(step.path.as_str(), name, SpanKind::Internal, times(step));
    span.say("gen_ai.operation.name", Attribute::from("execute_tool"));
    span.say("gen_ai.tool.name", Attribute::from(tool));
    // Tools of this process read or book; external tools are reached through a server.
    let kind = if step.class == StepClass::External { "extension" } else { "function" };
    span.say("gen_ai.tool.type", Attribute::from(kind));
    attempts(&mut span, facts);
    span
}

/// The number of attempts, and whether they failed.
fn attempts(span: &mut Span, facts: &StepFacts) {
    let step = &facts.step;
    if step.class == StepClass::External {
        span.say("papertape.attempts", Attribute::Int(step.attempts.into()));
        span.say("papertape.interrupted", Attribute::Int(step.interrupted.into()));
    }
    if let Some(code) = failure(facts) {
        fail(span, &code, code.as_str());
    }
}

fn ordered(ids: &Ids, facts: &StepFacts, order: &OrderRow, (path, within): (&str, &str), n: u32) -> Span {
    let name = format!("order {} {}", order.side, order.symbol);
    let own = format!("{path}/order-row#{n}");
    let mut span = ids.new_span(&own, name, SpanKind::Internal, times(&facts.step));
    span.parent = Some(ids.span(within));
    span.say("papertape.order.id", Attribute::from(order.order_id.as_str()));
    span.say("papertape.order.symbol", Attribute::from(order.symbol.as_str()));
    span.say("papertape.order.side", Attribute::from(order.side.as_str()));
    span.say("papertape.order.status", Attribute::from(order.status.as_str()));
    span.say("papertape.order.quantity", order.quantity.0.to_f64().map(Attribute::Float));
    span.say("papertape.order.price", order.price.and_then(|price| price.0.to_f64()).map(Attribute::Float));
    span.say("papertape.order.fee", order.fee.and_then(|fee| fee.0.to_f64()).map(Attribute::Float));
    if let Some(code) = order.code.as_deref() {
        fail(&mut span, code, order.message.as_deref().unwrap_or(code));
    }
    span
}

/// Set only where the usage next to it contains estimates.
fn estimated(calls: u64) -> Option<Attribute> {
    (calls > 0).then(|| Attribute::from(calls))
}
