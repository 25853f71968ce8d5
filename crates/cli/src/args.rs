//! Parsers of option values.

use rust_decimal::Decimal;

/// An amount of money.
pub(super) fn parse_amount(text: &str) -> Result<Decimal, String> {
    text.parse().map_err(|_| format!("`{text}` is not an amount; write it as 100000 or 0.5"))
}

/// An amount of money that is not negative.
pub(super) fn parse_budget(text: &str) -> Result<Decimal, String> {
    let amount = parse_amount(text)?;
    if amount < Decimal::ZERO { Err(format!("`{text}` is below 0")) } else { Ok(amount) }
}

#[cfg(test)]
mod tests {
    use super::{parse_amount, parse_budget};
    use rust_decimal::Decimal;

    /// Goal: an unreadable amount and a negative budget are errors that name the text.
    #[test]
    fn amounts_are_checked() {
        assert_eq!(parse_amount("-0.5"), Ok(Decimal::new(-5, 1)));
        assert_eq!(parse_budget("2"), Ok(Decimal::TWO));
        for (error, expected) in
            [(parse_amount("50k").err(), "`50k`"), (parse_budget("-1").err(), "`-1` is below 0")]
        {
            assert!(error.as_deref().is_some_and(|error| error.contains(expected)), "{error:?}");
        }
    }
}
