//! An agent's days in one job: what a report is made of.

use papertape_protocol::results::range::RangeResult;

/// An agent's days in one job.
pub(super) struct Run {
    /// Its window, from 1.
    pub(super) window: u32,
    /// Its trial, from 1.
    pub(super) trial: u32,
    pub(super) result: RangeResult,
}
