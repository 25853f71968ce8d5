//! The one HTTP client.

use std::time::Duration;

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
        .user_agent(concat!("papertape/", env!("CARGO_PKG_VERSION")))
}
