//! Memories: a round's four parts and a reflection on a closed trade, both derived only from the prompt.

use super::language::Language;
use super::strategy::Strategy;
use super::{Draft, number, summary};
use papertape_core::message::{Message, ModelRequest};
use papertape_core::prompt::lines::{self, Line};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Maximum characters of the conclusion, the position's changes, the risk and the next steps.
const CHARS: [usize; 4] = [180, 150, 150, 80];
/// A losing position counts as held too long from this many days on.
const LONG_DAYS: i64 = 20;

/// The requested memory; `None` when the request is for something else.
pub(super) fn draft(request: &ModelRequest, strategy: Strategy) -> Option<Draft> {
    let Some(Message::User { content: prompt }) = request.messages.first() else { return None };
    let language = Language::detect(prompt);
    if lines::ROUND_TASK.strip(prompt).is_some() {
        return Some(Draft::text(round(prompt, language, strategy)));
    }
    lines::REFLECTION_TASK
        .strip(prompt)
        .map(|_| Draft::text(reflection(prompt, language, strategy).to_string()))
}

fn round(prompt: &str, language: Language, strategy: Strategy) -> String {
    let en = language == Language::En;
    let text = |line: Line| if en { line.en } else { line.zh };
    let concluded = format!("{}\n", text(lines::CONCLUDED));
    let [booked, held] = [lines::BOOKED, lines::HELD_AT_CLOSE].map(|line| format!("\n{}\n", text(line)));
    let section = |from: &str, to: Option<&str>| {
        let rest = prompt.split_once(from).map_or("", |(_, rest)| rest);
        to.and_then(|to| rest.split_once(to)).map_or(rest, |(part, _)| part).trim()
    };
    let empty_lines = [lines::NOTHING_HELD, lines::NOTHING_BOOKED].map(text);
    let items = |section: &str| -> Vec<String> {
        let lines = section.lines().map(str::trim).filter(|line| !empty_lines.contains(line));
        lines.filter_map(|line| line.strip_prefix("- ")).map(str::to_owned).collect()
    };
    let decision = summary::summarize(&super::material(section(&concluded, Some(&booked))));
    let (booked, held) =
        (items(&super::material(section(&booked, Some(&held)))), items(section(&held, None)));
    let position = match (booked.is_empty(), en) {
        (false, _) => booked.join(" "),
        (true, true) => "wait: nothing changed".to_owned(),
        (true, false) => "观望：持仓无变化".to_owned(),
    };
    let risk = match (held.is_empty(), en) {
        (false, _) => held.iter().map(|line| risk(line, en)).collect::<Vec<_>>().join("; "),
        (true, true) => "no open position, so no stop to check".to_owned(),
        (true, false) => "无持仓，无须检查止损".to_owned(),
    };
    let symbols: Vec<&str> = held.iter().filter_map(|line| line.split_whitespace().next()).collect();
    let next = next(&symbols, en, strategy);
    let [conclusion, position, risk, next] =
        [(decision, CHARS[0]), (position, CHARS[1]), (risk, CHARS[2]), (next, CHARS[3])]
            .map(|(text, most)| cut(&text, most));
    let parts = [
        (lines::CONCLUSION, conclusion),
        (lines::POSITION, position),
        (lines::RISK, risk),
        (lines::NEXT, next),
    ];
    parts.map(|(label, part)| format!("[{}] {part}", text(label))).join("\n")
}

