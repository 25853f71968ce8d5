//! A process that freezes in the middle of a transaction, as when it is suspended: its locks in PostgreSQL must
//! be released, and its pending work must not be lost when it wakes up.

use crate::desk::new_job;
use papertape_core::ports::{Queue as _, RecordError};
use papertape_core::record::JobStatus;
use papertape_store::{DatabaseTarget, Store};
use papertape_testkit::postgres;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;
use tokio_postgres::config::Host;

const LEASE: Duration = Duration::from_secs(60);

/// The start of a claim's SQL.
const CLAIMS: &str = "lease_epoch = lease_epoch + 1";

/// A proxy for the test server: the first connection that claims freezes at the next occurrence of `word`.
struct Ice {
    port: u16,
    frozen: watch::Receiver<bool>,
    thaw: watch::Sender<bool>,
}

impl Ice {
    async fn before(url: &str, word: &'static str) -> Self {
        let server: tokio_postgres::Config = url.parse().expect("a URL");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (freezing, frozen) = watch::channel(false);
        let (thaw, thawed) = watch::channel(false);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let way = (word, freezing.clone(), thawed.clone());
                tokio::spawn(between(client, reach(&server).await, way));
            }
        });
        Self { port, frozen, thaw }
    }
}

/// A bidirectional stream.
pub(crate) trait Both: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Both for T {}

pub(crate) async fn reach(server: &tokio_postgres::Config) -> Box<dyn Both> {
    match &server.get_hosts()[0] {
        Host::Unix(folder) => {
            Box::new(UnixStream::connect(folder.join(".s.PGSQL.5432")).await.expect("connects"))
        }
        Host::Tcp(host) => {
            let port = server.get_ports().first().copied().unwrap_or(5432);
            Box::new(TcpStream::connect((host.as_str(), port)).await.expect("connects"))
        }
    }
}

/// The URL of the same database through another local port.
pub(crate) fn by(port: u16, url: &str, options: &str) -> String {
    let config: tokio_postgres::Config = url.parse().expect("a URL");
    let user = config.get_user().unwrap_or("papertape");
    let name = config.get_dbname().unwrap_or("postgres");
    format!("postgres://{user}@127.0.0.1:{port}/{name}?{options}")
}

/// Position of a text in bytes.
fn find(bytes: &[u8], text: &str) -> Option<usize> {
    bytes.windows(text.len()).position(|part| part == text.as_bytes())
}

async fn between(
    client: TcpStream,
    server: Box<dyn Both>,
    (word, freezing, mut thawed): (&'static str, watch::Sender<bool>, watch::Receiver<bool>),
) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = tokio::io::split(server);
    let mut thawed_too = thawed.clone();
    let saying = async {
        let mut words = vec![0; 1 << 16];
        let (mut claims, mut has_frozen) = (false, false);
        // Recent bytes: a word may be split across reads.
        let mut heard = Vec::new();
        while let Ok(read @ 1..) = from_client.read(&mut words).await {
            heard.extend_from_slice(&words[..read]);
            if !claims && let Some(at) = find(&heard, CLAIMS) {
                claims = true;
                heard.drain(..at);
            }
            if claims && !has_frozen && find(&heard, word).is_some() && !freezing.send_replace(true) {
                has_frozen = true;
                thawed.wait_for(|thawed| *thawed).await.expect("somebody thaws it");
            }
            heard.drain(..heard.len().saturating_sub(CLAIMS.len()));
            if to_server.write_all(&words[..read]).await.is_err() {
                break;
            }
        }
    };
    let hearing = async {
        // A frozen client does not see that the server has closed its connection.
        let mut answers = vec![0; 1 << 16];
        while let Ok(read @ 1..) = from_server.read(&mut answers).await {
            if to_client.write_all(&answers[..read]).await.is_err() {
                return;
            }
        }
        let _ = thawed_too.wait_for(|thawed| *thawed).await;
    };
    tokio::select! { () = saying => {}, () = hearing => {} }
}

