//! The pages for people: `/`, `/app/…` and what they load.
//!
//! They are built in `web/` beside the crates and read from `web/dist`: by a debug build from the disk, when
//! they are asked for; a release build carries them. All addresses below `/app/` are one page, which finds
//! its view by itself; no route of the API begins so.
//!
//! The build leaves each text beside itself in compressed forms (`.br`, `.gz`), where that is shorter: whoever
//! takes one gets it, and nothing is compressed when it is asked for.

use super::error::ApiError;
use super::layers::header;
use axum::Router;
use axum::extract::Path;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use papertape_service::app::App;
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Pages;

/// Their names have the hash of their content: what a browser has stays good.
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// The page names what it loads, so it is asked for each time, by what it was.
const ANEW: HeaderValue = HeaderValue::from_static("no-cache");
/// Compressed forms, the shortest first: their names in HTTP, and how their files end.
const FORMS: [(&str, &str); 2] = [("br", "br"), ("gzip", "gz")];

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
        .route("/favicon.svg", get(async |headers: HeaderMap| loaded("favicon.svg", ANEW, &headers)))
}

async fn page(headers: HeaderMap) -> Response {
    match Pages::get("index.html") {
        Some(_) => loaded("index.html", ANEW, &headers).into_response(),
        None => (StatusCode::SERVICE_UNAVAILABLE, Html(NOT_BUILT)).into_response(),
    }
}

/// What the page loads lies in one folder; no name leads out of it. The compressed forms are no files of
/// their own.
async fn asset(Path(file): Path<String>, headers: HeaderMap) -> Result<Response, ApiError> {
    let is_form = FORMS.iter().any(|(_, end)| file.ends_with(&format!(".{end}")));
    let name = if is_form || file.contains(['/', '\\']) { "" } else { file.as_str() };
    loaded(&format!("assets/{name}"), FOR_EVER, &headers)
}

fn loaded(file: &str, keep: HeaderValue, asked: &HeaderMap) -> Result<Response, ApiError> {
    let missing = || ApiError::NotFound("the pages have no such file".to_owned());
    let whole = Pages::get(file).ok_or_else(missing)?;
    let accepted = header(asked, &ACCEPT_ENCODING).unwrap_or_default();
    let mut forms = FORMS.into_iter().filter(|(form, _)| accepts(&accepted, form));
    let form = forms.find_map(|(form, end)| Some((form, Pages::get(&format!("{file}.{end}"))?)));
    // Each form has a tag of its own; a byte of the hash is two digits.
    let hash = whole.metadata.sha256_hash();
    let hash: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let tag = form.as_ref().map_or(format!("\"{hash}\""), |(form, _)| format!("\"{hash}-{form}\""));
    let mut answer = HeaderMap::new();
    answer.insert(CACHE_CONTROL, keep);
    answer.insert(VARY, HeaderValue::from_static("accept-encoding"));
    let known = header(asked, &IF_NONE_MATCH).unwrap_or_default();
    let is_known = known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag);
    if let Ok(tag) = HeaderValue::try_from(tag) {
        answer.insert(ETAG, tag);
    }
    if is_known {
        return Ok((StatusCode::NOT_MODIFIED, answer).into_response());
    }
    answer.insert(CONTENT_TYPE, HeaderValue::from_static(kind(file)));
    if let Some((form, _)) = form {
        answer.insert(CONTENT_ENCODING, HeaderValue::from_static(form));
    }
    let data = form.map_or(whole.data, |(_, file)| file.data);
    Ok((answer, data.into_owned()).into_response())
}

/// Does an `Accept-Encoding` name this form, and not with the weight 0?
fn accepts(accepted: &str, form: &str) -> bool {
    accepted.split(',').any(|one| {
        let (name, weight) = one.split_once(';').unwrap_or((one, ""));
        let weight = weight.trim().trim_start_matches("q=").parse::<f32>().unwrap_or(1.0);
        name.trim().eq_ignore_ascii_case(form) && weight > 0.0
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_taken_by_name_and_weight() {
        assert!(accepts("gzip, deflate, br, zstd", "br"));
        assert!(accepts("br;q=0.5, GZIP", "gzip"));
        for not in ["", "gzip", "br;q=0, gzip", "br; q=0.0", "brotli", "*"] {
            assert!(!accepts(not, "br"), "{not}");
        }
    }

    /// Every form of a file that was built is that file, and is sent as what it is; whoever has it is told so.
    #[test]
    fn forms_of_a_file_are_that_file() {
        let asked = |headers: &[(axum::http::HeaderName, &str)]| {
            let headers = headers
                .iter()
                .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).expect("a value")));
            headers.collect::<HeaderMap>()
        };
        // Without the pages there is nothing to look at.
        for file in Pages::iter().filter(|file| file.ends_with(".js") || file.ends_with(".html")) {
            let plain = loaded(&file, FOR_EVER, &asked(&[])).expect("is there");
            assert!(!plain.headers().contains_key(CONTENT_ENCODING), "{file}");
            assert_eq!(plain.headers()[VARY], "accept-encoding");
            let small = loaded(&file, FOR_EVER, &asked(&[(ACCEPT_ENCODING, "gzip, br")])).expect("is there");
            assert_eq!(small.headers()[CONTENT_TYPE], plain.headers()[CONTENT_TYPE]);
            if small.headers().contains_key(CONTENT_ENCODING) {
                assert_ne!(small.headers()[ETAG], plain.headers()[ETAG], "{file}");
            }
            let tag = plain.headers()[ETAG].to_str().expect("a text").to_owned();
            let again = loaded(&file, ANEW, &asked(&[(IF_NONE_MATCH, &tag)])).expect("is there");
            assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{file}");
        }
    }
}
