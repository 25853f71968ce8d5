//! Indicators, computed from closes when the tool has none. Closes are oldest first.

use rust_decimal::Decimal;

/// The simple moving average of the last `period` closes; `None` while there are fewer.
pub(super) fn sma(closes: &[Decimal], period: usize) -> Option<Decimal> {
    let last = closes.len().checked_sub(period).filter(|_| period > 0).map(|from| &closes[from..])?;
    Some(last.iter().sum::<Decimal>() / Decimal::from(last.len()))
}

/// The relative strength index, 0 to 100, after J. Welles Wilder, New Concepts in Technical Trading
/// Systems (1978): 100 - 100 / (1 + average gain / average loss), where the first averages are
/// simple ones over `period` changes and each later one is (previous x (period - 1) + change) /
/// period. Without a loss it is 100; without any change 50. `None` while there are not more than
/// `period` closes.
pub(super) fn rsi(closes: &[Decimal], period: usize) -> Option<Decimal> {
    if period == 0 || closes.len() <= period {
        return None;
    }
    let changes: Vec<Decimal> = closes.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let gain = |change: &Decimal| (*change).max(Decimal::ZERO);
    let loss = |change: &Decimal| (-*change).max(Decimal::ZERO);
    let count = Decimal::from(period);
    let (first, later) = changes.split_at(period);
    let mut gains = first.iter().map(gain).sum::<Decimal>() / count;
    let mut losses = first.iter().map(loss).sum::<Decimal>() / count;
    for change in later {
        gains = (gains * (count - Decimal::ONE) + gain(change)) / count;
        losses = (losses * (count - Decimal::ONE) + loss(change)) / count;
    }
    Some(if losses.is_zero() {
        if gains.is_zero() { Decimal::from(50) } else { Decimal::ONE_HUNDRED }
    } else {
        Decimal::ONE_HUNDRED - Decimal::ONE_HUNDRED / (Decimal::ONE + gains / losses)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closes(values: &[&str]) -> Vec<Decimal> {
        values.iter().map(|value| value.parse().unwrap()).collect()
    }

    #[test]
    fn averages_need_enough_closes() {
        let closes = closes(&["1", "2", "3", "4"]);
        assert_eq!(sma(&closes, 2), Some("3.5".parse().unwrap()));
        assert_eq!(sma(&closes, 4), Some("2.5".parse().unwrap()));
        assert_eq!(sma(&closes, 5), None);
        assert_eq!(rsi(&closes, 4), None);
    }

    /// By hand, period 2, closes 10 12 11 14: changes +2 -1 +3. First averages: gain 1, loss 0.5.
    /// Then gain (1 + 3) / 2 = 2, loss 0.5 / 2 = 0.25. RSI = 100 - 100 / (1 + 8) = 88.888...
    #[test]
    fn rsi_follows_wilders_smoothing() {
        let rsi = rsi(&closes(&["10", "12", "11", "14"]), 2).unwrap();
        assert_eq!(rsi.round_dp(4), "88.8889".parse().unwrap());
    }

    #[test]
    fn rsi_has_its_ends() {
        assert_eq!(rsi(&closes(&["1", "2", "3"]), 2), Some(Decimal::ONE_HUNDRED));
        assert_eq!(rsi(&closes(&["3", "2", "1"]), 2), Some(Decimal::ZERO));
        assert_eq!(rsi(&closes(&["2", "2", "2"]), 2), Some(Decimal::from(50)));
    }
}
