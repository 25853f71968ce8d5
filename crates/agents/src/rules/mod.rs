//! The market's rules, in sentences for an agent's prompt.

mod costs;

use papertape_core::broker::{Board, FillModel, MAX_LEVERAGED_LOSS, MarketProfile};
use papertape_core::language::Language;
use papertape_core::prompt::lines::IN_STEPS_OF;
use papertape_core::time::Date;
use rust_decimal::Decimal;

/// The part of a market's rules that an agent can use: the prompt of a desk that never goes short omits shorting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// Whether it may go short.
    pub shorting: bool,
    /// Its maximum leverage, 1 for none.
    pub max_leverage: Decimal,
}

impl Allowed {
    /// Everything that the market allows.
    #[must_use]
    pub fn by(profile: &MarketProfile) -> Self {
        Self { shorting: profile.shorting, max_leverage: profile.leverage_limit() }
    }

    /// The part that the market allows too.
    fn limited_by(self, profile: &MarketProfile) -> Self {
        let by = Self::by(profile);
        Self { shorting: self.shorting && by.shorting, max_leverage: self.max_leverage.min(by.max_leverage) }
    }
}

/// The market's rules on a day, in a few sentences.
#[must_use]
pub fn rules(profile: &MarketProfile, allowed: Allowed, language: Language, day: Date) -> String {
    let allowed = allowed.limited_by(profile);
    match language {
        Language::En => english(profile, allowed, day),
        Language::Zh => chinese(profile, allowed, day),
    }
}

/// The market's lot, then the different lots of its boards.
pub(crate) fn lots(profile: &MarketProfile) -> String {
    let own = profile.board_lots.iter().map(|lot| {
        let (board, minimum, step) = (board_name(lot.board), lot.minimum, lot.step);
        format!("{board}: at least {minimum}, {IN_STEPS_OF} {step}")
    });
    let own: Vec<String> = own.collect();
    if own.is_empty() { profile.lot.to_string() } else { format!("{} ({})", profile.lot, own.join("; ")) }
}

fn board_name(board: Board) -> &'static str {
    match board {
        Board::Main => "main board",
        Board::Star => "STAR (688)",
        Board::ChiNext => "ChiNext (300)",
        Board::Bse => "BSE (4, 8, 92)",
    }
}

/// Which instruments may be traded on a day, and at which prices.
fn english_limits(profile: &MarketProfile, day: Date) -> String {
    let mut text = String::new();
    if let Some(rule) = profile.participation {
        text.push_str(&format!(
            " Per instrument and day, at most {share}% of the mean volume of the last {bars} bars before today may be \
             traded; a larger order is rejected with the largest admissible quantity, and there are no partial \
             fills.",
            share = rule.share_pct.normalize(),
            bars = rule.bars
        ));
    }
    let limits = limits(profile, day);
    if !limits.is_empty() {
        let each: Vec<String> = limits
            .iter()
            .map(|(board, percent)| format!("{percent}% on the {}", board_name(*board)))
            .collect();
        text.push_str(&format!(
            " Prices are limited to the previous close plus or minus {}: no buy at limit up, no sale at limit down.",
            each.join(", ")
        ));
    }
    text
}

fn chinese_limits(profile: &MarketProfile, day: Date) -> String {
    let mut text = String::new();
    if let Some(rule) = profile.participation {
        text.push_str(&format!(
            "同一标的每天成交量不得超过此前 {bars} 根日线平均成交量的 {share}%；超出的订单整单拒绝，并给出最大可下数量，\
             不做部分成交。",
            share = rule.share_pct.normalize(),
            bars = rule.bars
        ));
    }
    let limits = limits(profile, day);
    if !limits.is_empty() {
        let name = |board: Board| match board {
            Board::Main => "主板",
            Board::Star => "科创板",
            Board::ChiNext => "创业板",
            Board::Bse => "北交所",
        };
        let each: Vec<String> =
            limits.iter().map(|(board, percent)| format!("{} {percent}%", name(*board))).collect();
        text.push_str(&format!(
            "涨跌幅限制（相对前收盘价）：{}；涨停不能买入，跌停不能卖出。",
            each.join("，")
        ));
    }
    text
}

/// The price limits in force on a day, by board.
fn limits(profile: &MarketProfile, day: Date) -> Vec<(Board, Decimal)> {
    let boards = [Board::Main, Board::ChiNext, Board::Star, Board::Bse];
    let of = |board: Board| {
        let mut known =
            profile.price_limits.iter().filter(|limit| limit.board == board && limit.effective_from <= day);
        Some((board, known.next_back()?.percent.normalize()))
    };
    boards.into_iter().filter_map(of).collect()
}

/// The largest leveraged loss at a stop, in percent.
fn max_stop_loss() -> Decimal {
    (MAX_LEVERAGED_LOSS * Decimal::ONE_HUNDRED).normalize()
}

