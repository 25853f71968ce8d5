//! The words and number formats of a report, in English and Chinese.

use crate::format::thousands;
use papertape_core::language::Language;
use papertape_core::time::Date;

/// The language of a report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words(pub(crate) Language);

impl Words {
    /// The text in the report's language.
    pub(crate) fn pick<T>(self, en: T, zh: T) -> T {
        match self.0 {
            Language::En => en,
            Language::Zh => zh,
        }
    }

    /// A number of days.
    pub(crate) fn days(self, days: usize) -> String {
        let number = count(days);
        match self.0 {
            Language::En => format!("{number} day{}", if days == 1 { "" } else { "s" }),
            Language::Zh => format!("{number} 个交易日"),
        }
    }

    /// The mark of a text that was cut.
    pub(crate) fn cut(self, length: usize) -> String {
        let length = count(length);
        self.pick(format!("(cut; {length} characters in all)"), format!("（已截断，全文 {length} 字）"))
    }

    /// A date for readers: `Oct 1, 2012`, `2012年10月1日`.
    pub(crate) fn date(self, date: Date) -> String {
        match self.0 {
            Language::En => format!("{} {}, {}", MONTHS[month_index(date)], date.day(), date.year()),
            Language::Zh => format!("{}年{}月{}日", date.year(), date.month(), date.day()),
        }
    }

    /// A range of dates.
    pub(crate) fn period(self, first: Date, last: Date) -> String {
        format!("{} – {}", self.date(first), self.date(last))
    }

    /// A month of a year: `Oct 2012`.
    pub(crate) fn month_of(self, date: Date) -> String {
        match self.0 {
            Language::En => format!("{} {}", MONTHS[month_index(date)], date.year()),
            Language::Zh => format!("{}年{}月", date.year(), date.month()),
        }
    }

    /// The name of a month, from 0.
    pub(crate) fn month(self, at: usize) -> String {
        match self.0 {
            Language::En => MONTHS[at % 12].to_owned(),
            Language::Zh => format!("{}月", at % 12 + 1),
        }
    }

    /// The name of a baseline, a benchmark, or an agent.
    pub(crate) fn item(self, id: &str, label: &str) -> String {
        match id {
            "baseline:buy_and_hold" => self.pick("Buy and hold", "买入持有").to_owned(),
            "baseline:equal_weight" => self.pick("Equal weight", "等权组合").to_owned(),
            _ => label.to_owned(),
        }
    }

