//! The tape: the recorded effects of a session, on which the session can run again.
//!
//! A session is a plain async function of its config, its start state, a market view and a [`Ctx`]. Every
//! effect goes through the `Ctx`, which first looks it up on the [`Tape`]: a step with an equal
//! [digest](Step) returns its recorded outcome, a different one is a [`Divergence`], and an absent one is
//! performed by the [`Host`] and committed before its result is used.

mod act;
mod ask;
mod chain;
mod ctx;
mod doc;
mod guard;
mod host;
mod path;
mod step;
mod stop;
#[expect(clippy::module_inception, reason = "the tape itself is the heart of the tape")]
mod tape;

pub use act::{Acted, ActionAsk, ActionHold, ActionOptions, ActionReply};
pub use chain::{Chain, expand_request};
pub use ctx::{Ctx, Entry, Session, Shown, ToolNote};
pub use doc::{Doc, Missing, expand, references, text};
pub use guard::{Branch, GuardedBranch, NodeFailure, Verdict};
pub use host::{CallOptions, Called, Host, Performed};
pub use path::{Key, StepPath};
pub use step::{Class, OutcomeKind, State, Step};
pub use stop::{Divergence, Stop};
pub use tape::Tape;
