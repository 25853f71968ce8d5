//! How lists of jobs are sorted and filtered.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What jobs are sorted by; equal ones by ID.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobSort {
    /// When they were requested.
    #[default]
    Created,
    /// Their names, without regard to case; jobs without a name come last.
    Name,
    /// Their statuses, alphabetically.
    Status,
    /// Their datasets' names.
    Dataset,
    /// Their agents' models.
    Model,
    /// Their first trading days.
    StartDate,
    /// Their numbers of failed and degraded model-days.
    Quality,
}

crate::words!(JobSort, "sort key" {
    Created = "created", Name = "name", Status = "status", Dataset = "dataset", Model = "model",
    StartDate = "start_date", Quality = "quality",
});

/// The order of a list of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobOrder {
    /// What it sorts by.
    pub sort: JobSort,
    /// Whether the largest comes first.
    pub descending: bool,
}

impl Default for JobOrder {
    /// Newest first.
    fn default() -> Self {
        Self { sort: JobSort::Created, descending: true }
    }
}

impl FromStr for JobOrder {
    type Err = String;

    /// A sort key, with `-` in front for descending order.
    fn from_str(text: &str) -> Result<Self, String> {
        let (key, descending) = text.strip_prefix('-').map_or((text, false), |key| (key, true));
        Ok(Self { sort: key.parse()?, descending })
    }
}

impl fmt::Display for JobOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.descending { "-" } else { "" }, self.sort)
    }
}

/// The research quality of a job as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListQuality {
    /// No model-day failed or is degraded.
    Ok,
    /// Some did or are.
    Degraded,
}

crate::words!(ListQuality, "quality" { Ok = "ok", Degraded = "degraded" });
