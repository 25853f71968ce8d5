//! The head of one session: who, when, what was decided, what it came to, and its neighbours; without what
//! was said.

use super::super::{
    BooksFacts, Configs, DayQualityResponse, Deployment, Number, UsageSummary, ViewError, is_llm, number,
};
use super::account::{self, InsolvencyResponse};
use super::conventions::ConventionsResponse;
use super::point_in_time;
use super::provenance::{Provenance, provenance};
use super::trades;
use crate::app::App;
use papertape_core::provenance::DayQuality;
use papertape_core::record::{DayStatus, SessionId};
use papertape_core::time::{Date, Timestamp};
use rust_decimal::Decimal;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// The head of one session.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct SessionHeadResponse {
    /// The session.
    pub session_id: i64,
    /// Its job.
    pub job_id: String,
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub model: String,
    /// `solo` or `desk`; `null` until it is closed.
    pub agent_kind: Option<String>,
    /// `false`: a rule-based house model, no language model.
    pub is_llm: Option<bool>,
    /// `running`, `completed` or `failed`.
    #[schema(schema_with = super::super::vocabulary::day_status)]
    pub status: DayStatus,
    /// Why it failed.
    pub error: Option<String>,
    /// What the day came to, in a sentence or two.
    pub session_summary: Option<String>,
    /// When it was opened.
    pub started_at: Timestamp,
    /// When it was closed.
    pub completed_at: Option<Timestamp>,
    /// What it has used, summaries left out.
    pub usage: UsageSummary,
    /// Of a desk: what was decided about each instrument, by instrument.
    pub decisions: Vec<DecisionResponse>,
    /// This close's portfolio value less the previous session's.
    pub profit: Option<Number>,
    /// The same in percent.
    pub return_pct: Option<Number>,
    /// At the close.
    pub portfolio_value: Option<Number>,
    /// The end of the account, from the day on which it was found; `null` while something is left.
    pub insolvent: Option<InsolvencyResponse>,
    /// Fills.
    pub trades: usize,
    /// Orders that were refused or expired.
    pub rejections: usize,
    /// What the books say of the day, beside the summary.
    pub books: BooksFacts,
    /// What the run is traded by: the figures above depend on it. `null` for a job without a market.
    pub conventions: Option<ConventionsResponse>,
    /// How the day came about, in a few words; `null` while it is not over.
    pub quality: Option<DayQualityResponse>,
    /// How the research came about.
    pub provenance: Provenance,
    /// The same agent's session before, in the same job.
    pub previous: Option<NeighbourResponse>,
    /// The same agent's session after, in the same job.
    pub next: Option<NeighbourResponse>,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// What a desk has decided about an instrument.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct DecisionResponse {
    /// The instrument.
    pub symbol: String,
    /// The Portfolio Manager's rating; `null` where there is none, which is another thing than a Hold.
    pub rating: Option<String>,
    /// What the Trader proposed.
    pub action: Option<String>,
    /// What the Research Manager recommended.
    pub recommendation: Option<String>,
    /// How much of the research stood behind it.
    pub confidence: Option<f64>,
}

/// A session beside another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct NeighbourResponse {
    /// The session.
    pub session_id: i64,
    /// Its trading day.
    pub date: Date,
}

/// A session's head.
///
/// # Errors
/// No such session; the record's.
pub async fn session_head(app: &App, session: i64) -> Result<SessionHeadResponse, ViewError> {
    let id = SessionId(session);
    let missing = || ViewError::NotFound(format!("there is no session {session}"));
    let brief = app.store.session_brief(id).await?.ok_or_else(missing)?;
    let result = app.store.result(id).await?.ok_or_else(missing)?;
    let neighbours = app.store.neighbours(id).await?;
    let mut configs = Configs::default();
    let config = configs.of(app, &brief.job).await?;
    let is_llm = config.and_then(|config| is_llm(config, &brief.agent));
    let conventions = config.map(|config| ConventionsResponse::of_day(app, config, brief.date));
    let metadata = result.metadata.as_ref();
    let of = (&brief.job, &brief.agent, brief.date);
    let point_in_time_reason = point_in_time::reason(app, &mut configs, of, metadata).await?;
    let figure = |name: &str| -> Option<Number> {
        let books = metadata?.get("books")?;
        books.get(name)?.as_str()?.parse::<Decimal>().ok().map(number)
    };
    let is_refused = |status: &str| matches!(status, "rejected" | "expired");
    let fills = result.positions.iter().filter(|row| trades::is_fill(&row.action_type)).count();
    let counts = app.store.order_counts(&[id]).await?;
    let quality = DayQuality::of(result.status, result.error.as_deref(), metadata);
    let beside = |at: usize| neighbours[at].map(|(id, date)| NeighbourResponse { session_id: id.0, date });
    Ok(SessionHeadResponse {
        session_id: session,
        job_id: brief.job.to_string(),
        date: brief.date,
        model: brief.agent.to_string(),
        agent_kind: word(metadata, "agent_kind"),
        is_llm: metadata.and_then(|metadata| metadata.get("is_llm")?.as_bool()).or(is_llm),
        status: brief.status,
        error: brief.error,
        session_summary: result.session_summary.clone(),
        started_at: brief.started_at,
        completed_at: brief.completed_at,
        usage: UsageSummary::of(brief.used),
        decisions: decisions(metadata),
        profit: figure("daily_profit"),
        return_pct: figure("daily_return_pct"),
        portfolio_value: result.portfolio_value.map(|value| number(value.0)),
        insolvent: account::insolvent(metadata),
        trades: fills,
        books: BooksFacts::of(counts.get(&id), fills),
        conventions,
        quality: quality.map(DayQualityResponse::from),
        rejections: result.orders.iter().filter(|order| is_refused(&order.status)).count(),
        provenance: Provenance { point_in_time_reason, ..provenance(metadata) },
        previous: beside(0),
        next: beside(1),
        deployment: Deployment::of(app),
    })
}

/// A desk's decisions, by instrument; none of any other agent, or of a session that is open.
fn decisions(metadata: Option<&Value>) -> Vec<DecisionResponse> {
    let by_symbol = metadata.and_then(|metadata| metadata.get("by_symbol")?.as_object());
    let decision = |(symbol, told): (&String, &Value)| {
        let text = |name: &str| told.get(name).and_then(Value::as_str).map(str::to_owned);
        DecisionResponse {
            symbol: symbol.clone(),
            rating: text("rating"),
            action: text("action"),
            recommendation: text("recommendation"),
            confidence: told.get("confidence").and_then(Value::as_f64),
        }
    };
    by_symbol.into_iter().flatten().map(decision).collect()
}

fn word(metadata: Option<&Value>, key: &str) -> Option<String> {
    metadata?.get(key)?.as_str().map(str::to_owned)
}
