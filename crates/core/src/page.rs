//! Pages of a list.

use serde::Serialize;

/// Which part of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageRequest {
    /// How many rows at most; 0 is the list's own default, and no page is longer than its bound.
    pub limit: u32,
    /// [`Page::next`] of the page before; `None`: from the beginning.
    pub cursor: Option<String>,
}

impl PageRequest {
    /// The first so many rows.
    #[must_use]
    pub const fn first(limit: u32) -> Self {
        Self { limit, cursor: None }
    }

    /// The page that follows another.
    #[must_use]
    pub fn after(limit: u32, cursor: &str) -> Self {
        Self { limit, cursor: Some(cursor.to_owned()) }
    }
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Page<T> {
    /// The rows.
    pub items: Vec<T>,
    /// Where the next page begins; `None`: this is the last.
    pub next: Option<String>,
}
