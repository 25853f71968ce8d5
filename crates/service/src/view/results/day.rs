//! One model's day.

use super::super::node_times::NodeTimes;
use super::super::reasoning::message;
use super::super::{BooksFacts, Configs, DayQualityResponse, MessageResponse, Number, ViewError, number};
use super::account::{
    self, FinancingResponse, InsolvencyResponse, PendingOrderResponse, PositionSnapshotResponse,
};
use super::conventions::category;
use super::load::{SelectedJob, chain, chosen, sessions};
use super::provenance::{Provenance, provenance, text};
use super::recorded::{RecordedResponse, recorded};
use super::{ConventionsResponse, DoneBefore, ReasoningLevel, point_in_time, trades};
use crate::app::App;
use papertape_core::broker::FeePart;
use papertape_core::id::JobId;
use papertape_core::provenance::{DataQuality, DayQuality, Research, SampleQuality, extract};
use papertape_core::record::{DayStatus, OrderRow, PositionRow};
use papertape_core::time::Date;
use papertape_store::{OrderPlace, PageRequest, Placed, ResultFilter, SessionFilter, SessionResult};
use rust_decimal::Decimal;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// What one model's day came to.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct DayResult {
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub model: String,
    /// The job that did it.
    pub job_id: String,
    /// The day, where another job did it before the one whose result it is; else empty.
    pub done_before: Vec<DoneBefore>,
    /// The version of the rules that the job was recorded under.
    pub rules_version: u32,
    /// What it was traded by; `null` where the job names no market.
    pub conventions: Option<ConventionsResponse>,
    /// Before the day; `null` until the session is closed, as all that its close writes.
    pub starting_position: Option<StartingHoldings>,
    /// Against the day before.
    pub daily_metrics: DailyMetrics,
    /// Fills, in order.
    pub trades: Vec<Trade>,
    /// Orders that were refused or expired, with the reason.
    pub rejections: Vec<Rejected>,
    /// Splits and dividends that met a holding.
    pub corporate_actions: Vec<CorporateActionResponse>,
    /// What holding borrowed money or shares cost.
    pub financing: Vec<FinancingResponse>,
    /// Orders that wait for their price at the end of the day.
    pub pending_orders: Vec<PendingOrderResponse>,
    /// Every open position at the close.
    pub position_snapshots: Vec<PositionSnapshotResponse>,
    /// The end of the account, from the day on which it was found; `null` while something is left.
    pub insolvent: Option<InsolvencyResponse>,
    /// At the close.
    pub final_position: Option<FinalPosition>,
    /// What the books say of the day, beside any summary.
    pub books: BooksFacts,
    /// How the day came about, in a few words; `null` while it is not over.
    pub quality: Option<DayQualityResponse>,
    /// How the research came about.
    pub provenance: Provenance,
    /// About the session.
    pub metadata: DayMetadata,
    /// `null`, the summary, or every message, as it was asked for.
    pub reasoning: Option<DayReasoning>,
}

/// What is held.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Holding {
    /// The instrument.
    pub symbol: String,
    /// Units; below zero for a short position.
    pub quantity: Number,
}

/// What was held before a day.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct StartingHoldings {
    /// By symbol.
    pub holdings: Vec<Holding>,
    /// Cash.
    pub cash: Number,
    /// At the previous session's close; the initial cash for the first.
    pub portfolio_value: Number,
}

/// A day against the one before. See the metrics' formulas in the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub struct DailyMetrics {
    /// This close's portfolio value less the previous session's.
    pub profit: Option<Number>,
    /// The same in percent; `null` where the previous value was not above zero.
    pub return_pct: Option<Number>,
    /// Calendar days since the previous session; `null` for the first.
    pub days_since_last_trading: Option<i32>,
}

