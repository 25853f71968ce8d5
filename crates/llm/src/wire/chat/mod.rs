//! Chat completions: `OpenAI`'s protocol, used by most providers and servers.

mod embed;
mod read;
mod types;
mod write;

pub(super) use embed::{embedding_request, read_embeddings};
pub(super) use read::{Stream, read_whole};
pub(super) use write::write;
