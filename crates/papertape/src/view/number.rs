//! From exact decimals to JSON numbers.

use rust_decimal::Decimal;

/// The `f64` nearest to a decimal, which prints with the same digits wherever 15 of them are enough.
/// For answers alone, never for the books.
#[must_use]
pub fn number(value: Decimal) -> f64 {
    // Through the text, since it is rounded once. A negative zero plus zero is zero.
    value.normalize().to_string().parse().unwrap_or(f64::NAN) + 0.0
}

/// A figure that was computed in floats, rounded to the 12 significant digits that it is good for: what follows differs
/// between machines and compilers, and is noise.
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

    #[test]
    fn a_decimal_keeps_its_digits() {
        for text in ["0", "-0.01", "8104.00", "189.60", "99999999999.99", "0.1234567891"] {
            let decimal: Decimal = text.parse().expect("a decimal");
            let back: Decimal = number(decimal).to_string().parse().expect("a decimal");
            assert_eq!(back, decimal);
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
