//! Agents that other people wrote: the messages that they exchange with a session, and the doors through which they
//! reach it.
//!
//! Every request of such an agent, whichever door it comes through, is one *turn* of its session: a step whose request
//! is the reply to the turn before and whose outcome is the agent's next request. Turns are sequential. Calls to the
//! model endpoint are separate steps, see [`ModelDoorCall`].

mod agent;
mod body;
mod digest;
mod model_call;
mod turn;
mod wire;

pub use agent::{
    AgentDay, AgentDoor, DoorAddresses, ExternalAgentFacts, ExternalAgents, NoExternalAgents, RunningAgent,
    SessionEnding, not_configured,
};
pub use body::digest_body;
pub(crate) use digest::CONVERSATIONS;
pub use digest::{Normalize, call_digest, estimate};
pub use model_call::{
    DoorProtocol, ModelDoorCall, ModelDoorClient, ModelDoorReply, ModelDoorRequest, ModelDoorResponse,
};
pub use turn::{AgentReply, AgentRequest, AgentTurn, ErrorCode, Exchange, Nondeterminism, ReplyError, Turn};
pub use wire::{
    IncomingMessage, MAX_MESSAGE_BYTES, PROTOCOL, end_message, oversized_message, parse_message,
    reply_message,
};
