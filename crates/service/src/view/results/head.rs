//! The head of one session: agent, date, decisions, results and neighbors, without the transcript.

use super::super::{Configs, is_llm};
use super::account;
use super::decision_texts::decision_texts;
use super::point_in_time;
use super::provenance::provenance;
use crate::app::App;
use crate::error::ServiceError;
use crate::view::deployment;
use crate::view::fills::is_fill;
use crate::view::masked;
use crate::view::quality::books;
use crate::view::results::conventions::conventions_on;
use crate::view::usage::usage;
use papertape_core::provenance::DayQuality;
use papertape_core::record::SessionId;
use papertape_protocol::number::{Number, number};
use papertape_protocol::quality::DayQualityResponse;
use papertape_protocol::results::head::{DecisionResponse, NeighbourResponse, SessionHeadResponse};
use papertape_protocol::results::provenance::Provenance;
use rust_decimal::Decimal;
use serde_json::Value;

/// A session's head.
///
/// # Errors
/// No such session; a database error.
pub async fn session_head(app: &App, session: i64) -> Result<SessionHeadResponse, ServiceError> {
    let id = SessionId(session);
    let missing = || ServiceError::no_session(id);
    let brief = app.store.session_brief(id).await?.ok_or_else(missing)?;
    let result = app.store.result(id).await?.ok_or_else(missing)?;
    let neighbours = app.store.neighbours(id).await?;
    let mut configs = Configs::default();
    let config = configs.of(app, &brief.job).await?;
    let is_llm = config.and_then(|config| is_llm(config, &brief.agent));
    let conventions = config.map(|config| conventions_on(app, config, brief.date));
    let mark = config.and_then(masked::mark);
    let masking = config.and_then(|config| masked::translation(config, None));
    let metadata = result.metadata.as_ref();
    let of = (&brief.job, &brief.agent, brief.date);
    let point_in_time_reason = point_in_time::reason(app, &mut configs, of, metadata).await?;
    let figure = |name: &str| -> Option<Number> {
        let books = metadata?.get("books")?;
        books.get(name)?.as_str()?.parse::<Decimal>().ok().map(number)
    };
    let is_refused = |status: &str| matches!(status, "rejected" | "expired");
    let fills = result.positions.iter().filter(|row| is_fill(&row.action_type)).count();
    let counts = app.store.order_counts(&[id]).await?;
    let review = app.store.reviews(&[id]).await?.remove(&id).unwrap_or_default();
    let quality = DayQuality::of(result.status, result.error.as_deref(), metadata);
    let beside = |at: usize| neighbours[at].map(|(id, date)| NeighbourResponse { session_id: id.0, date });
    let agent_kind = word(metadata, "agent_kind");
    let decisions = decisions(metadata);
    let symbols: Vec<String> = decisions.iter().map(|one| one.symbol.clone()).collect();
    let texts = match &agent_kind {
        Some(kind) => decision_texts(app, id, kind, &symbols).await?,
        None => Vec::new(),
    };
    let mut head = SessionHeadResponse {
        session_id: session,
        job_id: brief.job.to_string(),
        date: brief.date,
        model: brief.agent.to_string(),
        agent_kind,
        is_llm: metadata.and_then(|metadata| metadata.get("is_llm")?.as_bool()).or(is_llm),
        status: brief.status,
        error: brief.error,
        session_summary: result.session_summary.clone(),
        started_at: brief.started_at,
        completed_at: brief.completed_at,
        usage: usage(brief.used),
        decisions,
        decision_texts: texts,
        profit: figure("daily_profit"),
        return_pct: figure("daily_return_pct"),
        portfolio_value: result.portfolio_value.map(|value| number(value.0)),
        insolvent: account::insolvent(metadata),
        trades: fills,
        books: books(counts.get(&id), fills),
        conventions,
        quality: quality.map(DayQualityResponse::from),
        review: review.into(),
        rejections: result.orders.iter().filter(|order| is_refused(&order.status)).count(),
        provenance: Provenance { point_in_time_reason, ..provenance(metadata) },
        previous: beside(0),
        next: beside(1),
        masked: mark,
        deployment: deployment(app),
    };
    let Some(masking) = masking else { return Ok(head) };
    let (summary, review) = (head.session_summary.take(), std::mem::take(&mut head.review));
    let mut decision_texts = std::mem::take(&mut head.decision_texts);
    for text in &mut decision_texts {
        text.symbol = text.symbol.take().map(|symbol| masking.real_text(&symbol));
    }
    let head = masked::real(&masking, head)?;
    Ok(SessionHeadResponse { session_summary: summary, review, decision_texts, ..head })
}

/// A desk's decisions, by instrument; empty for other agents and open sessions.
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
