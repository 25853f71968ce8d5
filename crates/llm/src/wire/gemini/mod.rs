//! Gemini's `generateContent`.

mod embed;
mod read;
mod types;
mod write;

pub(super) use embed::{embedding_request, read_embeddings};
pub(super) use read::{Stream, read_whole};
pub(super) use write::{path, write};

/// The ID of a call that came without one: derived from the call's name, and not sent back.
fn generated_id(name: &str, at: usize) -> String {
    format!("call#{name}#{at}")
}

/// The ID if the provider issued it; `None` for one made by `generated_id`.
fn own_id(id: &str) -> Option<&str> {
    let is_placeholder = id
        .strip_prefix("call#")
        .and_then(|rest| rest.rsplit_once('#'))
        .is_some_and(|(name, at)| !name.is_empty() && at.parse::<usize>().is_ok());
    (!id.is_empty() && !is_placeholder).then_some(id)
}
