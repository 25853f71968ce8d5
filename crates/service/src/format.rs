//! Numbers formatted for people.

use bytesize::ByteSize;

/// A count with thousands separators.
#[must_use]
pub fn count(value: u64) -> String {
    thousands(&value.to_string())
}

/// A count and its noun: `1 day`, `3,270 days`.
#[must_use]
pub fn counted(value: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(value), if value == 1 { "" } else { "s" })
}

/// Digits in groups of three.
#[must_use]
pub fn thousands(digits: &str) -> String {
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A size in bytes, in a binary unit: `1.5 KiB`.
#[must_use]
pub fn bytes(value: u64) -> String {
    ByteSize::b(value).display().iec().to_string()
}
