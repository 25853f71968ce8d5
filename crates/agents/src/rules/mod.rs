//! The market's rules as an agent is told them.

mod costs;

use crate::config::Language;
use papertape_core::broker::{FillModel, MAX_LEVERAGED_LOSS, MarketProfile};
use papertape_core::time::Date;
use rust_decimal::Decimal;

/// What of a market's rules an agent can make use of: a desk that never goes short is not told that it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// May it go short?
    pub shorting: bool,
    /// The largest leverage that it can take, 1 for none.
    pub max_leverage: Decimal,
}

impl Allowed {
    /// All that the market allows.
    #[must_use]
    pub fn by(profile: &MarketProfile) -> Self {
        Self { shorting: profile.shorting, max_leverage: profile.leverage_limit() }
    }

    /// As much of it as the market allows too.
    fn within(self, profile: &MarketProfile) -> Self {
        let by = Self::by(profile);
        Self { shorting: self.shorting && by.shorting, max_leverage: self.max_leverage.min(by.max_leverage) }
    }
}

/// The market's rules on a day, in a few sentences.
#[must_use]
pub fn rules(profile: &MarketProfile, allowed: Allowed, language: Language, day: Date) -> String {
    let allowed = allowed.within(profile);
    match language {
        Language::En => english(profile, allowed, day),
        Language::Zh => chinese(profile, allowed, day),
    }
}

/// The largest leveraged loss at a stop, in percent.
fn most_lost() -> Decimal {
    (MAX_LEVERAGED_LOSS * Decimal::ONE_HUNDRED).normalize()
}

fn english(profile: &MarketProfile, allowed: Allowed, day: Date) -> String {
    let amounts = if profile.fractional {
        "Fractions may be traded, down to 0.00000001.".to_owned()
    } else if profile.lot.0 == Decimal::ONE {
        "Trade whole shares in lots of 1.".to_owned()
    } else {
        format!(
            "Buy whole lots of {lot} shares and sell whole lots; an odd rest, as a bonus issue leaves it, \
             can only be sold together with all that you hold.",
            lot = profile.lot
        )
    };
    let fills = match profile.fill_model {
        FillModel::Open => "Orders fill at once, at today's opening price.",
        FillModel::NextOpen => "Orders fill at the next trading day's open.",
        FillModel::Close => "Orders fill at today's close.",
    };
    let locked = if profile.t_plus_one {
        " T+1 holds: what is bought today can be sold from the next trading day on; `sellable` in \
         get_portfolio is what can be sold today."
    } else {
        ""
    };
    let short = match (allowed.shorting, profile.fractional) {
        (true, true) => " You may go short.",
        (true, false) => " Shares may be sold short.",
        (false, _) => " Nothing may be sold short.",
    };
    let leverage = if allowed.max_leverage > Decimal::ONE {
        format!(
            " Leverage goes from {least} to {most}. A position with a leverage above 1 must carry a stop, and \
             |entry - stop| / entry x leverage may be at most {loss}%, so at a leverage of {most} the stop is \
             at most {closest}% away; a stop may be tightened, never loosened, and what is added to a position \
             has its leverage. Margin is isolated: a position whose loss reaches its margin is liquidated \
             and costs no more than that. What is borrowed costs {financing} basis points a year, charged at the \
             close for the nights until the next trading day. `available` in get_portfolio is what new \
             positions can be opened with.",
            least = profile.min_leverage,
            most = allowed.max_leverage,
            loss = most_lost(),
            closest = closest(allowed.max_leverage),
            financing = profile.financing_bps_a_year,
        )
    } else {
        String::new()
    };
    let costs = costs::english(profile, allowed, day);
    format!("{amounts} {fills}{locked}{short}{leverage}{costs}")
}

fn chinese(profile: &MarketProfile, allowed: Allowed, day: Date) -> String {
    let amounts = if profile.fractional {
        "可以交易小数数量，最小单位 0.00000001。".to_owned()
    } else if profile.lot.0 == Decimal::ONE {
        "只能交易整股。".to_owned()
    } else {
        format!(
            "买入须为 {lot} 股的整数倍，卖出亦然；送股等产生的零股只能与全部持仓一并卖出。",
            lot = profile.lot
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
             收盘时按到下一交易日的日历夜数收取。\
             get_portfolio 中的 available 是可用于开仓的资金。",
            least = profile.min_leverage,
            most = allowed.max_leverage,
            loss = most_lost(),
            closest = closest(allowed.max_leverage),
            financing = profile.financing_bps_a_year,
        )
    } else {
        String::new()
    };
    let costs = costs::chinese(profile, allowed, day);
    format!("{amounts}{fills}{locked}{short}{leverage}{costs}")
}

/// The largest distance of a stop at the largest leverage, in percent.
fn closest(leverage: Decimal) -> Decimal {
    let share = most_lost().checked_div(leverage).unwrap_or_default();
    share.trunc_with_scale(4).normalize()
}
