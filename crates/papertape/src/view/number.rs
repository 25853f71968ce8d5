//! From exact decimals to JSON numbers.

use rust_decimal::Decimal;

/// The `f64` nearest to a decimal, which prints with the same digits wherever 15 of them are enough.
/// For answers alone, never for the books.
#[must_use]
pub fn number(value: Decimal) -> f64 {
    // Through the text, since it is rounded once.
    value.normalize().to_string().parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_keeps_its_digits() {
        for text in ["0", "-0.01", "8104.00", "189.60", "99999999999.99", "0.1234567891"] {
            let decimal: Decimal = text.parse().expect("a decimal");
            let back: Decimal = number(decimal).to_string().parse().expect("a decimal");
            assert_eq!(back, decimal);
        }
    }
}