/// The stop in a line such as `AAPL long 10 at 100, stop 95, target none, leverage 2`, checked against the
/// limit.
fn risk(line: &str, en: bool) -> String {
    let symbol = line.split_whitespace().next().unwrap_or_default();
    let after = |word: &str| {
        let rest = line.split_once(word)?.1;
        let text = rest.trim_start().split([',', ' ']).next()?;
        text.parse::<Decimal>().ok()
    };
    let (entry, leverage) = (after(" at "), after("leverage ").unwrap_or(Decimal::ONE));
    let Some((stop, entry)) = after("stop ").zip(entry).filter(|(_, entry)| !entry.is_zero()) else {
        return if en {
            format!("{symbol} has no stop, leverage {leverage}")
        } else {
            format!("{symbol} 未设止损，杠杆 {leverage}")
        };
    };
    let loss = (entry - stop).abs() / entry * leverage * Decimal::ONE_HUNDRED;
    let loss = number::show(loss);
    if en {
        format!("{symbol} stop {stop}: leveraged loss {loss}% of at most 10%")
    } else {
        format!("{symbol} 止损 {stop}：杠杆亏损 {loss}%，上限 10%")
    }
}

fn next(symbols: &[&str], en: bool, strategy: Strategy) -> String {
    let held = if symbols.is_empty() {
        if en { "a candidate".to_owned() } else { "候选标的".to_owned() }
    } else {
        symbols.join(", ")
    };
    match (strategy, en) {
        (Strategy::Momentum, true) => format!("is {held} above its 20-day and 50-day averages"),
        (Strategy::Momentum, false) => format!("{held} 是否在 20 日与 50 日均线之上"),
        (Strategy::Contrarian, true) => format!("does the RSI of {held} leave its extreme"),
        (Strategy::Contrarian, false) => format!("{held} 的 RSI 是否离开极值"),
        (Strategy::BuyAndHold, true) => format!("nothing: {held} is held regardless"),
        (Strategy::BuyAndHold, false) => format!("无：无论如何持有 {held}"),
    }
}

/// The reflection on the facts and the thesis in a prompt.
fn reflection(prompt: &str, language: Language, strategy: Strategy) -> Value {
    let en = language == Language::En;
    let text = |line: Line| if en { line.en } else { line.zh };
    let (head, thesis_head) = (text(lines::LEDGER_FACTS), text(lines::ENTRY_THESIS));
    let rest = prompt.split_once(&format!("{head}\n")).map_or("", |(_, rest)| rest);
    let (facts, thesis) = rest.split_once(&format!("\n{thesis_head}\n")).unwrap_or((rest, ""));
    let thesis = super::material(thesis);
    let facts: BTreeMap<&str, &str> = facts.lines().filter_map(|line| line.split_once(": ")).collect();
    let fact = |name: &str| facts.get(name).copied().unwrap_or_default();
    let decimal = |name: &str| fact(name).parse::<Decimal>().ok();
    let (pnl, pct) = (decimal("pnl").unwrap_or_default(), decimal("return_pct"));
    let days: i64 = fact("holding_days").parse().unwrap_or_default();
    let (symbol, side, cause) = (fact("symbol"), fact("side"), fact("cause"));
    let (lost, by_stop) = (pnl < Decimal::ZERO, cause == "stop");
    // The wording says that it is a loss, so the sign is dropped.
    let size = |figure: Decimal| number::show(if lost { figure.abs() } else { figure });
    let shown = pct.map_or_else(|| size(pnl), |pct| format!("{}%", size(pct)));
    let summary = match (en, lost) {
        (true, true) => format!("{symbol} {side} lost {shown} in {days} days, closed by {cause}."),
        (true, false) => format!("{symbol} {side} made {shown} in {days} days, closed by {cause}."),
        (false, true) => format!("{symbol} {side} 持有 {days} 天，亏损 {shown}，由 {cause} 平仓。"),
        (false, false) => format!("{symbol} {side} 持有 {days} 天，收益 {shown}，由 {cause} 平仓。"),
    };
    let mut tags = Vec::new();
    match (lost, by_stop) {
        (true, _) if cause == "liquidation" => tags.extend(["sizing", "stop_too_wide"]),
        (true, true) if days <= 2 => tags.extend(["entry_timing", "stop_too_tight"]),
        (true, false) if days >= LONG_DAYS => tags.extend(["held_too_long", "thesis_wrong"]),
        (true, _) => tags.push("thesis_wrong"),
        (false, _) => {}
    }
    let deviation: Vec<String> = ["entry", "size", "stop", "exit"]
        .into_iter()
        .filter(|name| !fact(name).is_empty())
        .map(|name| format!("{name} {}", fact(name)))
        .collect();
    json!({
        "summary": cut(&summary, 120),
        "execution_deviation": cut(&deviation.join("; "), 200),
        "hypothesis_check": claims(&thesis, lost),
        "error_tags": tags,
        "value_assessment": match pct.map(|pct| pct.abs()) {
            Some(pct) if pct >= Decimal::from(5) => "high",
            Some(pct) if pct >= Decimal::ONE => "medium",
            _ => "low",
        },
        "next_rules": rules(symbol, &tags, en, strategy),
    })
}

