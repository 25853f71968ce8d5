//! Web search through a configured service: SearXNG, Tavily or Brave.

use crate::config::{SearchService, WebSearchConfig};
use futures::FutureExt as _;
use papertape_assistant::web::{Hit, WebSearch};
use papertape_core::message::{CallFailure, FailureKind};
use papertape_core::ports::BoxFuture;
use papertape_llm::bounds::{Bound, MAX_BODY_BYTES, MAX_DEPTH, Shape};
use papertape_llm::{ApiKey, Unread, find_key, read_body};
use papertape_redact::Redactor;
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The maximum number of JSON values in a response.
const MAX_VALUES: usize = 100_000;
/// How many characters of a page's text are used.
const TEXT_CHARS: usize = 1_000;
/// How many characters of a title or an address are used.
const LINE_CHARS: usize = 500;

/// Searches with the configured service.
pub(super) struct Search {
    config: WebSearchConfig,
    redactor: Arc<Redactor>,
}

impl Search {
    pub(super) fn new(config: WebSearchConfig, redactor: Arc<Redactor>) -> Self {
        Self { config, redactor }
    }

    async fn query(&self, query: &str, limit: u32) -> Result<Vec<Hit>, CallFailure> {
        let Some(service) = self.config.service else {
            return Err(failed(
                FailureKind::BadRequest,
                "no web search is configured: set web_search.service to searxng, tavily or brave in the config",
            ));
        };
        let request = self.request(service, query, limit)?;
        let response = request.send().await.map_err(unreachable)?;
        match response.status() {
            status if status.is_success() => {}
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                return Err(failed(
                    FailureKind::Unauthorised,
                    "the search service rejected the key or its format",
                ));
            }
            StatusCode::TOO_MANY_REQUESTS => {
                return Err(failed(FailureKind::RateLimited, "the search service's rate limit was reached"));
            }
            status if status.is_server_error() => {
                return Err(failed(
                    FailureKind::Unavailable,
                    &format!("the search service answered with {status}"),
                ));
            }
            status => {
                return Err(failed(
                    FailureKind::ToolError,
                    &format!("the search service answered with {status}"),
                ));
            }
        }
        let exceeded = |bound: Bound| {
            failed(
                FailureKind::BadAnswer,
                &format!("the search service's answer was not read: it has {bound}"),
            )
        };
        let body = read_body(response, MAX_BODY_BYTES, Bound::Body).await.map_err(|unread| match unread {
            Unread::Exceeded(bound) => exceeded(bound),
            Unread::Failed(error) => unreachable(error),
        })?;
        let shape = Shape::of(&body);
        if shape.depth > MAX_DEPTH {
            return Err(exceeded(Bound::Depth));
        }
        if shape.values > MAX_VALUES {
            return Err(failed(
                FailureKind::BadAnswer,
                &format!(
                    "the search service's answer was not read: it has more than {MAX_VALUES} JSON values"
                ),
            ));
        }
        let answer: Value = serde_json::from_slice(&body)
            .map_err(|_| failed(FailureKind::BadAnswer, "the search service's answer is not JSON"))?;
        hits(service, &answer, limit, &self.redactor)
    }

    fn request(
        &self,
        service: SearchService,
        query: &str,
        limit: u32,
    ) -> Result<RequestBuilder, CallFailure> {
        let bad = |message: &str| failed(FailureKind::BadRequest, message);
        let base = self.config.base_url.as_deref().or(service.default_url());
        let base = base.ok_or_else(|| bad("web_search.base_url is not set"))?;
        let mut url = Url::parse(base).map_err(|_| bad("web_search.base_url is not a valid URL"))?;
        let path: &[&str] = match service {
            SearchService::Searxng | SearchService::Tavily => &["search"],
            SearchService::Brave => &["res", "v1", "web", "search"],
        };
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        let key = self.key()?;
        let client = client()?;
        let timeout = Duration::from_secs(self.config.timeout_secs.max(1));
        let request = match service {
            SearchService::Searxng => {
                url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
                client.get(url)
            }
            SearchService::Tavily => client.post(url).json(&json!({ "query": query, "max_results": limit })),
            SearchService::Brave => {
                url.query_pairs_mut().append_pair("q", query).append_pair("count", &limit.to_string());
                client.get(url).header("Accept", "application/json")
            }
        };
        let request = match (service, key) {
            (_, None) => request,
            (SearchService::Brave, Some(key)) => request.header("X-Subscription-Token", key),
            (SearchService::Searxng | SearchService::Tavily, Some(key)) => request.bearer_auth(key),
        };
        Ok(request.timeout(timeout))
    }

    /// The service's key, if one is required or configured.
    fn key(&self) -> Result<Option<String>, CallFailure> {
        let Some(variable) = self.config.key_variable() else { return Ok(None) };
        match find_key(variable, Some(variable), &|name| std::env::var(name).ok()) {
            ApiKey::Found { value, .. } => Ok(Some(value.expose_secret().to_owned())),
            _ => Err(failed(
                FailureKind::Unauthorised,
                &format!("the web search key is missing: set the environment variable {variable}"),
            )),
        }
    }
}

impl WebSearch for Search {
    fn search<'a>(&'a self, query: &'a str, limit: u32) -> BoxFuture<'a, Result<Vec<Hit>, CallFailure>> {
        self.query(query, limit).boxed()
    }
}

/// The hits of a response, in each service's format.
fn hits(
    service: SearchService,
    answer: &Value,
    limit: u32,
    redactor: &Redactor,
) -> Result<Vec<Hit>, CallFailure> {
    let (list, text) = match service {
        SearchService::Searxng | SearchService::Tavily => (&answer["results"], "content"),
        SearchService::Brave => (&answer["web"]["results"], "description"),
    };
    // Brave omits `web` if nothing was found.
    let empty = service == SearchService::Brave && answer.is_object() && answer.get("web").is_none();
    let list = match list.as_array() {
        Some(list) => list.as_slice(),
        None if empty => &[],
        None => return Err(failed(FailureKind::BadAnswer, "the search service's answer has no results")),
    };
    let of = |hit: &Value, key: &str, max: usize| -> String {
        // Redact before truncating: half a secret is not recognized as one.
        let whole = redactor.redact_text(hit[key].as_str().unwrap_or_default()).value;
        whole.chars().take(max).collect()
    };
    let hit = |hit: &Value| Hit {
        title: of(hit, "title", LINE_CHARS),
        url: of(hit, "url", LINE_CHARS),
        text: of(hit, text, TEXT_CHARS),
    };
    let max = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(list.iter().map(hit).filter(|hit| !hit.url.is_empty()).take(max).collect())
}

/// Follows no redirects: a key would be sent along.
fn client() -> Result<Client, CallFailure> {
    // reqwest uses the process's provider. If another component has installed one, that one stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || {
        let client = Client::builder().redirect(reqwest::redirect::Policy::none());
        client.no_gzip().no_brotli().no_zstd().no_deflate()
    };
    // A machine without a root certificate store can still reach a local service.
    builder()
        .build()
        .or_else(|_| builder().tls_certs_only([]).build())
        .map_err(|_| failed(FailureKind::Unavailable, "the web cannot be reached: TLS cannot be set up"))
}

/// The error's own text is not used: it may contain an address with a key.
fn unreachable(error: reqwest::Error) -> CallFailure {
    if error.is_timeout() {
        return failed(FailureKind::TimedOut, "the search service timed out");
    }
    failed(FailureKind::Unavailable, "the search service cannot be reached")
}

fn failed(kind: FailureKind, message: &str) -> CallFailure {
    CallFailure { kind, message: message.to_owned() }
}
