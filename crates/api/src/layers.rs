//! What stands around every route: who may ask, what an answer tells the browser, and how a failure is
//! logged.

use super::access;
use super::error::{ApiError, Failure};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderName, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use papertape_service::app::App;
use papertape_service::config::Config;
use std::any::Any;
use std::net::IpAddr;
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use tower_http::cors::{AllowOrigin, CorsLayer};

/// Nothing from outside. Images may be in the page itself, as the docs page's icons are.
const POLICY: &str = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; \
                      form-action 'self'; frame-ancestors 'none'";

/// Answers smaller than this are sent as they are.
const MIN_COMPRESSED_BYTES: u64 = 4_096;

/// Puts the guards around the routes.
pub(super) fn apply(routes: Router, app: App) -> Router {
    let cors = cors(&app.config);
    routes
        .layer(from_fn_with_state(app.clone(), access::authenticate))
        .layer(from_fn_with_state(app.clone(), same_origin))
        .layer(cors)
        .layer(from_fn_with_state(app, validate_host))
        .layer(from_fn(short_address))
        .layer(compression())
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn(security_headers))
}

/// Answers of some size are compressed for who asks for it, as fast as it goes. Streams never are: an event is
/// to leave when it is written. What is compressed already stays as it is.
fn compression() -> CompressionLayer<impl Predicate> {
    let worth_it =
        SizeAbove::new(MIN_COMPRESSED_BYTES).and(NotForContentType::SSE).and(NotForContentType::IMAGES);
    CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(worth_it)
}

/// An address longer than this is nobody's search; the HTTP layer itself takes 64 KiB.
const MAX_URI_BYTES: usize = 16 * 1024;

async fn short_address(request: Request, next: Next) -> Response {
    let uri = request.uri();
    if uri.path_and_query().is_some_and(|uri| uri.as_str().len() > MAX_URI_BYTES) {
        return ApiError::UriTooLong(MAX_URI_BYTES).into_response();
    }
    next.run(request).await
}

/// Names that reach this machine alone are always good; other names must be configured. Else a page
/// whose own name is made to resolve to this machine could read what is here.
async fn validate_host(State(app): State<App>, request: Request, next: Next) -> Response {
    let host = request.uri().host().map(str::to_owned).or_else(|| header(request.headers(), &HOST));
    // Of two that are sent, a proxy may take the other one.
    let is_one = request.headers().get_all(HOST).iter().count() <= 1;
    match host {
        Some(host) if is_one && is_known(&host, &app.config) => next.run(request).await,
        _ => ApiError::Host.into_response(),
    }
}

fn is_known(host: &str, config: &Config) -> bool {
    let name = without_port(host).to_ascii_lowercase();
    let same = |allowed: &String| allowed.eq_ignore_ascii_case(host) || allowed.eq_ignore_ascii_case(&name);
    if name == "localhost" || config.server.allowed_hosts.iter().any(same) {
        return true;
    }
    let address: Option<IpAddr> = name.trim_start_matches('[').trim_end_matches(']').parse().ok();
    address.is_some_and(|address| address.is_loopback() || address == config.listen.ip())
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    }
}

/// Pages of the configured origins may use the API; without any there is no CORS.
fn cors(config: &Config) -> CorsLayer {
    let origins = &config.server.allowed_origins;
    let origins = origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok());
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers([CONTENT_TYPE, AUTHORIZATION, HeaderName::from_static("last-event-id")])
}

/// A browser says where a write comes from; programs do not.
async fn same_origin(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut origins = request.headers().get_all(ORIGIN).iter();
    let is_let_in = match (origins.next(), origins.next()) {
        (None, _) => !is_of_another_site(request.headers()),
        (Some(origin), None) => origin.to_str().is_ok_and(|origin| {
            let allowed = &app.config.server.allowed_origins;
            allowed.iter().any(|allowed| allowed == origin) || is_own_page(request.headers())
        }),
        // A browser says one, and nothing that is no text.
        (Some(_), Some(_)) => false,
    };
    if is_read(request.method()) || is_let_in {
        next.run(request).await
    } else {
        ApiError::Origin.into_response()
    }
}

/// Does the method change nothing?
pub(super) fn is_read(method: &Method) -> bool {
    [Method::GET, Method::HEAD, Method::OPTIONS].contains(method)
}

/// Does a page of this very server ask?
pub(super) fn is_own_page(headers: &HeaderMap) -> bool {
    let host = header(headers, &HOST).unwrap_or_default();
    let origin = header(headers, &ORIGIN);
    origin.is_some_and(|origin| {
        origin.split_once("://").is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(&host))
    })
}

/// Does a browser say, in other words than `Origin`, that another site's page asks?
fn is_of_another_site(headers: &HeaderMap) -> bool {
    let site = header(headers, &HeaderName::from_static("sec-fetch-site"));
    site.is_some_and(|site| !["same-origin", "none"].contains(&site.as_str()))
}

pub(super) fn header(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// The answer's headers, and the log line of a failure: the one place where it is logged.
async fn security_headers(request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let mut response = next.run(request).await;
    if let Some(Failure(cause)) = response.extensions().get() {
        tracing::error!(%method, path, error = format!("{cause:#}"), "a request failed");
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    // Other sites learn nothing; our own pages' forms must say where they come from, and with
    // `no-referrer` browsers would make that `null`.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

fn panicked(cause: Box<dyn Any + Send + 'static>) -> Response {
    let text = cause.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("no message");
    ApiError::Internal(anyhow::anyhow!("panicked: {text}")).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use axum::routing::get;
    use tower::ServiceExt as _;

    #[test]
    fn loopback_and_what_is_configured_are_known() {
        let mut config = Config::default();
        config.server.allowed_hosts = vec!["Papertape.example".to_owned(), "other.example:8443".to_owned()];
        config.listen = "10.1.2.3:80".parse().expect("an address");
        let known = [
            "localhost",
            "LOCALHOST:8080",
            "127.0.0.1:8080",
            "127.9.9.9",
            "[::1]:8080",
            "papertape.example:80",
            "other.example:8443",
            "10.1.2.3",
        ];
        for host in known {
            assert!(is_known(host, &config), "{host}");
        }
        let unknown = ["", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.1.2.4"];
        for host in unknown {
            assert!(!is_known(host, &config), "{host}");
        }
    }

    #[tokio::test]
    async fn a_panic_is_an_answer_like_any_other() {
        let fails = async || -> Response { panic!("on purpose") };
        let router = Router::new().route("/", get(fails)).layer(CatchPanicLayer::custom(panicked));
        let request = axum::http::Request::get("/").body(Body::empty()).expect("a request");
        let response = router.oneshot(request).await.expect("an answer");
        assert_eq!(response.status(), 500);
        let body = axum::body::to_bytes(response.into_body(), 1000).await.expect("a body");
        assert_eq!(
            &body[..],
            br#"{"error":"internal_error","message":"the server failed; its log says why"}"#
        );
    }
}
