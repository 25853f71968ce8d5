//! Every failure of a provider becomes one of our kinds, with our own message.

use crate::support::{gateway, gateway_at, refusing, request};
use papertape_core::message::FailureKind::{
    BadAnswer, BadRequest, ContextLength, EmptyAnswer, Forbidden, PaymentRequired, RateLimited, Unauthorised,
    Unavailable, UnknownModel,
};
use papertape_core::message::{FailureKind, Usage};
use papertape_core::ports::AttemptFailure;
use papertape_core::ports::ModelClient as _;
use papertape_llm::ProviderKind;
use papertape_testkit::model_server::{Broken, ModelServer, Reply, ScriptedAnswer, Tokens};
use serde_json::json;
use std::time::Duration;

/// The failure of one attempt, which is the same streamed and whole.
async fn failed(answer: ScriptedAnswer) -> AttemptFailure {
    let server = ModelServer::scripted([answer.clone(), answer]).await;
    let streamed = gateway(&server, true).call(&request("Hello"), None).await.expect_err("a failure");
    let whole = gateway(&server, false).call(&request("Hello"), None).await.expect_err("a failure");
    assert_eq!(streamed.failure, whole.failure);
    assert_eq!(streamed.retry_after, whole.retry_after);
    assert_eq!(server.count(), 2, "one call is one attempt");
    for failure in [&streamed, &whole] {
        assert!(!format!("{failure:?}").contains("leak-me-not"), "{failure:?}");
    }
    whole
}

#[tokio::test]
async fn statuses_have_their_kinds() {
    for (status, code, kind) in [
        (400, "invalid_request_error", BadRequest),
        (400, "context_length_exceeded", ContextLength),
        (401, "invalid_api_key", Unauthorised),
        (402, "billing_error", PaymentRequired),
        (403, "permission_error", Forbidden),
        (404, "model_not_found", UnknownModel),
        (400, "model_not_available", UnknownModel),
        (408, "timeout", Unavailable),
        (413, "request_too_large", ContextLength),
        (422, "unprocessable", BadRequest),
        (429, "rate_limit_exceeded", RateLimited),
        (429, "insufficient_quota", PaymentRequired),
        (500, "server_error", Unavailable),
        (502, "bad_gateway", Unavailable),
        (503, "overloaded", Unavailable),
        (529, "overloaded_error", Unavailable),
        (302, "moved", BadRequest),
    ] {
        let failure = failed(ScriptedAnswer::error(status, code)).await.failure;
        assert_eq!(failure.kind, kind, "{status} {code}");
        assert!(failure.message.contains(&status.to_string()), "{failure}");
        assert!(failure.message.contains(code), "{failure}");
    }
}

/// A code with characters other than letters may be a payload, and is left out.
#[tokio::test]
async fn a_code_that_could_be_a_secret_is_not_shown() {
    let failure = failed(ScriptedAnswer::error(400, "sk-123-abc")).await.failure;
    assert_eq!(failure.message, "the provider answered 400: it refuses the request");
}

#[tokio::test]
async fn a_long_conversation_is_told_from_other_bad_requests_by_its_words() {
    let body = json!({ "error": { "type": "invalid_request_error",
        "message": "prompt is too long: 210000 tokens > 200000 maximum" } });
    let answer = ScriptedAnswer::raw("application/json", body.to_string()).status(400);
    assert_eq!(failed(answer).await.failure.kind, ContextLength);
}

