//! Reads a request: its JSON within bounds, its model, and how it wants the answer.

use super::error::DoorError;
use super::rejected;
use axum::http::HeaderMap;
use papertape_core::external::{DoorProtocol, ModelDoorRequest};
use papertape_core::message::ModelName;
use papertape_core::ports::ModelClient;
use serde_json::{Map, Value};

/// Nesting levels of a request.
const MAX_DEPTH: usize = 64;
/// Characters of a client's key.
const MAX_KEY_CHARS: usize = 256;
/// The header with the client's key for equal requests.
const KEY_HEADER: &str = "x-papertape-key";
/// A name for the default model.
const DEFAULT_MODEL: &str = "papertape";

/// A request that may be sent.
pub(super) struct Checked {
    pub(super) request: ModelDoorRequest,
    /// `None`: it wants the answer whole.
    pub(super) streaming: Option<Streaming>,
}

/// How a client wants its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Streaming {
    /// Whether a chat completion ends with its usage.
    pub(super) include_usage: bool,
}

/// Reads a request's body. The session may use these models.
pub(super) fn read(
    protocol: DoorProtocol,
    body: &[u8],
    headers: &HeaderMap,
    (models, client): (&[ModelName], &dyn ModelClient),
) -> Result<Checked, DoorError> {
    let not_json = |error: serde_json::Error| DoorError::invalid(format!("the body is not JSON: {error}"));
    let body: Value = serde_json::from_slice(body).map_err(not_json)?;
    if is_deeper(&body, MAX_DEPTH) {
        return Err(DoorError::invalid(format!("the body is nested deeper than {MAX_DEPTH} levels")));
    }
    let Value::Object(mut fields) = body else {
        return Err(DoorError::invalid("the body is not a JSON object"));
    };
    rejected::check(protocol, &fields).map_err(DoorError::invalid)?;
    let model = match fields.remove("model") {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) => Some(name),
        Some(_) => return Err(DoorError::invalid("model: expected a text")),
    };
    let model = choose_model(protocol, model.as_deref(), models, client)?;
    let streaming = streaming(protocol, &mut fields)?;
    let house_version = client.house_version(&model);
    let key = key(headers)?;
    let request = ModelDoorRequest { protocol, model, house_version, body: Value::Object(fields), key };
    Ok(Checked { request, streaming })
}

/// Takes the fields that select a stream: the provider's answer is recorded whole in either case.
fn streaming(
    protocol: DoorProtocol,
    fields: &mut Map<String, Value>,
) -> Result<Option<Streaming>, DoorError> {
    let options = fields.remove("stream_options");
    let is_streamed = match fields.remove("stream") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(stream)) => stream,
        Some(_) => return Err(DoorError::invalid("stream: expected true or false")),
    };
    if is_streamed && protocol == DoorProtocol::Embeddings {
        return Err(DoorError::invalid("stream: embeddings are not streamed"));
    }
    let include_usage = options.and_then(|options| options.get("include_usage")?.as_bool()).unwrap_or(false);
    Ok(is_streamed.then_some(Streaming { include_usage }))
}

fn key(headers: &HeaderMap) -> Result<Option<String>, DoorError> {
    let Some(value) = headers.get(KEY_HEADER) else { return Ok(None) };
    match value.to_str() {
        Ok(key) if (1..=MAX_KEY_CHARS).contains(&key.len()) => Ok(Some(key.to_owned())),
        _ => Err(DoorError::invalid(format!(
            "X-Papertape-Key: expected 1 to {MAX_KEY_CHARS} printable ASCII characters"
        ))),
    }
}

/// The session's model of this name. Without one, the first that speaks the protocol.
fn choose_model(
    protocol: DoorProtocol,
    name: Option<&str>,
    models: &[ModelName],
    client: &dyn ModelClient,
) -> Result<ModelName, DoorError> {
    let name = name.filter(|name| !name.is_empty() && *name != DEFAULT_MODEL);
    let speaks = |model: &&ModelName| client.protocols(model).contains(&protocol);
    let Some(name) = name else {
        return models.iter().find(speaks).cloned().ok_or_else(|| match models {
            [] => no_models(),
            _ => DoorError::invalid(format!(
                "model: none of the agent's models speaks {}: {}",
                protocol.as_str(),
                list(models)
            )),
        });
    };
    let model = find_model(name, models)?;
    if speaks(&model) {
        return Ok(model.clone());
    }
    let spoken: Vec<&str> = client.protocols(model).iter().map(|protocol| protocol.as_str()).collect();
    let spoken =
        if spoken.is_empty() { "no protocol of the model endpoint".to_owned() } else { spoken.join(", ") };
    Err(DoorError::invalid(format!(
        "model: `{model}` does not speak {}; it speaks {spoken}",
        protocol.as_str()
    )))
}

/// The session's model with this full or bare name.
pub(super) fn find_model<'m>(name: &str, models: &'m [ModelName]) -> Result<&'m ModelName, DoorError> {
    if models.is_empty() {
        return Err(no_models());
    }
    if let Some(model) = models.iter().find(|model| model.to_string() == name) {
        return Ok(model);
    }
    let mut bare = models.iter().filter(|model| model.model == name);
    match (bare.next(), bare.next()) {
        (Some(model), None) => Ok(model),
        (Some(_), Some(_)) => Err(DoorError::invalid(format!(
            "model: `{name}` is ambiguous; name it with its provider, one of {}",
            list(models)
        ))),
        (None, _) => Err(DoorError::invalid(format!(
            "model: `{name}` is not one of the agent's models; expected one of {}",
            list(models)
        ))),
    }
}

fn no_models() -> DoorError {
    DoorError::invalid("model: the agent has no models; add `models` to its table in the server's config")
}

fn list(models: &[ModelName]) -> String {
    models.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Whether a value has more levels.
fn is_deeper(value: &Value, levels: usize) -> bool {
    match (value, levels.checked_sub(1)) {
        (Value::Array(items), Some(levels)) => items.iter().any(|item| is_deeper(item, levels)),
        (Value::Object(fields), Some(levels)) => fields.values().any(|field| is_deeper(field, levels)),
        (Value::Array(_) | Value::Object(_), None) => true,
        _ => false,
    }
}
