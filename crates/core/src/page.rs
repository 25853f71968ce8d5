//! Pages of a list.

use serde::Serialize;

/// Which page of a list to return.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageRequest {
    /// Maximum rows; 0 means the list's default. Each list has its own upper limit.
    pub limit: u32,
    /// [`Page::next`] of the previous page; `None`: from the start.
    pub cursor: Option<String>,
}

impl PageRequest {
    /// The first `limit` rows.
    #[must_use]
    pub const fn first(limit: u32) -> Self {
        Self { limit, cursor: None }
    }

    /// The page after `cursor`.
    #[must_use]
    pub fn after(limit: u32, cursor: &str) -> Self {
        Self { limit, cursor: Some(cursor.to_owned()) }
    }
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Page<T> {
    /// The rows.
    pub items: Vec<T>,
    /// Cursor of the next page; `None` on the last.
    pub next: Option<String>,
}
