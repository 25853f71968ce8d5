//! The past as shown to a trader: the theses of its open positions, its last rounds, and the lessons of
//! closed trades. Nothing in it became known after the session's instant.

use super::embedding::vectors;
use super::lessons::{self, Lesson, Query};
use super::origin::RecalledFrom;
use super::reflect::side;
use super::round_summary::{self, cut};
use super::state::Memory;
use super::trades::OpenPosition;
use crate::config::MemorySettings;
use crate::prompt::{PromptError, PromptSet};
use papertape_core::fence::{Author, fence};
use papertape_core::id::{JobId, Symbol};
use papertape_core::language::Language;
use papertape_core::ledger::{Account, Position};
use papertape_core::market::Listed;
use papertape_core::message::ModelName;
use papertape_core::point_in_time::Unverified;
use papertape_core::record::{DerivedRow, MemoryKind, RecalledMemoryRow, RoundMemoryRow};
use papertape_core::tape::{CallOptions, Ctx, LocalStep, OutcomeKind, SessionStop, StepClass};
use papertape_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeSet;

/// Maximum characters of a position's context.
pub const CONTEXT_CHARS: usize = 600;
/// Maximum characters of all contexts in a prompt together.
pub const CONTEXTS_CHARS: usize = 3_000;
/// Maximum characters of one memory in a prompt. What is stored is shorter.
const MAX_MEMORY_CHARS: usize = 4_000;
/// Maximum characters of one line of the books, and of all lines.
const MAX_BOOK_CHARS: usize = 400;
const MAX_BOOKS_CHARS: usize = 20_000;
/// Maximum characters of a context on one line.
const LINE_CHARS: usize = 160;

/// The recall context: whose past, for whom, and at which instant.
#[derive(Clone, Copy)]
pub struct RecallContext<'a> {
    /// The memory.
    pub memory: &'a Memory,
    /// The settings of the memory.
    pub settings: MemorySettings,
    /// The prompts.
    pub prompts: &'a PromptSet,
    /// Their language.
    pub language: Language,
    /// The session's instant: nothing that became known later is included.
    pub instant: Timestamp,
    /// The account.
    pub account: &'a Account,
    /// The tradable symbols.
    pub symbols: &'a Listed,
    /// The model for embeddings, and its call options; absent: keyword search only.
    pub embedding: Option<(&'a ModelName, CallOptions)>,
}

/// One memory recalled for a trader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecalledItem {
    /// The kind.
    pub kind: MemoryKind,
    /// The ID of the round, the position or the trade.
    pub memory_id: String,
    /// The job that it was carried over from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
    /// When it became known.
    pub known_at: Timestamp,
    /// The mark of the session that wrote it; absent: the session is verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unverified: Option<Unverified>,
    /// Its text, as in the prompt.
    pub text: String,
}

/// The past for a trader's prompt.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RecallBlock {
    /// The plain text, a desk's `past_context`; empty when there is no past.
    pub text: String,
    /// The same as in the prompt: each memory is fenced, because a model wrote it.
    pub prompt: String,
    /// The memories in it.
    pub shown: Vec<RecalledItem>,
    /// The rows to record.
    pub implied: Vec<DerivedRow>,
    /// The mark of the memories in it; absent: all are verified.
    pub unverified: Option<Unverified>,
}

/// The past as a session has recorded and read it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Recalled {
    /// The recorded plain text, a desk's `past_context`; empty when there is no past.
    pub text: String,
    /// The prompt block: each memory fenced.
    pub prompt: String,
    /// The mark of the memories in it: a session that reads an unverified memory is unverified.
    pub unverified: Option<Unverified>,
}

/// The past for one trader's prompt. `focus`: a desk's own instrument, the only one shown in full.
///
/// # Errors
/// An overridden template that uses an undefined value.
pub fn past_context(reader: &RecallContext<'_>, focus: Option<&Symbol>) -> Result<RecallBlock, PromptError> {
    past_by(reader, focus, None)
}