/// A fill.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Trade {
    /// From 1 in a session.
    pub action_id: u64,
    /// `buy`, `sell`, `short`, `cover`, `stop`, `target`, `liquidation` or `delisting`.
    pub action_type: String,
    /// The instrument.
    pub symbol: String,
    /// Units, above zero.
    pub quantity: Number,
    /// Slippage included.
    pub price: Number,
    /// The fee.
    pub fee: Number,
    /// What the fee is made of, in the order of the market's fees. Empty where there is no fee, or where the market's
    /// rules do not add up to it: of imported trades, and where a lost margin limits the fee.
    pub fee_parts: Vec<FeePartResponse>,
    /// What the slippage cost; it is in the price already.
    pub slippage: Number,
    /// Leverage of the position, 1 for none; `null` where the record does not say.
    pub leverage: Option<Number>,
    /// The stop in force after the fill; of one that closes, the stop that the position had.
    pub stop: Option<Number>,
    /// The target in force after the fill; of one that closes, the target that the position had.
    pub target: Option<Number>,
    /// The net result of what was closed.
    pub realised_pnl: Option<Number>,
    /// The order; `null` for a fill without one: a stop, a target, a liquidation, a delisting.
    pub order_id: Option<String>,
    /// The step that booked it; `null` where the record has none, as of what was imported.
    pub path: Option<String>,
    /// Where its order was given; `null` for a fill without one.
    pub order: Option<OrderPlaceResponse>,
    /// Cash after it.
    pub cash_after: Number,
    /// Portfolio value after it, at the prices known then.
    pub portfolio_value: Number,
}

/// A part of a fee.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct FeePartResponse {
    /// Its name, such as `commission` or `stamp_duty`; `fee` for a market's flat fee.
    pub name: String,
    /// `commission`, `duty` or `transfer`.
    pub category: &'static str,
    /// Money.
    pub amount: Number,
}

impl From<FeePart> for FeePartResponse {
    fn from(part: FeePart) -> Self {
        Self { name: part.name, category: category(part.category), amount: number(part.amount.0) }
    }
}

/// Where an order was given: in this session or, where it has waited, in an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct OrderPlaceResponse {
    /// The session.
    pub session_id: i64,
    /// Its trading day.
    pub date: Date,
    /// The step.
    pub path: String,
}

/// An order that was refused, or expired.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Rejected {
    /// The order.
    pub order_id: String,
    /// Where it was given; `null` where the record has no step of it.
    pub order: Option<OrderPlaceResponse>,
    /// `rejected` or `expired`.
    pub status: String,
    /// The instrument as it was asked for.
    pub symbol: String,
    /// `buy`, `sell`, `short` or `cover`.
    pub side: String,
    /// Units asked for.
    pub quantity: Number,
    /// Why, as a code.
    pub code: Option<String>,
    /// Why, as a sentence.
    pub message: Option<String>,
    /// The numbers that decided, by name.
    #[schema(value_type = Option<Object>)]
    pub numbers: Option<Value>,
}

/// A split or a dividend that met a holding.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct CorporateActionResponse {
    /// From 1 in a session.
    pub action_id: u64,
    /// `split` or `dividend`.
    pub action_type: String,
    /// The instrument.
    pub symbol: Option<String>,
    /// Units held, after a split; below zero for a short position.
    pub quantity: Number,
    /// Of a dividend: that of one share. Of a split: the previous close over the ratio.
    pub price: Option<Number>,
    /// New shares for one old share, of a split. A fraction of a share that it leaves is paid out at `price`.
    pub ratio: Option<Number>,
    /// Cash after it.
    pub cash_after: Number,
}

/// A holding, marked.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct HeldAtClose {
    /// The instrument.
    pub symbol: String,
    /// Units; below zero for a short position.
    pub quantity: Number,
    /// The close, or the last known price.
    pub price: Number,
}

/// The account at a close.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct FinalPosition {
    /// By symbol.
    pub holdings: Vec<HeldAtClose>,
    /// Cash.
    pub cash: Number,
    /// Cash and holdings at the close.
    pub portfolio_value: Number,
}

/// About a session.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct DayMetadata {
    /// The session.
    pub session_id: i64,
    /// `running`, `completed` or `failed`.
    #[schema(schema_with = super::super::vocabulary::day_status)]
    pub status: DayStatus,
    /// Why it failed.
    pub error: Option<String>,
    /// `solo` or `desk`.
    pub agent_kind: Option<String>,
    /// `provider::model`.
    pub model: Option<String>,
    /// `false`: a rule-based house model, no language model.
    pub is_llm: Option<bool>,
    /// How the conversation ended, and after how many model calls.
    #[schema(value_type = Option<Object>)]
    pub conversation: Option<Value>,
    /// The six fields of the research debate; `null` where nothing was debated.
    #[schema(value_type = Option<Object>)]
    pub research: Option<Research>,
    /// What the result rests on.
    #[schema(value_type = Option<Object>)]
    pub data_quality: Option<DataQuality>,
    /// `full_research` or `degraded_research`.
    #[schema(value_type = Option<String>)]
    pub sample_quality: Option<SampleQuality>,
    /// What came of a day that was traded elsewhere and imported; absent of one that was lived here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedResponse>,
    /// A desk's decisions: how many instruments, how many of each rating, and how many have none
    /// because an answer could not be read (`unparseable`) or a node gave nothing (`fallback`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub decisions: Option<Value>,
    /// What became of a desk's decisions: the orders, and every cut of one with its reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub sizing: Option<Value>,
}

