//! `GET /login`, `POST /login` and `POST /logout`, for browsers. Plain forms, no scripts.

use super::access::{COOKIE_NAME, by_cookie, session_cookie};
use super::error::ApiError;
use super::extract::read_within;
use super::headers::header;
use super::stream::client;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_TYPE, ORIGIN, RETRY_AFTER, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use cookie::{Cookie, SameSite};
use papertape_core::language::Language;
use papertape_service::access::{Caller, Login, LoginError, MAX_SESSIONS, TokenHash};
use papertape_service::app::App;
use papertape_service::html::escape;
use std::time::Duration;

/// The maximum size of a form.
const FORM_BYTES: usize = 8_192;

pub(super) fn routes() -> Router<App> {
    let style = async || ([(CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("login.css"));
    Router::new()
        .route("/login", get(login_page).post(log_in))
        .route("/logout", post(log_out))
        .route("/login.css", get(style))
}

async fn login_page(State(app): State<App>, uri: Uri, headers: HeaderMap) -> Result<Response, ApiError> {
    let query = uri.query().unwrap_or_default();
    let texts = texts(query.as_bytes(), &headers);
    let caller = by_cookie(&app, &headers).await?;
    let note = app.authenticator.is_open().then_some(texts.open);
    Ok(page(StatusCode::OK, &texts, &next(query.as_bytes()), caller.as_ref(), note))
}

async fn log_in(State(app): State<App>, request: Request) -> Result<Response, ApiError> {
    let (headers, client) = (request.headers().clone(), client(request.extensions()));
    let form = read_within(request, &app, FORM_BYTES).await?;
    let (texts, next) = (texts(&form, &headers), next(&form));
    let token = field(&form, "token").unwrap_or_default();
    let now = app.services.clock.now();
    let error = match app.authenticator.log_in(client, &token, now) {
        Ok(Login { cookie, cookie_hash, token_hash, caller, until }) => {
            let (cookie_hash, token_hash) = (cookie_hash.to_string(), token_hash.to_string());
            let added = app.store.add_login(&cookie_hash, &token_hash, (now, until), MAX_SESSIONS).await;
            added.map_err(|error| ApiError::Internal(error.into()))?;
            tracing::info!(name = %caller.name, scope = caller.scope.as_str(), client = %client, "logged in");
            let cookie = set_cookie(&cookie, app.authenticator.session_duration(), &headers);
            return Ok(([(SET_COOKIE, cookie)], Redirect::to(&next)).into_response());
        }
        Err(error) => error,
    };
    tracing::warn!(client = %client, throttled = matches!(error, LoginError::Throttled(_)), "login failed");
    Ok(match error {
        LoginError::UnknownToken => {
            page(StatusCode::UNAUTHORIZED, &texts, &next, None, Some(texts.unknown_token))
        }
        LoginError::Throttled(wait) => {
            let secs = wait.as_secs().max(1).to_string();
            let note = texts.throttled.replace("{secs}", &secs);
            let page = page(StatusCode::TOO_MANY_REQUESTS, &texts, &next, None, Some(&note));
            ([(RETRY_AFTER, secs)], page).into_response()
        }
    })
}

async fn log_out(State(app): State<App>, headers: HeaderMap) -> Result<Response, ApiError> {
    if let Some(cookie) = session_cookie(&headers).and_then(|cookie| TokenHash::from_well_formed(&cookie)) {
        let ended = app.store.end_login(&cookie.to_string()).await;
        ended.map_err(|error| ApiError::Internal(error.into()))?;
    }
    let expired = set_cookie("", Duration::ZERO, &headers);
    Ok(([(SET_COOKIE, expired)], Redirect::to("/login")).into_response())
}

/// No script can read the cookie, pages of other sites do not send it, and over HTTPS it is never sent without TLS.
fn set_cookie(value: &str, max_age: Duration, headers: &HeaderMap) -> String {
    let is_https = header(headers, &ORIGIN).is_some_and(|origin| origin.starts_with("https://"));
    let max_age = cookie::time::Duration::seconds(i64::try_from(max_age.as_secs()).unwrap_or(i64::MAX));
    let cookie = Cookie::build((COOKIE_NAME, value)).path("/").http_only(true).same_site(SameSite::Strict);
    let mut cookie = cookie.max_age(max_age).build();
    cookie.set_secure(is_https.then_some(true));
    cookie.to_string()
}

/// A field of a form or a query.
fn field(form: &[u8], name: &str) -> Option<String> {
    form_urlencoded::parse(form).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// The target after the login: always a path of this server.
fn next(form: &[u8]) -> String {
    let is_ours = |next: &String| {
        let mut rest = next.bytes();
        rest.next() == Some(b'/')
            && !matches!(rest.next(), Some(b'/' | b'\\'))
            && next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
            && !next.starts_with("/login")
    };
    field(form, "next").filter(is_ours).unwrap_or_else(|| "/".to_owned())
}

/// The logo of the web UI. Inline: without a login, its file is not available.
const LOGO: &str = r##"<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#14171c"/><path d="M5 20.5l5.5-6 4.5 4 6-9 6 6.5" fill="none" stroke="#5b9dff" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/><path d="M5 26h22" stroke="#7d8694" stroke-width="2.2" stroke-dasharray="2.2 3" stroke-linecap="round"/></svg>"##;

struct Texts {
    lang: &'static str,
    title: &'static str,
    token: &'static str,
    hint: &'static str,
    log_in: &'static str,
    unknown_token: &'static str,
    throttled: &'static str,
    open: &'static str,
    logged_in: &'static str,
    log_out: &'static str,
    proceed: &'static str,
}

const ENGLISH: Texts = Texts {
    lang: "en",
    title: "Log in to Papertape",
    token: "Access token",
    hint: "The server's operator creates tokens with <code>papertape auth token NAME --scope read</code>.",
    log_in: "Log in",
    unknown_token: "Unknown token.",
    throttled: "Too many failed logins. Try again in {secs} s.",
    open: "This server does not require a token.",
    logged_in: "Logged in as",
    log_out: "Log out",
    proceed: "Continue",
};

const CHINESE: Texts = Texts {
    lang: "zh",
    title: "登录 Papertape",
    token: "访问令牌",
    hint: "令牌由服务器管理员用 <code>papertape auth token NAME --scope read</code> 生成。",
    log_in: "登录",
    unknown_token: "无法识别此令牌。",
    throttled: "登录失败次数过多,请在 {secs} 秒后重试。",
    open: "此服务器无需令牌。",
    logged_in: "已登录:",
    log_out: "退出登录",
    proceed: "继续",
};

/// The texts in the requested language, else in the first supported language that the browser prefers.
fn texts(query: &[u8], headers: &HeaderMap) -> Texts {
    let accepted = accept_language::parse(&header(headers, &ACCEPT_LANGUAGE).unwrap_or_default());
    let mut tags = field(query, "lang").into_iter().chain(accepted);
    match tags.find_map(|tag| Language::from_tag(&tag)) {
        Some(Language::Zh) => CHINESE,
        _ => ENGLISH,
    }
}

/// Renders the page.
fn page(
    status: StatusCode,
    texts: &Texts,
    next: &str,
    caller: Option<&Caller>,
    note: Option<&str>,
) -> Response {
    let Texts { lang, title, token, hint, log_in, logged_in, log_out, proceed, .. } = texts;
    let note = note.map(|note| format!("<p class=\"note\" role=\"alert\">{note}</p>")).unwrap_or_default();
    let in_language = |lang: &str| {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let query = query.append_pair("lang", lang).append_pair("next", next).finish();
        escape(&format!("/login?{query}"))
    };
    let (english, chinese) = (in_language("en"), in_language("zh"));
    let next = escape(next);
    let form = match caller {
        Some(Caller { name, scope }) => {
            let (name, scope) = (escape(name), scope.as_str());
            format!(
                "<p>{logged_in} <strong>{name}</strong> ({scope}).</p><p><a href=\"{next}\">{proceed}</a></p>\
                 <form method=\"post\" action=\"/logout\"><button>{log_out}</button></form>"
            )
        }
        None => format!(
            "<form method=\"post\" action=\"/login\"><label for=\"token\">{token}</label>\
             <input id=\"token\" name=\"token\" type=\"password\" autocomplete=\"current-password\" required \
             autofocus><input type=\"hidden\" name=\"next\" value=\"{next}\"><input type=\"hidden\" \
             name=\"lang\" value=\"{lang}\"><button>{log_in}</button></form><p class=\"hint\">{hint}</p>"
        ),
    };
    let html = format!(
        "<!doctype html><html lang=\"{lang}\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><title>{title}</title><link rel=\"stylesheet\" \
         href=\"/login.css\"></head><body><main>{LOGO}<h1>{title}</h1>{note}{form}<nav><a href=\"{english}\" \
         lang=\"en\">English</a> <a href=\"{chinese}\" lang=\"zh\">中文</a></nav></main></body></html>"
    );
    (status, [(CACHE_CONTROL, "no-store")], Html(html)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn a_login_redirects_to_this_server_only() {
        let target = |next_field: &str| next(format!("next={next_field}").as_bytes());
        assert_eq!(target("%2Fjobs%3Flimit%3D5"), "/jobs?limit=5");
        let elsewhere = [
            "https%3A%2F%2Fevil.example",
            "%2F%2Fevil.example",
            "%2F%5Cevil.example",
            "jobs",
            "",
            "%2Flogin",
            "%2F%09%2Fevil.example",
            "%2Fa%0D%0Ab",
            "javascript%3Aalert(1)",
        ];
        for next_field in elsewhere {
            assert_eq!(target(next_field), "/", "{next_field}");
        }
    }

    #[test]
    fn the_page_is_in_the_readers_language() {
        let language = |query: &str, accepts: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_LANGUAGE, HeaderValue::from_static(accepts));
            texts(query.as_bytes(), &headers).lang
        };
        assert_eq!(language("", ""), "en");
        assert_eq!(language("", "fr-FR, zh-CN;q=0.8, en;q=0.5"), "zh");
        assert_eq!(language("lang=en", "zh-CN"), "en");
        assert_eq!(language("lang=中文", "zh-TW"), "zh");
        assert_eq!(language("lang=xx", "e"), "en");
    }
}
