//! The HTTP client for a source: one request, one response, bounded in size and time.
//!
//! A key is sent as a query parameter, so no request URL is ever reported, logged or stored with its key, no
//! library error is passed on, and no redirect gets a referrer.

use crate::vendors::{DataQuery, DataResponse, base_url};
use flate2::read::GzDecoder;
use futures::future::{Either, select};
use papertape_core::ports::Clock;
use papertape_core::time::{http_date, retry_after};
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap};
use reqwest::{Client, ClientBuilder, Url};
use secrecy::{ExposeSecret as _, SecretString};
use std::io::Read as _;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum size of a response, uncompressed. The largest real ones, a month of minute bars, have a few megabytes.
const MAX_BYTES: usize = 64 * 1024 * 1024;
const MAX_REDIRECTS: usize = 3;
/// The query parameter for a key; both sources that take a key use this name.
const KEY_PARAMETER: &str = "apikey";
/// A shorter text is not a secret (for example `demo`) and may well be part of a response.
const MIN_SECRET_CHARS: usize = 8;

/// Why there is no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FetchError {
    /// The source cannot be reached.
    Unreachable(&'static str),
    /// The source was reached, but the response is incomplete.
    Broken(&'static str),
    /// The response is unusable, and a retry would not help.
    Useless(&'static str),
}

/// Sends requests to one source.
pub(super) struct HttpFetcher {
    client: Client,
    base: Url,
    key: Option<SecretString>,
    timeout: Duration,
    clock: Arc<dyn Clock>,
}

impl HttpFetcher {
    /// A client for the source at this address.
    ///
    /// # Errors
    /// An invalid address, or a TLS library that cannot be set up.
    pub(super) fn new(
        base: &str,
        key: Option<SecretString>,
        timeout: Duration,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, String> {
        let base = base_url(base)?;
        // reqwest uses the process's provider. If another component has installed one, that one stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A machine without a root certificate store can still reach a local server.
        let client = builder()
            .build()
            .or_else(|_| builder().tls_certs_only([]).build())
            .map_err(|_| "the HTTP client cannot be built: TLS cannot be set up".to_owned())?;
        Ok(Self { client, base, key, timeout, clock })
    }

    /// The URL of a request, without the key.
    pub(super) fn address(&self, query: &DataQuery) -> String {
        self.url(query).to_string()
    }

    /// Its path and query only, without the key.
    pub(super) fn relative(&self, query: &DataQuery) -> String {
        let url = self.url(query);
        match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        }
    }

    fn url(&self, query: &DataQuery) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(&query.path);
        }
        url.query_pairs_mut().extend_pairs(&query.parameters);
        url
    }

    /// Sends the request once.
    pub(super) async fn fetch(&self, query: &DataQuery) -> Result<DataResponse, FetchError> {
        let mut url = self.url(query);
        if let Some(key) = &self.key {
            url.query_pairs_mut().append_pair(KEY_PARAMETER, key.expose_secret());
        }
        let exchange = pin!(self.exchange(url));
        match select(exchange, self.clock.sleep(self.timeout)).await {
            Either::Left((response, _)) => response,
            Either::Right(((), _)) => Err(FetchError::Broken("it did not answer in time")),
        }
    }

    async fn exchange(&self, url: Url) -> Result<DataResponse, FetchError> {
        let response = self.client.get(url).header(ACCEPT_ENCODING, "gzip").send().await;
        let mut response = response.map_err(|error| no_answer(&error))?;
        let (status, pause, used_weight, is_packed) = {
            let headers = response.headers();
            let packed = text(headers, CONTENT_ENCODING.as_str());
            let packed = match packed.map(str::to_ascii_lowercase).as_deref() {
                None | Some("identity" | "") => false,
                Some("gzip" | "x-gzip") => true,
                Some(_) => {
                    return Err(FetchError::Useless("its answer is compressed, which was not requested"));
                }
            };
            let used = text(headers, "x-mbx-used-weight-1m").or_else(|| text(headers, "x-mbx-used-weight"));
            let now = text(headers, "date").and_then(http_date).unwrap_or_else(|| self.clock.now());
            let pause = text(headers, "retry-after").and_then(|value| retry_after(value, now));
            (response.status().as_u16(), pause, used.and_then(|used| used.parse().ok()), packed)
        };
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| no_answer(&error))? {
            if body.len() + chunk.len() > MAX_BYTES {
                return Err(TOO_LARGE);
            }
            body.extend_from_slice(&chunk);
        }
        if is_packed {
            body = unpacked(&body)?;
        }
        Ok(DataResponse { status, retry_after: pause, used_weight, body: self.without_key(body) })
    }

    /// Removes the key from a source's message, so that it is not passed on.
    pub(super) fn scrub(&self, message: &str) -> String {
        let Some(key) = self.key.as_ref().map(|key| key.expose_secret()) else { return message.to_owned() };
        message.replace(key, "***").replace(&encoded(key), "***")
    }

    fn without_key(&self, body: Vec<u8>) -> Vec<u8> {
        let Some(key) = self.key.as_ref().map(|key| key.expose_secret()) else { return body };
        match str::from_utf8(&body) {
            Ok(text) if key.len() >= MIN_SECRET_CHARS && text.contains(key) => {
                text.replace(key, "***").into_bytes()
            }
            _ => body,
        }
    }
}

const TOO_LARGE: FetchError = FetchError::Useless("its answer has more than 64 MiB");

fn builder() -> ClientBuilder {
    Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(reqwest::redirect::Policy::custom(|attempt| {
            let from = attempt.previous().last();
            let stays = from.is_some_and(|from| {
                from.host_str() == attempt.url().host_str()
                    && (from.scheme() == attempt.url().scheme() || attempt.url().scheme() == "https")
            });
            if stays && attempt.previous().len() <= MAX_REDIRECTS { attempt.follow() } else { attempt.stop() }
        }))
        // The URL before a redirect may contain the key.
        .referer(false)
        .retry(reqwest::retry::never())
        .tcp_nodelay(true)
        .user_agent(concat!("papertape/", env!("CARGO_PKG_VERSION")))
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim)
}

/// The text in its encoded form in a query.
fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

fn unpacked(packed: &[u8]) -> Result<Vec<u8>, FetchError> {
    let mut body = Vec::new();
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let read = GzDecoder::new(packed).take(limit).read_to_end(&mut body);
    match read {
        Ok(bytes) if bytes > MAX_BYTES => Err(TOO_LARGE),
        Ok(_) => Ok(body),
        Err(_) => Err(FetchError::Broken("its answer cannot be unpacked")),
    }
}

/// Classifies a library's error. Its own text contains the URL, and so the key.
fn no_answer(error: &reqwest::Error) -> FetchError {
    if error.is_connect() {
        FetchError::Unreachable("it cannot be reached")
    } else if error.is_timeout() {
        FetchError::Broken("it did not answer in time")
    } else if error.is_builder() {
        FetchError::Useless("the question cannot be put to it")
    } else if error.is_body() || error.is_decode() {
        FetchError::Broken("the response ended early")
    } else {
        FetchError::Broken("the connection broke before an answer came")
    }
}
