//! A reflection on a closed trade: its figures come from the ledger, its text from the model or a template.

use super::round_summary::{cut, one_line};
use super::trades::ClosedTrade;
use papertape_core::language::Language;
use papertape_core::ledger::{Account, Direction, LedgerError, LedgerEvent};
use papertape_core::record::{
    Assessment, ClaimCheck, ClaimResult, Deviation, ErrorTag, ReflectionRow, SummarySource,
};
use papertape_core::time::Timestamp;
use rust_decimal::Decimal;
use serde::Deserialize;

/// Maximum characters of a reflection's summary.
pub const REFLECTION_CHARS: usize = 120;
/// Maximum characters of a comment, a claim or a rule.
const LINE_CHARS: usize = 240;
/// Maximum claims of a reflection, and maximum rules.
const MAX_LINES: usize = 8;

/// The inputs of a reflection, besides the closing itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReflectionInput<'a> {
    /// Its number.
    pub trade_id: u64,
    /// The thesis at entry.
    pub thesis: Option<&'a str>,
    /// When it may first be read.
    pub known_at: Timestamp,
    /// The language of the template.
    pub language: Language,
}

/// The reflection that the template writes from the facts. It makes no judgment: no claim is tested, no error
/// is tagged, and the value is the lowest.
#[must_use]
pub(super) fn from_facts(closing: &ClosedTrade, about: &ReflectionInput<'_>, note: &str) -> ReflectionRow {
    let realized = &closing.realized;
    let open = &closing.open;
    let return_pct = realized.return_pct().map(|pct| pct.round_dp(4).normalize());
    let claims = about.thesis.and_then(super::round_summary::parse_stored);
    let claims = claims.iter().flat_map(|parts| [parts.conclusion(), parts.next()]);
    ReflectionRow {
        trade_id: about.trade_id,
        position_id: realized.position.to_string(),
        part: closing.part,
        position_closed: realized.position_closed,
        cause: closing.cause.as_str().to_owned(),
        symbol: realized.symbol.clone(),
        side: realized.direction,
        entry_time: open.opened_at,
        exit_time: closing.at,
        holding_days: realized.holding_days,
        quantity: realized.quantity,
        entry_price: realized.entry_price,
        exit_price: realized.exit_price,
        pnl: realized.pnl,
        return_pct,
        leverage: realized.leverage,
        notional: realized.notional,
        summary: cut(&summary(closing, return_pct, about.language), REFLECTION_CHARS),
        execution_deviation: Deviation {
            planned_entry: Some(open.planned_entry),
            actual_entry: Some(realized.entry_price),
            planned_size: Some(open.quantity),
            actual_size: Some(open.most),
            planned_stop: open.stop,
            actual_stop: realized.stop,
            planned_exit: open.target,
            actual_exit: Some(realized.exit_price),
            comment: String::new(),
        },
        hypothesis_check: claims
            .map(|claim| ClaimCheck { claim: cut(claim, LINE_CHARS), result: ClaimResult::Untested })
            .collect(),
        error_tags: Vec::new(),
        value_assessment: Assessment::Low,
        next_rules: Vec::new(),
        thesis: about.thesis.map(str::to_owned),
        source: SummarySource::Template,
        note: Some(note.to_owned()),
        known_at: about.known_at,
    }
}

/// Reflections on an imported or replayed log of ledger events: one per closing, in the log's order, written
/// by the template. `known_at` maps a closing's instant to when it may first be read.
///
/// # Errors
/// The first event that the account rejects.
pub fn reflections_from_log(
    initial: Account,
    log: &[(Timestamp, LedgerEvent)],
    language: Language,
    known_at: impl Fn(Timestamp) -> Timestamp,
) -> Result<Vec<ReflectionRow>, LedgerError> {
    let closings = super::trades::closings(initial, log)?;
    let row = |(trade_id, closing): (u64, &ClosedTrade)| {
        let known_at = known_at(closing.at);
        let about = ReflectionInput { trade_id, thesis: None, known_at, language };
        from_facts(closing, &about, "a log of events without a model")
    };
    Ok((1..).zip(&closings).map(row).collect())
}

