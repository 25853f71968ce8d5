//! Model providers and the house models behind core's port [`Models`].
//!
//! This is the only crate that knows how a provider spells a conversation. It must never know the
//! tape, the record or the market: it gets a request and gives an answer or a failure, once. Retries
//! belong to the caller, who records them; [`backoff()`] says how long to wait before one.
//!
//! Nothing that a provider says in an error leaves this crate: its texts may repeat payloads, and
//! addresses may carry keys. A failure's sentence is ours, with the status and the provider's error
//! code at most.

mod backoff;
mod config;
mod failure;
mod gateway;
pub mod house;
mod http;
mod keys;
mod note;
mod prices;
mod provider;
mod reply;
pub mod wire;

pub use backoff::backoff;
pub use config::{ConfigError, ModelsConfig, ProviderConfig, ProviderKind};
pub use gateway::Gateway;
pub use http::{Unread, body as read_body};
pub use keys::{Key, find as find_key};
pub use papertape_core::ports::Models;
pub use prices::{Price, Prices};
pub use reply::{RawReply, Stop};
pub use wire::listing::ModelList;
