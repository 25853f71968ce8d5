//! How requests are read: like axum's own extractors, but that every refusal has the API's shape and
//! names the field.

use super::error::ApiError;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::header::{ACCEPT_LANGUAGE, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use futures::future::{Either, select};
use papertape_core::action::MAX_ROWS as MOST_LOG_ROWS;
use papertape_core::language::Language;
use papertape_core::time::{Date, parse_date};
use papertape_service::app::App;
use papertape_service::view::{MAX_ROWS, MAX_SESSION_ROWS};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::pin::pin;
use std::time::Duration;

/// The query. Unknown parameters are refused by `deny_unknown_fields` of the type.
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
            return Err(ApiError::Invalid(format!("{field}: it is given more than once")));
        }
    }
    axum::extract::Query::try_from_uri(uri).map(|axum::extract::Query(query)| query).map_err(|rejection| {
        let text = rejection.body_text();
        let text = text.strip_prefix("Failed to deserialize query string: ").unwrap_or(&text);
        ApiError::Invalid(text.to_owned())
    })
}

/// A JSON body, no larger than the configured limit.
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

/// A JSON body that may be left out.
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

/// The whole body, no larger than the limit, and no slower.
async fn read(request: Request, app: &App) -> Result<Bytes, ApiError> {
    read_within(request, app, app.config.server.body_limit_bytes).await
}

/// The whole body, no larger than `limit` bytes, and no slower than the server waits.
pub(super) async fn read_within(request: Request, app: &App, limit: usize) -> Result<Bytes, ApiError> {
    let said = request.headers().get(CONTENT_LENGTH).and_then(|said| said.to_str().ok()?.parse::<u64>().ok());
    if said.is_some_and(|said| said > limit as u64) {
        return Err(ApiError::TooLarge(limit));
    }
    let secs = app.config.server.body_timeout_secs.max(1);
    let late = app.services.clock.sleep(Duration::from_secs(secs));
    let reading = pin!(axum::body::to_bytes(request.into_body(), limit));
    let Either::Left((read, _)) = select(reading, late).await else {
        return Err(ApiError::TooSlow(secs));
    };
    read.map_err(|error| {
        // The connection broke, where it is not the limit; then nobody reads this.
        tracing::debug!(error = %error, "a body could not be read");
        ApiError::TooLarge(limit)
    })
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

fn body<T: DeserializeOwned>(bytes: &Bytes) -> Result<T, ApiError> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let JsonObject(read) = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        // It breaks off, or is wrong as a whole.
        let field = if path.starts_with(['.', '?']) { "body" } else { path.as_str() };
        ApiError::Invalid(format!("{field}: {}", error.inner()))
    })?;
    reader.end().map_err(|error| ApiError::Invalid(format!("body: {error}")))?;
    Ok(read)
}

/// A JSON object. Where it expects a struct, serde alone would also take a list of its fields' values.
#[derive(Debug)]
pub(super) struct JsonObject<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for JsonObject<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfMap<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for OfMap<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }

        deserializer.deserialize_map(OfMap(PhantomData)).map(Self)
    }
}

/// `{job_id}` of a path.
#[derive(Debug)]
pub(super) struct JobPath(pub(super) String);

/// The dataset that an address names.
#[derive(Debug)]
pub(super) struct DatasetPath(pub(super) String);

impl FromRequestParts<App> for DatasetPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        match Path::<String>::from_request_parts(parts, app).await {
            Ok(Path(name)) => Ok(Self(name)),
            Err(_) => Err(ApiError::Invalid("name: it is not UTF-8".to_owned())),
        }
    }
}

impl FromRequestParts<App> for JobPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        match Path::<String>::from_request_parts(parts, app).await {
            Ok(Path(job)) => Ok(Self(job)),
            Err(_) => Err(ApiError::Invalid("job_id: it is not UTF-8".to_owned())),
        }
    }
}

/// `{session_id}` of a conversation's path.
#[derive(Debug)]
pub(super) struct ChatPath(pub(super) String);

