//! Maps every failure to our own kinds and messages.
//!
//! Text from a provider or an HTTP library is never passed on: only the status and the provider's error code,
//! if it is clearly a code (letters and underscores).

use crate::bounds::{self, Bound};
use jiff::Timestamp;
use papertape_core::message::{CallFailure, FailureKind, Usage};
use papertape_core::ports::AttemptFailure;
use papertape_core::time::http_date;
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::error::Error as StdError;
use std::time::Duration;

const MAX_CODE_CHARS: usize = 48;

/// A failure without a requested delay and without usage.
pub(crate) fn plain(kind: FailureKind, message: impl Into<String>) -> AttemptFailure {
    AttemptFailure { failure: CallFailure { kind, message: message.into() }, retry_after: None, usage: None }
}

/// The same, with the usage of the failed attempt.
pub(crate) fn used(kind: FailureKind, message: impl Into<String>, usage: Option<Usage>) -> AttemptFailure {
    AttemptFailure { usage, ..plain(kind, message) }
}

/// The stream ended before its end mark.
pub(crate) fn cut() -> AttemptFailure {
    plain(FailureKind::BadAnswer, "the answer broke off before its end")
}

/// The response exceeded a bound.
pub(crate) fn exceeded(bound: Bound) -> AttemptFailure {
    plain(FailureKind::BadAnswer, format!("the provider's answer is not read: it has {bound}"))
}

pub(crate) fn not_readable() -> AttemptFailure {
    plain(FailureKind::BadAnswer, "the provider's answer cannot be read")
}

/// The failure for an error of the HTTP client.
pub(crate) fn from_transport(error: &reqwest::Error) -> AttemptFailure {
    if error.is_timeout() {
        return plain(FailureKind::TimedOut, "the connection to the provider timed out");
    }
    if error.is_connect() {
        let tls = sources(error).any(|source| source.downcast_ref::<rustls::Error>().is_some());
        return if tls {
            plain(FailureKind::Unavailable, "no trusted TLS connection to the provider")
        } else {
            plain(FailureKind::Unavailable, "no connection to the provider")
        };
    }
    if error.is_body() || error.is_decode() {
        return cut();
    }
    if error.is_builder() {
        return plain(FailureKind::BadRequest, "the request cannot be put to this provider");
    }
    plain(FailureKind::Unavailable, "the connection to the provider broke before an answer came")
}

