//! One model's day.

use super::super::Configs;
use super::super::cutoff::{language_models, training_cutoffs};
use super::super::node_times::NodeTimes;
use super::super::reasoning::message;
use super::account;
use super::load::{SelectedJob, chain, chosen, sessions};
use super::provenance::{provenance, text};
use super::recorded::recorded;
use super::{point_in_time, trades};
use crate::app::App;
use crate::error::ServiceError;
use crate::view::masked;
use crate::view::quality::books;
use crate::view::results::conventions::conventions_on;
use papertape_core::broker::MarketProfile;
use papertape_core::id::JobId;
use papertape_core::provenance::{DayQuality, extract};
use papertape_core::record::{OrderRow, PositionRow};
use papertape_core::time::Date;
use papertape_protocol::number::number;
use papertape_protocol::quality::DayQualityResponse;
use papertape_protocol::reasoning::MessageResponse;
use papertape_protocol::results::ReasoningLevel;
use papertape_protocol::results::day::{
    CorporateActionResponse, DailyMetrics, DayMetadata, DayReasoning, DayResult, FinalPosition, Holding,
    HoldingAtClose, OrderOriginResponse, RejectionResponse, StartingHoldings, Trade,
};
use papertape_protocol::results::range::DoneBefore;
use papertape_runtime::config::SimulationConfig;
use papertape_store::{OrderPlace, PageRequest, Placed, ResultFilter, SessionFilter, SessionResult};
use rust_decimal::Decimal;

/// Where an order was placed.
fn origin(place: &OrderPlace) -> OrderOriginResponse {
    OrderOriginResponse { session_id: place.session.0, date: place.date, path: place.path.to_string() }
}

/// The day of each model, by model.
pub(super) async fn results(
    app: &App,
    configs: &mut Configs,
    filter: &ResultFilter,
    level: ReasoningLevel,
) -> Result<Vec<DayResult>, ServiceError> {
    let mut results = Vec::new();
    for SelectedJob { agent, job, from } in chosen(app, filter).await? {
        // The newest job that has the day: this one, or an earlier one.
        for (done_in, to) in chain(app, configs, (&agent, &job), (from, filter.to)).await? {
            let found = sessions(app, (&agent, &done_in), (from, to)).await?;
            let is_found = !found.is_empty();
            for session in found {
                let found = result(app, configs, (&job, session), level).await?;
                results.push(real(configs.of(app, &done_in).await?, found)?);
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
) -> Result<DayResult, ServiceError> {
    let placed = app.store.placed(session.id).await?;
    let traded_here = configs.of(app, &session.job).await?.filter(|config| config.imported.is_none());
    let market = traded_here.map(|config| config.market.clone());
    let trades = session_trades(app, market.as_ref(), &session, &placed).await?;
    let mut rejections: Vec<RejectionResponse> = session.orders.iter().filter_map(rejected).collect();
    for refused in &mut rejections {
        refused.order = placed.orders.get(&refused.order_id).map(origin);
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
    let conventions = config.map(|config| conventions_on(app, config, session.date));
    let continued = config.and_then(|config| config.done_until(&session.agent));
    let is_llm = config.and_then(|config| super::super::is_llm(config, &session.agent));
    let models = config.map(|config| language_models(config, &session.agent)).unwrap_or_default();
    let training_cutoffs = training_cutoffs(app, &models, &[session.date].into());
    let counts = app.store.order_counts(&[session.id]).await?;
    let quality = DayQuality::of(session.status, session.error.as_deref(), session.metadata.as_ref());
    Ok(DayResult {
        books: books(counts.get(&session.id), trades.len()),
        quality: quality.map(DayQualityResponse::from),
        date: session.date,
        model: session.agent.to_string(),
        job_id: session.job.to_string(),
        done_before: DoneBefore::spans(job, std::iter::once((session.date, &session.job))),
        rules_version,
        training_cutoffs,
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
        masked: None,
    })
}

/// A session's fills, with where their orders were placed, and with the components of their fees by the market's rules.
pub(crate) async fn session_trades(
    app: &App,
    market: Option<&MarketProfile>,
    session: &SessionResult,
    placed: &Placed,
) -> Result<Vec<Trade>, ServiceError> {
    let filled = trades::fills(app, session.id, &session.positions, &session.orders).await?;
    let trades = filled.into_iter().map(|filled| {
        let mut trade = filled.with_fee_parts(market, session.date);
        trade.path = placed.actions.get(&trade.action_id).map(ToString::to_string);
        trade.order = trade.order_id.as_ref().and_then(|id| placed.orders.get(id)).map(origin);
        trade
    });
    Ok(trades.collect())
}

/// A session's fills as its rows have them, without the database.
pub(crate) fn recorded_trades(market: Option<&MarketProfile>, session: &SessionResult) -> Vec<Trade> {
    let filled = trades::reported_fills(&session.positions).into_iter();
    filled.map(|filled| filled.with_fee_parts(market, session.date)).collect()
}

/// The day of a masked job under real names and dates. What the agent wrote stays as it is.
fn real(config: Option<&SimulationConfig>, mut result: DayResult) -> Result<DayResult, ServiceError> {
    let Some(masking) = config.and_then(|config| masked::translation(config, None)) else {
        return Ok(result);
    };
    let reasoning = result.reasoning.take();
    let result = masked::real(&masking, result)?;
    Ok(DayResult { reasoning, masked: config.and_then(masked::mark), ..result })
}

async fn conversation(app: &App, session: &SessionResult) -> Result<Vec<MessageResponse>, ServiceError> {
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
    let held = session.holdings.iter().map(|held| HoldingAtClose {
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

/// `continued`: the day after which the agent continued in this job.
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

fn rejected(order: &OrderRow) -> Option<RejectionResponse> {
    let is_refused = matches!(order.status.as_str(), "rejected" | "expired");
    is_refused.then(|| RejectionResponse {
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
