//! The tape: the recorded effects of a session, on which the session can run again.
//!
//! A session is a plain async function of its config, its start state, a market view and a [`Ctx`]. Every
//! effect goes through the `Ctx`, which first looks it up on the [`Tape`]: a step with an equal
//! [digest](Step) returns its recorded outcome, a different one is a [`Divergence`], and an absent one is
//! performed by the [`Host`] and committed before its result is used.

mod action;
mod chain;
mod ctx;
mod door;
mod external_step;
mod guard;
mod host;
mod redacted_requests;
mod session;
mod stop;
#[expect(clippy::module_inception, reason = "the tape itself is the heart of the tape")]
mod tape;
mod turn;

pub use crate::content::{ContentDoc, MissingBlob, inline, linked_documents, references, text};
pub use crate::step::{OutcomeKind, ScopeKey, Step, StepClass, StepPath, StepState};
pub use action::{ActionBlock, ActionOutcome, ActionRequest};
pub use chain::{RequestChain, expand_request};
pub use ctx::{Ctx, LocalStep, TranscriptMessage};
pub use door::{DoorEnd, ModelDoor};
pub use guard::{Branch, GuardOutcome, GuardedBranch, NodeFailure};
pub use host::{ActionOptions, ActionReply, CallOptions, CallOutcome, CallOutcomeWithWrites, Host};
pub use session::{SessionRun, ToolInvocation};
pub use stop::{Divergence, SessionStop, excerpts};
pub use tape::Tape;
