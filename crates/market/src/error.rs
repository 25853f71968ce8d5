//! Why a dataset is unavailable.

use papertape_core::market::BuildError;

/// Why a dataset is unavailable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MarketError {
    /// No dataset has this name, or a hash that starts with it. The caller must change the name.
    #[error("no dataset is called `{name_or_hash}`, nor has a hash that begins so")]
    NotFound {
        /// The name or hash prefix, as given.
        name_or_hash: String,
    },
    /// Several datasets' hashes start with this. The caller must give more digits.
    #[error("`{name_or_hash}` is the beginning of several hashes: {}", matches.join(", "))]
    Ambiguous {
        /// The prefix as given.
        name_or_hash: String,
        /// The names of the matches.
        matches: Vec<String>,
    },
    /// Another dataset already has this name.
    #[error("a different dataset named `{name}` already exists")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// An invalid dataset name. The caller must change it.
    #[error("invalid dataset name `{}`; use up to 64 letters, digits, `.`, `_` and `-`", name.escape_default())]
    Name {
        /// The name as given.
        name: String,
    },
    /// The dataset is part of the program and cannot be removed.
    #[error("`{name}` is built in")]
    Fixed {
        /// Its name.
        name: String,
    },
    /// The catalogue has no directory to store datasets in.
    #[error("this catalogue stores no datasets")]
    NoDirectory,
    /// A file differs from what was written. The owner of the files must act: import it again.
    #[error("{file}: {reason}")]
    Damaged {
        /// The file, or the dataset.
        file: String,
        /// How the damage shows.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{file}: {error}")]
    Io {
        /// The file.
        file: String,
        /// The operating system's error.
        error: std::io::Error,
    },
    /// The dataset cannot be masked.
    #[error("cannot mask the dataset: {0}")]
    Mask(String),
    /// A value cannot be written in the requested format.
    #[error("{0}")]
    Export(String),
    /// A line of a file is unreadable. The supplier of the file must act.
    #[error("{file}, line {line}: {reason}")]
    Line {
        /// The file.
        file: String,
        /// Its line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The rows are readable, but one of them is impossible.
    #[error(transparent)]
    Row(#[from] BuildError),
}
