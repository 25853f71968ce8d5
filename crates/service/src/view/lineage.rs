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
use papertape_protocol::memory::RecalledBlock;
use papertape_protocol::query::MAX_SESSION_ROWS;
use papertape_protocol::results::day::{OrderOriginResponse, Trade};
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
    if trade.order_id.is_some() {
        let metadata = if origin.session_id == session_id {
            result.metadata
        } else {
            app.store.result(SessionId(origin.session_id)).await?.and_then(|other| other.metadata)
        };
        Recorded::read(app, SessionId(origin.session_id), metadata).await?.trace(&trade, &origin, &mut found);
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

/// What a session's tape holds about its orders.
struct Recorded {
    nodes: Vec<SessionNode>,
    messages: Vec<MessageView>,
    /// The steps in the order in which they were started.
    steps: Vec<StepPath>,
    exposures: Vec<ExposureView>,
    memories: Vec<RecalledBlock>,
    metadata: Option<Value>,
}

impl Recorded {
    async fn read(app: &App, session: SessionId, metadata: Option<Value>) -> Result<Self, ServiceError> {
        let (mut messages, mut steps, mut exposures) = (Vec::new(), Vec::new(), Vec::new());
        let first = || Some(PageRequest::first(MAX_SESSION_ROWS));
        let next =
            |cursor: Option<String>| cursor.map(|cursor| PageRequest::after(MAX_SESSION_ROWS, &cursor));
        let mut page = first();
        while let Some(request) = page {
            let Some(found) = app.store.conversation(session, None, 0, &request).await? else { break };
            messages.extend(found.messages.items);
            page = next(found.messages.next);
        }
        let mut page = first();
        while let Some(request) = page {
            let found = app.store.steps(session, &request).await?;
            steps.extend(found.items.into_iter().map(|step| step.path));
            page = next(found.next);
        }
        let mut page = first();
        while let Some(request) = page {
            let found = app.store.exposures(session, &request).await?;
            exposures.extend(found.items);
            page = next(found.next);
        }
        let memories = session_memory(app, session.0).await?.recalled;
        Ok(Self { nodes: session_nodes(), messages, steps, exposures, memories, metadata })
    }

    /// Fills in what led to the fill of an order that was placed in this session.
    fn trace(&self, trade: &Trade, origin: &OrderOriginResponse, found: &mut LineageResponse) {
        let Some(order_id) = trade.order_id.clone() else { return };
        let path = Some(origin.path.as_str()).filter(|path| !path.is_empty());
        let symbol = ScopeKey::Symbol(trade.symbol.clone()).to_string();
        let call = self.messages.iter().position(|message| {
            message.role == Role::Tool
                && path
                    .map_or_else(|| answers_order(message, &order_id), |path| message.path.as_str() == path)
        });
        let reason = call.and_then(|at| self.messages[at].tool_input.as_ref()?.get("reason")?.as_str());
        if let Some(at) = call {
            let spoken = self.messages[..at].iter().rev().find(|message| is_spoken(message));
            let decision =
                spoken.or_else(|| self.last_of(|node| node.decides && node.llm.is_none(), &symbol));
            found.decision = decision.map(message);
        } else {
            found.decision = self.last_of(|node| node.decides && node.llm.is_some(), &symbol).map(message);
            let upstream = self.nodes.iter().rev().filter(|node| node.llm.is_some() && !node.decides);
            let last = upstream.filter_map(|node| self.last_of(|other| other.name == node.name, &symbol));
            found.contributing = last.map(message).collect();
            found.cuts = self.cuts(&trade.symbol);
        }
        let call = call.map(|at| self.messages[at].path.as_str());
        found.exposures = self.reads(&trade.symbol, &symbol, path.or(call));
        found.memories = self.recalled(&symbol);
        found.order = Some(LineageOrder {
            order_id,
            session_id: origin.session_id,
            date: origin.date,
            path: path.or(call).map(str::to_owned),
            reason: reason.map(str::to_owned),
        });
    }

    /// The last message of these nodes on the instrument, or on all.
    fn last_of(&self, of: impl Fn(&SessionNode) -> bool, symbol: &str) -> Option<&MessageView> {
        self.messages.iter().rev().find(|message| {
            is_spoken(message)
                && is_of(&message.path, symbol)
                && self.nodes.iter().any(|node| node.name == name(&message.path) && of(node))
        })
    }

    fn cuts(&self, symbol: &str) -> Vec<LineageCut> {
        let cuts = self.metadata.as_ref().and_then(|metadata| metadata.get("sizing")?.get("cuts")).cloned();
        let cuts: Vec<LineageCut> =
            cuts.and_then(|cuts| serde_json::from_value(cuts).ok()).unwrap_or_default();
        cuts.into_iter().filter(|cut| cut.symbol == symbol).collect()
    }

    /// What the agent had read about the instrument or the whole market before the order, by series.
    fn reads(&self, symbol: &str, scope: &str, order: Option<&str>) -> Vec<LineageSeries> {
        let at = order.and_then(|order| self.steps.iter().position(|path| path.as_str() == order));
        let before: Option<BTreeSet<&StepPath>> = at.map(|at| self.steps[..at].iter().collect());
        let mut by_series: BTreeMap<&str, usize> = BTreeMap::new();
        let mut found: Vec<LineageSeries> = Vec::new();
        for read in &self.exposures {
            let is_before = before.as_ref().is_none_or(|before| before.contains(&read.path));
            if !is_before || !is_about(read, symbol, scope) || !self.is_agents(&read.path) {
                continue;
            }
            let shown = &read.shown;
            let at = *by_series.entry(shown.series.as_str()).or_insert(found.len());
            if at == found.len() {
                found.push(LineageSeries {
                    series: shown.series.clone(),
                    reads: 0,
                    rows: 0,
                    first_date: None,
                    last_date: None,
                    latest_known_at: None,
                    path: read.path.to_string(),
                });
            }
            let series = &mut found[at];
            series.reads += 1;
            series.rows = series.rows.max(shown.rows);
            series.first_date = series.first_date.into_iter().chain(shown.first).min();
            series.last_date = series.last_date.max(shown.last);
            series.latest_known_at = series.latest_known_at.max(shown.latest_known_at);
        }
        found
    }

    /// Whether the agent made the read before the close, and not the books. A node of an instrument is always the
    /// agent's.
    fn is_agents(&self, path: &StepPath) -> bool {
        let phase = self.nodes.iter().find(|node| node.name == name(path)).map(|node| node.phase);
        instrument(path).is_some() || !matches!(phase, Some("books" | "memory"))
    }

    fn recalled(&self, symbol: &str) -> Vec<LineageMemory> {
        let blocks = self.memories.iter().filter(|block| is_of(&StepPath::new(&block.path), symbol));
        let items =
            blocks.flat_map(|block| block.items.iter().map(|item| (block.path.clone(), item.clone())));
        items.map(|(path, item)| LineageMemory { path, item }).collect()
    }
}

fn message(view: &MessageView) -> LineageMessage {
    LineageMessage {
        path: view.path.to_string(),
        node: name(&view.path).to_owned(),
        content: view.content.clone(),
    }
}

fn is_spoken(message: &MessageView) -> bool {
    message.role == Role::Assistant && !message.content.trim().is_empty()
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