    /// A verdict in a word or two.
    pub(crate) fn verdict(self, code: &str) -> &'static str {
        match code {
            "better" => self.pick("Better", "更好"),
            "worse" => self.pick("Worse", "更差"),
            "not_distinguishable" => self.pick("Not distinguishable", "无法区分"),
            "too_few_days" => self.pick("Too few days", "天数不足"),
            "interim" => self.pick("Interim", "尚未完成"),
            "identical" => self.pick("Identical", "完全相同"),
            "insolvent" => self.pick("Insolvent", "资不抵债"),
            _ => self.pick("Not comparable", "不可比较"),
        }
    }

    /// A condition in which two runs differ.
    pub(crate) fn mismatch(self, what: &str) -> &'static str {
        match what {
            "dataset" => self.pick("different data", "数据集不同"),
            "market" => self.pick("different markets", "市场规则不同"),
            "universe" => self.pick("different universes", "股票池不同"),
            "costs" => self.pick("different costs", "交易成本不同"),
            "fill" => self.pick("different fills", "成交方式不同"),
            "mask" => self.pick("different masks", "遮蔽方式不同"),
            "days" => self.pick("different days", "交易日不同"),
            "model" => self.pick("different models", "模型不同"),
            "prompts" => self.pick("different prompts", "提示词不同"),
            "trials" => self.pick(
                "too few trials: compare single runs, or 3 or more of each",
                "试验次数不足：请比较单次运行，或双方各 3 次以上",
            ),
            _ => self.pick("different settings", "设置不同"),
        }
    }

    /// The quality of a day.
    pub(crate) fn quality(self, state: &str) -> &'static str {
        match state {
            "research_degraded" => self.pick("research degraded", "研究降级"),
            "node_degraded" => self.pick("node degraded", "节点降级"),
            "no_decision" => self.pick("no decision", "无决策"),
            "failed" => self.pick("failed", "失败"),
            _ => self.pick("full research", "完整研究"),
        }
    }

    /// The side of an order, or the cause of a fill.
    pub(crate) fn action(self, action: &str) -> String {
        let known = match action {
            "buy" => self.pick("buy", "买入"),
            "sell" => self.pick("sell", "卖出"),
            "short" => self.pick("short", "卖空"),
            "cover" => self.pick("cover", "平空"),
            "stop" => self.pick("stop hit", "触发止损"),
            "target" => self.pick("target hit", "触发止盈"),
            "liquidation" => self.pick("liquidation", "强制平仓"),
            "delisting" => self.pick("delisting", "退市结算"),
            other => return other.to_owned(),
        };
        known.to_owned()
    }

    /// The name of a fee.
    pub(crate) fn fee(self, name: &str) -> String {
        let known = match name {
            "commission" => self.pick("commission", "佣金"),
            "sec_fee" => self.pick("SEC fee", "SEC 规费"),
            "finra_taf" => self.pick("FINRA trading activity fee", "FINRA 交易活动费"),
            "stamp_duty" => self.pick("stamp duty", "印花税"),
            "transfer_fee" => self.pick("transfer fee", "过户费"),
            "taker_fee" => self.pick("taker fee", "吃单手续费"),
            "fee" => self.pick("fee", "手续费"),
            other => return other.replace('_', " "),
        };
        known.to_owned()
    }

    /// A note of the market's conventions, which the record has in English.
    pub(crate) fn convention(self, note: &str) -> String {
        let between = |start: &str, end: &str| {
            note.strip_prefix(start).map(|rest| rest.split_once(end).map_or(rest, |(name, _)| name))
        };
        if matches!(self.0, Language::En) {
            note.to_owned()
        } else if let Some(format) = between("imported from ", ":") {
            format!("导入自 {format}：委托沿用来源的成交约定与成本")
        } else if let Some(symbols) = between("participation cap not applied: no volume", "\0") {
            let of =
                symbols.strip_prefix(" for ").map(|symbols| format!("（{symbols}）")).unwrap_or_default();
            format!("未应用成交量上限：没有成交量数据{of}")
        } else if let Some(symbols) = between("price limits not judged for ", ", which") {
            format!("未判断涨跌停：{symbols} 不属于任何板块")
        } else if note.starts_with("the dataset does not say which shares are ST") {
            "数据集未标明 ST 股票，均按所属板块的涨跌幅限制处理".to_owned()
        } else if note.starts_with("a listing before the data begin") {
            "数据起始前的上市日期未知，此类股票自首日起适用涨跌停".to_owned()
        } else if note.starts_with("some rates of these days are approximate") {
            "部分费率为近似值".to_owned()
        } else {
            note.to_owned()
        }
    }

    /// Why an order was rejected, by its code.
    pub(crate) fn rejection(self, code: &str) -> String {
        let known = match code {
            "insolvent" => self.pick("the account is insolvent", "账户资不抵债，已停止交易"),
            "not_in_universe" => self.pick("not in the universe of the day", "标的当日不在股票池内"),
            "unknown_symbol" => self.pick("not an instrument of this run", "本次回测不包含该标的"),
            "no_bar_today" => self.pick("no price on the day", "标的当日无行情"),
            "invalid_amount" => self.pick("invalid quantity", "委托数量无效"),
            "shorting_not_allowed" => self.pick("short positions are not allowed", "该市场不支持做空"),
            "opposite_position" => self.pick("an opposite position is open", "存在反向持仓"),
            "limit_up" => self.pick("limit up", "涨停，无法买入"),
            "limit_down" => self.pick("limit down", "跌停，无法卖出"),
            "lot_size" => self.pick("not a multiple of the lot size", "委托数量不是整手"),
            "participation_cap" => self.pick("over the volume cap", "超出成交量占比上限"),
            "t_plus_one" => self.pick("T+1: bought on the same day", "T+1：当日买入，次日才可卖出"),
            "insufficient_cash" => self.pick("not enough cash", "可用资金不足"),
            "insufficient_shares" => self.pick("not enough shares", "可卖数量不足"),
            "leverage_limit" => self.pick("over the leverage limit", "超出杠杆上限"),
            "stop_required" => self.pick("a leveraged position needs a stop", "杠杆持仓必须设置止损"),
            "stop_wrong_side" => self.pick("stop on the wrong side", "止损价方向错误"),
            "target_wrong_side" => self.pick("target on the wrong side", "止盈价方向错误"),
            "stop_too_far" => self.pick("stop too far away", "止损距离过大"),
            "stop_loosened" => self.pick("a stop can only be tightened", "止损只能收紧"),
            "no_position" => self.pick("no open position", "没有持仓"),
            "nothing_to_change" => self.pick("neither stop nor target", "未填写止损价或止盈价"),
            "expired" => self.pick("the run ended before it filled", "回测结束，委托未成交"),
            "split_away" => self.pick("a split left too little", "拆股后剩余委托数量过小"),
            "delisted" => self.pick("the instrument was delisted", "标的退市"),
            "no_next_bar" => self.pick("no later bar in the range", "无后续行情"),
            other => return other.replace('_', " "),
        };
        known.to_owned()
    }
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

