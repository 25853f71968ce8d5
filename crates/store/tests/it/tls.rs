//! PostgreSQL behind TLS: a proxy in front of the test server, with a certificate signed by the tests' own root.

use crate::desk::at;
use papertape_store::{DatabaseTarget, Store};
use papertape_testkit::postgres;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio_postgres::config::Host;
use tokio_rustls::TlsAcceptor;

/// For `localhost` only, signed by the root below.
const CERTIFICATE: &[u8] = include_bytes!("fixtures/tls/server.der");
const KEY: &[u8] = include_bytes!("fixtures/tls/server.key.der");

/// The PostgreSQL SSLRequest packet: its length and a magic number.
const ASKS: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// Starts a proxy for the test server on its own port. If not `secret`, it says that it does not support TLS.
async fn before(url: &str, secret: bool) -> u16 {
    let config: tokio_postgres::Config = url.parse().expect("a URL");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivateKeyDer::try_from(KEY.to_vec()).expect("a key");
    let tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)
        .expect("a certificate");
    let acceptor = TlsAcceptor::from(Arc::new(tls));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(serve(client, secret, acceptor.clone(), config.clone()));
        }
    });
    port
}

async fn serve(mut client: TcpStream, secret: bool, tls: TlsAcceptor, server: tokio_postgres::Config) {
    let mut first = [0; 8];
    // Clients that do not request TLS are rejected.
    if client.read_exact(&mut first).await.is_err() || first != ASKS {
        return;
    }
    let says = if secret { b"S" } else { b"N" };
    if client.write_all(says).await.is_err() || !secret {
        return;
    }
    let Ok(mut client) = tls.accept(client).await else { return };
    // The connection ends when either side closes it.
    let _ = match &server.get_hosts()[0] {
        Host::Unix(folder) => {
            let mut to = UnixStream::connect(folder.join(".s.PGSQL.5432")).await.expect("connects");
            copy_bidirectional(&mut client, &mut to).await
        }
        Host::Tcp(host) => {
            let port = server.get_ports().first().copied().unwrap_or(5432);
            let mut to = TcpStream::connect((host.as_str(), port)).await.expect("connects");
            copy_bidirectional(&mut client, &mut to).await
        }
    };
}

/// Goal: with `sslmode`, the database is reached only over TLS, and only if a trusted root signed the certificate
/// for that host.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_is_reached_over_tls() {
    let place = postgres::place().expect("PostgreSQL");
    let (secret, plain) = (before(&place.url, true).await, before(&place.url, false).await);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/tls/root.pem");
    let root = root.display().to_string().replace('/', "%2F");
    let open = async |host: &str, port: u16, mode: &str| {
        let config: tokio_postgres::Config = place.url.parse().expect("a URL");
        let user = config.get_user().unwrap_or("papertape").to_owned();
        let name = config.get_dbname().unwrap_or("postgres").to_owned();
        let url = format!("postgres://{user}@{host}:{port}/{name}?{mode}");
        Store::open(DatabaseTarget::Postgres(url, place.schema.clone())).await
    };
    for mode in ["require", "verify-full"] {
        let mode = format!("sslmode={mode}&sslrootcert={root}");
        let store = open("localhost", secret, &mode).await.expect("is reached");
        let cookie = format!("cookie of {mode}");
        store.add_login(&cookie, "token", (at(0), at(9)), 10).await.expect("writes");
        assert_eq!(store.login(&cookie, at(1)).await.expect("reads").as_deref(), Some("token"));
        assert!(open("127.0.0.1", secret, &mode).await.is_err(), "{mode}: the name is another");
        assert!(open("localhost", plain, &mode).await.is_err(), "{mode}: there is no TLS");
    }
    assert!(open("localhost", secret, "sslmode=require").await.is_err(), "the root is nobody's");
    assert!(open("localhost", secret, "sslmode=disable").await.is_err(), "it is not asked for");
}
