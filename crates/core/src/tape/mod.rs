//! The tape: what a session did to the outside, in a form that it can be run on again.
//!
//! A session is a plain async function of its config, its start state, a market view and a
//! [`Ctx`]. Every effect goes through the `Ctx`, which looks on the [`Tape`] first: what stands
//! there with an equal [digest](Step) is returned, what differs is a [`Divergence`], what is absent is
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