/// The same, with a vector for the trader's current concerns.
fn past_by(
    reader: &RecallContext<'_>,
    focus: Option<&Symbol>,
    asked: Option<(&ModelName, &[f32])>,
) -> Result<RecallBlock, PromptError> {
    let open = open_positions(reader, focus);
    let rounds = rounds(reader);
    let lessons = lessons_for(reader, focus, asked);
    let shown: Vec<RecalledItem> = open.into_iter().chain(rounds).chain(lessons).collect();
    if shown.is_empty() {
        return Ok(RecallBlock::default());
    }
    let text = block(reader, &shown, plain)?;
    let prompt = block(reader, &shown, fenced)?;
    let row = |item: &RecalledItem| {
        DerivedRow::Given(RecalledMemoryRow {
            kind: item.kind,
            memory_id: item.memory_id.clone(),
            job: item.job.clone(),
            known_at: item.known_at,
        })
    };
    let implied = shown.iter().map(row).collect();
    // Lessons are chosen by the latest round, even if it is not shown.
    let chosen_by = shown.iter().any(|item| item.kind == MemoryKind::Trade).then(|| newest_round(reader));
    let chosen_by = chosen_by.flatten().and_then(|round| round.origin.unverified.as_ref());
    let marks = shown.iter().filter_map(|item| item.unverified.as_ref()).chain(chosen_by);
    let unverified = marks.max_by(|a, b| (a.date, &a.job).cmp(&(b.date, &b.job))).cloned();
    Ok(RecallBlock { text, prompt, shown, implied, unverified })
}

/// The memories under their headings, each written by `put`.
fn block(
    reader: &RecallContext<'_>,
    shown: &[RecalledItem],
    put: fn(&RecalledItem) -> String,
) -> Result<String, PromptError> {
    let texts = |kind: MemoryKind| -> Vec<String> {
        shown.iter().filter(|item| item.kind == kind).map(put).collect()
    };
    let values = json!({
        "open": texts(MemoryKind::OpenPositionContext),
        "rounds": texts(MemoryKind::TraderRound),
        "lessons": texts(MemoryKind::Trade),
    });
    reader.prompts.render("memory", reader.language, values)
}

fn plain(item: &RecalledItem) -> String {
    match item.kind {
        MemoryKind::Trade => format!("- {}", item.text),
        _ => item.text.clone(),
    }
}

fn fenced(item: &RecalledItem) -> String {
    let what = match item.kind {
        MemoryKind::OpenPositionContext => "thesis at entry of position",
        MemoryKind::TraderRound => "round memory",
        MemoryKind::Trade => "lesson of trade",
    };
    fence(Author::Earlier, &format!("{what} {}", item.memory_id), &item.text, MAX_MEMORY_CHARS)
}

/// Lines about orders and positions, fenced because a rejected order is quoted as the model wrote it. Empty
/// when there are none.
pub(crate) fn book_lines(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = lines
        .iter()
        .map(|line| format!("- {}", cut(&round_summary::one_line(line), MAX_BOOK_CHARS)))
        .collect();
    fence(Author::Earlier, "the books", &lines.join("\n"), MAX_BOOKS_CHARS)
}

/// Recalls the past within a session, as a separate step, so that the record has exactly what was shown.
/// Returns it as recorded, or why it cannot be made.
///
/// # Errors
/// A stop.
pub async fn recall(
    ctx: &mut Ctx,
    reader: &RecallContext<'_>,
    focus: Option<&Symbol>,
) -> Result<Result<Recalled, String>, SessionStop> {
    let meaning = current_query_vector(ctx, reader, focus).await?;
    let embedded_query = match (&meaning, reader.embedding) {
        (Some(Ok(vector)), Some((model, _))) => Some((model, vector.as_slice())),
        _ => None,
    };
    let past = match past_by(reader, focus, embedded_query) {
        Ok(past) => past,
        Err(error) => return Ok(Err(error.to_string())),
    };
    if past.shown.is_empty() {
        return Ok(Ok(Recalled::default()));
    }
    let mut outcome = json!({ "text": past.text, "shown": past.shown });
    match &meaning {
        None => {}
        Some(Ok(_)) => outcome["search"] = json!({ "by": "keyword+semantic" }),
        Some(Err(why)) => outcome["search"] = json!({ "by": "keyword", "why": why }),
    }
    let entry = LocalStep {
        kind: "memory",
        class: StepClass::Local,
        arguments: json!({ "instant": reader.instant, "settings": reader.settings, "focus": focus }),
        outcome,
        outcome_kind: OutcomeKind::Ok,
        message: None,
        implied: past.implied,
    };
    let recorded = ctx.record_local(entry).await?;
    // The recorded texts are fenced: they are redacted, in case they contained a secret.
    let shown: Vec<RecalledItem> = serde_json::from_value(recorded["shown"].clone()).unwrap_or_default();
    let text = recorded["text"].as_str().unwrap_or_default().to_owned();
    Ok(block(reader, &shown, fenced)
        .map(|prompt| Recalled { text, prompt, unverified: past.unverified })
        .map_err(|error| error.to_string()))
}

