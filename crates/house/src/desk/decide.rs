//! The three roles that decide: the Research Manager rates by its strategy, the Trader turns the rating into
//! a proposal for the account, the Portfolio Manager confirms what the account can carry. They answer in the
//! requested format: JSON if there is a schema, otherwise labeled text.

use super::figures::Figures;
use super::view::{Rating, has_no_data, view};
use super::{RoleRequest, risk, text};
use crate::language::Language;
use crate::strategy::Strategy;
use crate::{Draft, number, phrases};
use papertape_core::prompt::lines::{self, Line};
use rust_decimal::Decimal;
use serde_json::{Map, Value, json};

/// A position that has reached this fraction of its cap is not increased.
const NEAR_ENOUGH: Decimal = Decimal::from_parts(80, 0, 0, false, 2);
/// The fraction of equity that a stop may cost.
const RISK: Decimal = Decimal::from_parts(1, 0, 0, false, 2);
/// Maximum distance of a stop, as a fraction of the price: slightly below the broker's limit.
const FURTHEST: Decimal = Decimal::from_parts(9, 0, 0, false, 2);
/// The cap of one symbol when the task gives none.
const CAP: Decimal = Decimal::from_parts(10, 0, 0, false, 2);
/// From this daily move on, in percent, the smaller step is used.
const WILD: Decimal = Decimal::from_parts(5, 0, 0, false, 0);

pub(super) fn plan(asked: &RoleRequest<'_>) -> Draft {
    let debate = asked.task.fence(lines::DEBATE).unwrap_or_default();
    let mut figures = Figures::read(debate);
    // The task gives today's price exactly.
    figures.price = asked.task.price().or(figures.price);
    let (rating, opinion) = view(asked.strategy, figures, asked.task.symbol());
    let reason = phrases::reason(asked.language, &opinion);
    let (up, down) = (text::points_for(asked, figures).len(), text::points_against(asked, figures).len());
    let mut rationale = asked.say(
        format!("By my rules {reason}. Of the points in the figures, {up} speak for it and {down} against."),
        format!("按我的规则，{reason}。数据中 {up} 点支持，{down} 点反对。"),
    );
    if has_no_data(&opinion) {
        rationale.push_str(
            &asked.say(" There is nothing to judge by, so nothing is changed.", "无从判断，因此不作改变。"),
        );
    }
    let actions = match rating.direction() {
        1 => asked.say(
            "Buy towards the target weight; the plan is wrong below the 50-day average.",
            "向目标仓位买入；跌破 50 日均线则计划有误。",
        ),
        -1 => asked.say(
            "Reduce towards the target weight; review above the 50-day average.",
            "向目标仓位减仓；重回 50 日均线之上再复核。",
        ),
        _ => asked.say("Leave the position as it is.", "保持现有仓位。"),
    };
    let rationale = format!("{rationale} {}\n{}", figures.write(), text::label(asked));
    answer(
        asked,
        &[
            ("recommendation", lines::RECOMMENDATION.en, lines::RECOMMENDATION.zh, json!(rating.as_str())),
            ("rationale", "Rationale", "理由", json!(rationale)),
            ("strategic_actions", "Strategic Actions", "行动计划", json!(actions)),
        ],
    )
}

pub(super) fn proposal(asked: &RoleRequest<'_>) -> Draft {
    let task = &asked.task;
    let rating = stated(task.fence(lines::RESEARCH_PLAN), lines::RECOMMENDATION);
    let (price, held) = (task.price(), task.held());
    let cap = task.cap().unwrap_or(CAP);
    let hold = |english, chinese| ("Hold", asked.say(english, chinese));
    let trade = |action, rating: Rating| {
        let (english, chinese) = (rating.as_str(), rating.chinese());
        (action, asked.say(format!("the plan says {english}"), format!("计划建议{chinese}")))
    };
    let (action, why) = match (rating, price) {
        (None, _) => {
            hold("there is no plan with a rating, so I propose no trade", "没有带评级的计划，因此不提出交易")
        }
        (_, None) => hold("there is no price today", "今天没有价格"),
        _ if task.waits() => hold("it already has a pending order", "已有订单等待成交"),
        (Some(rating), Some(price)) => match rating.direction() {
            1 if is_full(asked, held, price, cap) => {
                hold("the plan's target is already held", "计划所要的仓位已经持有")
            }
            1 => trade("Buy", rating),
            -1 if held > Decimal::ZERO => trade("Sell", rating),
            -1 => hold("there is no position to sell", "没有可卖的持仓"),
            _ => hold("the plan leaves the position as it is", "计划保持现有仓位"),
        },
    };
    let (stop, target) = if action == "Buy" { levels(asked, price) } else { (None, None) };
    let percent = || number::show(share(price, stop, cap) * Decimal::ONE_HUNDRED);
    let sizing = match (action, rating) {
        ("Buy", _) => json!(format!("{}% of portfolio", percent())),
        ("Sell", Some(Rating::Underweight)) => json!("50% of the position"),
        ("Sell", _) => json!("100% of the position"),
        _ => Value::Null,
    };
    let held = number::show(held);
    let reasoning = asked.say(format!("I hold {held}, and {why}."), format!("现持有 {held}，{why}。"));
    let entry = price.filter(|_| action != "Hold");
    let priced = |price: Option<Decimal>| price.map_or(Value::Null, number::write);
    answer(
        asked,
        &[
            ("action", lines::ACTION.en, lines::ACTION.zh, json!(action)),
            ("reasoning", "Reasoning", "理由", json!(format!("{reasoning}\n{}", text::label(asked)))),
            ("entry_price", "Entry Price", "入场价", priced(entry)),
            ("stop_loss", "Stop Loss", "止损价", priced(stop)),
            ("take_profit", "Take Profit", "止盈价", priced(target)),
            ("leverage", "Leverage", "杠杆", Value::Null),
            ("position_sizing", "Position Sizing", "仓位", sizing),
        ],
    )
}

