//! The built-in sentence model at the model endpoint of external agents. All other requests go to the gateway.

use super::{Embeddings, house};
use futures::FutureExt as _;
use papertape_core::external::{DoorProtocol, ModelDoorReply, ModelDoorRequest, ModelDoorResponse};
use papertape_core::message::{CallFailure, FailureKind, ModelName, ModelRequest, Usage};
use papertape_core::ports::{AttemptFailure, BoxFuture, DeltaSink, ModelClient, ModelResponse};
use papertape_embed::vector;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::sync::Arc;

/// Texts per request. Each takes some ten milliseconds of one core.
const MAX_TEXTS: usize = 256;

/// The gateway's models, and the sentence model for embeddings.
pub struct WithSentenceModel {
    models: Arc<dyn ModelClient>,
    embeddings: Arc<Embeddings>,
}

impl WithSentenceModel {
    /// Adds the sentence model.
    #[must_use]
    pub fn new(models: Arc<dyn ModelClient>, embeddings: Arc<Embeddings>) -> Self {
        Self { models, embeddings }
    }

    async fn embed(&self, request: &ModelDoorRequest) -> Result<ModelDoorResponse, AttemptFailure> {
        let (texts, as_base64) = read(request).map_err(|message| AttemptFailure {
            failure: CallFailure { kind: FailureKind::BadRequest, message },
            retry_after: None,
            usage: None,
        })?;
        let characters: usize = texts.iter().map(|text| text.chars().count()).sum();
        let tokens = u64::try_from(characters.div_ceil(4)).unwrap_or(u64::MAX);
        let made = self.embeddings.embed(&request.model, texts).await?;
        let data = made.iter().enumerate().map(|(index, made)| {
            let embedding = if as_base64 { json!(vector::to_base64(made)) } else { json!(made) };
            json!({ "object": "embedding", "index": index, "embedding": embedding })
        });
        let body = json!({
            "object": "list",
            "data": data.collect::<Value>(),
            "model": request.model.to_string(),
            "usage": { "prompt_tokens": tokens, "total_tokens": tokens },
        });
        let usage = Usage { input_tokens: tokens, cached_tokens: 0, output_tokens: 0 };
        let reply = ModelDoorReply { body, text: String::new(), finish: None };
        Ok(ModelDoorResponse { reply, usage: Some(usage) })
    }
}

/// The texts of a request, and whether it wants the vectors in base64.
fn read(request: &ModelDoorRequest) -> Result<(Vec<String>, bool), String> {
    let field = |name: &str| request.body.get(name).filter(|value| !value.is_null());
    let texts: Vec<String> = match field("input") {
        Some(Value::String(text)) => vec![text.clone()],
        Some(list) => serde_json::from_value(list.clone())
            .map_err(|_| "input: expected a text or a list of texts".to_owned())?,
        None => return Err("input: missing".to_owned()),
    };
    if !(1..=MAX_TEXTS).contains(&texts.len()) {
        return Err(format!("input: expected 1 to {MAX_TEXTS} texts, got {}", texts.len()));
    }
    if field("dimensions").is_some() {
        return Err("dimensions: the model's vectors have one length".to_owned());
    }
    match field("encoding_format").map(Value::as_str) {
        None | Some(Some("float")) => Ok((texts, false)),
        Some(Some("base64")) => Ok((texts, true)),
        Some(_) => Err("encoding_format: expected `float` or `base64`".to_owned()),
    }
}

/// Whether it is the sentence model, which answers requests for embeddings only.
fn is_sentence_model(model: &ModelName) -> bool {
    model.is_house() && model.model == house::NAME
}

impl ModelClient for WithSentenceModel {
    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        delta: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelResponse, AttemptFailure>> {
        self.models.call(request, delta)
    }

    fn check(&self, model: &ModelName) -> Result<(), String> {
        self.models.check(model)
    }

    fn house_version(&self, model: &ModelName) -> Option<u32> {
        self.models.house_version(model)
    }

    fn forward<'a>(
        &'a self,
        request: &'a ModelDoorRequest,
        delta: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelDoorResponse, AttemptFailure>> {
        if is_sentence_model(&request.model) && request.protocol == DoorProtocol::Embeddings {
            return self.embed(request).boxed();
        }
        self.models.forward(request, delta)
    }

    fn protocols(&self, model: &ModelName) -> Vec<DoorProtocol> {
        if !is_sentence_model(model) {
            return self.models.protocols(model);
        }
        let is_installed = self.embeddings.check(model).is_ok();
        if is_installed { vec![DoorProtocol::Embeddings] } else { Vec::new() }
    }

    fn cost(&self, model: &ModelName, usage: &Usage) -> Option<Decimal> {
        self.models.cost(model, usage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(body: Value) -> ModelDoorRequest {
        let model = format!("house::{}", house::NAME).parse().expect("a model name");
        ModelDoorRequest { protocol: DoorProtocol::Embeddings, model, house_version: None, body, key: None }
    }

    /// Goal: texts come as clients of the protocol send them; what the model cannot do is a sentence that names the field.
    #[test]
    fn requests_are_read() {
        let read = |body: Value| super::read(&request(body));
        assert_eq!(read(json!({ "input": "a" })), Ok((vec!["a".to_owned()], false)));
        let two = json!({ "input": ["a", "b"], "encoding_format": "base64", "dimensions": null });
        assert_eq!(read(two), Ok((vec!["a".to_owned(), "b".to_owned()], true)));
        for (body, field) in [
            (json!({}), "input: "),
            (json!({ "input": [] }), "input: "),
            (json!({ "input": [[1, 2]] }), "input: "),
            (json!({ "input": vec!["x"; MAX_TEXTS + 1] }), "input: "),
            (json!({ "input": "a", "dimensions": 8 }), "dimensions: "),
            (json!({ "input": "a", "encoding_format": "int8" }), "encoding_format: "),
        ] {
            let said = read(body.clone()).expect_err("rejected");
            assert!(said.starts_with(field), "{body}: {said}");
        }
    }
}
