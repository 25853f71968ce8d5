//! The result of verifying a bundle.

use super::document::{About, TapeForm};
use papertape_core::id::ContentHash;
use serde::{Deserialize, Serialize};

/// The result of verifying a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleReport {
    /// Whether no part failed.
    pub whole: bool,
    /// The hash of the bundle; `null` if bytes of it were modified.
    pub bundle: Option<ContentHash>,
    /// The version of the program that wrote it.
    pub program_version: Option<String>,
    /// What it is about.
    pub about: Option<About>,
    /// How much of the tape it contains.
    pub tape: Option<TapeForm>,
    /// Its jobs with their heads.
    pub jobs: Vec<ReportedJob>,
    /// Every part, the manifest first.
    pub parts: Vec<PartReport>,
    /// The limitations that its manifest states.
    pub limitations: Vec<String>,
    /// What a verification of a bundle cannot show.
    pub not_verified: Vec<String>,
}

/// A job of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedJob {
    /// Its ID.
    pub job_id: String,
    /// The hash of its head.
    pub head: ContentHash,
    /// Its links: all, and those of them that are stated by their hash. `null` without a tape.
    pub links: Option<(u64, u64)>,
}

/// The result of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartReport {
    /// Its name.
    pub name: String,
    /// Whether it passed.
    pub ok: bool,
    /// How far it was checked, if it passed.
    pub check: PartCheck,
    /// Why it failed.
    pub reasons: Vec<String>,
}

/// How far a part is checked, beyond its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartCheck {
    /// What it states is computed again from other parts.
    Recomputed,
    /// What it has in common with other parts is compared.
    Compared,
    /// It is a statement of the program that wrote it.
    Stated,
    /// Only its bytes are checked, because bytes elsewhere in the file were modified.
    Hashed,
}

papertape_core::words!(PartCheck {
    Recomputed = "recomputed", Compared = "compared", Stated = "stated", Hashed = "hashed",
});

impl PartCheck {
    /// Of the part with this name.
    pub(super) fn of(name: &str) -> Self {
        match name.rsplit('/').next().unwrap_or(name) {
            "audit.json" => Self::Stated,
            "job.json" | "datasets.json" | "comparison-input.json" => Self::Compared,
            _ => Self::Recomputed,
        }
    }
}

/// What a verification of any bundle cannot show.
pub(super) const NOT_VERIFIED: [&str; 6] = [
    "prices, dividends and splits: that they are those of the dataset, and that the dataset is right",
    "fees, slippage and fill prices by the market's rules, and the values of days on which a price is not in the books",
    "baselines, the benchmark, the orders refilled at the next open, model cost, and other configurations that were tried: they are stated",
    "the audit: that it was run, and over which data",
    "that a model gave the recorded responses, and what it knew",
    "that the whole bundle was not made up: compare its heads with heads that were published when the jobs ran",
];
