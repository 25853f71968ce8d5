//! Parameters and columns, the same on both databases.

use crate::error::StoreError;
use papertape_core::action::{ActionKind, ActionStatus, IdKind};
use papertape_core::chat::{ChatId, ChatRole};
use papertape_core::id::{AgentName, ContentHash, JobId, Symbol};
use papertape_core::json;
use papertape_core::language::Language;
use papertape_core::money::{Money, Price, Quantity};
use papertape_core::plan::{PlanId, TaskId, TaskStatus};
use papertape_core::record::{DayStatus, JobStatus, SessionId};
use papertape_core::tape::{OutcomeKind, StepClass, StepPath};
use papertape_core::time::{Date, Timestamp, from_micros, parse_date, to_micros};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;

/// One parameter or column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    I64(i64),
    Text(String),
    Blob(Vec<u8>),
    Decimal(Decimal),
}

/// Parameters `$1`, `$2`, … of a statement.
macro_rules! params {
    ($($value:expr),* $(,)?) => { &[$($crate::value::Value::from($value)),*] };
}
pub(crate) use params;

/// A row whose columns are read left to right.
#[derive(Debug)]
pub(crate) struct Row {
    values: std::vec::IntoIter<Value>,
    column: usize,
}

impl Row {
    pub(crate) fn new(values: Vec<Value>) -> Self {
        Self { values: values.into_iter(), column: 0 }
    }

    /// The next column.
    pub(crate) fn get<T: FromValue>(&mut self) -> Result<T, StoreError> {
        self.column += 1;
        let value = self
            .values
            .next()
            .ok_or_else(|| StoreError::inconsistent(format!("a row has no column {}", self.column)))?;
        T::from_value(value).map_err(|why| {
            StoreError::inconsistent(format!("column {} of a row cannot be read: {why}", self.column))
        })
    }
}

/// A type that a column can be read as.
pub(crate) trait FromValue: Sized {
    fn from_value(value: Value) -> Result<Self, String>;
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value) -> Result<Self, String> {
        match value {
            Value::Null => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

fn unfit<T>(value: &Value) -> Result<T, String> {
    Err(format!("it is a {value:?}"))
}

impl FromValue for i64 {
    fn from_value(value: Value) -> Result<Self, String> {
        match value {
            Value::I64(number) => Ok(number),
            // PostgreSQL sums integers to NUMERIC.
            Value::Decimal(number) => number.to_i64().ok_or_else(|| "out of range".to_owned()),
            other => unfit(&other),
        }
    }
}

impl FromValue for String {
    fn from_value(value: Value) -> Result<Self, String> {
        match value {
            Value::Text(text) => Ok(text),
            other => unfit(&other),
        }
    }
}

impl FromValue for Vec<u8> {
    fn from_value(value: Value) -> Result<Self, String> {
        match value {
            Value::Blob(bytes) => Ok(bytes),
            other => unfit(&other),
        }
    }
}

impl From<&Vec<u8>> for Value {
    fn from(value: &Vec<u8>) -> Self {
        Self::Blob(value.clone())
    }
}

impl FromValue for Decimal {
    fn from_value(value: Value) -> Result<Self, String> {
        match value {
            Value::Decimal(number) => Ok(number),
            Value::Text(text) => Self::from_str_exact(&text).map_err(|error| error.to_string()),
            Value::I64(number) => Ok(number.into()),
            other => unfit(&other),
        }
    }
}

impl FromValue for ContentHash {
    fn from_value(value: Value) -> Result<Self, String> {
        match value {
            Value::Blob(bytes) => {
                <[u8; 32]>::try_from(bytes).map(Self::from_bytes).map_err(|_| "not 32 bytes".to_owned())
            }
            other => unfit(&other),
        }
    }
}

macro_rules! integers {
    ($($type:ty),*) => { $(
        impl FromValue for $type {
            fn from_value(value: Value) -> Result<Self, String> {
                Self::try_from(i64::from_value(value)?).map_err(|error| error.to_string())
            }
        }
    )* };
}
integers!(u32, u64, usize);

impl FromValue for bool {
    fn from_value(value: Value) -> Result<Self, String> {
        i64::from_value(value).map(|number| number != 0)
    }
}

impl FromValue for Timestamp {
    fn from_value(value: Value) -> Result<Self, String> {
        from_micros(i64::from_value(value)?).ok_or_else(|| "an instant out of range".to_owned())
    }
}

impl FromValue for Date {
    fn from_value(value: Value) -> Result<Self, String> {
        parse_date(&String::from_value(value)?)
    }
}

macro_rules! numbers {
    ($($type:ty),*) => { $(
        impl FromValue for $type {
            fn from_value(value: Value) -> Result<Self, String> {
                i64::from_value(value).map(Self)
            }
        }

        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::I64(value.0)
            }
        }
    )* };
}
numbers!(SessionId, PlanId, TaskId);

impl FromValue for serde_json::Value {
    fn from_value(value: Value) -> Result<Self, String> {
        serde_json::from_str(&String::from_value(value)?).map_err(|error| error.to_string())
    }
}

macro_rules! texts {
    ($($type:ty),*) => { $(
        impl FromValue for $type {
            fn from_value(value: Value) -> Result<Self, String> {
                String::from_value(value).map(Self::from)
            }
        }

        impl From<&$type> for Value {
            fn from(value: &$type) -> Self {
                Self::Text(value.as_str().to_owned())
            }
        }
    )* };
}
texts!(JobId, AgentName, Symbol, ChatId);

macro_rules! words {
    ($($type:ty),*) => { $(
        impl FromValue for $type {
            fn from_value(value: Value) -> Result<Self, String> {
                String::from_value(value)?.parse()
            }
        }

        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::Text(value.as_str().to_owned())
            }
        }
    )* };
}
words!(
    JobStatus,
    DayStatus,
    StepClass,
    OutcomeKind,
    ActionKind,
    ActionStatus,
    IdKind,
    Language,
    ChatRole,
    TaskStatus
);

macro_rules! amounts {
    ($($type:ty),*) => { $(
        impl FromValue for $type {
            fn from_value(value: Value) -> Result<Self, String> {
                Decimal::from_value(value).map(Self)
            }
        }

        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::Decimal(value.0)
            }
        }
    )* };
}
amounts!(Money, Price, Quantity);

impl FromValue for StepPath {
    fn from_value(value: Value) -> Result<Self, String> {
        String::from_value(value).map(Self::new)
    }
}

impl From<&StepPath> for Value {
    fn from(value: &StepPath) -> Self {
        Self::Text(value.as_str().to_owned())
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::I64(value)
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::I64(value.into())
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::I64(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        Self::I64(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::I64(value.into())
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<&String> for Value {
    fn from(value: &String) -> Self {
        Self::Text(value.clone())
    }
}

impl From<Decimal> for Value {
    fn from(value: Decimal) -> Self {
        Self::Decimal(value)
    }
}

impl From<ContentHash> for Value {
    fn from(value: ContentHash) -> Self {
        Self::Blob(value.as_bytes().to_vec())
    }
}

impl From<&SessionId> for Value {
    fn from(value: &SessionId) -> Self {
        Self::I64(value.0)
    }
}

impl From<Timestamp> for Value {
    fn from(value: Timestamp) -> Self {
        Self::I64(to_micros(value))
    }
}

impl From<Date> for Value {
    fn from(value: Date) -> Self {
        Self::Text(value.to_string())
    }
}

impl From<&serde_json::Value> for Value {
    fn from(value: &serde_json::Value) -> Self {
        Self::Text(json::canonical(value))
    }
}
