//! Fields that providers fill in different ways. An implausible value counts as absent; only a missing
//! essential part makes a response fail.

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};
use std::fmt;

/// More tokens than any call can use. A larger count is implausible.
pub const MAX_TOKENS: u64 = 100_000_000;

/// A token count as a provider reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Count {
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
    #[expect(clippy::result_unit_err, reason = "there is nothing more to say about a number that cannot be")]
    pub const fn get(self) -> Result<Option<u64>, ()> {
        match self {
            Self::Absent => Ok(None),
            Self::Known(count) => Ok(Some(count)),
            Self::Impossible => Err(()),
        }
    }

    /// The greater of two reports of the same cumulative count in a stream.
    #[must_use]
    pub fn or_greater(self, other: Self) -> Self {
        match (self, other) {
            (Self::Impossible, _) | (_, Self::Impossible) => Self::Impossible,
            (Self::Absent, other) => other,
            (known, Self::Absent) => known,
            (Self::Known(one), Self::Known(other)) => Self::Known(one.max(other)),
        }
    }

    fn of(count: u64) -> Self {
        if count <= MAX_TOKENS { Self::Known(count) } else { Self::Impossible }
    }
}

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Known(count) => to.serialize_u64(*count),
            Self::Absent | Self::Impossible => to.serialize_none(),
        }
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(AnyCount)
    }
}

struct AnyCount;

impl<'de> Visitor<'de> for AnyCount {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of tokens")
    }

    fn visit_u64<E>(self, count: u64) -> Result<Count, E> {
        Ok(Count::of(count))
    }

    fn visit_i64<E>(self, count: i64) -> Result<Count, E> {
        Ok(u64::try_from(count).map_or(Count::Impossible, Count::of))
    }

    fn visit_f64<E>(self, count: f64) -> Result<Count, E> {
        #[expect(clippy::cast_precision_loss, reason = "the limit is far below 2^53")]
        let fits = count.fract() == 0.0 && (0.0..=MAX_TOKENS as f64).contains(&count);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked: whole and in range"
        )]
        let known = || Count::of(count as u64);
        Ok(if fits { known() } else { Count::Impossible })
    }

    fn visit_bool<E>(self, _: bool) -> Result<Count, E> {
        Ok(Count::Impossible)
    }

    fn visit_str<E>(self, _: &str) -> Result<Count, E> {
        Ok(Count::Impossible)
    }

    fn visit_unit<E>(self) -> Result<Count, E> {
        Ok(Count::Absent)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Count, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Count::Impossible)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Count, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Count::Impossible)
    }
}

/// A text; `None` for anything else.
pub(crate) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    from.deserialize_any(AnyText)
}

struct AnyText;

impl<'de> Visitor<'de> for AnyText {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Some(text))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

/// A flag; false for anything else.
pub(crate) fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    Option::<bool>::deserialize(from).map(Option::unwrap_or_default).map_err(D::Error::custom)
}
