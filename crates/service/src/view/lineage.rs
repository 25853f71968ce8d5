//! The lineage of a fill: from the books back to the order, the decision, and what the agent had seen.

use super::memory::session_memory;
use super::{Configs, masked, session_trades};
use crate::app::App;
use crate::error::ServiceError;
use crate::view::deployment;
use papertape_agents::nodes::{SessionNode, session_nodes};
use papertape_core::message::Role;
use papertape_core::record::SessionId;
use papertape_core::step::{ScopeKey, StepPath};
use papertape_protocol::lineage::{
    LineageCut, LineageMemory, LineageMessage, LineageOrder, LineageQuery, LineageResponse, LineageSeries,
};
use papertape_protocol::query::MAX_SESSION_ROWS;
use papertape_protocol::results::day::OrderOriginResponse;
use papertape_store::{ExposureView, MessageView, PageRequest};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The lineage of a fill.
///
/// # Errors
/// No such session, or no such fill in it; a database error.
pub async fn lineage(
    app: &App,
    session_id: i64,
    query: LineageQuery,
) -> Result<LineageResponse, ServiceError> {
    let id = SessionId(session_id);
    let result = app.store.result(id).await?.ok_or_else(|| ServiceError::no_session(id))?;
    let placed = app.store.placed(id).await?;
    let mut trades = session_trades(app, None, &result, &placed).await?.into_iter();
    let no_fill = || ServiceError::NotFound(format!("session {id} has no fill {}", query.action_id));
    let trade = trades.find(|trade| trade.action_id == query.action_id).ok_or_else(no_fill)?;
    let here = OrderOriginResponse { session_id, date: result.date, path: String::new() };
    let origin = trade.order.clone().unwrap_or(here);
    let mut found = LineageResponse {
        session_id,
        action_id: trade.action_id,
        symbol: trade.symbol.clone(),
        path: trade.path.clone(),
        order: None,
        decision: None,
        contributing: Vec::new(),
        cuts: Vec::new(),
        exposures: Vec::new(),
        memories: Vec::new(),
        deployment: deployment(app),
    };
    if let Some(order_id) = trade.order_id.clone() {
        Trace::new(app, SessionId(origin.session_id), &trade.symbol)
            .run(order_id, &origin, &mut found)
            .await?;
    }
    // Paths, series and texts are of the job's own world; the rest is shown under real names and dates.
    let mut configs = Configs::default();
    let config = configs.of(app, &result.job).await?;
    if let Some(masking) = config.and_then(|config| masked::translation(config, None)) {
        found.symbol = masking.real_text(&found.symbol);
        found.cuts = masked::real(&masking, found.cuts)?;
        if let Some(order) = &mut found.order {
            order.date = masked::real_date(config, order.date);
        }
    }
    Ok(found)
}

/// Reads the session that placed an order, page by page, and keeps what led to the order.
struct Trace<'a> {
    app: &'a App,
    session: SessionId,
    nodes: Vec<SessionNode>,
    symbol: &'a str,
    /// The instrument as it is written in paths.
    scope: String,
}

/// The messages around an order.
#[derive(Default)]
struct Messages {
    /// The call that placed it. A desk's orders have none.
    call: Option<OrderCall>,
    /// The agent's last words before the call.
    before_call: Option<LineageMessage>,
    /// The last words of each node on the instrument, or on all.
    last: BTreeMap<String, LineageMessage>,
}

struct OrderCall {
    path: String,
    reason: Option<String>,
}

impl<'a> Trace<'a> {
    fn new(app: &'a App, session: SessionId, symbol: &'a str) -> Self {
        let scope = ScopeKey::Symbol(symbol.to_owned()).to_string();
        Self { app, session, nodes: session_nodes(), symbol, scope }
    }

