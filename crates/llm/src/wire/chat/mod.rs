//! Chat completions: `OpenAI`'s protocol, used by most providers and servers.

mod embed;
mod read;
mod types;
mod write;

pub use embed::{EmbeddingRequest, EmbeddingResponse};
pub use read::Stream;
pub use types::{
    Call, CallFunction, Choice, Content, ContentPart, JsonSchema, Message, Reply, ReplyCall, ReplyFunction,
    Request, Response, ResponseFormat, StreamOptions, Thinking, Tokens, Tool, ToolFunction, Usage,
};

pub(super) use embed::read_embeddings;
pub(super) use read::read_whole;
pub(super) use write::write;
