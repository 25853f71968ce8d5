//! A connection that breaks around a commit: the server knows how the transaction ended, so a write is neither lost
//! nor repeated.

use crate::desk::new_job;
use crate::frozen::{by, reach};
use papertape_core::ports::Queue as _;
use papertape_store::{DatabaseTarget, Store};
use papertape_testkit::postgres::{self, Replicated};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Where the connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// The server never gets the commit.
    Before,
    /// The server commits, and its reply is lost.
    After,
    /// The server never gets the commit, and cannot be reached until there is another one.
    Lost,
}

/// A proxy that cuts one connection at a commit.
struct Scissors {
    port: u16,
    /// Whether the next commit is cut.
    armed: Arc<AtomicBool>,
    cuts: Arc<AtomicU32>,
    /// Connections wait while there is none.
    server: watch::Sender<Option<tokio_postgres::Config>>,
}

impl Scissors {
    async fn at(url: &str, cut: Cut) -> Self {
        let server = watch::Sender::new(Some(url.parse().expect("a URL")));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (armed, cuts) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
        let (signals, servers) = ((Arc::clone(&armed), Arc::clone(&cuts)), server.clone());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(between(client, servers.clone(), cut, signals.clone()));
            }
        });
        Self { port, armed, cuts, server }
    }
}

async fn between(
    client: TcpStream,
    servers: watch::Sender<Option<tokio_postgres::Config>>,
    cut: Cut,
    (armed, cuts): (Arc<AtomicBool>, Arc<AtomicU32>),
) {
    let mut current = servers.subscribe();
    let server = current.wait_for(Option::is_some).await.expect("the test is not over").clone();
    let (mut from_server, mut to_server) = tokio::io::split(reach(&server.expect("is there")).await);
    let (mut from_client, mut to_client) = client.into_split();
    let hearing = tokio::spawn(async move {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(read @ 1..) = from_server.read(&mut bytes).await {
            if to_client.write_all(&bytes[..read]).await.is_err() {
                break;
            }
        }
    });
    let mut bytes = vec![0; 1 << 16];
    loop {
        let read = tokio::select! {
            read = from_client.read(&mut bytes) => read,
            _ = current.changed() => break,
        };
        let Ok(read @ 1..) = read else { break };
        let is_commit = bytes[..read].windows(7).any(|part| part == b"COMMIT\0");
        if is_commit && armed.swap(false, Ordering::SeqCst) {
            hearing.abort();
            let _ = hearing.await;
            match cut {
                Cut::Before => {}
                Cut::After => to_server.write_all(&bytes[..read]).await.expect("forwards"),
                Cut::Lost => drop(servers.send_replace(None)),
            }
            cuts.fetch_add(1, Ordering::SeqCst);
            return;
        }
        if to_server.write_all(&bytes[..read]).await.is_err() {
            break;
        }
    }
    hearing.abort();
}

async fn write_cut(cut: Cut) {
    let place = postgres::place().expect("PostgreSQL");
    let scissors = Scissors::at(&place.url, cut).await;
    let target = DatabaseTarget::Postgres(by(scissors.port, &place.url, ""), place.schema);
    let store = Store::open(target).await.expect("opens");
    store.enqueue(new_job("first", &["alpha"], 0)).await.expect("queues");
    for number in 0..5 {
        let job = format!("job-{number}");
        scissors.armed.store(true, Ordering::SeqCst);
        // A repetition of a transaction that was committed would find that the job is there already.
        store.enqueue(new_job(&job, &["alpha"], 1)).await.expect("is queued exactly once");
        assert_eq!(scissors.cuts.load(Ordering::SeqCst), number + 1, "its commit was cut off");
        let events = store.events(&job.as_str().into(), 0, 10).await.expect("reads");
        assert_eq!(events.len(), 1);
    }
}

/// Goal: a commit whose reply is lost is a success, and is not repeated.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_a_commit_whose_reply_is_lost_has_happened() {
    write_cut(Cut::After).await;
}

/// Goal: a commit that never arrived is repeated.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_a_commit_that_never_arrived_is_repeated() {
    write_cut(Cut::Before).await;
}

/// Goal: a commit that was lost with its server is not mistaken for a transaction to which the promoted standby has given
/// the same ID: the write fails, and is not stored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_a_lost_commit_is_not_mistaken_for_one_of_a_promoted_standby() {
    let servers = Replicated::start().expect("PostgreSQL with a standby");
    let url = |folder: PathBuf| {
        format!("postgresql://papertape@{}/postgres", folder.display().to_string().replace('/', "%2F"))
    };
    let scissors = Scissors::at(&url(servers.primary()), Cut::Lost).await;
    let through = by(scissors.port, &url(servers.primary()), "");
    let store = Store::open(DatabaseTarget::Postgres(through, "papertape".to_owned())).await.expect("opens");
    store.enqueue(new_job("first", &["alpha"], 0)).await.expect("queues");
    scissors.armed.store(true, Ordering::SeqCst);
    let queued = tokio::spawn({
        let store = store.clone();
        async move { store.enqueue(new_job("lost", &["alpha"], 1)).await }
    });
    while scissors.cuts.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    servers.kill_primary().expect("is killed");
    servers.promote().expect("is promoted");
    // Others commit under the next IDs.
    let (client, connection) =
        tokio_postgres::connect(&url(servers.standby()), tokio_postgres::NoTls).await.expect("connects");
    let connection = tokio::spawn(connection);
    for _ in 0..100 {
        client.query_one("SELECT CAST(pg_current_xact_id() AS TEXT)", &[]).await.expect("has an ID");
    }
    drop(client);
    connection.await.expect("no panic").expect("ends");
    scissors.server.send_replace(Some(url(servers.standby()).parse().expect("a URL")));
    let queued = queued.await.expect("no panic");
    let error = queued.expect_err("is not stored").to_string();
    assert!(error.contains("lease was lost") || error.contains("a standby was promoted"), "{error}");
    assert!(store.get_job(&"first".into()).await.expect("reads").is_some(), "the standby had that commit");
    assert!(store.get_job(&"lost".into()).await.expect("reads").is_none());
    store.enqueue(new_job("lost", &["alpha"], 1)).await.expect("can be repeated");
}
