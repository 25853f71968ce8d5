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
    /// A name that cannot be a dataset's. Whoever named it must act.
    #[error("`{}` cannot be a dataset's name: letters, digits, `.`, `_` and `-` can, 64 at the most", name.escape_default())]
    Name {
        /// The name as given.
        name: String,
    },
    /// It is part of the program, and cannot be removed.
    #[error("`{name}` is part of the program")]
    Fixed {
        /// Its name.
        name: String,
    },
    /// The catalogue has no directory to keep datasets in.
    #[error("this catalogue keeps no datasets")]
    NoDirectory,
    /// A file is not the one that was written. Whoever keeps the files must act: import it again.
    #[error("{file}: {reason}")]
    Damaged {
        /// The file, or the dataset.
        file: String,
        /// How it shows.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{file}: {error}")]
    Io {
        /// The file.
        file: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// A value cannot be written in the form asked for.
    #[error("{0}")]
    Export(String),
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