impl From<&OrderPlace> for OrderPlaceResponse {
    fn from(place: &OrderPlace) -> Self {
        Self { session_id: place.session.0, date: place.date, path: place.path.to_string() }
    }
}

/// What was said on a day.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum DayReasoning {
    /// The session's summary.
    Summary(String),
    /// Every message.
    Full(Vec<MessageResponse>),
}

/// A day of every model that has one, by model.
pub(super) async fn results(
    app: &App,
    configs: &mut Configs,
    filter: &ResultFilter,
    level: ReasoningLevel,
) -> Result<Vec<DayResult>, ViewError> {
    let mut results = Vec::new();
    for SelectedJob { agent, job, from } in chosen(app, filter).await? {
        // The newest job that has the day: this one, or the one that did it before.
        for (done_in, to) in chain(app, configs, (&agent, &job), (from, filter.to)).await? {
            let found = sessions(app, (&agent, &done_in), (from, to)).await?;
            let is_found = !found.is_empty();
            for session in found {
                results.push(result(app, configs, (&job, session), level).await?);
            }
            if is_found {
                break;
            }
        }
    }
    Ok(results)
}

async fn result(
    app: &App,
    configs: &mut Configs,
    (job, session): (&JobId, SessionResult),
    level: ReasoningLevel,
) -> Result<DayResult, ViewError> {
    let Placed { actions, orders } = app.store.placed(session.id).await?;
    let traded_here = configs.of(app, &session.job).await?.filter(|config| config.imported.is_none());
    let market = traded_here.map(|config| config.market.clone());
    let mut trades: Vec<Trade> = trades::fills(app, session.id, &session.positions, &session.orders)
        .await?
        .into_iter()
        .map(|filled| filled.with_fee_parts(market.as_ref(), session.date))
        .collect();
    for trade in &mut trades {
        trade.path = actions.get(&trade.action_id).map(ToString::to_string);
        trade.order = trade.order_id.as_ref().and_then(|id| orders.get(id)).map(OrderPlaceResponse::from);
    }
    let mut rejections: Vec<Rejected> = session.orders.iter().filter_map(rejected).collect();
    for refused in &mut rejections {
        refused.order = orders.get(&refused.order_id).map(OrderPlaceResponse::from);
    }
    let said = match level {
        ReasoningLevel::None => None,
        ReasoningLevel::Summary => session.session_summary.clone().map(DayReasoning::Summary),
        ReasoningLevel::Full => Some(DayReasoning::Full(conversation(app, &session).await?)),
    };
    let mut told = provenance(session.metadata.as_ref());
    if !told.degradations.is_empty() {
        NodeTimes::of(app, session.id).await?.fill_in(&mut told.degradations);
    }
    let of = (&session.job, &session.agent, session.date);
    told.point_in_time_reason = point_in_time::reason(app, configs, of, session.metadata.as_ref()).await?;
    let rules_version = configs.rules_version(app, &session.job).await?;
    let config = configs.of(app, &session.job).await?;
    let conventions = config.map(|config| ConventionsResponse::of_day(app, config, session.date));
    let continued = config.and_then(|config| config.done_until(&session.agent));
    let is_llm = config.and_then(|config| super::super::is_llm(config, &session.agent));
    let counts = app.store.order_counts(&[session.id]).await?;
    let quality = DayQuality::of(session.status, session.error.as_deref(), session.metadata.as_ref());
    Ok(DayResult {
        books: BooksFacts::of(counts.get(&session.id), trades.len()),
        quality: quality.map(DayQualityResponse::from),
        date: session.date,
        model: session.agent.to_string(),
        job_id: session.job.to_string(),
        done_before: DoneBefore::spans(job, std::iter::once((session.date, &session.job))),
        rules_version,
        conventions,
        starting_position: starting(&session),
        daily_metrics: daily_metrics(&session, continued),
        trades,
        rejections,
        corporate_actions: session.positions.iter().filter_map(corporate_action).collect(),
        financing: session.positions.iter().filter_map(account::financing).collect(),
        pending_orders: account::pending(&session),
        position_snapshots: session.snapshots.iter().map(account::snapshot).collect(),
        insolvent: account::insolvent(session.metadata.as_ref()),
        final_position: final_position(&session),
        metadata: metadata(&session, is_llm),
        provenance: told,
        reasoning: said,
    })
}