/// Whether the position has reached its cap. Buy-and-hold buys only once.
fn is_full(asked: &RoleRequest<'_>, held: Decimal, price: Decimal, cap: Decimal) -> bool {
    if asked.strategy == Strategy::BuyAndHold {
        return held > Decimal::ZERO;
    }
    let equity = asked.task.account("equity").or_else(|| asked.task.account("cash")).unwrap_or_default();
    let full = equity.saturating_mul(cap).saturating_mul(NEAR_ENOUGH);
    held > Decimal::ZERO && held.saturating_mul(price) >= full
}

/// Stop and target at two and four times the ATR; none when it is unknown.
fn levels(asked: &RoleRequest<'_>, price: Option<Decimal>) -> (Option<Decimal>, Option<Decimal>) {
    let (Some(price), Some(atr)) = (price, asked.task.atr()) else { return (None, None) };
    if asked.strategy == Strategy::BuyAndHold {
        return (None, None);
    }
    let digits = if price >= Decimal::TEN { 2 } else { 6 };
    let distance = (atr * Decimal::TWO).min(price * FURTHEST);
    let stop = (price - distance).round_dp(digits);
    let target = (price + distance * Decimal::TWO).round_dp(digits);
    (
        Some(stop).filter(|stop| *stop > Decimal::ZERO && *stop < price),
        Some(target).filter(|target| *target > price),
    )
}

/// The fraction of equity whose loss at the stop is `RISK`, limited by the cap.
fn share(price: Option<Decimal>, stop: Option<Decimal>, cap: Decimal) -> Decimal {
    let distance = price.zip(stop).and_then(|(price, stop)| (price - stop).checked_div(price));
    let by_risk = distance.and_then(|distance| RISK.checked_div(distance));
    by_risk.map_or(cap, |share| share.min(cap)).round_dp(4)
}

pub(super) fn decision(asked: &RoleRequest<'_>) -> Draft {
    let task = &asked.task;
    let plan = stated(task.fence(lines::RESEARCH_PLAN), lines::RECOMMENDATION);
    let proposed = stated(task.fence(lines::TRADER_PROPOSAL), lines::ACTION);
    let figures = risk::figures(asked);
    let wild = text::daily_move(figures).is_some_and(|share| share >= WILD);
    let (rating, english, chinese) = match (plan, proposed) {
        (None, _) | (_, None) => (
            Rating::Hold,
            "a plan or a proposal is missing, so the case is untested and nothing is changed",
            "缺少计划或提案，论证未经检验，因此不作改变",
        ),
        _ if task.price().is_none() => (Rating::Hold, "there is no price today", "今天没有价格"),
        (Some(plan), Some(proposed)) if plan.direction() != proposed.direction() => (
            Rating::Hold,
            "the Trader does not propose what the plan says for this account, so nothing is changed",
            "Trader 未按计划为此账户提出交易，因此不作改变",
        ),
        (Some(Rating::Buy), _) if wild => (
            Rating::Overweight,
            "plan and proposal agree; an ordinary day's move is large, so the smaller step is taken",
            "计划与提案一致；日常波动很大，因此采取较小的调整",
        ),
        (Some(plan), _) => {
            (plan, "plan and proposal agree, and the limits allow it", "计划与提案一致，且限制允许")
        }
    };
    let why = asked.say(english, chinese);
    let summary = asked.say(format!("{}: {why}.", rating.as_str()), format!("{}：{why}。", rating.chinese()));
    let thesis =
        asked.say("I follow the plan where the account can carry it.", "在账户可承受的范围内遵循计划。");
    let thesis = format!("{thesis} {}\n{}", figures.write(), text::label(asked));
    let horizon = (rating != Rating::Hold).then(|| asked.say("2 to 8 weeks", "2 至 8 周"));
    answer(
        asked,
        &[
            ("rating", "Rating", "评级", json!(rating.as_str())),
            ("executive_summary", "Executive Summary", "摘要", json!(summary)),
            ("investment_thesis", "Investment Thesis", "投资逻辑", json!(thesis)),
            ("price_target", "Price Target", "目标价", Value::Null),
            ("time_horizon", "Time Horizon", "投资期限", json!(horizon)),
        ],
    )
}

/// The opinion on the first line of another role's text, after its label.
fn stated(text: Option<&str>, label: Line) -> Option<Rating> {
    let line = text?.lines().next()?;
    let value = label.strip(line.strip_prefix("**")?)?.strip_prefix("**")?;
    Rating::named(value.trim_start_matches([':', '：']).trim())
}

/// The answer in the requested format: (key, English label, Chinese label, value).
fn answer(asked: &RoleRequest<'_>, parts: &[(&str, &str, &str, Value)]) -> Draft {
    if asked.request.response_schema.is_some() {
        let object: Map<String, Value> =
            parts.iter().map(|(key, _, _, value)| ((*key).to_owned(), value.clone())).collect();
        return Draft::text(Value::Object(object).to_string());
    }
    let lines =
        parts.iter().filter(|(_, _, _, value)| !value.is_null()).map(|(_, english, chinese, value)| {
            let plain = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let named = Rating::named(&plain).filter(|_| asked.language == Language::Zh);
            let plain = named.map_or(plain, |rating| rating.chinese().to_owned());
            asked.say(format!("**{english}**: {plain}"), format!("**{chinese}**：{plain}"))
        });
    Draft::text(lines.collect::<Vec<_>>().join("\n\n"))
}
