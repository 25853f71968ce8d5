//! Anthropic's Messages API.

mod models;
mod read;
mod types;
mod write;

pub(super) use read::{Stream, read_whole};
pub(super) use write::write;

/// The version of the protocol, sent as a header.
pub(crate) const VERSION: &str = "2023-06-01";