fn english(profile: &MarketProfile, allowed: Allowed, day: Date) -> String {
    let amounts = if profile.fractional {
        "Fractional quantities are allowed, down to 0.00000001.".to_owned()
    } else if profile.lot.0 == Decimal::ONE {
        "Only whole shares can be traded.".to_owned()
    } else {
        format!(
            "Buy and sell in whole lots of {lot} shares; an odd lot, such as a bonus issue leaves, can only be sold \
             together with the rest of the position.{other}",
            lot = profile.lot,
            other = if profile.board_lots.is_empty() {
                String::new()
            } else {
                format!(" Lots: {}.", lots(profile))
            }
        )
    };
    let fills = match profile.fill_model {
        FillModel::Open => "Orders fill at once, at today's opening price.",
        FillModel::NextOpen => "Orders fill at the next trading day's open.",
        FillModel::Close => "Orders fill at today's close.",
    };
    let locked = if profile.t_plus_one {
        " T+1 applies: shares bought today can be sold from the next trading day on; `sellable` in \
         get_portfolio is what can be sold today."
    } else {
        ""
    };
    let short = match (allowed.shorting, profile.fractional) {
        (true, true) => " You may go short.",
        (true, false) => " Short selling is allowed.",
        (false, _) => " Short selling is not allowed.",
    };
    let leverage = if allowed.max_leverage > Decimal::ONE {
        format!(
            " Leverage is from {least} to {most}. A position with leverage above 1 must have a stop, and \
             |entry - stop| / entry x leverage may be at most {loss}%, so at a leverage of {most} the stop is \
             at most {closest}% away. A stop may be tightened, never loosened; an addition to a position has \
             the position's leverage. Margin is isolated: a position whose loss reaches its margin is \
             liquidated and loses no more than that. Borrowed money costs {financing} basis points per year, \
             charged at the close for each calendar night until the next trading day. `available` in \
             get_portfolio is what can be used to open new positions.",
            least = profile.min_leverage,
            most = allowed.max_leverage,
            loss = max_stop_loss(),
            closest = closest(allowed.max_leverage),
            financing = profile.annual_financing_bps,
        )
    } else {
        String::new()
    };
    let costs = costs::english(profile, allowed, day);
    let limits = english_limits(profile, day);
    format!("{amounts} {fills}{locked}{short}{leverage}{costs}{limits}")
}

fn chinese(profile: &MarketProfile, allowed: Allowed, day: Date) -> String {
    let amounts = if profile.fractional {
        "可以交易小数数量，最小单位 0.00000001。".to_owned()
    } else if profile.lot.0 == Decimal::ONE {
        "只能交易整股。".to_owned()
    } else {
        format!(
            "买入须为 {lot} 股的整数倍，卖出亦然；送股等产生的零股只能与全部持仓一并卖出。{other}",
            lot = profile.lot,
            other = if profile.board_lots.is_empty() {
                ""
            } else {
                "科创板最少 200 股、北交所最少 100 股，均以 1 股递增。"
            }
        )
    };
    let fills = match profile.fill_model {
        FillModel::Open => "订单立即以今日开盘价成交。",
        FillModel::NextOpen => "订单以下一交易日的开盘价成交。",
        FillModel::Close => "订单以今日收盘价成交。",
    };
    let locked = if profile.t_plus_one {
        "实行 T+1：今天买入的，下一交易日起才能卖出；get_portfolio 中的 sellable 是今天可卖的数量。"
    } else {
        ""
    };
    let short = if allowed.shorting { "可以做空。" } else { "不允许做空。" };
    let leverage = if allowed.max_leverage > Decimal::ONE {
        format!(
            "杠杆为 {least} 至 {most} 倍。杠杆高于 1 倍的仓位必须设置止损，且 |入场价 - 止损价| / 入场价 x 杠杆\
             不得超过 {loss}%，即 {most} 倍杠杆时止损距离至多 {closest}%；止损只能收紧，不能放宽；\
             加仓须与原仓位杠杆相同。保证金为逐仓：亏损达到保证金时强制平仓，损失以保证金为限。借入资金年费率为 {financing} 个基点，\
             收盘时按距下一交易日的自然日隔夜数收取。\
             get_portfolio 中的 available 是可用于开仓的资金。",
            least = profile.min_leverage,
            most = allowed.max_leverage,
            loss = max_stop_loss(),
            closest = closest(allowed.max_leverage),
            financing = profile.annual_financing_bps,
        )
    } else {
        String::new()
    };
    let costs = costs::chinese(profile, allowed, day);
    let limits = chinese_limits(profile, day);
    format!("{amounts}{fills}{locked}{short}{leverage}{costs}{limits}")
}

/// The largest distance of a stop at the largest leverage, in percent.
fn closest(leverage: Decimal) -> Decimal {
    let share = max_stop_loss().checked_div(leverage).unwrap_or_default();
    share.trunc_with_scale(4).normalize()
}
