//! Parsers of option values.

use rust_decimal::Decimal;
use std::fmt::Display;
use std::net::SocketAddr;
use std::ops::{Bound, RangeBounds};
use std::str::FromStr;

/// A parser of whole numbers in a range.
pub(super) fn whole<T>(range: impl RangeBounds<T> + Clone) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Display,
{
    move |text: &str| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| match (range.start_bound(), range.end_bound()) {
            (Bound::Included(min), Bound::Included(max)) => {
                format!("expected a whole number from {min} to {max}")
            }
            (Bound::Included(min), _) => format!("expected a whole number, {min} or greater"),
            _ => "expected a whole number".to_owned(),
        })
    }
}

/// The ID of a plan.
pub(super) fn parse_plan(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "a plan ID is a number; run `papertape plans list`".to_owned())
}

/// An address to listen on.
pub(super) fn parse_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "expected an IP address with a port, such as 127.0.0.1:8080".to_owned())
}

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
    use super::{parse_amount, parse_budget, whole};
    use rust_decimal::Decimal;

    /// Goal: a number that is unreadable or out of range is an error that names the range.
    #[test]
    fn whole_numbers_are_checked() {
        let limit = whole(1_u32..=200);
        assert_eq!((limit("1"), limit("200")), (Ok(1), Ok(200)));
        for text in ["0", "201", "-1", "1.5", "many", ""] {
            assert_eq!(limit(text), Err("expected a whole number from 1 to 200".to_owned()), "{text}");
        }
        assert_eq!(whole(1_u64..)("0"), Err("expected a whole number, 1 or greater".to_owned()));
    }

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
