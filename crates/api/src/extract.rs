//! Extractors like axum's own, except that every error has the API's shape and names the field.

use super::error::ApiError;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::header::{ACCEPT_LANGUAGE, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use futures::future::{Either, select};
use papertape_core::language::Language;
use papertape_protocol::fields::JsonObject;
use papertape_service::app::App;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

/// The query. `deny_unknown_fields` of the type rejects unknown parameters.
#[derive(Debug)]
pub(super) struct Query<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequestParts<App> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, ApiError> {
        query(&parts.uri).map(Self)
    }
}

fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, ApiError> {
    let mut seen = BTreeSet::new();
    for (field, _) in form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
        if let Some(field) = seen.replace(field) {
            return Err(ApiError::Invalid(format!("{field}: given more than once")));
        }
    }
    axum::extract::Query::try_from_uri(uri).map(|axum::extract::Query(query)| query).map_err(|rejection| {
        let text = rejection.body_text();
        let text = text.strip_prefix("Failed to deserialize query string: ").unwrap_or(&text);
        ApiError::Invalid(text.to_owned())
    })
}

/// A JSON body within the configured size limit.
#[derive(Debug)]
pub(super) struct Body<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        if !is_json(request.headers()) {
            return Err(ApiError::MediaType);
        }
        body(&read(request, app).await?).map(Self)
    }
}

/// An optional JSON body.
#[derive(Debug)]
pub(super) struct OptionalBody<T>(pub(super) Option<T>);

impl<T: DeserializeOwned> FromRequest<App> for OptionalBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let json = is_json(request.headers());
        let bytes = read(request, app).await?;
        match (bytes.is_empty(), json) {
            (true, _) => Ok(Self(None)),
            (false, false) => Err(ApiError::MediaType),
            (false, true) => body(&bytes).map(|body| Self(Some(body))),
        }
    }
}

/// Reads the whole body, within the configured size limit and timeout.
async fn read(request: Request, app: &App) -> Result<Bytes, ApiError> {
    read_within(request, app, app.config.server.body_limit_bytes).await
}

/// Reads the whole body, up to `limit` bytes and within the configured timeout.
pub(super) async fn read_within(request: Request, app: &App, limit: usize) -> Result<Bytes, ApiError> {
    let length =
        request.headers().get(CONTENT_LENGTH).and_then(|text| text.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > limit as u64) {
        return Err(ApiError::TooLarge(limit));
    }
    let secs = app.config.server.body_timeout_secs.max(1);
    let timeout = app.services.clock.sleep(Duration::from_secs(secs));
    let reading = pin!(axum::body::to_bytes(request.into_body(), limit));
    let Either::Left((read, _)) = select(reading, timeout).await else {
        return Err(ApiError::Timeout(secs));
    };
    read.map_err(|error| {
        // Any other error means that the connection failed, so no client reads this response.
        tracing::debug!(error = %error, "cannot read a request body");
        ApiError::TooLarge(limit)
    })
}

pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

fn body<T: DeserializeOwned>(bytes: &Bytes) -> Result<T, ApiError> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let JsonObject(read) = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        // The body is truncated, or invalid as a whole.
        let field = if path.starts_with(['.', '?']) { "body" } else { path.as_str() };
        ApiError::Invalid(format!("{field}: {}", error.inner()))
    })?;
    reader.end().map_err(|error| ApiError::Invalid(format!("body: {error}")))?;
    Ok(read)
}

/// Defines extractors of a path's parameters, each with the error of a path that is not valid UTF-8.
macro_rules! path_parameters {
    ($($name:ident($($field:ident: $type:ty),+), $not_utf8:literal;)+) => {$(
        #[doc = concat!($("`{", stringify!($field), "}` ",)+ "of a path.")]
        #[derive(Debug)]
        pub(super) struct $name($(pub(super) $type),+);

        impl FromRequestParts<App> for $name {
            type Rejection = ApiError;

            async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
                let Ok(Path(values)) = Path::<Vec<String>>::from_request_parts(parts, app).await else {
                    return Err(ApiError::Invalid($not_utf8.to_owned()));
                };
                let mut values = values.into_iter();
                Ok(Self($(<$type>::of(stringify!($field), values.next().unwrap_or_default())?),+))
            }
        }
    )+};
}

path_parameters! {
    JobPath(job_id: String), "job_id: not valid UTF-8";
    ExperimentPath(experiment_id: String), "experiment_id: not valid UTF-8";
    DatasetPath(name: String), "name: not valid UTF-8";
    ChatPath(session_id: String), "session_id: not valid UTF-8";
    TickerPath(ticker: String), "ticker: not valid UTF-8";
    SessionPath(session_id: i64), "session_id: not a whole number";
    PlanPath(plan_id: i64), "path: not valid UTF-8";
    PlanJobPath(plan_id: i64, job_id: String), "path: not valid UTF-8";
    TaskPath(plan_id: i64, task_id: i64), "path: not valid UTF-8";
}