    async fn run(
        &self,
        order_id: String,
        origin: &OrderOriginResponse,
        found: &mut LineageResponse,
    ) -> Result<(), ServiceError> {
        let path = Some(origin.path.as_str()).filter(|path| !path.is_empty());
        let mut messages = self.messages(&order_id, path).await?;
        match &messages.call {
            // An external agent may state its decision after its orders.
            Some(_) => {
                let at_the_end = || self.words_of(&messages, |node| node.decides && node.llm.is_none());
                found.decision = messages.before_call.clone().or_else(at_the_end);
            }
            None => {
                found.decision = self.words_of(&messages, |node| node.decides);
                let upstream = self.nodes.iter().rev().filter(|node| node.llm.is_some() && !node.decides);
                found.contributing = upstream.filter_map(|node| messages.last.remove(node.name)).collect();
                found.cuts = self.cuts().await?;
            }
        }
        let (call, reason) = messages.call.map(|call| (call.path, call.reason)).unzip();
        let path = path.map(str::to_owned).or(call);
        found.exposures = self.reads(path.as_deref()).await?;
        found.memories = self.memories().await?;
        let reason = reason.flatten();
        found.order =
            Some(LineageOrder { order_id, session_id: origin.session_id, date: origin.date, path, reason });
        Ok(())
    }

    async fn messages(&self, order_id: &str, path: Option<&str>) -> Result<Messages, ServiceError> {
        let mut found = Messages::default();
        let mut request = Some(PageRequest::first(MAX_SESSION_ROWS));
        while let Some(page) = request {
            let Some(page) = self.app.store.conversation(self.session, None, 0, &page).await? else { break };
            for message in page.messages.items {
                self.take(message, order_id, path, &mut found);
            }
            request = next(page.messages.next);
        }
        Ok(found)
    }

    fn take(&self, message: MessageView, order_id: &str, path: Option<&str>, found: &mut Messages) {
        let places_order =
            || path.map_or_else(|| answers_order(&message, order_id), |path| message.path.as_str() == path);
        if found.call.is_none() && message.role == Role::Tool && places_order() {
            let reason = message.tool_input.as_ref().and_then(|input| input.get("reason")?.as_str());
            let reason = reason.map(str::to_owned);
            found.call = Some(OrderCall { path: message.path.to_string(), reason });
        }
        if message.role != Role::Assistant || message.content.trim().is_empty() {
            return;
        }
        let node = name(&message.path).to_owned();
        let is_of_symbol = is_of(&message.path, &self.scope);
        let words = LineageMessage { path: message.path.to_string(), node, content: message.content };
        if is_of_symbol {
            found.last.insert(words.node.clone(), words.clone());
        }
        if found.call.is_none() {
            found.before_call = Some(words);
        }
    }

    /// The last words of the last of these nodes that spoke.
    fn words_of(&self, messages: &Messages, of: impl Fn(&SessionNode) -> bool) -> Option<LineageMessage> {
        let mut nodes = self.nodes.iter().rev().filter(|node| of(node));
        nodes.find_map(|node| messages.last.get(node.name)).cloned()
    }

    /// The adjustments of the instrument's orders.
    async fn cuts(&self) -> Result<Vec<LineageCut>, ServiceError> {
        let metadata = self.app.store.result(self.session).await?.and_then(|result| result.metadata);
        let cuts =
            metadata.and_then(|metadata| Some(metadata.get("sizing")?.get("cuts")?.as_array()?.clone()));
        // Another tool's metadata may have other forms.
        let cuts =
            cuts.into_iter().flatten().filter_map(|cut| serde_json::from_value::<LineageCut>(cut).ok());
        Ok(cuts.filter(|cut| cut.symbol == self.symbol).collect())
    }

    /// What the agent had read about the instrument or the whole market before the order, by series.
    async fn reads(&self, order: Option<&str>) -> Result<Vec<LineageSeries>, ServiceError> {
        let before = match order {
            Some(order) => self.steps_before(order).await?,
            None => None,
        };
        let mut found: Vec<LineageSeries> = Vec::new();
        let mut by_series: BTreeMap<String, usize> = BTreeMap::new();
        let mut request = Some(PageRequest::first(MAX_SESSION_ROWS));
        while let Some(page) = request {
            let page = self.app.store.exposures(self.session, &page).await?;
            for read in page.items {
                let is_before = before.as_ref().is_none_or(|before| before.contains(&read.path));
                if !is_before || !is_about(&read, self.symbol, &self.scope) || !self.is_agents(&read.path) {
                    continue;
                }
                let at = *by_series.entry(read.shown.series.as_str().to_owned()).or_insert(found.len());
                if at == found.len() {
                    found.push(unread(&read));
                }
                add(&mut found[at], &read);
            }
            request = next(page.next);
        }
        Ok(found)
    }

