//! Anthropic's Messages API.

mod models;
mod read;
mod types;
mod write;

pub use read::Stream;
pub use types::{
    Block, Content, Delta, Event, Format, KnownBlock, Message, OutputConfig, Request, RequestBlock, Response,
    Thinking, Tool, ToolChoice, Usage,
};

pub(super) use read::read_whole;
pub(super) use write::write;

/// The version of the protocol, sent as a header.
pub const VERSION: &str = "2023-06-01";
