//! Fields that providers fill in different ways. An implausible value counts as absent; only a missing
//! essential part makes a response fail.

use papertape_core::message::Usage;
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::value::RawValue;

/// More tokens than any call can use. A larger count is implausible.
pub const MAX_TOKENS: u64 = 100_000_000;

/// A token count as a provider reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Count {
    /// Absent or null.
    #[default]
    Absent,
    /// A plausible number.
    Known(u64),
    /// Negative, fractional, beyond [`MAX_TOKENS`], or not a number.
    Impossible,
}

impl Count {
    /// The number; `Err` when it is implausible.
    const fn get(self) -> Result<Option<u64>, ()> {
        match self {
            Self::Absent => Ok(None),
            Self::Known(count) => Ok(Some(count)),
            Self::Impossible => Err(()),
        }
    }

    /// The greater of two reports of the same cumulative count in a stream.
    pub(super) fn or_greater(self, other: Self) -> Self {
        self.merge(other, u64::max)
    }

    /// The sum of counts that a provider reports separately.
    pub(super) fn sum(counts: &[Self]) -> Self {
        counts.iter().fold(Self::Absent, |total, count| total.merge(*count, u64::saturating_add))
    }

    fn merge(self, other: Self, both: fn(u64, u64) -> u64) -> Self {
        match (self, other) {
            (Self::Impossible, _) | (_, Self::Impossible) => Self::Impossible,
            (known, Self::Absent) | (Self::Absent, known) => known,
            (Self::Known(one), Self::Known(other)) => Self::of(both(one, other)),
        }
    }

    fn of(count: u64) -> Self {
        if count <= MAX_TOKENS { Self::Known(count) } else { Self::Impossible }
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let json = <&RawValue>::deserialize(from)?.get();
        Ok(match (json, json.parse::<f64>()) {
            ("null", _) => Self::Absent,
            // Beyond what the cast can represent, it is beyond the limit as well.
            (_, Ok(count)) if count >= 0.0 && count.fract() == 0.0 => Self::of(count as u64),
            _ => Self::Impossible,
        })
    }
}

/// The usage, if all counts are consistent; otherwise unknown. Reasoning that is reported separately, with no
/// total, counts as the total.
pub(super) fn usage(input: Count, cached: Count, output: Count) -> Option<Usage> {
    let (input, cached, output) = (input.get().ok()?, cached.get().ok()?, output.get().ok()?);
    let usage = Usage {
        input_tokens: input?,
        cached_tokens: cached.unwrap_or(0),
        output_tokens: output.unwrap_or(0),
    };
    // Every request has tokens, and cached tokens are input tokens.
    (usage.input_tokens > 0 && usage.cached_tokens <= usage.input_tokens).then_some(usage)
}

/// A text; `None` for anything else.
pub(super) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let json = <&RawValue>::deserialize(from)?.get();
    if !json.starts_with('"') {
        return Ok(None);
    }
    // Without an escape, the text is what stands between the quotes.
    match json.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(text) if !text.contains('\\') => Ok(Some(text.to_owned())),
        _ => serde_json::from_str(json).map(Some).map_err(D::Error::custom),
    }
}

/// A flag; absent is false.
pub(super) fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    Option::<bool>::deserialize(from).map(Option::unwrap_or_default)
}
