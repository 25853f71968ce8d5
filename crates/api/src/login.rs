//! `GET /login`, `POST /login` and `POST /logout`: a browser's way in and out. Plain forms, no script.

use super::access::{COOKIE_NAME, by_cookie, cookie};
use super::error::ApiError;
use super::extract::read_within;
use super::html::escape;
use super::layers::header;
use super::stream::client;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_TYPE, ORIGIN, RETRY_AFTER, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use papertape_service::access::{Caller, Login, LoginError, MAX_SESSIONS, TokenHash};
use papertape_service::app::App;
use std::time::Duration;

/// The largest form.
const FORM_BYTES: usize = 8_192;

/// The routes.
pub(super) fn routes() -> Router<App> {
    let style = async || ([(CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("login.css"));
    Router::new()
        .route("/login", get(show).post(log_in))
        .route("/logout", post(log_out))
        .route("/login.css", get(style))
}

async fn show(State(app): State<App>, uri: Uri, headers: HeaderMap) -> Result<Response, ApiError> {
    let asked = uri.query().unwrap_or_default();
    let texts = texts(asked.as_bytes(), &headers);
    let caller = by_cookie(&app, &headers).await?;
    let note = app.doorkeeper.is_open().then_some(texts.open);
    Ok(page(StatusCode::OK, &texts, &next(asked.as_bytes()), caller.as_ref(), note))
}

async fn log_in(State(app): State<App>, request: Request) -> Result<Response, ApiError> {
    let (headers, client) = (request.headers().clone(), client(request.extensions()));
    let form = read_within(request, &app, FORM_BYTES).await?;
    let (texts, next) = (texts(&form, &headers), next(&form));
    let token = field(&form, "token").unwrap_or_default();
    let now = app.services.clock.now();
    let refused = match app.doorkeeper.log_in(client, &token, now) {
        Ok(Login { cookie, cookie_hash, token_hash, caller, until }) => {
            let (hash, of) = (cookie_hash.to_string(), token_hash.to_string());
            let kept = app.store.add_login(&hash, &of, (now, until), MAX_SESSIONS).await;
            kept.map_err(|error| ApiError::Internal(error.into()))?;
            tracing::info!(name = %caller.name, scope = caller.scope.as_str(), client = %client, "logged in");
            let cookie = set_cookie(&cookie, app.doorkeeper.session_lasts(), &headers);
            return Ok(([(SET_COOKIE, cookie)], Redirect::to(&next)).into_response());
        }
        Err(refused) => refused,
    };
    tracing::warn!(client = %client, slowed = matches!(refused, LoginError::Slowed(_)), "a login failed");
    Ok(match refused {
        LoginError::Wrong => page(StatusCode::UNAUTHORIZED, &texts, &next, None, Some(texts.wrong)),
        LoginError::Slowed(wait) => {
            let secs = wait.as_secs().max(1).to_string();
            let note = texts.slowed.replace("{secs}", &secs);
            let page = page(StatusCode::TOO_MANY_REQUESTS, &texts, &next, None, Some(&note));
            ([(RETRY_AFTER, secs)], page).into_response()
        }
    })
}

async fn log_out(State(app): State<App>, headers: HeaderMap) -> Result<Response, ApiError> {
    if let Some(cookie) = cookie(&headers).and_then(TokenHash::of_well_formed) {
        let ended = app.store.end_login(&cookie.to_string()).await;
        ended.map_err(|error| ApiError::Internal(error.into()))?;
    }
    let gone = set_cookie("", Duration::ZERO, &headers);
    Ok(([(SET_COOKIE, gone)], Redirect::to("/login")).into_response())
}

/// No script can read it, no other site's page sends it; over TLS it never goes without.
fn set_cookie(value: &str, lasts: Duration, headers: &HeaderMap) -> String {
    let is_https = header(headers, &ORIGIN).is_some_and(|origin| origin.starts_with("https://"));
    let secure = if is_https { "; Secure" } else { "" };
    let secs = lasts.as_secs();
    format!("{COOKIE_NAME}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={secs}{secure}")
}

/// A field of a form or a query.
fn field(form: &[u8], name: &str) -> Option<String> {
    form_urlencoded::parse(form).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// Where to go afterwards: an address of this server, and of no other.
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

/// What the page says.
struct Texts {
    lang: &'static str,
    title: &'static str,
    token: &'static str,
    hint: &'static str,
    enter: &'static str,
    wrong: &'static str,
    slowed: &'static str,
    open: &'static str,
    inside: &'static str,
    leave: &'static str,
    on: &'static str,
}

const ENGLISH: Texts = Texts {
    lang: "en",
    title: "Log in to Papertape",
    token: "Access token",
    hint: "Whoever runs this server makes one with <code>papertape auth token NAME --scope read</code>.",
    enter: "Log in",
    wrong: "This token is not known.",
    slowed: "Too many logins have failed. Try again in {secs} s.",
    open: "This server asks nobody for a token.",
    inside: "Logged in as",
    leave: "Log out",
    on: "Go on",
};

const CHINESE: Texts = Texts {
    lang: "zh",
    title: "登录 Papertape",
    token: "访问令牌",
    hint: "令牌由服务器管理员用 <code>papertape auth token NAME --scope read</code> 生成。",
    enter: "登录",
    wrong: "无法识别此令牌。",
    slowed: "登录失败次数过多,请在 {secs} 秒后重试。",
    open: "此服务器无需令牌。",
    inside: "已登录:",
    leave: "退出登录",
    on: "继续",
};

/// In the language that is asked for, else the first one that the browser prefers and the page has.
fn texts(asked: &[u8], headers: &HeaderMap) -> Texts {
    let by_browser = header(headers, &ACCEPT_LANGUAGE).unwrap_or_default();
    let asked = field(asked, "lang").into_iter().collect::<Vec<_>>();
    let wanted = asked.iter().map(String::as_str).chain(by_browser.split(','));
    let mut known = wanted.filter_map(|one| match one.trim().get(..2)?.to_ascii_lowercase().as_str() {
        "en" => Some(ENGLISH),
        "zh" => Some(CHINESE),
        _ => None,
    });
    known.next().unwrap_or(ENGLISH)
}

/// The page, with what is to be said on it.
fn page(
    status: StatusCode,
    texts: &Texts,
    next: &str,
    caller: Option<&Caller>,
    note: Option<&str>,
) -> Response {
    let Texts { lang, title, token, hint, enter, inside, leave, on, .. } = texts;
    let note = note.map(|note| format!("<p class=\"note\" role=\"alert\">{note}</p>")).unwrap_or_default();
    let next = escape(next);
    let form = match caller {
        Some(Caller { name, scope }) => {
            let (name, scope) = (escape(name), scope.as_str());
            format!(
                "<p>{inside} <strong>{name}</strong> ({scope}).</p><p><a href=\"{next}\">{on}</a></p>\
                 <form method=\"post\" action=\"/logout\"><button>{leave}</button></form>"
            )
        }
        None => format!(
            "<form method=\"post\" action=\"/login\"><label for=\"token\">{token}</label>\
             <input id=\"token\" name=\"token\" type=\"password\" autocomplete=\"current-password\" required \
             autofocus><input type=\"hidden\" name=\"next\" value=\"{next}\"><input type=\"hidden\" \
             name=\"lang\" value=\"{lang}\"><button>{enter}</button></form><p class=\"hint\">{hint}</p>"
        ),
    };
    let html = format!(
        "<!doctype html><html lang=\"{lang}\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><title>{title}</title><link rel=\"stylesheet\" \
         href=\"/login.css\"></head><body><main><h1>{title}</h1>{note}{form}<nav><a href=\"/login?lang=en\" \
         lang=\"en\">English</a> <a href=\"/login?lang=zh\" lang=\"zh\">中文</a></nav></main></body></html>"
    );
    (status, [(CACHE_CONTROL, "no-store")], Html(html)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn a_login_leads_to_this_server_alone() {
        let leads = |asked: &str| next(format!("next={asked}").as_bytes());
        assert_eq!(leads("%2Fjobs%3Flimit%3D5"), "/jobs?limit=5");
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
        for asked in elsewhere {
            assert_eq!(leads(asked), "/", "{asked}");
        }
    }

    #[test]
    fn the_page_speaks_the_readers_language() {
        let speaks = |query: &str, accepts: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_LANGUAGE, HeaderValue::from_static(accepts));
            texts(query.as_bytes(), &headers).lang
        };
        assert_eq!(speaks("", ""), "en");
        assert_eq!(speaks("", "fr-FR, zh-CN;q=0.8, en;q=0.5"), "zh");
        assert_eq!(speaks("lang=en", "zh-CN"), "en");
        assert_eq!(speaks("lang=中文", "zh-TW"), "zh");
        assert_eq!(speaks("lang=xx", "e"), "en");
    }
}
