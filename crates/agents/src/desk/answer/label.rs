//! Labeled lines: `**Rating**: Overweight`, `## Rating`, `| Rating | Overweight |`, `最终评级：卖出`.

use super::text::{half_width, is_decoration};
use papertape_core::language::Language;
use papertape_core::prompt::lines;

/// The part of an answer that a label names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldKey {
    Recommendation,
    Rationale,
    StrategicActions,
    Action,
    Reasoning,
    EntryPrice,
    StopLoss,
    TakeProfit,
    Leverage,
    PositionSizing,
    Rating,
    ExecutiveSummary,
    InvestmentThesis,
    PriceTarget,
    TimeHorizon,
}

/// Labels of an opinion, in lower case without spaces.
const OPINIONS: [&str; 26] = [
    "rating",
    "finalrating",
    "recommendation",
    "finalrecommendation",
    "decision",
    "finaldecision",
    "finaltransactionproposal",
    "评级",
    "最终评级",
    "投资评级",
    "最终投资评级",
    "建议",
    "最终建议",
    "投资建议",
    "最终投资建议",
    "交易建议",
    "最终交易建议",
    "操作建议",
    "最终操作建议",
    "推荐",
    "最终推荐",
    "决定",
    "最终决定",
    "决策",
    "最终决策",
    "最终交易决策",
];

impl FieldKey {
    /// The keys of an answer whose opinion has this key.
    pub(super) const fn answer(self) -> &'static [Self] {
        match self {
            Self::Recommendation => &[Self::Recommendation, Self::Rationale, Self::StrategicActions],
            Self::Action => &[
                Self::Action,
                Self::Reasoning,
                Self::EntryPrice,
                Self::StopLoss,
                Self::TakeProfit,
                Self::Leverage,
                Self::PositionSizing,
            ],
            _ => &[
                Self::Rating,
                Self::ExecutiveSummary,
                Self::InvestmentThesis,
                Self::PriceTarget,
                Self::TimeHorizon,
            ],
        }
    }

    /// The spelling in the schema.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Recommendation => "recommendation",
            Self::Rationale => "rationale",
            Self::StrategicActions => "strategic_actions",
            Self::Action => "action",
            Self::Reasoning => "reasoning",
            Self::EntryPrice => "entry_price",
            Self::StopLoss => "stop_loss",
            Self::TakeProfit => "take_profit",
            Self::Leverage => "leverage",
            Self::PositionSizing => "position_sizing",
            Self::Rating => "rating",
            Self::ExecutiveSummary => "executive_summary",
            Self::InvestmentThesis => "investment_thesis",
            Self::PriceTarget => "price_target",
            Self::TimeHorizon => "time_horizon",
        }
    }

    /// Its label in a rendered answer.
    pub(super) const fn label(self, language: Language) -> &'static str {
        let (english, chinese) = match self {
            Self::Recommendation => (lines::RECOMMENDATION.en, lines::RECOMMENDATION.zh),
            Self::Rationale => ("Rationale", "理由"),
            Self::StrategicActions => ("Strategic Actions", "行动计划"),
            Self::Action => (lines::ACTION.en, lines::ACTION.zh),
            Self::Reasoning => ("Reasoning", "理由"),
            Self::EntryPrice => ("Entry Price", "入场价"),
            Self::StopLoss => ("Stop Loss", "止损价"),
            Self::TakeProfit => ("Take Profit", "止盈价"),
            Self::Leverage => ("Leverage", "杠杆"),
            Self::PositionSizing => ("Position Sizing", "仓位"),
            Self::Rating => ("Rating", "评级"),
            Self::ExecutiveSummary => ("Executive Summary", "摘要"),
            Self::InvestmentThesis => ("Investment Thesis", "投资逻辑"),
            Self::PriceTarget => ("Price Target", "目标价"),
            Self::TimeHorizon => ("Time Horizon", "投资期限"),
        };
        match language {
            Language::En => english,
            Language::Zh => chinese,
        }
    }

    /// Other labels for it, in lower case, with spaces.
    const fn others(self) -> &'static [&'static str] {
        match self {
            Self::Recommendation | Self::Action | Self::Rating => &[],
            Self::Rationale | Self::Reasoning => &[
                "rationale",
                "reasoning",
                "reason",
                "reasons",
                "justification",
                "原因",
                "依据",
                "推理",
                "分析",
                "交易理由",
            ],
            Self::StrategicActions => &[
                "strategic action",
                "action plan",
                "next steps",
                "战略行动",
                "策略行动",
                "操作策略",
                "执行计划",
                "具体步骤",
            ],
            Self::EntryPrice => {
                &["entry", "entry point", "入场价格", "建仓价", "买入价", "入场点", "入场点位"]
            }
            Self::StopLoss => {
                &["stop", "stop price", "stop loss price", "stoploss", "止损", "止损位", "止损价格", "止损点"]
            }
            Self::TakeProfit => &[
                "target",
                "target price",
                "price target",
                "profit target",
                "takeprofit",
                "take profit price",
                "止盈",
                "止盈位",
                "止盈价格",
                "目标价",
                "目标价格",
                "目标位",
            ],
            Self::Leverage => &["杠杆倍数", "杠杆率"],
            Self::PositionSizing => &[
                "position size",
                "sizing",
                "size",
                "quantity",
                "allocation",
                "仓位大小",
                "仓位建议",
                "建议仓位",
                "仓位管理",
                "头寸",
                "头寸规模",
                "数量",
            ],
            Self::ExecutiveSummary => &["summary", "执行摘要", "概要", "总结", "核心摘要"],
            Self::InvestmentThesis => {
                &["thesis", "rationale", "reasoning", "投资论点", "投资论据", "论点", "理由", "投资理由"]
            }
            Self::PriceTarget => &["target price", "target", "目标价格", "目标价位", "目标位"],
            Self::TimeHorizon => &[
                "horizon",
                "holding period",
                "time frame",
                "timeframe",
                "期限",
                "时间范围",
                "时间跨度",
                "持有期",
                "投资周期",
            ],
        }
    }

    fn is_called(self, label: &str) -> bool {
        let is = |known: &str| {
            let known = known.chars().filter(|c| *c != ' ').map(|c| c.to_ascii_lowercase());
            known.eq(label.chars())
        };
        is(self.label(Language::En))
            || is(self.label(Language::Zh))
            || self.others().iter().any(|known| is(known))
    }
}

