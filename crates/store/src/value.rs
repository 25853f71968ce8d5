//! Parameters and columns, the same on both databases.

use crate::error::{Result, StoreError};
use papertape_core::action::{ActionKind, ActionStatus, IdKind};
use papertape_core::chat::{ChatId, ChatRole};
use papertape_core::id::{AgentName, ContentHash, ExperimentId, JobId, Symbol};
use papertape_core::json;
use papertape_core::language::Language;
use papertape_core::ledger::Direction;
use papertape_core::message::Role;
use papertape_core::money::{Money, Price, Quantity};
use papertape_core::plan::{PlanId, TaskId, TaskStatus};
use papertape_core::record::{
    Assessment, ContextState, DayStatus, JobKind, JobStatus, MemoryKind, SessionId, SummarySource,
};
use papertape_core::tape::{OutcomeKind, StepClass, StepPath};
use papertape_core::time::{Date, Timestamp, from_micros, parse_date, to_micros};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::sync::Arc;

/// One parameter or column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    I64(i64),
    Text(Cow<'static, str>),
    /// A long text that is bound without a copy.
    SharedText(Arc<String>),
    Blob(Vec<u8>),
    Hash(ContentHash),
    Decimal(Decimal),
    /// Only as a parameter on PostgreSQL.
    Array(Array),
}

/// An array parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Array {
    Hashes(Vec<ContentHash>),
    Texts(Vec<Arc<String>>),
    Numbers(Vec<i64>),
}

/// Parameters `$1`, `$2`, … of a statement.
macro_rules! params {
    ($($value:expr),* $(,)?) => { &[$($crate::value::Value::from($value)),*] };
}
pub(crate) use params;

/// The columns of a row to insert. A column without a value takes the variable of its name.
macro_rules! columns {
    ($($column:ident $(: $value:expr)?),* $(,)?) => {
        [$((stringify!($column), $crate::value::Value::from($crate::value::columns!(@ $column $($value)?)))),*]
    };
    (@ $column:ident) => { $column };
    (@ $column:ident $value:expr) => { $value };
}
pub(crate) use columns;

/// A struct whose fields are the row's next columns, in this order; `name: expression` reads one in another way.
/// With `impl`, this is how the type is read.
macro_rules! from_row {
    (impl $row:ident => $type:ident { $($fields:tt)* }) => {
        impl $crate::value::FromRow for $type {
            fn from_row($row: &mut $crate::value::Row) -> Result<Self, $crate::error::StoreError> {
                Ok($crate::value::from_row!($row => $type { $($fields)* }))
            }
        }
    };
    ($row:ident => $type:ident { $($field:ident $(: $value:expr)?),* $(,)? }) => {
        $type { $($field: $crate::value::from_row!(@ $row $($value)?)),* }
    };
    (@ $row:ident) => { $row.get()? };
    (@ $row:ident $value:expr) => { $value };
}
pub(crate) use from_row;

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
    /// Reads the next column, or the next columns.
    pub(crate) fn get<T: FromRow>(&mut self) -> Result<T> {
        T::from_row(self)
    }

    /// Reads a column of JSON. NULL is read as `null`.
    pub(crate) fn document<T: DeserializeOwned>(&mut self) -> Result<T> {
        let text: Option<String> = self.get()?;
        serde_json::from_str(text.as_deref().unwrap_or("null"))
            .map_err(|error| self.unreadable(&error.to_string()))
    }

    fn column<T: FromValue>(&mut self) -> Result<T> {
        self.column += 1;
        let value = self
            .values
            .next()
            .ok_or_else(|| StoreError::inconsistent(format!("a row has no column {}", self.column)))?;
        T::from_value(value).map_err(|why| self.unreadable(&why))
    }

    fn unreadable(&self, why: &str) -> StoreError {
        StoreError::inconsistent(format!("column {} of a row cannot be read: {why}", self.column))
    }
}

/// Something read from the next columns of a row.
pub(crate) trait FromRow: Sized {
    fn from_row(row: &mut Row) -> Result<Self>;
}

impl<T: FromValue> FromRow for T {
    fn from_row(row: &mut Row) -> Result<Self> {
        row.column()
    }
}

macro_rules! tuples {
    ($(($($part:ident),*))*) => { $(
        impl<$($part: FromRow),*> FromRow for ($($part,)*) {
            fn from_row(row: &mut Row) -> Result<Self> {
                Ok(($($part::from_row(row)?,)*))
            }
        }
    )* };
}
tuples! { (A, B) (A, B, C) (A, B, C, D) }

/// Something read from one column.
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
            Value::Text(text) => Ok(text.into_owned()),
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
            Value::Hash(hash) => Ok(hash),
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
integers!(i32, u32, u64, usize);

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

macro_rules! texts {
    ($($type:ty),*) => { $(
        impl FromValue for $type {
            fn from_value(value: Value) -> Result<Self, String> {
                String::from_value(value).map(Self::from)
            }
        }

        impl From<&$type> for Value {
            fn from(value: &$type) -> Self {
                Self::Text(value.as_str().to_owned().into())
            }
        }
    )* };
}
texts!(JobId, ExperimentId, JobKind, AgentName, Symbol, ChatId);

macro_rules! words {
    ($($type:ty),*) => { $(
        impl FromValue for $type {
            fn from_value(value: Value) -> Result<Self, String> {
                String::from_value(value)?.parse()
            }
        }

        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::Text(value.as_str().into())
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
    TaskStatus,
    SummarySource,
    ContextState,
    Assessment,
    MemoryKind,
    Role,
    Direction
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

macro_rules! read_as {
    ($($value:ident: $stored:ty => $type:ty: $read:expr;)*) => { $(
        impl FromValue for $type {
            fn from_value(value: Value) -> Result<Self, String> {
                let $value = <$stored>::from_value(value)?;
                $read
            }
        }
    )* };
}
read_as! {
    number: i64 => bool: Ok(number != 0);
    micros: i64 => Timestamp: from_micros(micros).ok_or_else(|| "an instant out of range".to_owned());
    text: String => Date: parse_date(&text);
    text: String => StepPath: Ok(Self::new(text));
    text: String => serde_json::Value: serde_json::from_str(&text).map_err(|error| error.to_string());
}

macro_rules! into_value {
    ($($value:ident: $type:ty => $variant:expr;)*) => { $(
        impl From<$type> for Value {
            fn from($value: $type) -> Self {
                $variant
            }
        }
    )* };
}
into_value! {
    number: i64 => Self::I64(number);
    number: u32 => Self::I64(number.into());
    number: u64 => Self::I64(i64::try_from(number).unwrap_or(i64::MAX));
    number: usize => Self::I64(i64::try_from(number).unwrap_or(i64::MAX));
    flag: bool => Self::I64(flag.into());
    text: &str => Self::Text(text.to_owned().into());
    text: String => Self::Text(text.into());
    text: &String => Self::Text(text.clone().into());
    text: &Arc<String> => Self::SharedText(Arc::clone(text));
    array: Array => Self::Array(array);
    path: &StepPath => Self::Text(path.as_str().to_owned().into());
    bytes: &Vec<u8> => Self::Blob(bytes.clone());
    number: Decimal => Self::Decimal(number);
    hash: ContentHash => Self::Hash(hash);
    id: &SessionId => Self::I64(id.0);
    at: Timestamp => Self::I64(to_micros(at));
    date: Date => Self::Text(date.to_string().into());
    document: &serde_json::Value => Self::Text(json::canonical(document).into());
}
