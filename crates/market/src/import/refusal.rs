//! Rejected rows.

use serde::Serialize;

/// A rejected row, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RowRejection {
    /// The file's name, as given.
    pub file: String,
    /// Its line, from 1; in a columnar file (Parquet) its row, from 1.
    pub line: u64,
    /// The path within the line, if it is JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What is wrong with it.
    pub reason: String,
    /// The row as in the file.
    pub raw: String,
}

impl RowRejection {
    /// Its location, as text.
    #[must_use]
    pub fn at(&self) -> String {
        let path = self.path.as_ref().map(|path| format!(", {path}")).unwrap_or_default();
        format!("{}, line {}{path}", self.file, self.line)
    }
}

impl std::fmt::Display for RowRejection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.at(), self.reason)
    }
}