/// The key that a label names in an answer whose opinion is `opinion`.
pub(super) fn meaning(label: &str, opinion: FieldKey) -> Option<FieldKey> {
    if label.len() > 200 {
        return None;
    }
    let plain = half_width(label).to_lowercase();
    let label: String = plain.chars().filter(|c| !is_decoration(*c) && !matches!(c, '-' | '#')).collect();
    if OPINIONS.contains(&label.as_str()) {
        return Some(opinion);
    }
    opinion.answer().iter().find(|key| key.is_called(&label)).copied()
}

/// A line with a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Labeled<'a> {
    pub(super) key: FieldKey,
    /// The rest of the line; empty when the value is on the next lines.
    pub(super) value: &'a str,
}

/// Parses a line; `None` when it does not begin with a label.
pub(super) fn line(line: &str, opinion: FieldKey) -> Option<Labeled<'_>> {
    let text = without_bullet(line.trim_start());
    let heading = text.starts_with('#');
    let text = text.trim_start_matches('#').trim_start();
    let emphasis: String = text.chars().take_while(|c| matches!(c, '*' | '_')).collect();
    let body = &text[emphasis.len()..];
    if let Some((at, colon)) = body.char_indices().take(120).find(|(_, c)| matches!(c, ':' | '：')) {
        let (label, value) = (&body[..at], &body[at + colon.len_utf8()..]);
        let key = meaning(label, opinion)?;
        let open = !emphasis.is_empty() && !label.trim_end().ends_with(['*', '_']);
        let value = if open { value.trim_start().trim_start_matches(['*', '_']) } else { value };
        return Some(Labeled { key, value: value.trim_start() });
    }
    // A heading, or a line that is entirely bold.
    let body = body.trim_end();
    let closed = !emphasis.is_empty() && body.ends_with(['*', '_']);
    let key = if heading || closed { meaning(body, opinion)? } else { return None };
    Some(Labeled { key, value: "" })
}

