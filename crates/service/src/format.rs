//! Numbers formatted for people.

/// A count with thousands separators.
#[must_use]
pub fn count(value: u64) -> String {
    thousands(&value.to_string())
}

/// Digits in groups of three.
#[must_use]
pub fn thousands(digits: &str) -> String {
    let mut apart = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            apart.push(',');
        }
        apart.push(digit);
    }
    apart
}

/// A size in bytes, in a readable unit.
#[must_use]
pub fn bytes(value: u64) -> String {
    let mut value = value as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1024.0 {
            return if unit == "B" { format!("{value} B") } else { format!("{value:.1} {unit}") };
        }
        value /= 1024.0;
    }
    format!("{value:.1} TiB")
}
