//! A branch compared with its parent.

use super::pair::DifferenceResponse;
use crate::number::Number;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The first difference between a branch and its parent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BranchComparison {
    /// The parent job.
    pub parent: String,
    /// The branch.
    pub branch: String,
    /// The agent.
    pub agent: String,
    /// The day of the cut.
    pub date: Date,
    /// The node or step at which the cut is.
    pub at: String,
    /// The first step that differs; `null`: none does.
    pub first_difference: Option<StepDifference>,
    /// Days on which the orders differ, oldest first, at most 60.
    pub decisions: Vec<DecisionDifference>,
    /// The number of days on which the orders differ.
    pub different_days: usize,
    /// Number of days from the cut on that both closed.
    pub days: usize,
    /// The branch minus its parent, from the day of the cut on; `null` without a shared day.
    pub difference: Option<DifferenceResponse>,
}

/// The first step that differs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StepDifference {
    /// The day.
    pub date: Date,
    /// The step's path, such as `solo#1/model#2`.
    pub path: String,
    /// `request`, `response`, or `missing` if only one of the two has the step.
    pub differs: String,
    /// A unified diff of the texts, the parent's lines with `-`, at most 200 lines.
    pub diff: Vec<String>,
    /// Whether the diff is truncated.
    pub is_truncated: bool,
}

/// The orders of both on one day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DecisionDifference {
    /// The day.
    pub date: Date,
    /// The parent's fills and rejected orders.
    pub parent: Vec<String>,
    /// The branch's fills and rejected orders.
    pub branch: Vec<String>,
    /// The branch's portfolio value minus the parent's, at the close.
    pub value_difference: Number,
}
