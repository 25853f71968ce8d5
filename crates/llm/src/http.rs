//! The only HTTP client, and bounded reading of bodies.

use crate::bounds::Bound;
use reqwest::Response;
use std::time::Duration;
use tracing::dispatcher::Dispatch;
use tracing::instrument::WithSubscriber as _;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// The client, and whether it supports TLS: a machine without root certificates can still use a local model
/// server.
pub(crate) struct Http {
    pub(crate) client: reqwest::Client,
    pub(crate) has_roots: bool,
}

/// Builds the client: TLS by rustls with ring, certificates verified against the platform's store.
///
/// It follows no redirects, which would forward the key, and does not retry: one call is one attempt.
///
/// # Errors
/// A sentence with the reason.
pub(crate) fn build() -> Result<Http, String> {
    // reqwest uses the process's crypto provider. One that is already installed stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    if let Ok(client) = builder().build() {
        return Ok(Http { client, has_roots: true });
    }
    // The platform's store is empty. With no trusted roots every https call fails; none is unsafe.
    match builder().tls_certs_only([]).build() {
        Ok(client) => Ok(Http { client, has_roots: false }),
        Err(_) => Err("cannot be built: TLS cannot be set up".to_owned()),
    }
}

fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .tcp_nodelay(true)
        // Decompression is off, whatever features other users of the library enable: a small body could
        // become a large one. One protocol version is enough.
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        .http1_only()
        .user_agent(concat!("papertape/", env!("CARGO_PKG_VERSION")))
}

/// Why a body could not be read.
#[derive(Debug)]
pub enum Unread {
    /// It exceeds this bound. The connection is closed.
    Exceeded(Bound),
    /// It broke off.
    Failed(reqwest::Error),
}

/// Reads a whole body of at most `max` bytes. The size in its headers reserves no memory.
///
/// # Errors
/// A body over the limit, reported as `bound`, or one that broke off.
pub async fn body(mut response: Response, max: usize, bound: Bound) -> Result<Vec<u8>, Unread> {
    let mut body = Vec::new();
    if response.content_length().is_some_and(|claimed| claimed > max as u64) {
        return Err(Unread::Exceeded(bound));
    }
    while let Some(bytes) =
        response.chunk().with_subscriber(Dispatch::none()).await.map_err(Unread::Failed)?
    {
        if body.len() + bytes.len() > max {
            return Err(Unread::Exceeded(bound));
        }
        body.extend_from_slice(&bytes);
    }
    Ok(body)
}
