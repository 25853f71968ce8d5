//! Requests of the model endpoint for the built-in models, which know only our own types.

mod read;
mod write;

use papertape_core::external::{DoorProtocol, ModelDoorReply, ModelDoorRequest, ModelDoorResponse};
use papertape_core::message::ModelRequest;
use papertape_core::ports::ModelResponse;

/// The protocols of the built-in models.
pub(crate) const PROTOCOLS: [DoorProtocol; 3] =
    [DoorProtocol::ChatCompletions, DoorProtocol::Responses, DoorProtocol::AnthropicMessages];

/// The request in our own types.
///
/// # Errors
/// A sentence about what they cannot express.
pub(crate) fn read(request: &ModelDoorRequest) -> Result<ModelRequest, String> {
    let body = request.body.as_object().ok_or("the request is not a JSON object")?;
    let read = match request.protocol {
        DoorProtocol::ChatCompletions => read::chat(body),
        DoorProtocol::Responses => read::responses(body),
        DoorProtocol::AnthropicMessages => read::messages(body),
        DoorProtocol::Embeddings => Err(format!("`{}` is not an embedding model", request.model)),
    }?;
    Ok(ModelRequest { model: request.model.clone(), house_version: request.house_version, ..read })
}

/// The response in the protocol. Its IDs follow from the request, so equal requests have equal answers.
pub(crate) fn write(
    protocol: DoorProtocol,
    request: &ModelRequest,
    response: ModelResponse,
) -> ModelDoorResponse {
    let ModelResponse { reply, usage } = response;
    let mut id = request.digest().to_hex();
    id.truncate(24);
    let answer =
        write::Answer { id: &id, model: &request.model, reply: &reply, usage: usage.unwrap_or_default() };
    let body = match protocol {
        DoorProtocol::Responses => answer.response(),
        DoorProtocol::AnthropicMessages => answer.message(),
        DoorProtocol::ChatCompletions | DoorProtocol::Embeddings => answer.chat_completion(),
    };
    ModelDoorResponse { reply: ModelDoorReply { body, text: reply.text, finish: Some(reply.finish) }, usage }
}
