//! From exact decimals to JSON numbers.

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// An exact decimal, serialized as the shortest JSON number of its value: `100000`, not `100000.0`. Only for responses,
/// never for the books.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub struct Number(Decimal);

impl Number {
    /// The nearest `f64`, never a negative zero: for what is drawn or rounded.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        // Through the text, so that it is rounded only once.
        self.0.to_string().parse::<f64>().unwrap_or(f64::NAN) + 0.0
    }

    /// The exact decimal.
    #[must_use]
    pub fn decimal(self) -> Decimal {
        self.0
    }

    /// Its magnitude.
    #[must_use]
    pub fn abs(self) -> Self {
        Self(self.0.abs())
    }

    /// Whether it is exactly zero.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self.0.is_zero()
    }
}

impl From<Number> for f64 {
    fn from(value: Number) -> Self {
        value.to_f64()
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Number {
    /// Whole numbers as integers; others as the nearest `f64` if it has the same digits, else as the
    /// decimal's text.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(whole) = self.0.to_i64().filter(|_| self.0.is_integer()) {
            return serializer.serialize_i64(whole);
        }
        let (nearest, text) = (self.to_f64(), self.0.to_string());
        if nearest.to_string() == text {
            return serializer.serialize_f64(nearest);
        }
        RawValue::from_string(text).map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Number {
    /// From the JSON number that it was written as; digits beyond those of an `f64` are lost.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = serde_json::Number::deserialize(deserializer)?;
        let text = read.to_string();
        let decimal = text.parse().or_else(|_| Decimal::from_scientific(&text));
        decimal.map(number).map_err(|error| D::Error::custom(format!("{text}: {error}")))
    }
}

impl PartialSchema for Number {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Number)
            .description(Some("An exact decimal, in the fewest digits that say it."))
            .into()
    }
}

impl ToSchema for Number {}

/// A decimal for a response.
#[must_use]
pub fn number(value: Decimal) -> Number {
    // A negative zero becomes zero, and trailing zeros are dropped.
    let value = value.normalize();
    Number(if value.is_zero() { Decimal::ZERO } else { value })
}

/// A value that was computed in floats, rounded to 12 significant digits: the rest differs between machines and
/// compilers.
#[must_use]
pub fn figure(value: f64) -> f64 {
    if value.is_finite() { format!("{value:.11e}").parse().unwrap_or(value) } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: nobody is ever shown a negative zero.
    #[test]
    fn zero_has_no_sign() {
        for text in ["0", "-0", "-0.00"] {
            let decimal: Decimal = text.parse().expect("a decimal");
            assert_eq!(
                (number(decimal).to_string(), number(-decimal).to_string()),
                ("0".to_owned(), "0".to_owned())
            );
        }
    }

    /// Goal: the shortest number with the same digits, however many there are, in a text and in a value.
    #[test]
    fn a_decimal_keeps_its_digits() {
        let cases = [
            ("0", "0"),
            ("-0.00", "0"),
            ("100000", "100000"),
            ("100000.00", "100000"),
            ("8104.00", "8104"),
            ("189.60", "189.6"),
            ("-0.01", "-0.01"),
            ("99999999999.99", "99999999999.99"),
            ("0.00000001", "1e-8"),
            ("12345678901234567890", "12345678901234567890"),
            ("123456789012345678.12345678", "123456789012345678.12345678"),
        ];
        for (text, expected) in cases {
            let decimal: Decimal = text.parse().expect("a decimal");
            assert_eq!(serde_json::to_string(&number(decimal)).expect("JSON"), expected);
            assert_eq!(number(decimal).to_string().parse(), Ok(decimal));
            let back: f64 = serde_json::from_str(expected).expect("a number");
            let value = serde_json::to_value(number(decimal)).expect("JSON");
            assert_eq!(value.as_f64(), Some(back), "{expected}");
        }
    }

    /// Goal: noise behind the twelfth digit never shows, and what has fewer digits stays as it is.
    #[test]
    #[expect(clippy::float_cmp, reason = "the nearest double is meant")]
    fn a_figure_has_twelve_digits() {
        assert_eq!(figure(0.1 + 0.2), 0.3);
        assert_eq!(figure(-1_234.567_890_123_456), -1_234.567_890_12);
        assert_eq!(figure(1.5e-9), 1.5e-9);
        assert_eq!(figure(0.0), 0.0);
        assert!(figure(f64::NAN).is_nan());
    }
}