/// The claims of a thesis: the result decides the conclusion; what was to be verified is untested.
fn claims(thesis: &str, lost: bool) -> Vec<Value> {
    let labels = [(lines::CONCLUSION, true), (lines::NEXT, false)];
    let lines = thesis.lines().map(str::trim);
    lines
        .filter_map(|line| {
            let part = |label: Line| label.strip(line.strip_prefix('[')?)?.strip_prefix(']');
            let (part, decides) =
                labels.iter().find_map(|(label, decides)| Some((part(*label)?, decides)))?;
            let claim = cut(part.trim(), 200);
            let result = match (decides, lost) {
                (true, true) => "failed",
                (true, false) => "held",
                (false, _) => "untested",
            };
            (!claim.is_empty()).then(|| json!({ "claim": claim, "result": result }))
        })
        .collect()
}

fn rules(symbol: &str, tags: &[&str], en: bool, strategy: Strategy) -> Vec<String> {
    let rule = match (tags.first().copied(), strategy) {
        (Some("sizing"), _) => ("less leverage and a tighter stop", "降低杠杆，收紧止损"),
        (Some("entry_timing"), _) => ("wait for a confirmed signal before entering", "等信号确认后再入场"),
        (Some("held_too_long"), _) => ("exit sooner when the reason is gone", "理由消失后尽早离场"),
        (Some(_), Strategy::Momentum) => ("do not buy a trend that is about to turn", "不追即将反转的趋势"),
        (Some(_), _) => ("check the reason again before buying the next dip", "再次抄底前重新核实理由"),
        (None, _) => return Vec::new(),
    };
    vec![format!("{symbol}: {}", if en { rule.0 } else { rule.1 })]
}

fn cut(text: &str, most: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= most {
        return text;
    }
    let mut short: String = text.chars().take(most - 1).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: a loss is stated once, by its word and without a sign; a gain is shown unchanged.
    #[test]
    fn a_loss_has_no_sign_beside_its_word() {
        let lesson = |pnl: &str, pct: &str, language| {
            let facts = format!("symbol: IBM\nside: long\npnl: {pnl}\n{pct}holding_days: 7\ncause: stop\n");
            let prompt = match language {
                Language::En => format!("Ledger facts:\n{facts}Thesis at entry:\n"),
                Language::Zh => format!("账本数据：\n{facts}开仓时的依据：\n"),
            };
            let told = reflection(&prompt, language, Strategy::Momentum);
            told["summary"].as_str().unwrap_or_default().to_owned()
        };
        let en = |pnl, pct| lesson(pnl, pct, Language::En);
        assert_eq!(en("-662", "return_pct: -6.62\n"), "IBM long lost 6.62% in 7 days, closed by stop.");
        assert_eq!(en("-662", ""), "IBM long lost 662 in 7 days, closed by stop.");
        assert_eq!(en("662", "return_pct: 6.62\n"), "IBM long made 6.62% in 7 days, closed by stop.");
        let zh = lesson("-662", "return_pct: -6.62\n", Language::Zh);
        assert_eq!(zh, "IBM long 持有 7 天，亏损 6.62%，由 stop 平仓。");
    }
}
