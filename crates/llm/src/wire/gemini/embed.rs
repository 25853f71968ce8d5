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
    embeddings: Vec<Embedding>,
    error: Option<Box<RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Embedding {
    values: Vec<f32>,
}

pub(in crate::wire) fn embedding_request(model: &str, texts: &[String]) -> Value {
    let request = |text: &String| {
        // The provider rejects empty texts.
        let text = if text.trim().is_empty() { " " } else { text };
        json!({ "model": format!("models/{model}"), "content": { "parts": [{ "text": text }] },
            "taskType": "SEMANTIC_SIMILARITY" })
    };
    json!({ "requests": texts.iter().map(request).collect::<Value>() })
}

pub(in crate::wire) fn read_embeddings(body: &[u8]) -> Result<Vec<Vec<f32>>, WireError> {
    let response: Response = parse(body)?;
    match response.error.filter(|_| response.embeddings.is_empty()) {
        Some(error) => Err(reported(&error)),
        None => Ok(response.embeddings.into_iter().map(|embedding| embedding.values).collect()),
    }
}
