//! Why a dataset could not be had.

use papertape_core::market::BuildError;

/// Why a dataset could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MarketError {
    /// No dataset has this name, nor a hash that begins so. Whoever named it must act.
    #[error("no dataset is called `{wanted}`, nor has a hash that begins so")]
    NotFound {
        /// The name or beginning of a hash, as given.
        wanted: String,
    },
    /// Several datasets' hashes begin so. Whoever named it must give more digits.
    #[error("`{wanted}` is the beginning of several hashes: {}", matches.join(", "))]
    Ambiguous {
        /// The beginning as given.
        wanted: String,
        /// The names of those that match.
        matches: Vec<String>,
    },
    /// Another dataset has this name already.
    #[error("there is another dataset called `{name}`")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// A line of a file cannot be read. Whoever supplies the file must act.
    #[error("{file}, line {line}: {reason}")]
    Line {
        /// The file.
        file: String,
        /// Its line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The rows can be read, but one of them cannot be true.
    #[error(transparent)]
    Row(#[from] BuildError),
}
