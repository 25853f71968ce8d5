//! How fields of requests are read, where serde's defaults are too lenient, and written.

use crate::number::number;
use papertape_core::part::MAX_PARTS;
use papertape_core::time::{Date, parse_date};
use rust_decimal::Decimal;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// The largest whole number that every client can send.
pub const MAX_INT64: u64 = i64::MAX as u64;
/// The maximum number of rounds that a trader reads.
pub const MAX_READ_WINDOW: u32 = 10;

/// A JSON object. Where it expects a struct, serde would also accept a list of its fields' values.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonObject<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for JsonObject<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfMap<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for OfMap<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }

        deserializer.deserialize_map(OfMap(PhantomData)).map(Self)
    }
}

impl<T: Serialize> Serialize for JsonObject<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// A day of the form `YYYY-MM-DD`, and nothing else.
///
/// # Errors
/// Another text, or no text.
pub fn day<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Date, D::Error> {
    parse_date(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// The same, where it may be absent or `null`.
///
/// # Errors
/// As [`day`].
pub fn maybe_day<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Date>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| parse_date(&text)).transpose().map_err(D::Error::custom)
}

/// A field that is present, even as `null`; absent, it is the type's default.
///
/// # Errors
/// The type's.
pub fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// How many rounds are read.
///
/// # Errors
/// A number above [`MAX_READ_WINDOW`].
pub fn window<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    match Option::<u32>::deserialize(deserializer)? {
        Some(rounds) if rounds > MAX_READ_WINDOW => {
            Err(D::Error::custom(format!("{rounds} is above {MAX_READ_WINDOW}")))
        }
        rounds => Ok(rounds),
    }
}

/// A number of parts.
///
/// # Errors
/// 0, or more than a job can have.
pub fn parts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    match Option::<u32>::deserialize(deserializer)? {
        Some(parts) if parts == 0 || parts > MAX_PARTS => {
            Err(D::Error::custom(format!("{parts} is not from 1 to {MAX_PARTS}")))
        }
        parts => Ok(parts),
    }
}

/// A whole number that fits into 32 bits with a sign, as the OpenAPI document says of it.
///
/// # Errors
/// A larger number.
pub fn whole32<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let number = whole::<D, { i32::MAX as u64 }>(deserializer)?;
    number.map(u32::try_from).transpose().map_err(D::Error::custom)
}

/// A whole number from 0 to `MAX`.
///
/// # Errors
/// A larger number.
pub fn whole<'de, D: Deserializer<'de>, const MAX: u64>(deserializer: D) -> Result<Option<u64>, D::Error> {
    match Option::<u64>::deserialize(deserializer)? {
        Some(number) if number > MAX => Err(D::Error::custom(format!("{number} is above {MAX}"))),
        number => Ok(number),
    }
}

fn write<S: Serializer>(value: &Option<Decimal>, serializer: S) -> Result<S::Ok, S::Error> {
    value.map(number).serialize(serializer)
}

/// An amount: a JSON number, as the decimal that it is written as.
pub mod maybe_amount {
    use super::{Decimal, Deserialize as _, Deserializer, Serializer};
    use papertape_core::broker::parse_amount;
    use serde::de::Error as _;
    use serde_json::{Number, Value};

    /// # Errors
    /// Something else than a number, or one that no decimal holds.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Decimal>, D::Error> {
        let number = Option::<Number>::deserialize(deserializer)?;
        number.map(|number| parse_amount(&Value::Number(number))).transpose().map_err(D::Error::custom)
    }

    /// # Errors
    /// The serializer's.
    pub fn serialize<S: Serializer>(value: &Option<Decimal>, serializer: S) -> Result<S::Ok, S::Error> {
        super::write(value, serializer)
    }
}

/// A share: a JSON number, or the same as a text.
pub mod share {
    use super::{Decimal, Deserialize as _, Deserializer, Serializer};
    use papertape_core::broker::parse_amount;
    use serde::de::Error as _;
    use serde_json::Value;

    /// # Errors
    /// Something else than a number.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Decimal>, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Null => Ok(None),
            value => parse_amount(&value).map(Some).map_err(D::Error::custom),
        }
    }

    /// # Errors
    /// The serializer's.
    pub fn serialize<S: Serializer>(value: &Option<Decimal>, serializer: S) -> Result<S::Ok, S::Error> {
        super::write(value, serializer)
    }
}
