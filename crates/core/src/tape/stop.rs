//! Why a session stops early. A stop is not an outcome: it records nothing, is passed up, and is never a
//! degradation.

use super::StepPath;
use crate::json::Difference;
use crate::message::{CallFailure, ModelName};
use serde_json::Value;
use std::fmt;

/// The session must stop; it can be resumed, unless the tape itself is at fault.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SessionStop {
    /// The job was canceled.
    #[error("the job was cancelled")]
    Cancelled,
    /// The process is shutting down.
    #[error("the process is shutting down")]
    Shutdown,
    /// Another worker now holds the job.
    #[error("the job's lease was lost")]
    LostLease,
    /// The next call would exceed a budget.
    #[error("budget exhausted: {0}")]
    Budget(String),
    /// The provider denies every call of this model. The step stays open, and a resumed session sends it
    /// again once the key, the account or the model's name is fixed.
    #[error("model {model}: {}", .failure.message)]
    Denied {
        /// The model that was called.
        model: ModelName,
        /// The failure, with the provider's status and code.
        failure: CallFailure,
    },
    /// Writing the record failed, so nothing more can be done.
    #[error("the record failed: {0}")]
    Record(String),
    /// A write was rejected by a rule; nothing of its transaction was stored.
    #[error("refused: {0}")]
    Refused(String),
    /// A step differs from the tape's step at its path.
    #[error("{0}")]
    Diverged(Box<Divergence>),
    /// A replay needs a step that is missing from the tape.
    #[error("missing step {0}: the tape ends before it")]
    Missing(StepPath),
    /// The session ended without using these steps of the tape.
    #[error("{} step(s) of the tape were not asked for, the first is {}", .0.len(), .0[0])]
    UnconsumedSteps(Vec<StepPath>),
    /// The program violated the tape's contract.
    #[error("the session broke a rule of the tape: {0}")]
    ContractViolation(String),
}

/// A step of a re-run that differs from the recorded one.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// The step's path.
    pub path: StepPath,
    /// `request` or `outcome`.
    pub part: &'static str,
    /// The first difference (left: the tape, right: this run); `None` when the tape's side can no longer be
    /// read.
    pub difference: Option<Difference>,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {} differs from the tape in its {}", self.path, self.part)?;
        let Some(difference) = &self.difference else {
            return Ok(());
        };
        let pointer = if difference.pointer.is_empty() { "/" } else { &difference.pointer };
        let (left, right) = excerpts(difference);
        write!(f, " at {pointer}: the tape has {left}, now it is {right}")
    }
}

/// Both values of a difference as JSON, shortened to the neighborhood of the first differing character.
#[must_use]
pub fn excerpts(difference: &Difference) -> (String, String) {
    match (&difference.left, &difference.right) {
        (Some(Value::String(left)), Some(Value::String(right))) => neighbourhood(left, right),
        (left, right) => (side(left.as_ref()), side(right.as_ref())),
    }
}

/// Maximum characters of a value in a message; the values themselves are complete.
const SHOWN_CHARS: usize = 200;
/// Maximum characters shown before the first differing one.
const BEFORE_CHARS: usize = 60;

fn side(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_owned(), |value| cut(&value.to_string(), 0))
}

/// Two texts around their first differing character, as JSON strings. Short texts are shown in full.
fn neighbourhood(left: &str, right: &str) -> (String, String) {
    let is_short = |text: &str| text.chars().nth(SHOWN_CHARS).is_none();
    let from = if is_short(left) && is_short(right) {
        0
    } else {
        let same = left.chars().zip(right.chars()).take_while(|(a, b)| a == b).count();
        same.saturating_sub(BEFORE_CHARS)
    };
    let quoted = |text: &str| Value::from(cut(text, from)).to_string();
    match from {
        0 => (quoted(left), quoted(right)),
        from => (format!("{} from character {from} on", quoted(left)), quoted(right)),
    }
}

/// A bounded number of characters starting at `from`, with marks where text is left out.
fn cut(text: &str, from: usize) -> String {
    let at = |n: usize| text.char_indices().nth(n).map(|(at, _)| at);
    let start = at(from).unwrap_or(text.len());
    let end = at(from + SHOWN_CHARS);
    let before = if from > 0 { "…" } else { "" };
    let after = if end.is_some() { "…" } else { "" };
    format!("{before}{}{after}", &text[start..end.unwrap_or(text.len())])
}