fn sources<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    // An `io::Error` does not report the error that it wraps as its `source`.
    std::iter::successors(Some(error), |&error| {
        let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        wrapped.map(|inner| inner as &(dyn StdError + 'static)).or_else(|| error.source())
    })
}

/// An error response, by its status.
pub(crate) fn from_status(status: u16, headers: &HeaderMap, body: &[u8]) -> AttemptFailure {
    let parsed: Value = match bounds::check_depth(body) {
        Ok(()) => serde_json::from_slice(body).unwrap_or_default(),
        Err(_) => Value::Null,
    };
    // Gemini wraps errors in a stream in a list.
    let parsed = parsed.get(0).cloned().unwrap_or(parsed);
    let error = parsed.get("error").unwrap_or(&parsed);
    let code = code(error);
    let kind = kind_of(status, code.as_deref(), &String::from_utf8_lossy(body).to_lowercase());
    let shown = code.map(|code| format!(" ({code})")).unwrap_or_default();
    let meaning = match (kind, status) {
        (FailureKind::Unauthorised, _) => ": the key is missing or wrong",
        (FailureKind::PaymentRequired, _) => ": the account has no credit left",
        (FailureKind::Forbidden, _) => ": the key is not allowed to do this",
        (FailureKind::UnknownModel, _) => ": it has no such model, or nothing at this address",
        (FailureKind::RateLimited, _) => ": too many requests or tokens",
        (FailureKind::ContextLength, _) => ": the conversation is too long for the model",
        (FailureKind::Unavailable, _) => ": it is down or overloaded",
        _ => ": it refuses the request",
    };
    AttemptFailure {
        retry_after: retry_after(headers).or_else(|| retry_delay(error)),
        ..plain(kind, format!("the provider answered {status}{shown}{meaning}"))
    }
}

/// An error response whose body was not read to its end.
pub(crate) fn endless(status: u16, headers: &HeaderMap) -> AttemptFailure {
    let message =
        format!("the provider answered {status}, and its answer is not read: it has {}", Bound::ErrorBody);
    AttemptFailure { retry_after: retry_after(headers), ..plain(FailureKind::BadAnswer, message) }
}

/// An error in place of a response, or in the middle of one.
pub(crate) fn from_event(body: &Value) -> AttemptFailure {
    let error = body.get("error").unwrap_or(body);
    let code = code(error);
    let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let text = error.to_string().to_lowercase();
    let kind = match (code.as_deref(), status) {
        (_, Some(status @ 400..)) => kind_of(status, code.as_deref(), &text),
        (Some(known), _) => match status_of(known) {
            Some(status) => kind_of(status, Some(known), &text),
            None => FailureKind::BadAnswer,
        },
        (None, _) => FailureKind::BadAnswer,
    };
    let shown = code.map(|code| format!(" ({code})")).unwrap_or_default();
    AttemptFailure {
        retry_after: retry_delay(error),
        ..plain(kind, format!("the provider answered with an error{shown}"))
    }
}

/// The status for an error code that comes without one.
fn status_of(code: &str) -> Option<u16> {
    Some(match code.to_lowercase().as_str() {
        "rate_limit_error" | "rate_limit_exceeded" | "resource_exhausted" | "insufficient_quota" => 429,
        "overloaded_error"
        | "api_error"
        | "server_error"
        | "internal_server_error"
        | "unavailable"
        | "internal"
        | "timeout_error"
        | "overloaded" => 503,
        "authentication_error" | "invalid_api_key" | "unauthenticated" => 401,
        "permission_error" | "permission_denied" => 403,
        "billing_error" => 402,
        "invalid_request_error" | "invalid_argument" | "context_length_exceeded" => 400,
        "not_found_error" | "model_not_found" => 404,
        _ => return None,
    })
}

fn kind_of(status: u16, code: Option<&str>, text: &str) -> FailureKind {
    match status {
        401 => FailureKind::Unauthorised,
        402 => FailureKind::PaymentRequired,
        403 => FailureKind::Forbidden,
        404 => FailureKind::UnknownModel,
        429 if matches!(code, Some("insufficient_quota" | "billing_hard_limit_reached")) => {
            FailureKind::PaymentRequired
        }
        429 => FailureKind::RateLimited,
        408 | 409 | 425 | 500.. => FailureKind::Unavailable,
        413 => FailureKind::ContextLength,
        400 if text.contains("api_key_invalid") => FailureKind::Unauthorised,
        400 | 422
            if code.is_some_and(|code| UNKNOWN_MODEL_CODES.contains(&code))
                || UNKNOWN_MODEL.iter().any(|phrase| text.contains(phrase)) =>
        {
            FailureKind::UnknownModel
        }
        400 | 422 if TOO_LONG.iter().any(|phrase| text.contains(phrase)) => FailureKind::ContextLength,
        _ => FailureKind::BadRequest,
    }
}

/// Error codes in a 400 that mean an unknown model.
const UNKNOWN_MODEL_CODES: [&str; 3] = ["model_not_found", "invalid_model", "model_not_available"];

/// Messages for an unknown model from providers without a code for it, in lower case.
const UNKNOWN_MODEL: [&str; 3] = ["model not exist", "is not a valid model id", "invalid model:"];

/// Messages in a 400 that mean that the conversation is too long, in lower case.
const TOO_LONG: [&str; 8] = [
    "context_length_exceeded",
    "context length",
    "context window",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "input token count",
    "reduce the length",
];

/// The provider's error code, if it is clearly a code and so cannot contain anything else.
fn code(error: &Value) -> Option<String> {
    let plainly = |text: &&str| {
        !text.is_empty()
            && text.len() <= MAX_CODE_CHARS
            && text.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
    };
    ["code", "status", "type"]
        .into_iter()
        .find_map(|key| error.get(key).and_then(Value::as_str).filter(plainly))
        .map(str::to_owned)
}

/// The delay that the headers request: `retry-after-ms`, or `Retry-After` in seconds or as a date (RFC 9110,
/// 10.2.3), measured from the response's own `Date`.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|value| value.parse::<f64>().ok()) {
        return seconds(millis / 1000.0);
    }
    let now = text("date").and_then(http_date).unwrap_or_else(Timestamp::now);
    papertape_core::time::retry_after(text("retry-after")?, now)
}

/// Gemini's `RetryInfo`: `{"details":[{"retryDelay":"37s"}]}`.
fn retry_delay(error: &Value) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    seconds(delay.strip_suffix('s')?.parse().ok()?)
}

fn seconds(count: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(count).ok()
}
