//! The model endpoint of external agents' sessions: `/v1/…`, for clients of `OpenAI`'s chat completions, responses and
//! embeddings and of Anthropic's messages. The session's token is the API key.
//!
//! Here a request is checked and handed to its session, which records and makes the call; the answer is written in the
//! protocol of the request. The routes are not in the OpenAPI document: they follow the providers' documents, and no
//! caller of the API can use them.

mod answer;
mod client;
mod error;
mod rejected;
mod request;
mod sse;

use super::extract::read_within;
use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};
use axum::{Json, http::Uri};
use error::{DoorError, ErrorShape};
use papertape_core::external::{DoorProtocol, ModelDoorCall};
use papertape_core::message::ModelName;
use papertape_runtime::doors::SessionDoor;
use papertape_service::app::App;
use serde_json::{Value, json};
use std::sync::Arc;

/// The maximum size of a request's body.
const MAX_REQUEST_BYTES: usize = 4 << 20;

/// The routes of the model endpoint, without layers. Each checks the session's token itself.
pub fn router(app: App) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(chat_completions))
        .route("/v1/responses", post(responses))
        .route("/v1/messages", post(messages))
        .route("/v1/embeddings", post(embeddings))
        .route("/v1/models", get(models))
        .route("/v1/models/{*model}", get(model))
        .route("/v1/{*rest}", any(not_served))
        .method_not_allowed_fallback(not_served)
        .with_state(app)
}

async fn chat_completions(State(app): State<App>, request: Request) -> Response {
    complete(&app, DoorProtocol::ChatCompletions, request).await
}

async fn responses(State(app): State<App>, request: Request) -> Response {
    complete(&app, DoorProtocol::Responses, request).await
}

async fn messages(State(app): State<App>, request: Request) -> Response {
    complete(&app, DoorProtocol::AnthropicMessages, request).await
}

async fn embeddings(State(app): State<App>, request: Request) -> Response {
    complete(&app, DoorProtocol::Embeddings, request).await
}

async fn complete(app: &App, protocol: DoorProtocol, request: Request) -> Response {
    let served = Box::pin(serve(app, protocol, request)).await;
    served.unwrap_or_else(|error| error.into_response_in(ErrorShape::of(protocol)))
}

/// Makes a call of the session that the token belongs to.
async fn serve(app: &App, protocol: DoorProtocol, request: Request) -> Result<Response, DoorError> {
    let headers = request.headers().clone();
    let door = find_door(app, &headers)?;
    let body = read_within(request, app, MAX_REQUEST_BYTES).await.map_err(DoorError::from_api)?;
    let models = (door.scope().models.as_slice(), &*app.services.models);
    let checked = request::read(protocol, &body, &headers, models)?;
    drop(body);
    let request::Checked { request, streaming } = checked;
    let writer = streaming.map(|streaming| sse::Writer::new(&request, streaming, app.services.clock.now()));
    let takes_words = writer.as_ref().is_some_and(sse::Writer::takes_words);
    let (client, waiting) = client::connect(takes_words);
    let call = ModelDoorCall { request, client: Arc::new(client) };
    door.call(call).await.map_err(|_| DoorError::unauthorized())?;
    match writer {
        Some(writer) => answer::streamed(waiting, writer).await,
        None => answer::whole(waiting).await,
    }
}

/// The session whose token the request has, as a bearer token or as Anthropic's clients send their key.
fn find_door(app: &App, headers: &HeaderMap) -> Result<Arc<SessionDoor>, DoorError> {
    let bearer = headers.get(AUTHORIZATION).and_then(|value| {
        let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    let key = headers.get("x-api-key").and_then(|value| value.to_str().ok()).map(str::trim);
    let mut tokens = bearer.into_iter().chain(key);
    tokens.find_map(|token| app.services.doors.find(token)).ok_or_else(DoorError::unauthorized)
}

/// The session's models, for clients of either provider.
async fn models(State(app): State<App>, headers: HeaderMap) -> Response {
    let shape = ErrorShape::of_client(&headers);
    let door = match find_door(&app, &headers) {
        Ok(door) => door,
        Err(error) => return error.into_response_in(shape),
    };
    let models: Vec<Value> = door.scope().models.iter().map(|model| entry(model, shape)).collect();
    Json(match shape {
        ErrorShape::OpenAi => json!({ "object": "list", "data": models }),
        ErrorShape::Anthropic => {
            let id = |model: Option<&Value>| model.and_then(|model| model.get("id")).cloned();
            let (first, last) = (id(models.first()), id(models.last()));
            json!({ "data": models, "has_more": false, "first_id": first, "last_id": last })
        }
    })
    .into_response()
}

/// One of the session's models.
async fn model(State(app): State<App>, Path(name): Path<String>, headers: HeaderMap) -> Response {
    let shape = ErrorShape::of_client(&headers);
    let found = find_door(&app, &headers).and_then(|door| {
        let model = request::find_model(&name, &door.scope().models)?;
        Ok(entry(model, shape))
    });
    match found {
        Ok(entry) => Json(entry).into_response(),
        Err(error) => error.into_response_in(shape),
    }
}

/// A model in a list. When it was created is not known.
fn entry(model: &ModelName, shape: ErrorShape) -> Value {
    let id = model.to_string();
    match shape {
        ErrorShape::OpenAi => {
            json!({ "id": id, "object": "model", "created": 0, "owned_by": model.provider })
        }
        ErrorShape::Anthropic => {
            json!({ "type": "model", "id": id, "display_name": id, "created_at": "1970-01-01T00:00:00Z" })
        }
    }
}

/// Everything that needs state at the provider, and everything unknown.
async fn not_served(State(app): State<App>, uri: Uri, headers: HeaderMap) -> Response {
    let shape = ErrorShape::of_client(&headers);
    if let Err(error) = find_door(&app, &headers) {
        return error.into_response_in(shape);
    }
    let message = format!(
        "the model endpoint does not serve this method and path ({}); it serves POST /v1/chat/completions, \
         /v1/responses, /v1/messages and /v1/embeddings, and GET /v1/models. Files, batches, stored responses and other \
         state at the provider are not available",
        uri.path()
    );
    DoorError::new(StatusCode::BAD_REQUEST, None, message).into_response_in(shape)
}
