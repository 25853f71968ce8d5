//! What a request's method and headers tell about it.

use axum::http::header::{HOST, HeaderName, ORIGIN};
use axum::http::{HeaderMap, Method};

/// Whether the method only reads.
pub(super) fn is_read(method: &Method) -> bool {
    [Method::GET, Method::HEAD, Method::OPTIONS].contains(method)
}

/// Whether the request comes from a page of this server.
pub(super) fn is_own_page(headers: &HeaderMap) -> bool {
    let host = header(headers, &HOST).unwrap_or_default();
    let origin = header(headers, &ORIGIN);
    origin.is_some_and(|origin| {
        origin.split_once("://").is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(&host))
    })
}

pub(super) fn header(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}
