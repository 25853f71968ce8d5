//! A tool server at a URL, over streamable HTTP.

use super::bounded::{BoundedClient, MAX_MESSAGE_BYTES, TOO_LARGE, reason_in};
use reqwest::Client;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use std::error::Error;
use std::io;
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum number of concurrent calls to one server.
const MAX_REQUESTS: usize = 256;

/// A transport to the address. Connects on first use.
///
/// # Errors
/// As text that follows the server's name.
pub(super) fn transport(
    url: &str,
    token: Option<&str>,
) -> Result<StreamableHttpClientTransport<BoundedClient>, String> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    config.auth_header = token.map(str::to_owned);
    config.max_concurrent_requests = MAX_REQUESTS;
    config.max_sse_event_size = MAX_MESSAGE_BYTES;
    Ok(StreamableHttpClientTransport::with_client(BoundedClient(client()?), config))
}

/// Follows no redirects: an address may hold a key, which would be sent along.
pub(crate) fn client() -> Result<Client, String> {
    // reqwest uses the process's provider. If another component has installed one, that one stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || {
        Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            // One call is one attempt; and a pooled connection that the server has since closed would fail
            // the first call that reuses it.
            .retry(reqwest::retry::never())
            .pool_max_idle_per_host(0)
            .tcp_nodelay(true)
            // A small response must stay small, so it may not be compressed.
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
    };
    // A machine without a root certificate store can still reach a local server.
    builder()
        .build()
        .or_else(|_| builder().tls_certs_only([]).build())
        .map_err(|_| "cannot be reached: TLS cannot be set up".to_owned())
}

/// What went wrong, as text that follows the server's name and reveals no address and no payload; `None` if
/// there is nothing to say.
pub(super) fn reason(error: &(dyn Error + 'static)) -> Option<String> {
    if let Some(bound) = chain(error).find_map(reason_in) {
        return Some(bound.to_owned());
    }
    let http = chain(error).find_map(|error| error.downcast_ref::<StreamableHttpError<reqwest::Error>>());
    match http {
        Some(StreamableHttpError::HttpStatus(status)) => {
            Some(format!("answered with HTTP {}", status.status))
        }
        Some(StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_)) => {
            Some("requires credentials that it was not given".to_owned())
        }
        Some(StreamableHttpError::SessionExpired) => Some("answered with HTTP 404".to_owned()),
        Some(StreamableHttpError::ResponseBodyTooLarge { .. }) => Some(TOO_LARGE.to_owned()),
        Some(StreamableHttpError::Client(error)) => Some(client_reason(error)),
        Some(_) => Some("returned an answer that is not MCP over streamable HTTP".to_owned()),
        None => system_reason(error).map(|reason| format!("closed the connection: {reason}")),
    }
}

fn client_reason(error: &reqwest::Error) -> String {
    let what = if let Some(status) = error.status() {
        return format!("answered with HTTP {}", status.as_u16());
    } else if error.is_connect() {
        "cannot be reached"
    } else {
        "closed the connection"
    };
    match system_reason(error) {
        Some(reason) => format!("{what}: {reason}"),
        None => what.to_owned(),
    }
}

/// The innermost operating system error: the only text that never contains an address.
fn system_reason(error: &(dyn Error + 'static)) -> Option<String> {
    chain(error)
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .filter_map(io::Error::raw_os_error)
        .last()
        .map(|code| io::Error::from_raw_os_error(code).to_string())
}

/// The error and its causes.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let error = next?;
        next = error.source();
        Some(error)
    })
}
