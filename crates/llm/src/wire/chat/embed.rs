//! Embeddings.

use crate::wire::bounds;
use crate::wire::{WireError, parse, reported};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The body of a request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EmbeddingRequest<'a> {
    /// The texts.
    pub input: Cow<'a, [String]>,
    /// The model.
    pub model: Cow<'a, str>,
}

/// A response.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EmbeddingResponse {
    #[serde(deserialize_with = "bounds::entries")]
    data: Vec<Embedding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Box<RawValue>>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Embedding {
    embedding: Vec<f32>,
    index: usize,
}

/// The embeddings in the order of their texts; fewer if indices have gaps.
pub(in crate::wire) fn read_embeddings(body: &[u8]) -> Result<Vec<Vec<f32>>, WireError> {
    let mut response: EmbeddingResponse = parse(body)?;
    if let Some(error) = response.error.filter(|_| response.data.is_empty()) {
        return Err(reported(&error));
    }
    response.data.sort_by_key(|embedding| embedding.index);
    let in_place = response.data.into_iter().enumerate().take_while(|(at, embedding)| embedding.index == *at);
    Ok(in_place.map(|(_, embedding)| embedding.embedding).collect())
}