    /// The steps that were started before this one; `None` if the session does not have it.
    async fn steps_before(&self, order: &str) -> Result<Option<BTreeSet<StepPath>>, ServiceError> {
        let mut before = BTreeSet::new();
        let mut request = Some(PageRequest::first(MAX_SESSION_ROWS));
        while let Some(page) = request {
            let page = self.app.store.steps(self.session, &page).await?;
            for step in page.items {
                if step.path.as_str() == order {
                    return Ok(Some(before));
                }
                before.insert(step.path);
            }
            request = next(page.next);
        }
        Ok(None)
    }

    /// Whether the agent made the read before the close, and not the books. A node of an instrument is always the
    /// agent's.
    fn is_agents(&self, path: &StepPath) -> bool {
        let phase = self.nodes.iter().find(|node| node.name == name(path)).map(|node| node.phase);
        instrument(path).is_some() || !matches!(phase, Some("books" | "memory"))
    }

    async fn memories(&self) -> Result<Vec<LineageMemory>, ServiceError> {
        let blocks = session_memory(self.app, self.session.0).await?.recalled.into_iter();
        let blocks = blocks.filter(|block| is_of(&StepPath::new(&block.path), &self.scope));
        let memory = |path: &str, item| LineageMemory { path: path.to_owned(), item };
        Ok(blocks
            .flat_map(|block| block.items.into_iter().map(move |item| memory(&block.path, item)))
            .collect())
    }
}

/// The request for the next page.
fn next(cursor: Option<String>) -> Option<PageRequest> {
    cursor.map(|cursor| PageRequest::after(MAX_SESSION_ROWS, &cursor))
}

/// The series of a read, before its reads are added.
fn unread(read: &ExposureView) -> LineageSeries {
    LineageSeries {
        series: read.shown.series.as_str().to_owned(),
        reads: 0,
        rows: 0,
        first_date: None,
        last_date: None,
        latest_known_at: None,
        path: read.path.to_string(),
    }
}

fn add(series: &mut LineageSeries, read: &ExposureView) {
    let shown = &read.shown;
    series.reads += 1;
    series.rows = series.rows.max(shown.rows);
    series.first_date = series.first_date.into_iter().chain(shown.first).min();
    series.last_date = series.last_date.max(shown.last);
    series.latest_known_at = series.latest_known_at.max(shown.latest_known_at);
}

/// Whether a tool's result has this order ID. Imported orders have no step.
fn answers_order(message: &MessageView, order_id: &str) -> bool {
    let answer: Option<Value> = serde_json::from_str(&message.content).ok();
    answer.and_then(|answer| Some(answer.get("order_id")?.as_str()? == order_id)).unwrap_or_default()
}

/// The name of a step's node, without instrument and round.
fn name(path: &StepPath) -> &str {
    let node = path.node();
    node.rsplit_once('#').map_or(node, |(name, _)| name)
}

/// The instrument of a step, as it is written in the path.
fn instrument(path: &StepPath) -> Option<&str> {
    path.scope().split_once('/').map(|(symbol, _)| symbol)
}

/// Whether a step is of the instrument, or of all.
fn is_of(path: &StepPath, symbol: &str) -> bool {
    instrument(path).is_none_or(|own| own == symbol)
}

/// Whether a read is about the instrument; or about the whole market, and made for this instrument or for all.
fn is_about(read: &ExposureView, symbol: &str, scope: &str) -> bool {
    let series = read.shown.series.as_str();
    let (of, is_part) = series.split_once('/').map_or((series, false), |(of, _)| (of, true));
    let is_market_wide = series == "news" || is_part && matches!(of, "news" | "macro" | "index");
    is_part && of == symbol || is_market_wide && is_of(&read.path, scope)
}
