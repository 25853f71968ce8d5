//! Sends spans to a receiver, once, and reports the result.

use super::span::{Span, request};
use anyhow::{Result, anyhow};
use papertape_core::time::{Timestamp, retry_after};
use papertape_llm::bounds::{Bound, MAX_ERROR_BYTES};
use papertape_llm::read_body;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Client, StatusCode, Url};
use serde_json::Value;
use std::time::Duration;

/// The timeout of a request to the receiver.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum pause that a receiver may request.
const MAX_PAUSE: Duration = Duration::from_secs(3_600);
/// The maximum length of a receiver's error text in the log.
const ERROR_CHARS: usize = 300;

/// The result of sending spans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ExportResult {
    /// Accepted, except for this many.
    Accepted { rejected: u64, message: String },
    /// Rejected permanently, according to this status.
    Rejected { status: u16, reason: String },
    /// Not accepted yet; retry, but not before this pause has passed if one is given.
    Retry { pause: Option<Duration>, reason: String },
}

/// A receiver.
pub(super) struct Receiver {
    client: Client,
    url: Url,
    headers: HeaderMap,
    mode: &'static str,
}

impl Receiver {
    pub(super) fn new(url: Url, headers: HeaderMap, mode: &'static str) -> Result<Self> {
        let client = crate::mcp::http_client().map_err(|error| anyhow!("otlp.endpoint: it {error}"))?;
        Ok(Self { client, url, headers, mode })
    }

    /// Sends the spans.
    pub(super) async fn send(&self, spans: &[Span], now: Timestamp) -> ExportResult {
        let post = self.client.post(self.url.clone()).timeout(TIMEOUT).headers(self.headers.clone());
        let response = match post.json(&request(spans.to_vec(), self.mode)).send().await {
            Ok(response) => response,
            // The address may contain a key.
            Err(error) => return ExportResult::Retry { pause: None, reason: causes(error.without_url()) },
        };
        let status = response.status();
        let retry_header = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let pause = retry_header.and_then(|value| retry_after(value, now)).map(|pause| pause.min(MAX_PAUSE));
        // What the receiver has accepted stays accepted, even if its response does not arrive in full.
        let body = read_body(response, MAX_ERROR_BYTES, Bound::ErrorBody).await.unwrap_or_default();
        let body = String::from_utf8_lossy(&body);
        match status {
            status if status.is_success() => accepted(&body),
            // The protocol names exactly these four (OTLP 1.8, "OTLP/HTTP Response").
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => ExportResult::Retry { pause, reason: format!("HTTP {status}") },
            status => ExportResult::Rejected { status: status.as_u16(), reason: error_text(status, &body) },
        }
    }
}

/// `{"partialSuccess": {"rejectedSpans": "3", "errorMessage": "…"}}` if not all were accepted.
fn accepted(body: &str) -> ExportResult {
    let response: Value = serde_json::from_str(body).unwrap_or_default();
    let partial = &response["partialSuccess"];
    let count = &partial["rejectedSpans"];
    // A 64-bit number is a string in this JSON, and a number with some receivers.
    let rejected = count.as_u64().or_else(|| count.as_str()?.parse().ok()).unwrap_or(0);
    ExportResult::Accepted { rejected, message: short(partial["errorMessage"].as_str().unwrap_or_default()) }
}

/// The receiver's error text, and who can fix it where that is obvious.
fn error_text(status: StatusCode, body: &str) -> String {
    let advice = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "; check otlp.headers",
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => "; check otlp.endpoint",
        _ => "",
    };
    format!("HTTP {status}: {}{advice}", short(body))
}

fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(ERROR_CHARS).collect()
}

fn causes(error: reqwest::Error) -> String {
    let mut text = anyhow::Error::from(error).chain().map(ToString::to_string).collect::<Vec<_>>();
    text.dedup();
    text.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejected_spans_are_counted() {
        let rejected = |body: &str| match accepted(body) {
            ExportResult::Accepted { rejected, message } => (rejected, message),
            other => panic!("{other:?}"),
        };
        assert_eq!(rejected("{}"), (0, String::new()));
        assert_eq!(rejected("not json"), (0, String::new()));
        let partial = r#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}"#;
        assert_eq!(rejected(partial), (3, "too old".to_owned()));
        assert_eq!(rejected(r#"{"partialSuccess":{"rejectedSpans":2}}"#).0, 2);
    }
}