impl FromRequestParts<App> for ChatPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        match Path::<String>::from_request_parts(parts, app).await {
            Ok(Path(session)) => Ok(Self(session)),
            Err(_) => Err(ApiError::Invalid("session_id: it is not UTF-8".to_owned())),
        }
    }
}

/// `{plan_id}` of a path.
#[derive(Debug)]
pub(super) struct PlanPath(pub(super) i64);

impl FromRequestParts<App> for PlanPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let [plan, ..] = segments(parts, app).await?;
        number("plan_id", &plan).map(Self)
    }
}

/// `{plan_id}` and `{job_id}` of a path.
#[derive(Debug)]
pub(super) struct PlanJobPath(pub(super) i64, pub(super) String);

impl FromRequestParts<App> for PlanJobPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let [plan, job] = segments(parts, app).await?;
        number("plan_id", &plan).map(|plan| Self(plan, job))
    }
}

/// `{plan_id}` and `{task_id}` of a path.
#[derive(Debug)]
pub(super) struct TaskPath(pub(super) i64, pub(super) i64);

impl FromRequestParts<App> for TaskPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let [plan, task] = segments(parts, app).await?;
        Ok(Self(number("plan_id", &plan)?, number("task_id", &task)?))
    }
}

/// The first two parameters of a path; one that is not there is empty.
async fn segments(parts: &mut Parts, app: &App) -> Result<[String; 2], ApiError> {
    let found = Path::<Vec<String>>::from_request_parts(parts, app).await;
    let Ok(Path(found)) = found else {
        return Err(ApiError::Invalid("path: it is not UTF-8".to_owned()));
    };
    let mut found = found.into_iter();
    Ok([found.next().unwrap_or_default(), found.next().unwrap_or_default()])
}

fn number(field: &str, text: &str) -> Result<i64, ApiError> {
    text.parse().map_err(|_| ApiError::Invalid(format!("{field}: it is not a whole number")))
}

/// The language that the reader wants: the first of `Accept-Language` that there is, Chinese where there is
/// none.
#[derive(Clone, Copy, Debug)]
pub(super) struct PreferredLanguage(pub(super) Language);

impl FromRequestParts<App> for PreferredLanguage {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let wanted = parts.headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        Ok(Self(wanted.map_or(Language::DEFAULT_FOR_USERS, language)))
    }
}

/// The language of ours that a reader likes best (RFC 9110, 12.5.4).
fn language(wanted: &str) -> Language {
    let mut best = (0.0, Language::DEFAULT_FOR_USERS);
    for range in wanted.split(',') {
        let (tag, weight) = range.split_once(';').unwrap_or((range, ""));
        let weight = weight.trim().strip_prefix("q=").map_or(1.0, |q| q.parse().unwrap_or(0.0));
        let Some(language) = Language::of_tag(tag) else { continue };
        if weight > best.0 {
            best = (weight, language);
        }
    }
    best.1
}

/// `{session_id}` of a path.
#[derive(Debug)]
pub(super) struct SessionPath(pub(super) i64);

impl FromRequestParts<App> for SessionPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        match Path::<i64>::from_request_parts(parts, app).await {
            Ok(Path(session)) => Ok(Self(session)),
            Err(_) => Err(ApiError::Invalid("session_id: it is not a whole number".to_owned())),
        }
    }
}

/// `{ticker}` of a path.
#[derive(Debug)]
pub(super) struct TickerPath(pub(super) String);

impl FromRequestParts<App> for TickerPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        match Path::<String>::from_request_parts(parts, app).await {
            Ok(Path(ticker)) => Ok(Self(ticker)),
            Err(_) => Err(ApiError::Invalid("ticker: it is not UTF-8".to_owned())),
        }
    }
}

/// A day of the form `YYYY-MM-DD`, and nothing else.
pub(super) fn day<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Date, D::Error> {
    parse_date(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// The same, where it may be absent or `null`.
pub(super) fn maybe_day<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Date>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| parse_date(&text)).transpose().map_err(D::Error::custom)
}

/// `true` or `false`, in letters of either case, for some languages write `True`.
pub(super) fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    let text = String::deserialize(deserializer)?;
    match text.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(D::Error::custom(format!("`{text}` is neither true nor false"))),
    }
}