fn open_positions(reader: &RecallContext<'_>, focus: Option<&Symbol>) -> Vec<RecalledItem> {
    if !reader.settings.mode.open() {
        return Vec::new();
    }
    let held: Vec<(&Position, Option<&OpenPosition>, &Symbol)> = reader
        .account
        .positions()
        .iter()
        .map(|(symbol, position)| (position, reader.memory.open.get(position.id.as_str()), symbol))
        .collect();
    let whole = |symbol: &Symbol| focus.is_none_or(|focus| focus == symbol);
    let lines: Vec<usize> = held
        .iter()
        .map(|(position, open, symbol)| {
            round_summary::chars(&one_line(position, *open, symbol, reader.language))
        })
        .collect();
    // The minimum and the preferred length of each context.
    let bounds: Vec<(usize, usize)> = held
        .iter()
        .zip(&lines)
        .map(|((position, open, symbol), line)| {
            let thesis = open.and_then(|open| open.summary.as_deref());
            let Some(thesis) = thesis.filter(|_| whole(symbol)) else { return (*line, *line) };
            let head = round_summary::chars(&head(position, *open, symbol, reader.language)) + 1;
            let least = round_summary::parse_stored(thesis).map_or(0, |kept| kept.min_chars(reader.language));
            (head + least, (head + round_summary::chars(thesis)).min(CONTEXT_CHARS))
        })
        .collect();
    let room = allocate_chars(&bounds, &lines, CONTEXTS_CHARS);
    let tell = |((position, open, symbol), room): ((&Position, Option<&OpenPosition>, &Symbol), &usize)| {
        let text = render_position(position, open, symbol, reader.language, *room, whole(symbol))?;
        // Without a thesis it describes the account as of now.
        let thesis = open.filter(|open| open.summary.is_some());
        let origin = thesis.map(|open| open.origin.clone()).unwrap_or_default();
        Some(RecalledItem {
            kind: MemoryKind::OpenPositionContext,
            memory_id: position.id.to_string(),
            job: origin.job,
            known_at: thesis.and_then(|open| open.known_at).unwrap_or(reader.instant),
            unverified: origin.unverified,
            text,
        })
    };
    held.into_iter().zip(&room).filter_map(tell).collect()
}

/// How many characters each context gets. If the minimums do not fit, the longest ones are reduced to one
/// line, and if not even lines fit, the last ones are dropped.
fn allocate_chars(bounds: &[(usize, usize)], lines: &[usize], total: usize) -> Vec<usize> {
    let mut bounds = bounds.to_vec();
    while bounds.iter().map(|(least, _)| least).sum::<usize>() > total {
        let worst = (0..bounds.len())
            .filter(|at| bounds[*at].0 > lines[*at])
            .max_by_key(|at| (bounds[*at].0 - lines[*at], *at));
        match worst {
            Some(at) => bounds[at] = (lines[at], lines[at]),
            None => match bounds.iter().rposition(|(least, _)| *least > 0) {
                Some(at) => bounds[at] = (0, 0),
                None => break,
            },
        }
    }
    let least: usize = bounds.iter().map(|(least, _)| least).sum();
    let wanted: Vec<usize> = bounds.iter().map(|(least, wish)| wish.saturating_sub(*least)).collect();
    let more = round_summary::share(&wanted, total - least.min(total));
    bounds.iter().zip(more).map(|((least, _), more)| least + more).collect()
}

