//! Authentication by bearer token or by the cookie of a logged-in browser; and `GET /access`.

use super::error::ApiError;
use super::headers::{header, is_own_page, is_read};
use super::responses::ReadErrors;
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, AUTHORIZATION, COOKIE};
use axum::http::{HeaderMap, Method, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::{Extension, Json};
use cookie::Cookie;
use papertape_protocol::access::{AccessResponse, Scope};
use papertape_service::access::{Caller, TokenHash};
use papertape_service::app::App;

pub(super) const COOKIE_NAME: &str = "papertape";
/// Paths that need no authentication here: `/mcp` has its own, which also accepts the tokens of sessions.
const OPEN: [&str; 4] = ["/login", "/logout", "/login.css", "/mcp"];

/// A probe without a token gets the status only.
const PROBE: &str = "/health";

/// Rejects unknown callers; if no token is configured, everyone has access.
pub(super) async fn authenticate(State(app): State<App>, mut request: Request, next: Next) -> Response {
    if app.authenticator.is_open() || OPEN.contains(&request.uri().path()) {
        return next.run(request).await;
    }
    let (method, headers) = (request.method(), request.headers());
    let caller = match bearer(headers) {
        // A cookie does not make up for a wrong bearer token.
        Some(token) => app.authenticator.by_token(token),
        None => match by_cookie(&app, headers).await {
            // A browser sends its cookie from any page, so a write must come from one of ours.
            Ok(Some(_)) if !is_read(method) && !is_own_page(headers) => {
                return ApiError::Origin.into_response();
            }
            Ok(caller) => caller,
            Err(error) => return error.into_response(),
        },
    };
    let Some(caller) = caller else {
        return if request.uri().path() == PROBE {
            next.run(request).await
        } else if wants_page(method, headers) {
            Redirect::to(&login_for(request.uri())).into_response()
        } else {
            ApiError::Unauthorized.into_response()
        };
    };
    if !is_read(method) && caller.scope < Scope::Operate {
        return ApiError::ReadOnly(caller.name).into_response();
    }
    request.extensions_mut().insert(caller);
    next.run(request).await
}

/// The token of `Authorization: Bearer …`; empty if the header holds anything else.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().unwrap_or_default();
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    Some(if scheme.eq_ignore_ascii_case("bearer") { token.trim() } else { "" })
}

/// The caller of a browser session. Sessions are stored in the database, so they also hold for other servers
/// on it and survive a restart.
pub(super) async fn by_cookie(app: &App, headers: &HeaderMap) -> Result<Option<Caller>, ApiError> {
    let cookie = session_cookie(headers);
    let Some(cookie) = cookie.as_deref().and_then(TokenHash::from_well_formed) else { return Ok(None) };
    let token = app.store.login(&cookie.to_string(), app.services.clock.now()).await;
    let token = token.map_err(|error| ApiError::Internal(error.into()))?;
    Ok(token.and_then(|token| app.authenticator.by_token_hash(&token)))
}

/// The value of our cookie.
pub(super) fn session_cookie(headers: &HeaderMap) -> Option<String> {
    let sent = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut cookies = sent.flat_map(Cookie::split_parse).filter_map(Result::ok);
    cookies.find(|cookie| cookie.name() == COOKIE_NAME).map(|cookie| cookie.value().to_owned())
}

/// Whether a browser opens a page.
fn wants_page(method: &Method, headers: &HeaderMap) -> bool {
    let accepts = header(headers, &ACCEPT).unwrap_or_default();
    *method == Method::GET && accepts.contains("text/html")
}

/// The login page, with the way back to this URI.
fn login_for(uri: &Uri) -> String {
    let back = uri.path_and_query().map_or("/", |path| path.as_str());
    let query: String = form_urlencoded::Serializer::new(String::new()).append_pair("next", back).finish();
    format!("/login?{query}")
}

/// Get the caller's name and scope
#[utoipa::path(
    get,
    path = "/access",
    tag = "server",
    responses((status = 200, body = AccessResponse, description = "The caller"), ReadErrors)
)]
pub(super) async fn access(caller: Option<Extension<Caller>>) -> Json<AccessResponse> {
    Json(match caller {
        Some(Extension(Caller { name, scope })) => AccessResponse { required: true, name: Some(name), scope },
        None => AccessResponse { required: false, name: None, scope: Scope::Operate },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn cookies_and_bearers_are_read() {
        let mut headers = HeaderMap::new();
        assert_eq!((bearer(&headers), session_cookie(&headers)), (None, None));
        headers.append(COOKIE, HeaderValue::from_static("a=b; papertape=ptk_1 ;c=d"));
        assert_eq!(session_cookie(&headers).as_deref(), Some("ptk_1"));
        for (value, token) in
            [("Bearer x", "x"), ("bearer  y ", "y"), ("Basic x", ""), ("Bearer", ""), ("", "")]
        {
            headers.insert(AUTHORIZATION, HeaderValue::from_static(value));
            assert_eq!(bearer(&headers), Some(token), "{value}");
        }
    }

    #[test]
    fn the_way_back_is_kept_whole() {
        let uri = Uri::from_static("/jobs?status=running&limit=5");
        assert_eq!(login_for(&uri), "/login?next=%2Fjobs%3Fstatus%3Drunning%26limit%3D5");
    }
}