/// The format of the model's answer.
#[derive(Debug, Deserialize)]
struct Answer {
    summary: String,
    execution_deviation: String,
    hypothesis_check: Vec<Check>,
    error_tags: Vec<String>,
    value_assessment: String,
    next_rules: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Check {
    claim: String,
    result: String,
}

/// The reflection from the facts with the text of the model's answer.
///
/// # Errors
/// What is wrong with the answer, as a sentence for the model.
pub(super) fn with_answer(
    facts: &ReflectionRow,
    text: &str,
    source: SummarySource,
) -> Result<ReflectionRow, String> {
    let json = match (text.find('{'), text.rfind('}')) {
        (Some(begin), Some(end)) if begin < end => &text[begin..=end],
        _ => return Err("it contains no JSON object".to_owned()),
    };
    let answer: Answer = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let summary = one_line(&answer.summary);
    let length = super::round_summary::chars(&summary);
    if papertape_core::fence::is_blank(&summary) || length > REFLECTION_CHARS {
        return Err(format!("summary has {length} characters; it must have 1 to {REFLECTION_CHARS}"));
    }
    let mut error_tags = answer
        .error_tags
        .iter()
        .map(|tag| tag.parse().map_err(|error| format!("error_tags: {error}")))
        .collect::<Result<Vec<ErrorTag>, _>>()?;
    error_tags.sort_unstable();
    error_tags.dedup();
    let check = |check: Check| {
        let result = check.result.parse().map_err(|error| format!("hypothesis_check: {error}"))?;
        Ok(ClaimCheck { claim: cut(&one_line(&check.claim), LINE_CHARS), result })
    };
    let mut hypothesis_check =
        answer.hypothesis_check.into_iter().map(check).collect::<Result<Vec<_>, String>>()?;
    hypothesis_check.truncate(MAX_LINES);
    let mut next_rules: Vec<String> =
        answer.next_rules.iter().map(|rule| cut(&one_line(rule), LINE_CHARS)).collect();
    next_rules.retain(|rule| !rule.is_empty());
    next_rules.truncate(MAX_LINES);
    Ok(ReflectionRow {
        summary,
        execution_deviation: Deviation {
            comment: cut(&one_line(&answer.execution_deviation), LINE_CHARS),
            ..facts.execution_deviation.clone()
        },
        hypothesis_check,
        error_tags,
        value_assessment: answer.value_assessment.parse().map_err(|e| format!("value_assessment: {e}"))?,
        next_rules,
        source,
        note: None,
        ..facts.clone()
    })
}

/// The facts as lines for the prompt, `name: value`.
#[must_use]
pub(super) fn lines(row: &ReflectionRow) -> Vec<String> {
    let deviation = &row.execution_deviation;
    let pair = |name: &str, planned: Option<Decimal>, actual: Option<Decimal>| {
        let show = |value: Option<Decimal>| value.map_or("none".to_owned(), |v| v.normalize().to_string());
        format!("{name}: planned {}, actual {}", show(planned), show(actual))
    };
    let part = if row.position_closed { "the rest of the position" } else { "a part of the position" };
    let pct = row.return_pct.map_or("unknown".to_owned(), |pct| pct.round_dp(2).normalize().to_string());
    vec![
        format!("symbol: {}", row.symbol),
        format!("side: {}", side(row.side, Language::En)),
        format!("closed: {} ({part})", row.quantity.0.normalize()),
        format!("cause: {}", row.cause),
        format!("holding_days: {}", row.holding_days),
        format!("pnl: {}", row.pnl.0.round_dp(2).normalize()),
        format!("return_pct: {pct}"),
        format!("leverage: {}", row.leverage.normalize()),
        pair("entry", deviation.planned_entry.map(|p| p.0), deviation.actual_entry.map(|p| p.0)),
        pair("size", deviation.planned_size.map(|q| q.0), deviation.actual_size.map(|q| q.0)),
        pair("stop", deviation.planned_stop.map(|p| p.0), deviation.actual_stop.map(|p| p.0)),
        pair("exit", deviation.planned_exit.map(|p| p.0), deviation.actual_exit.map(|p| p.0)),
    ]
}

/// `long` or `short`, in the language.
#[must_use]
pub(super) fn side(side: Direction, language: Language) -> &'static str {
    match (side, language) {
        (Direction::Long, Language::En) => "long",
        (Direction::Short, Language::En) => "short",
        (Direction::Long, Language::Zh) => "多头",
        (Direction::Short, Language::Zh) => "空头",
    }
}

fn summary(closing: &ClosedTrade, return_pct: Option<Decimal>, language: Language) -> String {
    let realized = &closing.realized;
    let (symbol, days) = (&realized.symbol, realized.holding_days);
    let pnl = realized.pnl.0.round_dp(2).normalize();
    let pct = return_pct.map_or(String::new(), |pct| format!("{}%, ", pct.round_dp(2).normalize()));
    let (side, cause) = (side(realized.direction, language), closing.cause.as_str());
    match language {
        Language::En => format!("{symbol} {side} closed by {cause} after {days} days: {pct}{pnl}."),
        Language::Zh => format!("{symbol} {side}持有 {days} 天后由 {cause} 平仓：{pct}{pnl}。"),
    }
}
