//! The one HTTP client, and the reading of a body within bounds.

use crate::wire::bounds::Bound;
use reqwest::Response;
use std::time::Duration;
use tracing::dispatcher::Dispatch;
use tracing::instrument::WithSubscriber as _;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// The client, and whether it can do TLS: a machine without a store of root certificates can still
/// talk to a local model server.
pub(crate) struct Http {
    pub(crate) client: reqwest::Client,
    pub(crate) has_roots: bool,
}

/// Builds the client: TLS by rustls with ring, certificates checked against the platform's store.
///
/// It follows no redirects, as a key would go along, and repeats nothing: one call is one attempt.
///
/// # Errors
/// A sentence of what failed.
pub(crate) fn build() -> Result<Http, String> {
    // reqwest takes the process's provider. Where another part has installed one, that is kept.
    let _ = rustls::crypto::ring::default_provider().install_default();
    if let Ok(client) = builder().build() {
        return Ok(Http { client, has_roots: true });
    }
    // The platform's store is empty. Trusting no root at all, every https call fails, none is unsafe.
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
        // Nothing is decompressed, whatever other users of the library have switched on: a small body could
        // become a large one. And one protocol of transport is enough.
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        .http1_only()
        .user_agent(concat!("papertape/", env!("CARGO_PKG_VERSION")))
}

/// Why a body was not read.
#[derive(Debug)]
pub enum Unread {
    /// It is over this bound. The connection is closed.
    Exceeded(Bound),
    /// It broke off.
    Failed(reqwest::Error),
}

/// Reads a whole body of at most `most` bytes. The size that its headers claim reserves nothing.
///
/// # Errors
/// A body over the bound, named `bound`, or one that broke off.
pub async fn body(mut response: Response, most: usize, bound: Bound) -> Result<Vec<u8>, Unread> {
    let mut body = Vec::new();
    if response.content_length().is_some_and(|claimed| claimed > most as u64) {
        return Err(Unread::Exceeded(bound));
    }
    while let Some(bytes) =
        response.chunk().with_subscriber(Dispatch::none()).await.map_err(Unread::Failed)?
    {
        if body.len() + bytes.len() > most {
            return Err(Unread::Exceeded(bound));
        }
        body.extend_from_slice(&bytes);
    }
    Ok(body)
}
