//! Model providers behind core's port [`ModelClient`](papertape_core::ports::ModelClient).
//!
//! This is the only crate that knows the providers' protocols. It must never know the tape, the record, the
//! market or the rules of the house models: it turns one request into one response or failure. The caller
//! retries and records each attempt.
//!
//! Error text from a provider never leaves this crate: it may contain payloads, and URLs may contain keys.
//! The message of a failure is ours, with at most the status and the provider's error code.

pub mod bounds;
mod config;
mod cutoffs;
mod failure;
mod gateway;
mod http;
mod keys;
mod prices;
mod provider;
mod provider_state;
mod reply;
pub mod wire;

pub use config::{ConfigError, CutoffConfig, ModelsConfig, ProviderConfig, ProviderKind};
pub use cutoffs::{Cutoff, Cutoffs};
pub use gateway::Gateway;
pub use http::{Unread, body as read_body};
pub use keys::{ApiKey, find as find_key};
pub use prices::{Price, Prices};
pub use reply::{RawReply, Stop};
pub use wire::listing::ModelList;
