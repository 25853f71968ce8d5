//! Embeddings.

use super::types::{Content, Part};
use crate::wire::bounds;
use crate::wire::{WireError, parse, reported};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The body of a request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EmbeddingRequest<'a> {
    requests: Vec<One<'a>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct One<'a> {
    model: String,
    content: Content<'a>,
    task_type: Cow<'a, str>,
}

/// A response.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EmbeddingResponse {
    #[serde(deserialize_with = "bounds::entries")]
    embeddings: Vec<Embedding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Box<RawValue>>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Embedding {
    values: Vec<f32>,
}

pub(in crate::wire) fn embedding_request<'a>(model: &str, texts: &'a [String]) -> EmbeddingRequest<'a> {
    // The provider rejects empty texts.
    let text = |text: &'a str| if text.trim().is_empty() { " " } else { text };
    let one = |given: &'a String| One {
        model: format!("models/{model}"),
        content: Content {
            role: None,
            parts: vec![Part { text: Some(text(given).into()), ..Part::default() }],
        },
        task_type: "SEMANTIC_SIMILARITY".into(),
    };
    EmbeddingRequest { requests: texts.iter().map(one).collect() }
}

pub(in crate::wire) fn read_embeddings(body: &[u8]) -> Result<Vec<Vec<f32>>, WireError> {
    let response: EmbeddingResponse = parse(body)?;
    match response.error.filter(|_| response.embeddings.is_empty()) {
        Some(error) => Err(reported(&error)),
        None => Ok(response.embeddings.into_iter().map(|embedding| embedding.values).collect()),
    }
}