fn month_index(date: Date) -> usize {
    usize::try_from(date.month() - 1).unwrap_or_default() % 12
}

/// What is shown for a value that does not exist.
pub(crate) const NONE: &str = "–";

/// A count with separators.
pub(crate) fn count(value: usize) -> String {
    thousands(&value.to_string())
}

/// A fraction as a signed percentage: `+1.25%`.
pub(crate) fn percent(value: f64) -> String {
    signed(100.0 * value, 2, "%")
}

/// A fraction as a percentage without a plus sign.
pub(crate) fn share(value: f64) -> String {
    format!("{}%", minus(&format!("{:.1}", 100.0 * value)))
}

/// A number of points, from a difference of log returns.
pub(crate) fn points(value: f64) -> String {
    signed(100.0 * value, 2, "")
}

/// A signed number.
pub(crate) fn signed(value: f64, decimals: usize, unit: &str) -> String {
    let text = format!("{value:+.decimals$}");
    // A rounded zero has no sign.
    let is_zero = text.bytes().all(|byte| matches!(byte, b'+' | b'-' | b'0' | b'.'));
    let text = if is_zero { text.trim_start_matches(['+', '-']).to_owned() } else { text };
    format!("{}{unit}", minus(&text))
}

/// A ratio with two decimals.
pub(crate) fn ratio(value: f64) -> String {
    minus(&format!("{value:.2}"))
}

/// An amount of money with separators and two decimals.
pub(crate) fn money(value: f64) -> String {
    let text = format!("{:.2}", value.abs());
    let (whole, cents) = text.split_once('.').unwrap_or((&text, "00"));
    let sign = if value < 0.0 && text != "0.00" { "−" } else { "" };
    format!("{sign}{}.{cents}", thousands(whole))
}

/// A signed amount of money.
pub(crate) fn gain(value: f64) -> String {
    let text = money(value);
    if value > 0.0 && text != "0.00" { format!("+{text}") } else { text }
}

/// With a minus sign of the width of a plus sign.
fn minus(text: &str) -> String {
    text.replace('-', "−")
}

/// A p-value with three digits.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: numbers have a sign where it means something, none on a rounded zero, and separators.
    #[test]
    fn numbers_are_written_as_readers_expect() {
        assert_eq!([percent(0.01254), percent(-0.2), percent(-0.000_01)], ["+1.25%", "−20.00%", "0.00%"]);
        assert_eq!(
            [money(1_234_567.891), money(-0.001), gain(12.5), gain(-3.0)],
            ["1,234,567.89", "0.00", "+12.50", "−3.00"]
        );
        assert_eq!([p_value(0.000_2), p_value(0.04)], ["p < 0.001", "p = 0.040"]);
        let day = jiff::civil::date(2012, 10, 1);
        assert_eq!(Words(Language::En).date(day), "Oct 1, 2012");
        assert_eq!(Words(Language::Zh).date(day), "2012年10月1日");
    }
}