/// A parameter of a path.
trait PathParameter: Sized {
    fn of(field: &str, text: String) -> Result<Self, ApiError>;
}

impl PathParameter for String {
    fn of(_: &str, text: String) -> Result<Self, ApiError> {
        Ok(text)
    }
}

impl PathParameter for i64 {
    fn of(field: &str, text: String) -> Result<Self, ApiError> {
        text.parse().map_err(|_| ApiError::Invalid(format!("{field}: not a whole number")))
    }
}

/// The language that the client prefers by `Accept-Language`; Chinese if it lists none that we support.
#[derive(Clone, Copy, Debug)]
pub(super) struct PreferredLanguage(pub(super) Language);

impl FromRequestParts<App> for PreferredLanguage {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let accepted = parts.headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        Ok(Self(accepted.and_then(language).unwrap_or(Language::DEFAULT_FOR_USERS)))
    }
}

/// The first language of ours in the reader's order of preference (RFC 9110, 12.5.4).
fn language(accepted: &str) -> Option<Language> {
    // A quality of 0 means "not acceptable".
    let acceptable =
        accept_language::parse_with_quality(accepted).into_iter().filter(|(_, quality)| *quality > 0.0);
    acceptable.into_iter().find_map(|(tag, _)| Language::from_tag(&tag))
}

#[cfg(test)]
mod tests {
    use super::*;
    use papertape_core::time::Date;
    use papertape_protocol::fields::maybe_day;
    use papertape_protocol::query::flag;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct QueryFields {
        #[serde(default, deserialize_with = "maybe_day")]
        date: Option<Date>,
        #[serde(default, deserialize_with = "flag")]
        whole: bool,
        #[serde(default)]
        list: Vec<u32>,
    }

    fn check<T: std::fmt::Debug>(result: Result<T, ApiError>, expected: &str) {
        assert_eq!(result.expect_err("rejected").to_string(), expected);
    }

    #[test]
    fn an_error_in_a_query_names_the_field() {
        let fields: QueryFields = query(&Uri::from_static("/x?date=2012-10-01&whole=True")).expect("valid");
        assert_eq!(fields.date, Some(jiff::civil::date(2012, 10, 1)));
        assert!(fields.whole && fields.list.is_empty());
        let invalid = |uri| query::<QueryFields>(&Uri::from_static(uri));
        check(invalid("/x?date=2012-13-01"), "date: `2012-13-01` is not a date of the form YYYY-MM-DD");
        check(invalid("/x?date=2012-10-01&date=2012-10-02"), "date: given more than once");
        check(invalid("/x?d%61te=2012-10-01&date=2012-10-01"), "date: given more than once");
        check(invalid("/x?whole=yes"), "whole: `yes` is neither true nor false");
        check(invalid("/x?what=1"), "what: unknown field `what`, expected one of `date`, `whole`, `list`");
    }

    #[test]
    fn the_language_with_the_highest_weight_is_used() {
        assert_eq!(language("en-GB,en;q=0.9,zh;q=0.8"), Some(Language::En));
        assert_eq!(language("fr, zh;q=0.2, en;q=0.1"), Some(Language::Zh));
        assert_eq!(language("EN"), Some(Language::En));
        for none in ["", "de", "*", "en;q=0", "en;q=x", ";;,"] {
            assert_eq!(language(none), None, "{none}");
        }
    }

    #[test]
    fn an_error_in_a_body_names_the_field() {
        let invalid = |text: &'static str| body::<QueryFields>(&Bytes::from_static(text.as_bytes()));
        check(invalid("[]"), "body: invalid type: sequence, expected a JSON object at line 1 column 0");
        check(invalid("{"), "body: EOF while parsing an object at line 1 column 1");
        check(invalid(""), "body: EOF while parsing a value at line 1 column 0");
        check(
            invalid(r#"{"list":[1,"2"]}"#),
            "list[1]: invalid type: string \"2\", expected u32 at line 1 column 14",
        );
        check(
            invalid(r#"{"what":1}"#),
            "what: unknown field `what`, expected one of `date`, `whole`, `list` at line 1 column 7",
        );
        check(invalid(r#"{} {}"#), "body: trailing characters at line 1 column 4");
        check(
            invalid(r#"{"date":20121001}"#),
            "date: invalid type: integer `20121001`, expected a string at line 1 column 16",
        );
    }
}
