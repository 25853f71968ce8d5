//! The roles' texts about figures, in English and in Chinese.

use super::RoleRequest;
use super::figures::Figures;
use crate::number::show;
use rust_decimal::Decimal;

/// The line that identifies the author as a house model.
pub(super) fn label(asked: &RoleRequest<'_>) -> String {
    crate::phrases::label(asked.language, &asked.request.model)
}

/// Points for owning the symbol, strongest first.
pub(super) fn points_for(asked: &RoleRequest<'_>, figures: Figures) -> Vec<String> {
    let mut points = Vec::new();
    let trend = (figures.price, figures.sma_20, figures.sma_50);
    if let (Some(price), Some(fast), Some(slow)) = trend
        && price > fast
        && fast >= slow
    {
        points.push(asked.say(
            format!(
                "the price {} is above its 20-day average {}, which is not below the 50-day average {}",
                show(price),
                show(fast),
                show(slow)
            ),
            format!(
                "价格 {} 高于 20 日均线 {}，且该均线不低于 50 日均线 {}",
                show(price),
                show(fast),
                show(slow)
            ),
        ));
    } else if let (Some(price), Some(slow)) = (figures.price, figures.sma_50.or(figures.sma_20))
        && price >= slow
    {
        points.push(asked.say(
            format!("the price {} has held its longer average {}", show(price), show(slow)),
            format!("价格 {} 守住了长期均线 {}", show(price), show(slow)),
        ));
    }
    if let Some(rsi) = figures.rsi_14 {
        if rsi < Decimal::from(30) {
            points.push(
                asked.say(format!("RSI {} is oversold", show(rsi)), format!("RSI {} 处于超卖", show(rsi))),
            );
        } else if rsi <= Decimal::from(70) {
            points.push(asked.say(
                format!("RSI {} leaves room before it is overbought", show(rsi)),
                format!("RSI {} 距超买仍有空间", show(rsi)),
            ));
        }
    }
    points
}

/// Points against owning the symbol, strongest first.
pub(super) fn points_against(asked: &RoleRequest<'_>, figures: Figures) -> Vec<String> {
    let mut points = Vec::new();
    if let (Some(price), Some(slow)) = (figures.price, figures.sma_50.or(figures.sma_20))
        && price < slow
    {
        points.push(asked.say(
            format!("the price {} is below its longer average {}", show(price), show(slow)),
            format!("价格 {} 低于长期均线 {}", show(price), show(slow)),
        ));
    } else if let (Some(price), Some(fast)) = (figures.price, figures.sma_20)
        && price <= fast
    {
        points.push(asked.say(
            format!("the price {} is not above its 20-day average {}", show(price), show(fast)),
            format!("价格 {} 未高于 20 日均线 {}", show(price), show(fast)),
        ));
    }
    if let Some(rsi) = figures.rsi_14.filter(|rsi| *rsi > Decimal::from(70)) {
        points.push(
            asked.say(format!("RSI {} is overbought", show(rsi)), format!("RSI {} 处于超买", show(rsi))),
        );
    }
    if let Some(share) = daily_move(figures) {
        points.push(asked.say(
            format!("a normal day moves it by {}% (ATR)", show(share)),
            format!("正常一天的波动为 {}%（ATR）", show(share)),
        ));
    }
    points
}

/// The average true range as a percentage of the price.
pub(super) fn daily_move(figures: Figures) -> Option<Decimal> {
    let share = figures.atr_14?.checked_div(figures.price?)?;
    Some(share * Decimal::ONE_HUNDRED)
}