async fn conversation(app: &App, session: &SessionResult) -> Result<Vec<MessageResponse>, ViewError> {
    let filter = SessionFilter {
        job: Some(session.job.clone()),
        date: Some(session.date),
        agent: Some(session.agent.clone()),
        ..SessionFilter::default()
    };
    let page = app.store.sessions(&filter, true, &PageRequest::first(1)).await?;
    let messages = page.items.into_iter().filter_map(|view| view.conversation).flatten();
    Ok(messages.map(message).collect())
}

fn starting(session: &SessionResult) -> Option<StartingHoldings> {
    let starting = session.starting.as_ref()?;
    let holdings = starting.holdings.iter();
    Some(StartingHoldings {
        holdings: holdings
            .map(|(symbol, quantity)| Holding { symbol: symbol.to_string(), quantity: number(quantity.0) })
            .collect(),
        cash: number(starting.cash.0),
        portfolio_value: number(starting.portfolio_value.0),
    })
}

fn final_position(session: &SessionResult) -> Option<FinalPosition> {
    let held = session.holdings.iter().map(|held| HeldAtClose {
        symbol: held.symbol.to_string(),
        quantity: number(held.quantity.0),
        price: number(held.price.0),
    });
    Some(FinalPosition {
        holdings: held.collect(),
        cash: number(session.cash?.0),
        portfolio_value: number(session.portfolio_value?.0),
    })
}

/// `continued`: the day after which the agent went on in this job.
fn daily_metrics(session: &SessionResult, continued: Option<Date>) -> DailyMetrics {
    let books = session.metadata.as_ref().and_then(|metadata| metadata.get("books"));
    let figure = |name: &str| -> Option<Decimal> { books?.get(name)?.as_str()?.parse().ok() };
    let previous = session.previous_date.or(continued);
    let days = previous.and_then(|previous| previous.until((jiff::Unit::Day, session.date)).ok());
    DailyMetrics {
        profit: figure("daily_profit").map(number),
        return_pct: figure("daily_return_pct").map(number),
        days_since_last_trading: days.map(|span| span.get_days()),
    }
}

fn rejected(order: &OrderRow) -> Option<Rejected> {
    let is_refused = matches!(order.status.as_str(), "rejected" | "expired");
    is_refused.then(|| Rejected {
        order_id: order.order_id.clone(),
        order: None,
        status: order.status.clone(),
        symbol: order.symbol.to_string(),
        side: order.side.clone(),
        quantity: number(order.quantity.0),
        code: order.code.clone(),
        message: order.message.clone(),
        numbers: order.numbers.clone(),
    })
}

fn corporate_action(row: &PositionRow) -> Option<CorporateActionResponse> {
    matches!(row.action_type.as_str(), "split" | "dividend").then(|| CorporateActionResponse {
        action_id: row.action_id,
        action_type: row.action_type.clone(),
        symbol: row.symbol.as_ref().map(ToString::to_string),
        quantity: number(row.amount.0),
        price: row.price.map(|price| number(price.0)),
        ratio: row.terms.ratio.map(number),
        cash_after: number(row.cash.0),
    })
}

fn metadata(session: &SessionResult, is_llm: Option<bool>) -> DayMetadata {
    let metadata = session.metadata.as_ref();
    let known = metadata.map(extract);
    let part = |name: &str| metadata.and_then(|metadata| metadata.get(name)).cloned();
    DayMetadata {
        session_id: session.id.0,
        status: session.status,
        error: session.error.clone(),
        agent_kind: text(metadata, "agent_kind"),
        model: text(metadata, "model"),
        is_llm: metadata.and_then(|metadata| metadata.get("is_llm")?.as_bool()).or(is_llm),
        conversation: part("conversation"),
        recorded: recorded(metadata),
        decisions: part("decisions"),
        sizing: part("sizing"),
        sample_quality: known.as_ref().map(papertape_core::provenance::Provenance::sample_quality),
        research: known.as_ref().and_then(|known| known.research.clone()),
        data_quality: known.map(|known| known.data_quality),
    }
}
