//! Embeddings.

use crate::bounds;
use crate::wire::{WireError, parse, reported};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Response {
    #[serde(deserialize_with = "bounds::entries")]
    data: Vec<Embedding>,
    error: Option<Box<RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Embedding {
    embedding: Vec<f32>,
    index: usize,
}

pub(in crate::wire) fn embedding_request(model: &str, texts: &[String]) -> Value {
    json!({ "input": texts, "model": model })
}

/// The embeddings in the order of their texts; fewer if indices have gaps.
pub(in crate::wire) fn read_embeddings(body: &[u8]) -> Result<Vec<Vec<f32>>, WireError> {
    let mut response: Response = parse(body)?;
    if let Some(error) = response.error.filter(|_| response.data.is_empty()) {
        return Err(reported(&error));
    }
    response.data.sort_by_key(|embedding| embedding.index);
    let in_place = response.data.into_iter().enumerate().take_while(|(at, embedding)| embedding.index == *at);
    Ok(in_place.map(|(_, embedding)| embedding.embedding).collect())
}