/// A count of rows, of a query.
pub(super) fn rows<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    count(deserializer, MAX_ROWS)
}

/// A count of messages, steps or reads of one session, of a query.
pub(super) fn session_rows<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    count(deserializer, MAX_SESSION_ROWS)
}

/// A count of rows of the action log, of a query.
pub(super) fn log_rows<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    count(deserializer, MOST_LOG_ROWS)
}

fn count<'de, D: Deserializer<'de>>(deserializer: D, most: u32) -> Result<Option<u32>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let wrong = |_| D::Error::custom(format!("`{text}` is not a whole number from 1 to {most}"));
    text.parse().map(Some).map_err(wrong)
}

/// A field that is given, be it `null`; absent, it is the type's default.
pub(super) fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Which part of a list.
#[derive(Clone, Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PageParams {
    /// How many at most.
    #[serde(default, deserialize_with = "rows")]
    #[param(minimum = 1, maximum = 200)]
    pub(super) limit: Option<u32>,
    /// `next_cursor` of the page before.
    pub(super) cursor: Option<String>,
}

/// Which part of what a session consists of.
#[derive(Clone, Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct SessionPageParams {
    /// How many at most; pages of one session's rows may be longer than others.
    #[serde(default, deserialize_with = "session_rows")]
    #[param(minimum = 1, maximum = 1000)]
    pub(super) limit: Option<u32>,
    /// `next_cursor` of the page before.
    pub(super) cursor: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(result.expect_err("refused").to_string(), expected);
    }

    #[test]
    fn a_query_is_read_and_its_wrong_field_named() {
        let asked: QueryFields =
            query(&Uri::from_static("/x?date=2012-10-01&whole=True")).expect("it is right");
        assert_eq!(asked.date, Some(jiff::civil::date(2012, 10, 1)));
        assert!(asked.whole && asked.list.is_empty());
        let wrong = |uri| query::<QueryFields>(&Uri::from_static(uri));
        check(wrong("/x?date=2012-13-01"), "date: `2012-13-01` is not a date of the form YYYY-MM-DD");
        check(wrong("/x?date=2012-10-01&date=2012-10-02"), "date: it is given more than once");
        check(wrong("/x?d%61te=2012-10-01&date=2012-10-01"), "date: it is given more than once");
        check(wrong("/x?whole=yes"), "whole: `yes` is neither true nor false");
        check(wrong("/x?what=1"), "what: unknown field `what`, expected one of `date`, `whole`, `list`");
    }

    #[test]
    fn the_reader_gets_the_language_that_is_liked_best() {
        assert_eq!(language("en-GB,en;q=0.9,zh;q=0.8"), Language::En);
        assert_eq!(language("fr, zh;q=0.2, en;q=0.1"), Language::Zh);
        assert_eq!(language("EN"), Language::En);
        for none in ["", "de", "*", "en;q=0", "en;q=x", ";;,"] {
            assert_eq!(language(none), Language::Zh, "{none}");
        }
    }

    #[test]
    fn a_body_is_read_and_its_wrong_field_named() {
        let wrong = |text: &'static str| body::<QueryFields>(&Bytes::from_static(text.as_bytes()));
        check(wrong("[]"), "body: invalid type: sequence, expected a JSON object at line 1 column 0");
        check(wrong("{"), "body: EOF while parsing an object at line 1 column 1");
        check(wrong(""), "body: EOF while parsing a value at line 1 column 0");
        check(
            wrong(r#"{"list":[1,"2"]}"#),
            "list[1]: invalid type: string \"2\", expected u32 at line 1 column 14",
        );
        check(
            wrong(r#"{"what":1}"#),
            "what: unknown field `what`, expected one of `date`, `whole`, `list` at line 1 column 7",
        );
        check(wrong(r#"{} {}"#), "body: trailing characters at line 1 column 4");
        check(
            wrong(r#"{"date":20121001}"#),
            "date: invalid type: integer `20121001`, expected a string at line 1 column 16",
        );
    }
}
