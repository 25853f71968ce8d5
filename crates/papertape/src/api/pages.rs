//! The pages for people: `/`, `/app/…` and what they load.
//!
//! They are built in `web/` beside the crates and read from `web/dist`: by a debug build from the disk, when
//! they are asked for; a release build carries them. All addresses below `/app/` are one page, which finds
//! its view by itself; no route of the API begins so.

use super::error::ApiError;
use crate::app::App;
use axum::Router;
use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Pages;

/// Their names have the hash of their content: what a browser has stays good.
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// The page names what it loads, so it is asked for each time.
const ANEW: HeaderValue = HeaderValue::from_static("no-cache");

/// Shown where the pages were not built.
const NOT_BUILT: &str = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Papertape</title>\n\
     <h1>The pages are not built</h1>\n<p>This program was built without its pages: build them with \
     <code>make pages</code>, which needs Node.js, then build the program again.</p>\n<p>The API is there all \
     the same: <a href=\"/docs/\">docs</a>, <a href=\"/openapi.json\">OpenAPI</a>, <a href=\"/jobs\">jobs</a>, \
     <a href=\"/health\">health</a>.</p>\n</html>\n";

/// The routes.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/", get(page))
        .route("/app", get(page))
        .route("/app/{*view}", get(page))
        .route("/assets/{file}", get(asset))
        .route("/favicon.svg", get(async || loaded("favicon.svg", ANEW)))
}

async fn page() -> Response {
    match Pages::get("index.html") {
        Some(_) => loaded("index.html", ANEW).into_response(),
        None => (StatusCode::SERVICE_UNAVAILABLE, Html(NOT_BUILT)).into_response(),
    }
}

/// What the page loads lies in one folder; no name leads out of it.
async fn asset(Path(file): Path<String>) -> Result<Response, ApiError> {
    let name = if file.contains(['/', '\\']) { "" } else { file.as_str() };
    loaded(&format!("assets/{name}"), FOR_EVER)
}

fn loaded(file: &str, keep: HeaderValue) -> Result<Response, ApiError> {
    let found =
        Pages::get(file).ok_or_else(|| ApiError::NotFound("the pages have no such file".to_owned()))?;
    let kind = HeaderValue::from_static(kind(file));
    Ok(([(CONTENT_TYPE, kind), (CACHE_CONTROL, keep)], found.data.into_owned()).into_response())
}

/// What a file is, by the end of its name: of the few that the build makes.
fn kind(file: &str) -> &'static str {
    match file.rsplit_once('.').map_or("", |(_, end)| end) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "json" | "map" => "application/json",
        _ => "application/octet-stream",
    }
}
