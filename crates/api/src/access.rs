//! Who asks: a bearer token, or the cookie of a browser that has logged in. And `GET /access`.

use super::error::ApiError;
use super::layers::{header, is_own_page, is_read};
use super::responses::ReadErrors;
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, AUTHORIZATION, COOKIE};
use axum::http::{HeaderMap, Method, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::{Extension, Json};
use papertape_protocol::access::{self, AccessResponse};
use papertape_service::access::{Caller, Scope, TokenHash};
use papertape_service::app::App;

/// The cookie's name.
pub(super) const COOKIE_NAME: &str = "papertape";
/// What everybody may see: the way in.
const OPEN: [&str; 3] = ["/login", "/logout", "/login.css"];

/// Probes without a token learn whether the server works, and nothing else.
const PROBE: &str = "/health";

/// Lets in who is known, or everybody where no token is configured.
pub(super) async fn authenticate(State(app): State<App>, mut request: Request, next: Next) -> Response {
    if app.doorkeeper.is_open() || OPEN.contains(&request.uri().path()) {
        return next.run(request).await;
    }
    let (method, headers) = (request.method(), request.headers());
    let caller = match bearer(headers) {
        // A bearer that is wrong is not made good by a cookie.
        Some(token) => app.doorkeeper.by_token(token),
        None => match by_cookie(&app, headers).await {
            // A browser sends its cookie whoever wrote the page: a write must come from our own.
            Ok(Some(_)) if !is_read(method) && !is_own_page(headers) => {
                return ApiError::Origin.into_response();
            }
            Ok(found) => found,
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

/// The token of `Authorization: Bearer …`; empty where the header is there and says something else.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().unwrap_or_default();
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    Some(if scheme.eq_ignore_ascii_case("bearer") { token.trim() } else { "" })
}

/// Whose browser it is, by the record: for another server of it, and after a new start, too.
pub(super) async fn by_cookie(app: &App, headers: &HeaderMap) -> Result<Option<Caller>, ApiError> {
    let Some(cookie) = cookie(headers).and_then(TokenHash::of_well_formed) else { return Ok(None) };
    let token = app.store.login(&cookie.to_string(), app.services.clock.now()).await;
    let token = token.map_err(|error| ApiError::Internal(error.into()))?;
    Ok(token.and_then(|token| app.doorkeeper.by_token_hash(&token)))
}

/// Our cookie's value.
pub(super) fn cookie(headers: &HeaderMap) -> Option<&str> {
    let pairs = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = pairs.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE_NAME).map(|(_, value)| value)
}

/// Is it a person who opens a page?
fn wants_page(method: &Method, headers: &HeaderMap) -> bool {
    let accepts = header(headers, &ACCEPT).unwrap_or_default();
    *method == Method::GET && accepts.contains("text/html")
}

/// The login page, which leads back here.
fn login_for(uri: &Uri) -> String {
    let back = uri.path_and_query().map_or("/", |path| path.as_str());
    let query: String = form_urlencoded::Serializer::new(String::new()).append_pair("next", back).finish();
    format!("/login?{query}")
}

/// Who asks, and what they may do
#[utoipa::path(
    get,
    path = "/access",
    tag = "server",
    responses((status = 200, body = AccessResponse, description = "The caller"), ReadErrors)
)]
pub(super) async fn access(caller: Option<Extension<Caller>>) -> Json<AccessResponse> {
    let of = |scope| match scope {
        Scope::Read => access::Scope::Read,
        Scope::Operate => access::Scope::Operate,
    };
    Json(match caller {
        Some(Extension(Caller { name, scope })) => {
            AccessResponse { required: true, name: Some(name), scope: of(scope) }
        }
        None => AccessResponse { required: false, name: None, scope: of(Scope::Operate) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn cookies_and_bearers_are_read() {
        let mut headers = HeaderMap::new();
        assert_eq!((bearer(&headers), cookie(&headers)), (None, None));
        headers.append(COOKIE, HeaderValue::from_static("a=b; papertape=ptk_1 ;c=d"));
        assert_eq!(cookie(&headers), Some("ptk_1"));
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