/// A table at the start of the lines: its labeled values, and its number of lines. Accepts rows of a label
/// and its value, and columns under a header row of labels.
pub(super) fn table(lines: &[&str], opinion: FieldKey) -> Option<(Vec<(FieldKey, String)>, usize)> {
    let first = cells(lines.first()?)?;
    let named: Vec<Option<FieldKey>> = first.iter().map(|cell| meaning(cell, opinion)).collect();
    if named.iter().flatten().count() >= 2 && lines.get(1).is_some_and(|line| is_rule(line)) {
        let rows = lines[2..].iter().map_while(|line| cells(line));
        let rows: Vec<Vec<&str>> = rows.collect();
        let taken = 2 + rows.len();
        let values = rows.into_iter().flat_map(|row| {
            let of = |(key, value): (&Option<FieldKey>, &str)| Some(((*key)?, value.to_owned()));
            named.iter().zip(row).filter_map(of).collect::<Vec<_>>()
        });
        return Some((values.collect(), taken));
    }
    let key = (*named.first()?)?;
    // Two columns of values would be two statements.
    let value = first[1..].join(" ").trim().to_owned();
    (first.len() > 1).then(|| (vec![(key, value)], 1))
}

/// Labels of opinions inside a line, after other words: the text after each, and whether it is called final.
pub(super) fn inline(line: &str) -> Vec<(bool, &str)> {
    let colons = line.char_indices().filter(|(_, c)| matches!(c, ':' | '：'));
    let labeled = colons.filter_map(|(at, colon)| {
        let before = half_width(tail(&line[..at])).to_lowercase();
        let before = before.trim_end_matches(is_decoration);
        let rest = OPINION_NOUNS.iter().find_map(|noun| before.strip_suffix(noun))?;
        let ascii = rest.len() < before.len() && before.ends_with(|c: char| c.is_ascii());
        if ascii && rest.ends_with(|c: char| c.is_ascii_alphanumeric()) {
            return None;
        }
        let rest = rest.trim_end_matches(|c| is_decoration(c) || c == '-');
        let is_final = rest.ends_with("final") || rest.contains("最终");
        Some((is_final, head(&line[at + colon.len_utf8()..])))
    });
    labeled.collect()
}

/// The last word of an inline label of an opinion.
const OPINION_NOUNS: [&str; 9] =
    ["rating", "recommendation", "decision", "transaction proposal", "评级", "建议", "推荐", "决定", "决策"];

/// The end of a text, long enough for a label.
fn tail(text: &str) -> &str {
    text.char_indices().rev().nth(39).map_or(text, |(at, _)| &text[at..])
}

/// The start of a text, long enough for an opinion.
fn head(text: &str) -> &str {
    text.char_indices().nth(60).map_or(text, |(at, _)| &text[..at])
}

/// The cells of a table row; `None` when the line is not one.
pub(super) fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim().strip_prefix('|')?;
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    Some(inner.split('|').map(str::trim).collect())
}

/// Whether the row is the line under a table's header.
fn is_rule(line: &str) -> bool {
    cells(line).is_some_and(|cells| {
        cells.iter().all(|cell| !cell.is_empty() && cell.chars().all(|c| matches!(c, '-' | ':' | ' ')))
    })
}

fn without_bullet(text: &str) -> &str {
    for bullet in ["- ", "* ", "+ ", "• ", "· "] {
        if let Some(rest) = text.strip_prefix(bullet) {
            return rest.trim_start();
        }
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &text[digits..];
    let numbered =
        rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")).or_else(|| rest.strip_prefix('、'));
    numbered.filter(|_| (1..=2).contains(&digits)).unwrap_or(text)
}
