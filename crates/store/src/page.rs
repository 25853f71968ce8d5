//! Cursor pagination. A cursor holds the sort key of the last row returned, and keys never change: a row that
//! existed when the first page was read is returned exactly once, whatever is added meanwhile.

use crate::error::StoreError;
pub(crate) use papertape_core::page::{Page, PageRequest};
use serde_json::Value;

/// A list's name, default page size and limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    pub(crate) name: &'static str,
    pub(crate) default: u32,
    pub(crate) max_limit: u32,
}

impl List {
    /// The page size.
    pub(crate) fn limit(self, request: &PageRequest) -> usize {
        let limit = if request.limit == 0 { self.default } else { request.limit.min(self.max_limit) };
        limit as usize
    }

    /// The last row's key, if the request has a cursor.
    pub(crate) fn key<const N: usize>(self, request: &PageRequest) -> Result<Option<[Value; N]>, StoreError> {
        let Some(cursor) = &request.cursor else {
            return Ok(None);
        };
        let read = || {
            let bytes = from_hex(cursor)?;
            let Value::Array(mut key) = serde_json::from_slice(&bytes).ok()? else {
                return None;
            };
            (!key.is_empty() && key.remove(0) == self.name).then(|| key.try_into().ok())?
        };
        read().map(Some).ok_or(StoreError::BadCursor)
    }

    /// A page of rows, given one row more than the limit.
    pub(crate) fn page<T>(
        self,
        request: &PageRequest,
        mut items: Vec<T>,
        key: impl Fn(&T) -> Vec<Value>,
    ) -> Page<T> {
        let limit = self.limit(request);
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(|last| {
            let mut whole = vec![Value::from(self.name)];
            whole.extend(key(last));
            to_hex(Value::Array(whole).to_string().as_bytes())
        });
        Page { items, next }
    }
}

/// A number from a cursor.
pub(crate) fn number(value: &Value) -> Result<i64, StoreError> {
    value.as_i64().ok_or(StoreError::BadCursor)
}

/// A string from a cursor.
pub(crate) fn word(value: &Value) -> Result<String, StoreError> {
    value.as_str().map(str::to_owned).ok_or(StoreError::BadCursor)
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .chars()
        .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()?;
    digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(|pair| pair[0] * 16 + pair[1]).collect())
}
