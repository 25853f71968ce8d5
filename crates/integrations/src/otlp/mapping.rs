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

use super::span::{Attribute, Span, SpanExt as _, SpanKind};
use opentelemetry_proto::tonic::trace::v1::Status;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use papertape_core::message::{ModelName, Sampling};
use papertape_core::record::{DayStatus, DerivedRow, OrderRow};
use papertape_core::tape::{OutcomeKind, StepClass, StepState};
use papertape_core::time::Timestamp;
use papertape_protocol::results::conventions::ConventionsResponse;
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
    pub derived: Vec<DerivedRow>,
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
    let mut session_span = session_span(&ids, session, &steps);
    if let Some(conventions) = conventions {
        session_span.set("papertape.market", Attribute::from(conventions.market.as_str()));
        session_span.set("papertape.fill", Attribute::from(conventions.fill.as_str()));
        session_span.set("papertape.costs", Attribute::from(conventions.costs.as_str()));
        session_span.set("papertape.conventions", Attribute::from(conventions.summary.as_str()));
    }
    let mut all = vec![session_span];
    all.extend(scopes(&ids, session, &steps));
    for facts in steps {
        all.extend(step_spans(&ids, session, facts));
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
            trace_id: self.trace.to_vec(),
            span_id: self.span(path).to_vec(),
            parent_span_id: parent.map(|parent| parent.to_vec()).unwrap_or_default(),
            name,
            kind: kind.into(),
            start_time_unix_nano: nanos(start),
            end_time_unix_nano: nanos(end.max(start)),
            status: Some(Status::default()),
            ..Span::default()
        };
        span.set("papertape.path", Some(path).filter(|path| !path.is_empty()).map(Attribute::from));
        span
    }
}

/// Nanoseconds since 1970.
fn nanos(at: Timestamp) -> u64 {
    u64::try_from(at.as_nanosecond()).unwrap_or_default()
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
    let order_code = orders(facts).find_map(|order| order.code.as_deref());
    Some(order_code.or_else(|| code("code")).or_else(|| code("kind")).unwrap_or(ended).to_owned())
}

/// The order rows of a step.
fn orders(facts: &StepFacts) -> impl Iterator<Item = &OrderRow> {
    facts.derived.iter().filter_map(|row| match row {
        DerivedRow::Order(order) => Some(order.as_ref()),
        _ => None,
    })
}

fn fail(span: &mut Span, kind: &str, message: impl Into<String>) {
    span.set("error.type", Attribute::from(kind));
    span.status = Some(Status { code: StatusCode::Error.into(), message: message.into() });
}

