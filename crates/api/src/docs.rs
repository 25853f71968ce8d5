//! `GET /openapi.json`, and `GET /docs/`, which shows it as a page that also works offline.

use super::error::ApiError;
use axum::Json;
use axum::Router;
use axum::extract::Path;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use papertape_service::app::App;
use std::sync::Arc;
use utoipa::openapi::OpenApi;
use utoipa_swagger_ui::Config;

pub(super) fn routes(document: OpenApi) -> Router<App> {
    let document = Arc::new(document);
    // "none": do not load the badge of an online validator.
    let config = Arc::new(Config::new(["/openapi.json"]).validator_url("none").try_it_out_enabled(true));
    let index = Arc::clone(&config);
    Router::new()
        .route("/openapi.json", get(async move || Json(OpenApi::clone(&document))))
        .route("/docs", get(async || Redirect::permanent("/docs/")))
        .route("/docs/", get(async move || file("", index)))
        .route("/docs/{*path}", get(async move |Path(path): Path<String>| file(&path, config)))
}

fn file(path: &str, config: Arc<Config<'static>>) -> Result<Response, ApiError> {
    let file = utoipa_swagger_ui::serve(path, config)
        .map_err(|error| ApiError::Internal(anyhow::anyhow!("the docs page: {error}")))?
        .ok_or_else(|| ApiError::NotFound("the docs page has no such file".to_owned()))?;
    let mut headers = HeaderMap::new();
    if let Ok(kind) = HeaderValue::from_str(&file.content_type) {
        headers.insert(CONTENT_TYPE, kind);
    }
    if file.gzpipped {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok((headers, file.bytes.into_owned()).into_response())
}
