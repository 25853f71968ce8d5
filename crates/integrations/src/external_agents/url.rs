//! An agent at a URL: it gets each day as a request, and reaches its session through the doors.

use papertape_core::external::{AgentDay, RunningAgent, SessionEnding};
use papertape_core::message::{CallFailure, FailureKind};
use papertape_core::ports::BoxFuture;
use papertape_llm::bounds::{Bound, MAX_ERROR_BYTES};
use papertape_llm::read_body;
use papertape_redact::Redactor;
use reqwest::{Client, Response, StatusCode};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::task::JoinSet;

/// How long a request may take to return once its session is over.
const RETURN_GRACE: Duration = Duration::from_secs(10);
/// Characters of an error's body in the sentence about it.
const QUOTED_CHARS: usize = 500;

/// What is called.
pub(super) struct Endpoint {
    pub(super) client: Client,
    pub(super) url: String,
    pub(super) key: Option<String>,
    pub(super) redactor: Arc<Redactor>,
}

/// A day of an agent at a URL. Dropping it closes the connection.
pub(super) struct UrlRun {
    request: JoinSet<()>,
    failure: watch::Receiver<Option<CallFailure>>,
    _permit: OwnedSemaphorePermit,
}

/// Posts the day.
///
/// # Errors
/// Nothing listens for the agent's requests.
pub(super) fn start(
    endpoint: Endpoint,
    day: AgentDay,
    permit: OwnedSemaphorePermit,
) -> Result<UrlRun, CallFailure> {
    if day.message.get("doors").is_none_or(serde_json::Value::is_null) {
        let message =
            format!("the external agent `{}` has a URL, and this process has no listener", day.agent);
        return Err(CallFailure { kind: FailureKind::BadRequest, message });
    }
    let (failed, failure) = watch::channel(None);
    let mut request = JoinSet::new();
    request.spawn(async move {
        match post(&endpoint, &day).await {
            // It may answer at once and work later.
            Ok(()) => failed.closed().await,
            Err(reason) => {
                failed.send_replace(Some(reason));
            }
        }
    });
    Ok(UrlRun { request, failure, _permit: permit })
}

async fn post(endpoint: &Endpoint, day: &AgentDay) -> Result<(), CallFailure> {
    let failure = |kind, reason: &str| CallFailure {
        kind,
        message: format!("the external agent `{}` {reason}", day.agent),
    };
    let mut request = endpoint.client.post(&endpoint.url).json(&day.message);
    if let Some(key) = &endpoint.key {
        request = request.bearer_auth(key);
    }
    let response = request.send().await.map_err(|error| {
        // The address may contain a key.
        let reason = if error.is_connect() { "cannot be reached" } else { "closed the connection" };
        tracing::info!(agent = %day.agent, error = %error.without_url(), "an external agent's URL failed");
        failure(FailureKind::Unavailable, reason)
    })?;
    let status = response.status();
    if status.is_success() {
        return Ok(());
    }
    let kind = match status {
        StatusCode::UNAUTHORIZED => FailureKind::Unauthorised,
        StatusCode::FORBIDDEN => FailureKind::Forbidden,
        StatusCode::TOO_MANY_REQUESTS => FailureKind::RateLimited,
        status if status.is_server_error() => FailureKind::Unavailable,
        _ => FailureKind::BadRequest,
    };
    let quoted = quote(endpoint, response).await;
    Err(failure(kind, &format!("answered with HTTP {}{quoted}", status.as_u16())))
}

/// The beginning of an error's body, without secrets.
async fn quote(endpoint: &Endpoint, response: Response) -> String {
    let Ok(body) = read_body(response, MAX_ERROR_BYTES, Bound::ErrorBody).await else { return String::new() };
    let text = endpoint.redactor.redact_text(String::from_utf8_lossy(&body).trim()).value;
    let text: String = text.chars().take(QUOTED_CHARS).collect();
    if text.is_empty() { text } else { format!(": {text}") }
}

impl RunningAgent for UrlRun {
    fn failed(&self) -> BoxFuture<'_, CallFailure> {
        super::failed(self.failure.clone())
    }

    fn finish(self: Box<Self>, ending: SessionEnding) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let Self { mut request, failure, _permit } = *self;
            drop(failure);
            if ending == SessionEnding::Completed {
                // The agent may still be returning from the request; its connection is not cut off meanwhile.
                tokio::spawn(async move {
                    let _ = tokio::time::timeout(RETURN_GRACE, request.join_next()).await;
                });
            }
        })
    }
}