/// The session's own span.
fn session_span(ids: &Ids, session: &SessionFacts, steps: &[&StepFacts]) -> Span {
    let last = steps.iter().map(|facts| times(&facts.step).1).max();
    let end = session.completed_at.or(last).unwrap_or(session.started_at);
    let name = format!("invoke_agent {}", session.agent);
    let mut span = ids.new_span("", name, SpanKind::Internal, (session.started_at, end));
    span.set("gen_ai.operation.name", Attribute::from("invoke_agent"));
    span.set("gen_ai.agent.name", Attribute::from(session.agent.as_str()));
    span.set("gen_ai.agent.id", Attribute::from(agent_id(session)));
    // A desk may use two models; the one called first is the session's.
    if let Some((model, _)) = steps.iter().find_map(|facts| facts.model.as_ref()) {
        span.set("gen_ai.provider.name", Attribute::from(model.provider.as_str()));
        span.set("gen_ai.request.model", Attribute::from(model.model.as_str()));
    }
    span.set("gen_ai.conversation.id", Attribute::from(conversation(session)));
    span.set("gen_ai.usage.input_tokens", Attribute::from(session.used.usage.input_tokens));
    span.set("gen_ai.usage.cache_read.input_tokens", Attribute::from(session.used.usage.cached_tokens));
    span.set("gen_ai.usage.output_tokens", Attribute::from(session.used.usage.output_tokens));
    span.set("papertape.job_id", Attribute::from(session.job.as_str()));
    span.set("papertape.session_id", Attribute::from(session.id.0));
    span.set("papertape.trading_day", Attribute::from(session.date.to_string()));
    let cost = session.used.cost_usd.to_f64().filter(|_| session.used.unpriced_calls == 0);
    span.set("papertape.cost_usd", cost.map(Attribute::from));
    span.set("papertape.estimated_calls", estimated(session.used.estimated_calls));
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
    let mut failures: BTreeMap<&str, String> = BTreeMap::new();
    for facts in steps {
        let step = &facts.step;
        let (start, end) = times(step);
        let mut scope = step.path.scope();
        if let Some(code) = (step.class == StepClass::Guard).then(|| failure(facts)).flatten() {
            failures.insert(scope, code);
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
        span.set("papertape.job_id", Attribute::from(session.job.as_str()));
        match round.parse::<u64>() {
            Ok(round) => {
                span.set("papertape.node", Attribute::from(node));
                span.set("papertape.round", Attribute::from(round));
            }
            Err(_) => span.set("papertape.symbol", Attribute::from(node)),
        }
        if let Some(code) = failures.get(scope) {
            fail(&mut span, code, code.as_str());
        }
        span
    };
    spans.into_iter().map(of).collect()
}

/// The spans of a step: none if it is neither a model call, nor a tool call, nor an order.
fn step_spans(ids: &Ids, session: &SessionFacts, facts: &StepFacts) -> Vec<Span> {
    let path = facts.step.path.as_str();
    let tool = facts.derived.iter().find_map(|row| match row {
        DerivedRow::Message(message) => message.tool_name.as_deref(),
        _ => None,
    });
    let mut spans: Vec<Span> = match (&facts.model, tool) {
        (Some((model, sampling)), _) => vec![chat_span(ids, session, facts, (model, sampling))],
        (None, Some(tool)) => vec![tool_span(ids, facts, tool)],
        (None, None) => Vec::new(),
    };
    let within = if spans.is_empty() { facts.step.path.scope() } else { path };
    // An order's path is its step's path plus its number there: one order can have several rows.
    let order_spans =
        orders(facts).zip(1..).map(|(order, n)| order_span(ids, facts, order, (path, within), n));
    spans.extend(order_spans);
    for span in &mut spans {
        span.set("papertape.job_id", Attribute::from(session.job.as_str()));
        span.set("papertape.reused_from", facts.step.reused_from.as_deref().map(Attribute::from));
    }
    spans
}

fn chat_span(
    ids: &Ids,
    session: &SessionFacts,
    facts: &StepFacts,
    (model, sampling): (&ModelName, &Sampling),
) -> Span {
    let step = &facts.step;
    let name = format!("chat {}", model.model);
    let mut span = ids.new_span(step.path.as_str(), name, SpanKind::Client, times(step));
    span.set("gen_ai.operation.name", Attribute::from("chat"));
    span.set("gen_ai.conversation.id", Attribute::from(conversation(session)));
    span.set("gen_ai.provider.name", Attribute::from(model.provider.as_str()));
    span.set("gen_ai.request.model", Attribute::from(model.model.as_str()));
    span.set("gen_ai.request.temperature", sampling.temperature.map(Attribute::from));
    span.set("gen_ai.request.top_p", sampling.top_p.map(Attribute::from));
    span.set("gen_ai.request.max_tokens", sampling.max_tokens.map(|max| Attribute::from(u64::from(max))));
    span.set("gen_ai.request.seed", sampling.seed.map(Attribute::from));
    span.set("gen_ai.usage.input_tokens", Attribute::from(step.usage.input_tokens));
    span.set("gen_ai.usage.cache_read.input_tokens", Attribute::from(step.usage.cached_tokens));
    span.set("gen_ai.usage.output_tokens", Attribute::from(step.usage.output_tokens));
    span.set("papertape.is_llm", Attribute::from(!model.is_house()));
    span.set("papertape.cost_usd", step.cost_usd.and_then(|cost| cost.to_f64()).map(Attribute::from));
    span.set("papertape.estimated_calls", estimated(step.estimated_calls));
    attempts(&mut span, facts);
    span
}

fn tool_span(ids: &Ids, facts: &StepFacts, tool: &str) -> Span {
    let step = &facts.step;
    let name = format!("execute_tool {tool}");
    let mut span = ids.new_span(step.path.as_str(), name, SpanKind::Internal, times(step));
    span.set("gen_ai.operation.name", Attribute::from("execute_tool"));
    span.set("gen_ai.tool.name", Attribute::from(tool));
    // Tools of this process read or book; external tools are reached through a server.
    let kind = if step.class == StepClass::External { "extension" } else { "function" };
    span.set("gen_ai.tool.type", Attribute::from(kind));
    attempts(&mut span, facts);
    span
}

/// The number of attempts, and whether they failed.
fn attempts(span: &mut Span, facts: &StepFacts) {
    let step = &facts.step;
    if step.class == StepClass::External {
        span.set("papertape.attempts", Attribute::from(i64::from(step.attempts)));
        span.set("papertape.interrupted", Attribute::from(i64::from(step.interrupted)));
    }
    if let Some(code) = failure(facts) {
        fail(span, &code, code.as_str());
    }
}

fn order_span(ids: &Ids, facts: &StepFacts, order: &OrderRow, (path, within): (&str, &str), n: u32) -> Span {
    let name = format!("order {} {}", order.side, order.symbol);
    let own = format!("{path}/order-row#{n}");
    let mut span = ids.new_span(&own, name, SpanKind::Internal, times(&facts.step));
    span.parent_span_id = ids.span(within).to_vec();
    span.set("papertape.order.id", Attribute::from(order.order_id.as_str()));
    span.set("papertape.order.symbol", Attribute::from(order.symbol.as_str()));
    span.set("papertape.order.side", Attribute::from(order.side.as_str()));
    span.set("papertape.order.status", Attribute::from(order.status.as_str()));
    span.set("papertape.order.quantity", order.quantity.0.to_f64().map(Attribute::from));
    span.set("papertape.order.price", order.price.and_then(|price| price.0.to_f64()).map(Attribute::from));
    span.set("papertape.order.fee", order.fee.and_then(|fee| fee.0.to_f64()).map(Attribute::from));
    if let Some(code) = order.code.as_deref() {
        fail(&mut span, code, order.message.as_deref().unwrap_or(code));
    }
    span
}

/// Set only where the usage next to it contains estimates.
fn estimated(calls: u64) -> Option<Attribute> {
    (calls > 0).then(|| Attribute::from(calls))
}
