//! Middleware around every route: access checks, security headers, compression, and logging of failures.

use super::access;
use super::error::{ApiError, Failure};
use super::headers::{header, is_own_page, is_read};
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

/// Loads nothing from other hosts. Inline images are allowed, because the docs page's icons are inline.
const POLICY: &str = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; \
                      form-action 'self'; frame-ancestors 'none'";

/// Smaller responses are not compressed.
const MIN_COMPRESSED_BYTES: u64 = 4_096;

/// Wraps the routes. The doors have tokens of their own.
pub(super) fn apply(routes: Router, doors: Router, app: App) -> Router {
    let cors = cors(&app.config);
    routes
        .layer(from_fn_with_state(app.clone(), access::authenticate))
        .merge(doors)
        .layer(from_fn_with_state(app.clone(), same_origin))
        .layer(cors)
        .layer(from_fn_with_state(app, validate_host))
        .layer(from_fn(limit_uri))
        .layer(compression())
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn(security_headers))
}

/// Wraps the doors where nothing else is served.
pub(super) fn apply_to_doors(doors: Router, app: App) -> Router {
    doors
        .layer(from_fn_with_state(app.clone(), same_origin))
        .layer(from_fn_with_state(app, validate_host))
        .layer(from_fn(limit_uri))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn(security_headers))
}

/// Compresses large responses at the fastest level. Streams are not compressed, because each event must be sent at
/// once; neither is content that is already compressed.
fn compression() -> CompressionLayer<impl Predicate> {
    let predicate = SizeAbove::new(MIN_COMPRESSED_BYTES)
        .and(NotForContentType::SSE)
        .and(NotForContentType::IMAGES)
        .and(NotForContentType::const_new("application/zip"));
    CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(predicate)
}

/// No legitimate query is longer than this; the HTTP layer itself allows 64 KiB.
const MAX_URI_BYTES: usize = 16 * 1024;

async fn limit_uri(request: Request, next: Next) -> Response {
    let uri = request.uri();
    if uri.path_and_query().is_some_and(|uri| uri.as_str().len() > MAX_URI_BYTES) {
        return ApiError::UriTooLong(MAX_URI_BYTES).into_response();
    }
    next.run(request).await
}

/// Loopback names are always valid; other names must be configured. Otherwise a website whose name resolves to this
/// machine could read the API (DNS rebinding).
async fn validate_host(State(app): State<App>, request: Request, next: Next) -> Response {
    let host = request.uri().host().map(str::to_owned).or_else(|| header(request.headers(), &HOST));
    // With two Host headers, a proxy may use the other one.
    let is_one = request.headers().get_all(HOST).iter().count() <= 1;
    match host {
        Some(host) if is_one && is_known(&host, &app.config) => next.run(request).await,
        _ => ApiError::Host.into_response(),
    }
}

fn is_known(host: &str, config: &Config) -> bool {
    let name = without_port(host).to_ascii_lowercase();
    let same = |allowed: &String| allowed.eq_ignore_ascii_case(host) || allowed.eq_ignore_ascii_case(&name);
    let is_public = config.server.public_host().is_some_and(|public| public.eq_ignore_ascii_case(&name));
    if name == "localhost" || is_public || config.server.allowed_hosts.iter().any(same) {
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

/// Pages of the configured origins may use the API. No origins, no CORS headers.
fn cors(config: &Config) -> CorsLayer {
    let origins = &config.server.allowed_origins;
    let origins = origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok());
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers([CONTENT_TYPE, AUTHORIZATION, HeaderName::from_static("last-event-id")])
}

/// Rejects cross-origin writes. Browsers send the origin of a write; other programs do not.
pub(super) async fn same_origin(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut origins = request.headers().get_all(ORIGIN).iter();
    let is_allowed = match (origins.next(), origins.next()) {
        (None, _) => !is_cross_site(request.headers()),
        (Some(origin), None) => origin.to_str().is_ok_and(|origin| {
            let allowed = &app.config.server.allowed_origins;
            allowed.iter().any(|allowed| allowed == origin) || is_own_page(request.headers())
        }),
        // A browser sends one at most.
        (Some(_), Some(_)) => false,
    };
    if is_read(request.method()) || is_allowed {
        next.run(request).await
    } else {
        ApiError::Origin.into_response()
    }
}

/// Whether `Sec-Fetch-Site` says that the request comes from another site's page.
fn is_cross_site(headers: &HeaderMap) -> bool {
    let site = header(headers, &HeaderName::from_static("sec-fetch-site"));
    site.is_some_and(|site| !["same-origin", "none"].contains(&site.as_str()))
}

/// Adds security headers, and logs internal errors: the only place that does.
async fn security_headers(request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let mut response = next.run(request).await;
    if let Some(Failure(cause)) = response.extensions().get() {
        tracing::error!(%method, path, error = format!("{cause:#}"), "request failed");
    }
    let headers = response.headers_mut();
    // A page with a stricter policy of its own keeps it.
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    // Other sites get no referrer. `no-referrer` would turn the origin of our own pages' forms into `null`.
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
            br#"{"error":"internal_error","message":"internal error; see the server log"}"#
        );
    }
}
