//! Labelled lines: `**Rating**: Overweight`, `## Rating`, `| Rating | Overweight |`, `最终评级：卖出`.

use super::phrase::half_width;
use crate::config::Language;

/// What a label names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
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

/// How much a label of an opinion counts. The higher wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// A label of another answer's opinion: `Action` in a Portfolio Manager's.
    Other,
    /// Its own.
    Own,
    /// One that says that it is final.
    Final,
}

/// Labels that say that an opinion is final.
const FINALS: [&str; 24] = [
    "final transaction proposal",
    "final trade proposal",
    "final proposal",
    "final rating",
    "final decision",
    "final recommendation",
    "final action",
    "final trade decision",
    "final trading decision",
    "final verdict",
    "final portfolio decision",
    "final call",
    "最终评级",
    "最终决定",
    "最终决策",
    "最终建议",
    "最终交易建议",
    "最终交易决策",
    "最终操作",
    "最终操作建议",
    "最终结论",
    "最终投资建议",
    "最终投资评级",
    "最终交易提案",
];

/// Labels of opinions that no answer has for its own.
const OPINIONS: [&str; 24] = [
    "decision",
    "verdict",
    "investment decision",
    "trade decision",
    "trading decision",
    "proposal",
    "transaction proposal",
    "signal",
    "call",
    "recommended action",
    "overall rating",
    "overall recommendation",
    "investment rating",
    "investment recommendation",
    "stance",
    "结论",
    "决定",
    "决策",
    "投资决策",
    "交易决策",
    "综合评级",
    "信号",
    "观点",
    "操作",
];

impl Key {
    /// The keys of the answer whose opinion has this key.
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

    /// As the schema spells it.
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
            Self::Recommendation => ("Recommendation", "建议"),
            Self::Rationale => ("Rationale", "理由"),
            Self::StrategicActions => ("Strategic Actions", "行动计划"),
            Self::Action => ("Action", "操作建议"),
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
            Self::Recommendation => &["推荐", "投资建议", "研究建议"],
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
            Self::Action => {
                &["trade action", "transaction", "建议", "操作方向", "交易动作", "交易建议", "行动", "动作"]
            }
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
            Self::Rating => &["投资评级", "评级建议"],
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
        label == self.label(Language::En).to_lowercase()
            || label == self.label(Language::Zh)
            || self.others().contains(&label)
    }
}

/// What a label means in the answer whose opinion is `opinion`.
pub(super) fn meaning(label: &str, opinion: Key) -> Option<(Key, Weight)> {
    let label = half_width(label).to_lowercase().replace(['_', '-', '*', '`', '#'], " ");
    let label = label.split_whitespace().collect::<Vec<_>>().join(" ");
    if FINALS.contains(&label.as_str()) {
        return Some((opinion, Weight::Final));
    }
    if let Some(key) = opinion.answer().iter().find(|key| key.is_called(&label)) {
        return Some((*key, Weight::Own));
    }
    let opinions = [Key::Rating, Key::Recommendation, Key::Action];
    let other = opinions.iter().any(|key| key.is_called(&label));
    (other || OPINIONS.contains(&label.as_str())).then_some((opinion, Weight::Other))
}

/// A line that begins with a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Labelled<'a> {
    pub(super) key: Key,
    pub(super) weight: Weight,
    /// What follows on the same line; empty where the value stands on the next ones.
    pub(super) value: &'a str,
}

/// Reads a line; `None` where it begins with no label.
pub(super) fn line(line: &str, opinion: Key) -> Option<Labelled<'_>> {
    let text = without_bullet(line.trim_start());
    let heading = text.starts_with('#');
    let text = text.trim_start_matches('#').trim_start();
    let emphasis: String = text.chars().take_while(|c| matches!(c, '*' | '_')).collect();
    let body = &text[emphasis.len()..];
    if let Some((at, colon)) = body.char_indices().take(120).find(|(_, c)| matches!(c, ':' | '：')) {
        let (label, value) = (&body[..at], &body[at + colon.len_utf8()..]);
        let (key, weight) = meaning(label, opinion)?;
        let open = !emphasis.is_empty() && !label.trim_end().ends_with(['*', '_']);
        let value = if open { value.trim_start().trim_start_matches(['*', '_']) } else { value };
        return Some(Labelled { key, weight, value: value.trim_start() });
    }
    // A heading, or a line in bold and nothing else.
    let body = body.trim_end();
    let closed = !emphasis.is_empty() && body.ends_with(['*', '_']);
    let (key, weight) = meaning(body, opinion).filter(|_| heading || closed)?;
    Some(Labelled { key, weight, value: "" })
}

/// The cells of a table's row; `None` for a line that is none.
pub(super) fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim().strip_prefix('|')?;
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    Some(inner.split('|').map(str::trim).collect())
}

/// Is the row the line under a table's head?
pub(super) fn is_rule(line: &str) -> bool {
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
