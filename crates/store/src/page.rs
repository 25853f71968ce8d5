//! Cursor pagination. A cursor holds the sort key of the last row returned, and keys never change: a row that
//! existed when the first page was read is returned exactly once, whatever is added meanwhile.

use crate::db::{Db, Statement};
use crate::error::{Result, StoreError};
use crate::value::{self, FromRow};
use papertape_core::json;
pub(crate) use papertape_core::page::{Page, PageRequest};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A list's name, default page size and limit, and the columns that order it and form its cursors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    name: &'static str,
    sizes: (u32, u32),
    order: &'static str,
    newest_first: bool,
}

impl List {
    /// A list in ascending order. `sizes` is the default page size and the limit.
    pub(crate) const fn ascending(name: &'static str, sizes: (u32, u32), order: &'static str) -> Self {
        Self { name, sizes, order, newest_first: false }
    }

    pub(crate) const fn descending(name: &'static str, sizes: (u32, u32), order: &'static str) -> Self {
        Self { name, sizes, order, newest_first: true }
    }

    /// The page size.
    pub(crate) fn limit(self, request: &PageRequest) -> usize {
        let (default, max_limit) = self.sizes;
        if request.limit == 0 { default as usize } else { request.limit.min(max_limit) as usize }
    }

    /// The page of a statement's rows. The statement must end in a condition.
    pub(crate) async fn fetch<T: FromRow, K: Serialize + DeserializeOwned>(
        self,
        db: &mut dyn Db,
        mut statement: Statement,
        request: &PageRequest,
        key: fn(&T) -> K,
    ) -> Result<Page<T>> {
        let (beyond, direction) = if self.newest_first { ("<", " DESC") } else { (">", "") };
        if let Some(last) = self.key::<K>(request)? {
            let values = columns(&last);
            let places = vec!["?"; values.len()].join(", ");
            statement.add(&format!(" AND ({}) {beyond} ({places})", self.order), values);
        }
        let order = format!("{}{direction}", self.order.replace(", ", &format!("{direction}, ")));
        statement.add(&format!(" ORDER BY {order} LIMIT ?"), [(self.limit(request) + 1).into()]);
        Ok(self.page(request, statement.all(db).await?, key))
    }

    /// The last row's key, if the request has a cursor.
    pub(crate) fn key<K: DeserializeOwned>(self, request: &PageRequest) -> Result<Option<K>> {
        let read = |cursor: &String| {
            let mut key: Vec<Value> = serde_json::from_slice(&from_hex(cursor)?).ok()?;
            (!key.is_empty() && key.remove(0) == self.name)
                .then(|| serde_json::from_value(key.into()).ok())?
        };
        request.cursor.as_ref().map(|cursor| read(cursor).ok_or(StoreError::BadCursor)).transpose()
    }

    /// A page of rows, given one row more than the limit.
    pub(crate) fn page<T, K: Serialize>(
        self,
        request: &PageRequest,
        mut items: Vec<T>,
        key: fn(&T) -> K,
    ) -> Page<T> {
        let limit = self.limit(request);
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(|last| {
            let mut whole = vec![Value::from(self.name)];
            whole.extend(parts(&key(last)));
            to_hex(Value::Array(whole).to_string().as_bytes())
        });
        Page { items, next }
    }
}

/// The parts of a key, which is a tuple.
fn parts(key: &impl Serialize) -> Vec<Value> {
    match json::to_value(key) {
        Value::Array(parts) => parts,
        part => vec![part],
    }
}

fn columns(key: &impl Serialize) -> Vec<value::Value> {
    let column = |part: Value| part.as_i64().map_or_else(|| part.as_str().into(), value::Value::I64);
    parts(key).into_iter().map(column).collect()
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