fn render_position(
    position: &Position,
    open: Option<&OpenPosition>,
    symbol: &Symbol,
    language: Language,
    room: usize,
    whole: bool,
) -> Option<String> {
    let line = one_line(position, open, symbol, language);
    let thesis = open.and_then(|open| open.summary.as_deref()).filter(|_| whole);
    let head = head(position, open, symbol, language);
    let fits = thesis
        .and_then(round_summary::parse_stored)
        .and_then(|thesis| thesis.fit(language, room.checked_sub(round_summary::chars(&head) + 1)?));
    match fits {
        Some(thesis) => Some(format!("{head}\n{}", thesis.write(language))),
        None => (round_summary::chars(&line) <= room).then_some(line),
    }
}

/// The figures of a position, current and planned.
fn head(position: &Position, open: Option<&OpenPosition>, symbol: &Symbol, language: Language) -> String {
    let none = match language {
        Language::En => "none",
        Language::Zh => "无",
    };
    let price = |price: Option<papertape_core::money::Price>| {
        price.map_or(none.to_owned(), |price| price.0.round_sf(8).unwrap_or(price.0).normalize().to_string())
    };
    let (side, units) = (side(position.direction(), language), position.quantity.abs().0.normalize());
    let (entry, leverage) = (price(Some(position.avg_price)), position.leverage.normalize());
    let (stop, target) = (price(position.stop), price(position.target));
    let split = open.map(|open| open.split_ratio).filter(|ratio| *ratio != rust_decimal::Decimal::ONE);
    let since = position.opened_on;
    let text = match language {
        Language::En => {
            let split = split.map_or(String::new(), |ratio| {
                format!("; split since: divide the prices below by {}", ratio.round_dp(4).normalize())
            });
            format!(
                "{symbol} {side} {units} at {entry} since {since}, stop {stop}, target {target}, \
                 leverage {leverage}{split}"
            )
        }
        Language::Zh => {
            let split = split.map_or(String::new(), |ratio| {
                format!("；其后已拆股：下文价格须除以 {}", ratio.round_dp(4).normalize())
            });
            format!(
                "{symbol} {side} {units}，均价 {entry}，自 {since}，止损 {stop}，目标 {target}，\
                 杠杆 {leverage}{split}"
            )
        }
    };
    cut(&text, LINE_CHARS)
}

fn one_line(position: &Position, open: Option<&OpenPosition>, symbol: &Symbol, language: Language) -> String {
    let head = head(position, open, symbol, language);
    let thesis = open.and_then(|open| open.summary.as_deref()).and_then(round_summary::parse_stored);
    let why = match (&thesis, language) {
        (Some(thesis), _) => thesis.conclusion().to_owned(),
        (None, Language::En) => "no thesis on record".to_owned(),
        (None, Language::Zh) => "没有记录开仓依据".to_owned(),
    };
    let room = LINE_CHARS.saturating_sub(round_summary::chars(&head) + 2);
    if room < 8 { head } else { format!("{head}: {}", cut(&why, room)) }
}

fn rounds(reader: &RecallContext<'_>) -> Vec<RecalledItem> {
    if !reader.settings.mode.rounds() {
        return Vec::new();
    }
    let window = if reader.memory.after_loss {
        reader.settings.read_window_after_loss
    } else {
        reader.settings.read_window
    };
    let mut last: Vec<RecalledItem> = reader
        .memory
        .rounds
        .iter()
        .rev()
        .filter(|round| round.row.known_at <= reader.instant)
        .take(window as usize)
        .map(|round| {
            let row = &round.row;
            let date = row.known_at.strftime("%Y-%m-%d");
            let title = match (reader.language, row.degraded) {
                (Language::En, false) => format!("Round {} ({date})", row.round_id),
                (Language::En, true) => format!("Round {} ({date}, degraded)", row.round_id),
                (Language::Zh, false) => format!("第 {} 轮（{date}）", row.round_id),
                (Language::Zh, true) => format!("第 {} 轮（{date}，降级）", row.round_id),
            };
            RecalledItem {
                kind: MemoryKind::TraderRound,
                memory_id: row.round_id.to_string(),
                job: round.origin.job.clone(),
                known_at: row.known_at,
                unverified: round.origin.unverified.clone(),
                text: format!("{title}\n{}", row.summary),
            }
        })
        .collect();
    last.reverse();
    last
}

