//! A connection that breaks around a commit: the server knows how the transaction ended, so a write is neither lost
//! nor repeated.

use crate::desk::new_job;
use crate::frozen::{by, reach};
use papertape_core::ports::Queue as _;
use papertape_store::{DatabaseTarget, Store};
use papertape_testkit::postgres;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Where the connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// The server never gets the commit.
    Before,
    /// The server commits, and its reply is lost.
    After,
}

/// A proxy that cuts one connection at a commit.
struct Scissors {
    port: u16,
    /// Whether the next commit is cut.
    armed: Arc<AtomicBool>,
    cuts: Arc<AtomicU32>,
}

impl Scissors {
    async fn at(url: &str, cut: Cut) -> Self {
        let server: tokio_postgres::Config = url.parse().expect("a URL");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (armed, cuts) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
        let signals = (Arc::clone(&armed), Arc::clone(&cuts));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(between(client, server.clone(), cut, signals.clone()));
            }
        });
        Self { port, armed, cuts }
    }
}

async fn between(
    client: TcpStream,
    server: tokio_postgres::Config,
    cut: Cut,
    (armed, cuts): (Arc<AtomicBool>, Arc<AtomicU32>),
) {
    let (mut from_server, mut to_server) = tokio::io::split(reach(&server).await);
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
    while let Ok(read @ 1..) = from_client.read(&mut bytes).await {
        let is_commit = bytes[..read].windows(7).any(|part| part == b"COMMIT\0");
        if is_commit && armed.swap(false, Ordering::SeqCst) {
            hearing.abort();
            let _ = hearing.await;
            if cut == Cut::After {
                to_server.write_all(&bytes[..read]).await.expect("forwards");
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
