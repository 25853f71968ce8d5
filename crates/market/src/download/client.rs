//! The HTTP client for a source: one request, one response, bounded in size and time.
//!
//! A key is sent as a query parameter, so no request URL is ever reported, logged or stored with its key, no
//! library error is passed on, and no redirect gets a referrer.

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
const SHORTEST_SECRET: usize = 8;

/// A request, without the source's base URL and without the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DataQuery {
    /// The name of the response's file after the symbol.
    pub(super) stem: String,
    /// The segments of the path; an empty last one is a trailing slash.
    pub(super) path: Vec<String>,
    /// The query's parameters.
    pub(super) query: Vec<(&'static str, String)>,
}

/// A response.
#[derive(Clone, Debug)]
pub(super) struct DataResponse {
    /// The status.
    pub(super) status: u16,
    /// The pause that it requests.
    pub(super) retry_after: Option<Duration>,
    /// The request weight that this IP address has used in the current minute, as reported by Binance.
    pub(super) used_weight: Option<u64>,
    /// The body, uncompressed.
    pub(super) body: Vec<u8>,
}

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
    pub(super) fn address(&self, question: &DataQuery) -> String {
        self.url(question).to_string()
    }

    /// Its path and query only, without the key.
    pub(super) fn relative(&self, question: &DataQuery) -> String {
        let url = self.url(question);
        match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        }
    }

    fn url(&self, question: &DataQuery) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(&question.path);
        }
        url.query_pairs_mut().extend_pairs(&question.query);
        url
    }

    /// Sends the request once.
    pub(super) async fn fetch(&self, question: &DataQuery) -> Result<DataResponse, FetchError> {
        let mut url = self.url(question);
        if let Some(key) = &self.key {
            url.query_pairs_mut().append_pair(KEY_PARAMETER, key.expose_secret());
        }
        let exchange = pin!(self.exchange(url));
        match select(exchange, self.clock.sleep(self.timeout)).await {
            Either::Left((answer, _)) => answer,
            Either::Right(((), _)) => Err(FetchError::Broken("it did not answer in time")),
        }
    }

    async fn exchange(&self, url: Url) -> Result<DataResponse, FetchError> {
        let sent = self.client.get(url).header(ACCEPT_ENCODING, "gzip").send().await;
        let mut response = sent.map_err(|error| no_answer(&error))?;
        let (status, pause, used_weight, is_packed) = {
            let headers = response.headers();
            let packed = text(headers, CONTENT_ENCODING.as_str());
            let packed = match packed.map(str::to_ascii_lowercase).as_deref() {
                None | Some("identity" | "") => false,
                Some("gzip" | "x-gzip") => true,
                Some(_) => return Err(FetchError::Useless("its answer is packed in a way not asked for")),
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

    /// Removes the key from a source's text, so that it is not passed on.
    pub(super) fn scrubbed(&self, said: &str) -> String {
        let Some(key) = self.key.as_ref().map(|key| key.expose_secret()) else { return said.to_owned() };
        said.replace(key, "***").replace(&encoded(key), "***")
    }

    fn without_key(&self, body: Vec<u8>) -> Vec<u8> {
        let Some(key) = self.key.as_ref().map(|key| key.expose_secret()) else { return body };
        match str::from_utf8(&body) {
            Ok(text) if key.len() >= SHORTEST_SECRET && text.contains(key) => {
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

/// Parses a base URL.
///
/// # Errors
/// Why it is invalid; the address is not repeated if it may contain a secret.
pub(super) fn base_url(text: &str) -> Result<Url, String> {
    let url: Url = text.trim().parse().map_err(|_| "it is no address".to_owned())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("it must begin with http:// or https:// and name a host".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err("it may hold neither a user, nor a password, nor a query".to_owned());
    }
    Ok(url)
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim)
}

/// The text in its encoded form in a query.
fn encoded(text: &str) -> String {
    let mut url = Url::parse("http://x/").expect("is an address");
    url.query_pairs_mut().append_pair("k", text);
    url.query().and_then(|query| query.strip_prefix("k=")).unwrap_or_default().to_owned()
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
        FetchError::Broken("its answer broke off before its end")
    } else {
        FetchError::Broken("the connection broke before an answer came")
    }
}
