//! Query parameters: the page of a list, and how values are read that are texts in a URL.

use papertape_core::action::MAX_ROWS as MAX_LOG_ROWS;
use papertape_core::broker::parse_amount;
use rust_decimal::Decimal;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fmt::Display;
use std::str::FromStr;
use utoipa::IntoParams;

/// The maximum number of rows of one page, by default.
pub const MAX_ROWS: u32 = 200;
/// The maximum number of rows of one page of a session: messages, steps, data reads.
pub const MAX_SESSION_ROWS: u32 = 1000;

/// The page of a list.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Max rows.
    #[serde(default, deserialize_with = "rows")]
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// The page of a session's rows.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SessionPageQuery {
    /// Max rows. Pages of one session's rows may be longer than others.
    #[serde(default, deserialize_with = "session_rows")]
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// The max rows of a page.
///
/// # Errors
/// Not a whole number.
pub fn rows<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    count(deserializer, MAX_ROWS)
}

/// The max rows of a page of one session's messages, steps or reads.
///
/// # Errors
/// Not a whole number.
pub fn session_rows<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    count(deserializer, MAX_SESSION_ROWS)
}

/// The max rows of a page of an action log.
///
/// # Errors
/// Not a whole number.
pub fn log_rows<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    count(deserializer, MAX_LOG_ROWS)
}

fn count<'de, D: Deserializer<'de>>(deserializer: D, max: u32) -> Result<Option<u32>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let invalid = |_| D::Error::custom(format!("`{text}` is not a whole number from 1 to {max}"));
    text.parse().map(Some).map_err(invalid)
}

/// The number of an action in its session.
///
/// # Errors
/// Not a whole number from 1.
pub fn action_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = String::deserialize(deserializer)?;
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| D::Error::custom(format!("`{text}` is not a whole number from 1")))
}

/// `true` or `false`, case-insensitively, because some languages write `True`.
///
/// # Errors
/// Another text.
pub fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    let text = String::deserialize(deserializer)?;
    match text.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(D::Error::custom(format!("`{text}` is neither true nor false"))),
    }
}

/// An amount of money.
///
/// # Errors
/// Not a number.
pub fn amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Decimal>, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_amount(&Value::String(text)).map(Some).map_err(D::Error::custom)
}

/// A value with a spelling of its own.
///
/// # Errors
/// The type's.
pub fn parsed<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    String::deserialize(deserializer)?.parse().map(Some).map_err(D::Error::custom)
}
