//! Why a session ends before its end. A stop is no outcome: it records nothing, is passed up, and is
//! never a degradation.

use super::StepPath;
use crate::json::Difference;
use std::fmt;

/// A session must end here; it can be resumed, unless the tape itself is at fault.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Stop {
    /// Somebody cancelled the job.
    #[error("the job was cancelled")]
    Cancelled,
    /// The process is going down.
    #[error("the process is shutting down")]
    Shutdown,
    /// Another worker has the job.
    #[error("the job's lease was lost")]
    LostLease,
    /// A budget would be overdrawn by the next call.
    #[error("budget exhausted: {0}")]
    Budget(String),
    /// The record failed: nothing can be done that cannot be kept.
    #[error("the record failed: {0}")]
    Record(String),
    /// A step is not what the tape has at its path.
    #[error("{0}")]
    Diverged(Box<Divergence>),
    /// A replay needs a step that the tape does not have.
    #[error("missing step {0}: the tape ends before it")]
    Missing(StepPath),
    /// The session ended and left steps of the tape unread.
    #[error("{} step(s) of the tape were not asked for, the first is {}", .0.len(), .0[0])]
    Unread(Vec<StepPath>),
    /// The program broke a rule of the tape.
    #[error("the session broke a rule of the tape: {0}")]
    Misuse(String),
}

impl Stop {
    /// Is it the tape that does not fit, so that trying again cannot help?
    #[must_use]
    pub const fn is_fault(&self) -> bool {
        matches!(self, Self::Diverged(_) | Self::Missing(_) | Self::Unread(_) | Self::Misuse(_))
    }
}

/// A step of a re-run that is not the recorded one.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// Which step.
    pub path: StepPath,
    /// `request` or `outcome`.
    pub part: &'static str,
    /// The first place where they differ (left: on the tape, right: now); `None` where the tape's
    /// side can no longer be read.
    pub difference: Option<Difference>,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {} differs from the tape in its {}", self.path, self.part)?;
        let Some(difference) = &self.difference else {
            return Ok(());
        };
        let side = |value: &Option<serde_json::Value>| {
            value.as_ref().map_or_else(|| "nothing".to_owned(), |value| shorten(&value.to_string()))
        };
        write!(
            f,
            " at {}: the tape has {}, now it is {}",
            if difference.pointer.is_empty() { "/" } else { &difference.pointer },
            side(&difference.left),
            side(&difference.right)
        )
    }
}

/// For a line of text; the whole stands in the values themselves.
fn shorten(text: &str) -> String {
    const LIMIT: usize = 200;
    match text.char_indices().nth(LIMIT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
