//! The web pages: `/`, `/app/…` and their assets.
//!
//! They are built in `web/` and read from `web/dist`. A debug build reads them from disk for each request; a release
//! build embeds them. All paths below `/app/` serve one page, which routes by itself; no API route starts with it.
//!
//! The build stores compressed variants (`.br`, `.gz`) next to each text file if they are smaller, so nothing is
//! compressed at request time.

use super::error::ApiError;
use super::headers::header;
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

/// For files whose names contain the hash of their content.
const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// For files that the browser must revalidate, because they name the current assets.
const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");
/// Compressed variants, the smallest first: the name in HTTP, and the file extension.
const ENCODINGS: [(&str, &str); 2] = [("br", "br"), ("gzip", "gz")];

/// Served if the pages were not built.
const NOT_BUILT: &str = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Papertape</title>\n\
     <h1>The pages are not built</h1>\n<p>This program was built without its pages. Build them with \
     <code>make pages</code>, which requires Node.js, then build the program again.</p>\n<p>The API works \
     without them: <a href=\"/docs/\">docs</a>, <a href=\"/openapi.json\">OpenAPI</a>, <a href=\"/jobs\">jobs</a>, \
     <a href=\"/health\">health</a>.</p>\n</html>\n";

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/", get(page))
        .route("/app", get(page))
        .route("/app/{*view}", get(page))
        .route("/assets/{file}", get(asset))
        .route(
            "/favicon.svg",
            get(async |headers: HeaderMap| serve_file("favicon.svg", REVALIDATE, &headers)),
        )
}

async fn page(headers: HeaderMap) -> Response {
    match Pages::get("index.html") {
        Some(_) => serve_file("index.html", REVALIDATE, &headers).into_response(),
        None => (StatusCode::SERVICE_UNAVAILABLE, Html(NOT_BUILT)).into_response(),
    }
}

/// Serves an asset. All assets are in one folder, and no name leads out of it. Compressed variants have no path of
/// their own.
async fn asset(Path(file): Path<String>, headers: HeaderMap) -> Result<Response, ApiError> {
    let is_variant = ENCODINGS.iter().any(|(_, end)| file.ends_with(&format!(".{end}")));
    let name = if is_variant || file.contains(['/', '\\']) { "" } else { file.as_str() };
    serve_file(&format!("assets/{name}"), IMMUTABLE, &headers)
}

fn serve_file(file: &str, cache_control: HeaderValue, request: &HeaderMap) -> Result<Response, ApiError> {
    let missing = || ApiError::NotFound("the pages have no such file".to_owned());
    let plain = Pages::get(file).ok_or_else(missing)?;
    let accepted = header(request, &ACCEPT_ENCODING).unwrap_or_default();
    let mut encodings = ENCODINGS.into_iter().filter(|(encoding, _)| accepts(&accepted, encoding));
    let variant =
        encodings.find_map(|(encoding, end)| Some((encoding, Pages::get(&format!("{file}.{end}"))?)));
    // Each variant has its own tag.
    let hash = plain.metadata.sha256_hash();
    let hash: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let tag = variant
        .as_ref()
        .map_or_else(|| format!("\"{hash}\""), |(encoding, _)| format!("\"{hash}-{encoding}\""));
    let mut headers = HeaderMap::new();
    headers.insert(CACHE_CONTROL, cache_control);
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    let known = header(request, &IF_NONE_MATCH).unwrap_or_default();
    let is_known = known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag);
    if let Ok(tag) = HeaderValue::try_from(tag) {
        headers.insert(ETAG, tag);
    }
    if is_known {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(file)));
    if let Some((encoding, _)) = variant {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    let data = variant.map_or(plain.data, |(_, file)| file.data);
    Ok((headers, data.into_owned()).into_response())
}

/// Whether an `Accept-Encoding` lists this encoding with a weight above 0.
fn accepts(accepted: &str, encoding: &str) -> bool {
    accepted.split(',').any(|one| {
        let (name, weight) = one.split_once(';').unwrap_or((one, ""));
        let weight = weight.trim().trim_start_matches("q=").parse::<f32>().unwrap_or(1.0);
        name.trim().eq_ignore_ascii_case(encoding) && weight > 0.0
    })
}

/// The content type of a file, by its extension.
fn content_type(file: &str) -> &'static str {
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
    fn encodings_are_matched_by_name_and_weight() {
        assert!(accepts("gzip, deflate, br, zstd", "br"));
        assert!(accepts("br;q=0.5, GZIP", "gzip"));
        for not in ["", "gzip", "br;q=0, gzip", "br; q=0.0", "brotli", "*"] {
            assert!(!accepts(not, "br"), "{not}");
        }
    }

    /// Goal: a variant is served with the content type of its file and a tag of its own, and revalidates.
    #[test]
    fn variants_have_the_type_of_their_file() {
        let request = |headers: &[(axum::http::HeaderName, &str)]| {
            let headers = headers
                .iter()
                .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).expect("a value")));
            headers.collect::<HeaderMap>()
        };
        // Without built pages there is nothing to check.
        for file in Pages::iter().filter(|file| file.ends_with(".js") || file.ends_with(".html")) {
            let plain = serve_file(&file, IMMUTABLE, &request(&[])).expect("is there");
            assert!(!plain.headers().contains_key(CONTENT_ENCODING), "{file}");
            assert_eq!(plain.headers()[VARY], "accept-encoding");
            let small =
                serve_file(&file, IMMUTABLE, &request(&[(ACCEPT_ENCODING, "gzip, br")])).expect("is there");
            assert_eq!(small.headers()[CONTENT_TYPE], plain.headers()[CONTENT_TYPE]);
            if small.headers().contains_key(CONTENT_ENCODING) {
                assert_ne!(small.headers()[ETAG], plain.headers()[ETAG], "{file}");
            }
            let tag = plain.headers()[ETAG].to_str().expect("a text").to_owned();
            let again = serve_file(&file, REVALIDATE, &request(&[(IF_NONE_MATCH, &tag)])).expect("is there");
            assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{file}");
        }
    }
}
