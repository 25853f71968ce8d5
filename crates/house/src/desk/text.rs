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
pub(super) fn for_it(asked: &RoleRequest<'_>, figures: Figures) -> Vec<String> {
    let mut points = Vec::new();
    let trend = (figures.price, figures.sma_20, figures.sma_50);
    if let (Some(price), Some(fast), Some(slow)) = trend
        && price > fast
        && fast >= slow
    {
        let (price, fast, slow) = (show(price), show(fast), show(slow));
        points.push(asked.say(
            format!(
                "the price {price} stands above its 20-day average {fast}, and that not below the 50-day average {slow}"
            ),
            format!("价格 {price} 高于 20 日均线 {fast}，且该均线不低于 50 日均线 {slow}"),
        ));
    } else if let Some((price, slow)) = figures.against_longer_average().filter(|(price, slow)| price >= slow)
    {
        let (price, slow) = (show(price), show(slow));
        points.push(asked.say(
            format!("the price {price} has held its longer average {slow}"),
            format!("价格 {price} 守住了长期均线 {slow}"),
        ));
    }
    if let Some(rsi) = figures.rsi_14.filter(|rsi| *rsi <= Decimal::from(70)) {
        let (is_oversold, rsi) = (rsi < Decimal::from(30), show(rsi));
        points.push(if is_oversold {
            asked.say(format!("RSI {rsi} is oversold"), format!("RSI {rsi} 处于超卖"))
        } else {
            asked.say(
                format!("RSI {rsi} leaves room before it is overbought"),
                format!("RSI {rsi} 距超买仍有空间"),
            )
        });
    }
    points
}

/// Points against owning the symbol, strongest first.
pub(super) fn against_it(asked: &RoleRequest<'_>, figures: Figures) -> Vec<String> {
    let mut points = Vec::new();
    if let Some((price, slow)) = figures.against_longer_average().filter(|(price, slow)| price < slow) {
        let (price, slow) = (show(price), show(slow));
        points.push(asked.say(
            format!("the price {price} is below its longer average {slow}"),
            format!("价格 {price} 低于长期均线 {slow}"),
        ));
    } else if let Some((price, fast)) =
        figures.price.zip(figures.sma_20).filter(|(price, fast)| price <= fast)
    {
        let (price, fast) = (show(price), show(fast));
        points.push(asked.say(
            format!("the price {price} is not above its 20-day average {fast}"),
            format!("价格 {price} 未高于 20 日均线 {fast}"),
        ));
    }
    if let Some(rsi) = figures.rsi_14.filter(|rsi| *rsi > Decimal::from(70)).map(show) {
        points.push(asked.say(format!("RSI {rsi} is overbought"), format!("RSI {rsi} 处于超买")));
    }
    if let Some(share) = daily_move(figures).map(show) {
        points.push(asked.say(
            format!("a normal day moves it by {share}% (ATR)"),
            format!("正常一天的波动为 {share}%（ATR）"),
        ));
    }
    points
}

/// The average true range as a percentage of the price.
pub(super) fn daily_move(figures: Figures) -> Option<Decimal> {
    let share = figures.atr_14?.checked_div(figures.price?)?;
    Some(share * Decimal::ONE_HUNDRED)
}