/// Freezes a claim of the job `held` at `word`, cancels the job from another process, and returns the result of
/// the claim after the thaw.
async fn claim_frozen_at(word: &'static str, options: &str) -> (Result<bool, RecordError>, Store, Store) {
    let place = postgres::place().expect("PostgreSQL");
    let awake =
        Store::open(DatabaseTarget::Postgres(place.url.clone(), place.schema.clone())).await.expect("opens");
    awake.enqueue(new_job("held", &["alpha"], 0)).await.expect("queues");

    let mut ice = Ice::before(&place.url, word).await;
    let url = by(ice.port, &place.url, options);
    let stands = Store::open(DatabaseTarget::Postgres(url, place.schema)).await.expect("opens");
    let claiming = tokio::spawn({
        let stands = stands.clone();
        async move { stands.claim("stands", LEASE, None).await.map(|claimed| claimed.is_some()) }
    });
    ice.frozen.wait_for(|frozen| *frozen).await.expect("it freezes");
    let now = awake.cancel(&"held".into()).await.expect("nothing holds it for ever");
    assert_eq!(now, Some(JobStatus::Cancelled), "the claim was never committed");
    ice.thaw.send_replace(true);
    (claiming.await.expect("no panic"), awake, stands)
}

/// Goal: locks of a process frozen between two statements are released after a while; when it wakes up, its
/// transaction is retried on top of what others have committed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_a_frozen_transaction_is_made_anew() {
    let soon = "options=-c%20idle_in_transaction_session_timeout%3D1s";
    let (claimed, awake, stands) = claim_frozen_at("INSERT INTO", soon).await;
    assert!(!claimed.expect("it is no failure"), "there is nothing left to claim");
    awake.enqueue(new_job("next", &["alpha"], 1)).await.expect("queues");
    assert!(stands.claim("stands", LEASE, None).await.expect("claims").is_some(), "it goes on");
}

/// Goal: the same with the default settings, at the commit: the server reports that it was never committed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_a_frozen_commit_is_made_anew() {
    let (claimed, awake, stands) = claim_frozen_at("COMMIT", "").await;
    assert!(!claimed.expect("it is no failure"), "there is nothing left to claim");
    awake.enqueue(new_job("next", &["alpha"], 1)).await.expect("queues");
    assert!(stands.claim("stands", LEASE, None).await.expect("claims").is_some(), "it goes on");
}

/// Goal: a temporary outage of the server, such as a restart, loses nothing: writers and readers wait until it is
/// back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_that_is_away_for_a_while_is_waited_for() {
    let place = postgres::place().expect("PostgreSQL");
    let server: tokio_postgres::Config = place.url.parse().expect("a URL");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (is_away, away) = watch::channel(false);
    let (turning_away, mut turned_away) = watch::channel(0);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            if *away.borrow() {
                drop(client);
                turning_away.send_modify(|times| *times += 1);
                continue;
            }
            let (mut server, mut away) = (reach(&server).await, away.clone());
            tokio::spawn(async move {
                tokio::select! {
                    _ = tokio::io::copy_bidirectional(&mut client, &mut server) => {}
                    _ = away.wait_for(|away| *away) => {}
                }
            });
        }
    });
    let target = DatabaseTarget::Postgres(by(port, &place.url, ""), place.schema);
    let store = Store::open(target).await.expect("opens");
    store.enqueue(new_job("first", &["alpha"], 0)).await.expect("queues");

    is_away.send_replace(true);
    let writing = tokio::spawn({
        let store = store.clone();
        async move { store.enqueue(new_job("second", &["alpha"], 1)).await }
    });
    let reading = tokio::spawn({
        let store = store.clone();
        async move { store.get_job(&"first".into()).await }
    });
    turned_away.wait_for(|times| *times >= 2).await.expect("they try");
    is_away.send_replace(false);
    writing.await.expect("no panic").expect("is written");
    assert!(reading.await.expect("no panic").expect("is read").is_some());
    assert!(store.get_job(&"second".into()).await.expect("reads").is_some());
}