#[tokio::test]
async fn pauses_that_are_asked_for() {
    let limited = || ScriptedAnswer::error(429, "rate_limit_exceeded");
    assert_eq!(failed(limited()).await.retry_after, None);
    for (header, value, pause) in [
        ("retry-after", "7", Some(Duration::from_secs(7))),
        ("retry-after", "0.5", Some(Duration::from_millis(500))),
        ("retry-after-ms", "250", Some(Duration::from_millis(250))),
        ("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT", Some(Duration::from_secs(30))),
        ("retry-after", "Wed, 21 Oct 2026 07:27:00 GMT", Some(Duration::ZERO)),
        ("retry-after", "-3", None),
        ("retry-after", "soon", None),
    ] {
        let answer = limited().header("date", "Wed, 21 Oct 2026 07:28:00 GMT").header(header, value);
        let failure = failed(answer).await;
        assert_eq!(failure.retry_after, pause, "{header}: {value}");
        assert_eq!(failure.failure.kind, RateLimited);
    }
    let unavailable = ScriptedAnswer::error(503, "overloaded").header("retry-after", "20");
    assert_eq!(failed(unavailable).await.retry_after, Some(Duration::from_secs(20)));
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_bad() {
    let reply = || ScriptedAnswer::text("This is a long text that does not get to its end.");
    let failure = failed(reply().broken(Broken::Cut)).await.failure;
    assert_eq!((failure.kind, failure.message.as_str()), (BadAnswer, "the answer broke off before its end"));
}

/// A stream that ends cleanly but without its end mark counts as broken off too.
#[tokio::test]
async fn a_stream_without_its_end_mark_is_bad() {
    let events = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Buy\"}}]}\n\n";
    let server = ModelServer::scripted([ScriptedAnswer::raw("text/event-stream", events)]).await;
    let failure = gateway(&server, true).call(&request("Hello"), None).await.unwrap_err();
    assert_eq!(failure.failure.kind, BadAnswer);
}

#[tokio::test]
async fn what_is_no_json_is_bad() {
    assert_eq!(failed(ScriptedAnswer::garbage()).await.failure.kind, BadAnswer);
    // For a stream, an HTML page is a stream without events.
    for stream in [true, false] {
        let page = ScriptedAnswer::raw("text/html", "<html>leak-me-not</html>");
        let server = ModelServer::scripted([page]).await;
        let failure = gateway(&server, stream).call(&request("Hello"), None).await.unwrap_err().failure;
        assert_eq!(failure.kind, BadAnswer);
        assert!(!failure.message.contains("leak-me-not"), "{failure}");
    }
}

/// Neither text nor calls: an empty answer, with its usage.
#[tokio::test]
async fn nothing_is_an_empty_answer() {
    let tokens = Some(Tokens { input: 40, cached: 0, output: 700 });
    for (finish, words) in [("stop", "neither"), ("length", "limit"), ("content_filter", "filter")] {
        let reply = Reply { finish: Some(finish.to_owned()), tokens, ..Reply::default() };
        let failure = failed(ScriptedAnswer::reply(reply)).await;
        assert_eq!(failure.failure.kind, EmptyAnswer);
        assert!(failure.failure.message.contains(words), "{}", failure.failure);
        assert_eq!(failure.usage, Some(Usage { input_tokens: 40, cached_tokens: 0, output_tokens: 700 }));
    }
}

/// Gateways send errors with status 200, and streams send them in the middle.
#[tokio::test]
async fn errors_in_the_place_of_an_answer() {
    for (error, kind) in [
        (json!({ "message": "leak-me-not", "type": "rate_limit_error" }), RateLimited),
        (json!({ "message": "leak-me-not", "type": "overloaded_error" }), Unavailable),
        (json!({ "message": "leak-me-not", "code": 502 }), Unavailable),
        (json!({ "message": "leak-me-not", "code": "context_length_exceeded" }), ContextLength),
        (json!({ "message": "leak-me-not" }), BadAnswer),
    ] {
        let body = json!({ "error": error });
        let whole = ScriptedAnswer::raw("application/json", body.to_string());
        let event = format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"Buy\"}}}}]}}\n\ndata: {body}\n\n"
        );
        let streamed = ScriptedAnswer::raw("text/event-stream", event);
        for (stream, answer) in [(false, whole), (true, streamed)] {
            let server = ModelServer::scripted([answer]).await;
            let failure = gateway(&server, stream).call(&request("Hello"), None).await.unwrap_err();
            assert_eq!(failure.failure.kind, kind, "{body} {stream}");
            assert!(!failure.failure.message.contains("leak-me-not"), "{}", failure.failure);
        }
    }
}

/// Nothing listens: unavailable, and without the address, which may be internal.
#[tokio::test]
async fn no_connection_is_unavailable() {
    let (_socket, url) = refusing();
    for stream in [true, false] {
        let gateway = gateway_at(ProviderKind::OpenaiCompatible, &url, stream);
        let failure = gateway.call(&request("Hello"), None).await.unwrap_err().failure;
        assert_eq!(failure.kind, Unavailable);
        assert_eq!(failure.message, "no connection to the provider");
    }
}

/// https to a server without TLS fails, because certificates are verified.
#[tokio::test]
async fn https_is_really_tls() {
    let server = ModelServer::answering(|_| ScriptedAnswer::text("ok")).await;
    let url = server.url().replace("http:", "https:");
    let gateway = gateway_at(ProviderKind::OpenaiCompatible, &url, false);
    let failure = gateway.call(&request("Hello"), None).await.unwrap_err().failure;
    assert_eq!(failure.kind, Unavailable);
    assert_eq!(server.count(), 0, "nothing was sent in the clear");
}

/// A redirect is an error: the key is not sent to its target.
#[tokio::test]
async fn redirects_are_not_followed() {
    let answer = ScriptedAnswer::error(307, "moved").header("location", "/v1/elsewhere");
    assert_eq!(failed(answer).await.failure.kind, BadRequest);
}

/// Only transient failures are worth a retry.
#[test]
fn retries_are_for_passing_faults() {
    let all = [
        (RateLimited, true),
        (Unavailable, true),
        (BadAnswer, true),
        (EmptyAnswer, true),
        (Unauthorised, false),
        (BadRequest, false),
        (ContextLength, false),
    ];
    for (kind, transient) in all {
        assert_eq!(FailureKind::is_transient(kind), transient);
    }
}
