//! A JSON body, its numbers as [`crate::json`] prints them.

use super::error::ApiError;
use crate::json::to_vec;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// An answer.
#[derive(Debug)]
pub(super) struct Json<T>(pub(super) T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match to_vec(&self.0) {
            Ok(body) => {
                ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
            }
            Err(error) => ApiError::Internal(error.into()).into_response(),
        }
    }
}