/// The vector of the trader's current concerns: its latest round. `None` when there are no vectors to compare
/// with; otherwise the vector, or why there is none.
async fn current_query_vector(
    ctx: &mut Ctx,
    reader: &RecallContext<'_>,
    focus: Option<&Symbol>,
) -> Result<Option<Result<Vec<f32>, String>>, SessionStop> {
    let Some((model, options)) = reader.embedding else { return Ok(None) };
    let of_model = |lesson: &Lesson| lesson.meaning.as_ref().is_some_and(|meaning| meaning.model == *model);
    let known = |lesson: &Lesson| lesson.known_at <= reader.instant && of_model(lesson);
    let reads_lessons = reader.settings.mode.trades() && reader.settings.lessons > 0;
    if !reads_lessons || !reader.memory.archive.iter().any(known) {
        return Ok(None);
    }
    let query = query(reader, focus);
    if query.words.trim().is_empty() {
        return Ok(None);
    }
    let made = vectors(ctx, model, options, &[query.words]).await?;
    Ok(Some(made.and_then(|mut made| made.pop().ok_or_else(|| "no vector was returned".to_owned()))))
}

fn newest_round<'a>(reader: &RecallContext<'a>) -> Option<&'a RecalledFrom<RoundMemoryRow>> {
    let mut rounds = reader.memory.rounds.iter().rev().map(|round| &**round);
    rounds.find(|round| round.row.known_at <= reader.instant)
}

fn query<'a>(reader: &'a RecallContext<'_>, focus: Option<&'a Symbol>) -> Query<'a> {
    let newest = newest_round(reader).map(|round| &round.row);
    Query {
        focus: match focus {
            Some(symbol) => BTreeSet::from([symbol]),
            None => reader.account.positions().keys().collect(),
        },
        symbols: reader.symbols.iter().collect(),
        words: newest.map(|round| round.summary.clone()).unwrap_or_default(),
    }
}

fn lessons_for(
    reader: &RecallContext<'_>,
    focus: Option<&Symbol>,
    embedded_query: Option<(&ModelName, &[f32])>,
) -> Vec<RecalledItem> {
    if !reader.settings.mode.trades() {
        return Vec::new();
    }
    let (archive, query) = (&reader.memory.archive, query(reader, focus));
    let limit = reader.settings.lessons as usize;
    let best = match embedded_query {
        Some(embedded_query) => lessons::rank_hybrid(archive, &query, embedded_query, reader.instant, limit),
        None => lessons::rank_by_keyword(archive, &query, reader.instant, limit),
    };
    best.into_iter().map(|lesson| lesson_shown(lesson, reader.language)).collect()
}

fn lesson_shown(lesson: &Lesson, language: Language) -> RecalledItem {
    let day = |at: Timestamp| at.strftime("%Y-%m-%d").to_string();
    let pct = lesson.return_pct.map_or(String::new(), |pct| format!(", {}%", pct.round_dp(2).normalize()));
    let (side, from, to) = (side(lesson.side, language), day(lesson.entry_time), day(lesson.exit_time));
    let mut text = format!("{} {side} {from}/{to}{pct}: {}", lesson.symbol, lesson.summary);
    if !lesson.error_tags.is_empty() {
        let tags: Vec<&str> = lesson.error_tags.iter().map(|tag| tag.as_str()).collect();
        text.push_str(&format!(" ({})", tags.join(", ")));
    }
    for rule in &lesson.next_rules {
        text.push(' ');
        text.push_str(rule);
    }
    if lesson.is_template {
        text.push_str(match language {
            Language::En => " [template: ledger figures only, not a judgment]",
            Language::Zh => "［模板：仅含账面数字，不是评判］",
        });
    }
    RecalledItem {
        kind: MemoryKind::Trade,
        memory_id: lesson.trade_id.to_string(),
        job: lesson.origin.job.clone(),
        known_at: lesson.known_at,
        unverified: lesson.origin.unverified.clone(),
        text,
    }
}
