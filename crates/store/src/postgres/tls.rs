//! TLS to PostgreSQL, with rustls, and the URL parameters that configure it.
//!
//! The certificate and the host name are always verified: `require` is as strict here as `verify-full`, because
//! encryption without verification does not stop an attacker who impersonates the server.

use crate::error::{Result, StoreError};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

/// How to connect to a database.
#[derive(Clone, Debug)]
pub(super) struct ConnectOptions {
    pub(super) config: tokio_postgres::Config,
    pub(super) tls: Tls,
}

impl ConnectOptions {
    /// Parses a URL or `key=value` string, including the parameters `sslmode` (default `disable`; `prefer`,
    /// `require`, `verify-ca`, `verify-full`) and `sslrootcert` (a PEM file; default: the system's roots).
    pub(super) fn of(url: &str) -> Result<Self> {
        let mode = without(url, "sslmode").1;
        let roots_file = without(url, "sslrootcert").1;
        let mode = match mode.as_deref() {
            None | Some("disable") => SslMode::Disable,
            Some("prefer") => SslMode::Prefer,
            Some("require" | "verify-ca" | "verify-full") => SslMode::Require,
            Some(_) => {
                return Err(StoreError::BadInput(
                    "unknown sslmode; expected one of disable, prefer, require, verify-ca, verify-full"
                        .to_owned(),
                ));
            }
        };
        let mut config = config_of(url)?;
        config.ssl_mode(mode);
        let tls = match mode {
            SslMode::Disable => Tls(None),
            _ => Tls::trusting(roots_file.map(PathBuf::from).as_deref())?,
        };
        Ok(Self { config, tls })
    }
}

/// Parses the part of a URL that the library understands.
pub(super) fn config_of(url: &str) -> Result<tokio_postgres::Config> {
    let rest = without(&without(url, "sslmode").0, "sslrootcert").0;
    // The URL may contain a password, so the error does not quote it.
    rest.parse().map_err(|_| StoreError::BadInput("the PostgreSQL URL cannot be read".to_owned()))
}

/// The text without a parameter, and the parameter's value.
fn without(url: &str, name: &str) -> (String, Option<String>) {
    let is_url = ["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme));
    let (head, tail, between) = match url.split_once('?') {
        Some((head, query)) if is_url => (format!("{head}?"), query, '&'),
        _ if is_url => return (url.to_owned(), None),
        _ => (String::new(), url, ' '),
    };
    let mut value = None;
    let value_of = |part: &str| part.trim().strip_prefix(name)?.strip_prefix('=').map(str::to_owned);
    let remaining: Vec<&str> = tail
        .split(between)
        .filter(|part| {
            value_of(part).is_none_or(|found| {
                value = Some(found);
                false
            })
        })
        .collect();
    let value = value.map(|value| match is_url {
        true => percent_encoding::percent_decode_str(&value).decode_utf8_lossy().into_owned(),
        false => value.trim_matches('\'').to_owned(),
    });
    (format!("{head}{}", remaining.join(&between.to_string())), value)
}

/// Creates TLS connections; `None`: TLS is off.
#[derive(Clone)]
pub(super) struct Tls(Option<Arc<ClientConfig>>);

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Tls" } else { "NoTls" })
    }
}

impl Tls {
    /// Trusts the roots in this file, or the system's.
    fn trusting(file: Option<&Path>) -> Result<Self> {
        let found = match file {
            Some(file) => CertificateDer::pem_file_iter(file)
                .and_then(Iterator::collect::<Result<Vec<_>, _>>)
                .map_err(|error| StoreError::file(file, &error))?,
            None => rustls_native_certs::load_native_certs().certs,
        };
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(found);
        if roots.is_empty() {
            let why = "TLS to PostgreSQL: no root certificate; set sslrootcert to a file with certificates";
            return Err(StoreError::BadInput(why.to_owned()));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| StoreError::BadInput(format!("TLS cannot be set up: {error}")))?;
        Ok(Self(Some(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))))
    }
}

impl<S> MakeTlsConnect<S> for Tls
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Secret<S>;
    type TlsConnect = Handshake;
    type Error = io::Error;

    /// Called for every connection, including plain ones: errors are reported when the handshake starts.
    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        let config = self.0.clone().ok_or("TLS is not set up".to_owned());
        let name = ServerName::try_from(host.to_owned()).map_err(|error| format!("`{host}`: {error}"));
        Ok(Handshake(config.and_then(|config| Ok((TlsConnector::from(config), name?)))))
    }
}

/// Sets up TLS on one connection, or holds the reason why it cannot.
pub(super) struct Handshake(Result<(TlsConnector, ServerName<'static>), String>);

impl<S> TlsConnect<S> for Handshake
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Secret<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Secret<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let (connector, name) = self.0.map_err(io::Error::other)?;
            connector.connect(name, stream).await.map(Secret)
        })
    }
}

/// A TLS connection.
pub(super) struct Secret<S>(tokio_rustls::client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Secret<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Secret<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Secret<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_taken_out_of_either_form() {
        let check = |url: &str, rest: &str, value: Option<&str>| {
            assert_eq!(without(url, "sslrootcert"), (rest.to_owned(), value.map(str::to_owned)), "{url}");
        };
        check("postgres://u:p@h/d", "postgres://u:p@h/d", None);
        check("postgres://h/d?sslrootcert=%2Fa%20b.pem&x=1", "postgres://h/d?x=1", Some("/a b.pem"));
        check("host=h  password='a  b' sslrootcert='/a.pem'", "host=h  password='a  b'", Some("/a.pem"));
        check("password=sslrootcert=x?y", "password=sslrootcert=x?y", None);
    }

    #[test]
    fn modes_are_known() {
        let mode = |text: &str| {
            ConnectOptions::of(&format!("postgres://h/d{text}")).map(|way| way.config.get_ssl_mode())
        };
        assert_eq!(mode("").ok(), Some(SslMode::Disable));
        assert_eq!(mode("?sslmode=disable").ok(), Some(SslMode::Disable));
        let told = mode("?sslmode=sometimes").expect_err("is refused").to_string();
        assert!(told.contains("verify-full"), "{told}");
        let told = mode("?sslmode=require&sslrootcert=%2Fnowhere.pem").expect_err("is refused").to_string();
        assert!(told.contains("/nowhere.pem"), "{told}");
    }
}
