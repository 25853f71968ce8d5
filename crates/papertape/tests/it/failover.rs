//! The database server fails in the middle of a job, and its standby takes its place.

use crate::cli_tool::{Running, Tool};
use crate::crash_support::{Desk, Place, SCRIPTED, agent, export, queue, request, same};
use crate::worker_processes::{stopped, worker};
use papertape_core::ports::Queue as _;
use papertape_core::record::JobStatus;
use papertape_service::trigger::Request;
use papertape_testkit::postgres::Replicated;
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;

const AGENTS: usize = 12;
const DAYS: i8 = 3;
const PARTS: u32 = 4;

/// A local port that forwards to the server whose socket is in a folder.
struct Switch {
    port: u16,
    /// Connections wait while there is none.
    server: watch::Sender<Option<PathBuf>>,
}

impl Switch {
    async fn to(folder: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let server = watch::Sender::new(Some(folder.to_owned()));
        let servers = server.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(forward(client, servers.subscribe()));
            }
        });
        Self { port, server }
    }

    fn url(&self) -> String {
        format!("postgresql://papertape@127.0.0.1:{}/postgres?sslmode=disable", self.port)
    }
}

/// Forwards until either side ends, or there is another server.
async fn forward(mut client: TcpStream, mut servers: watch::Receiver<Option<PathBuf>>) {
    let Ok(folder) = servers.wait_for(Option::is_some).await.map(|server| server.clone()) else { return };
    let socket = folder.unwrap_or_default().join(".s.PGSQL.5432");
    let Ok(mut server) = UnixStream::connect(socket).await else { return };
    tokio::select! {
        _ = tokio::io::copy_bidirectional(&mut client, &mut server) => {}
        _ = servers.changed() => {}
    }
}

/// Goal: all processes of the server are killed while two workers run a job in parts, and a synchronous standby is
/// promoted. The job completes without help, each session is there once, no call whose outcome was committed is made
/// again, and the canonical bytes are those of one process.
#[tokio::test(flavor = "multi_thread")]
async fn crash_postgres_a_standby_is_promoted_in_the_middle_of_a_job() {
    let agents = || (0..AGENTS).map(|n| agent(&format!("a{n:03}"))).collect();
    let alone = Desk::new().await;
    let alone_job = alone.queue(Request { agents: agents(), ..request(DAYS) }).await;
    alone.run(&alone_job).await;
    let expected = export(&alone.app().await.store, &alone_job).await;
    let calls = alone.server.count();

    let servers = Replicated::start().expect("PostgreSQL with a standby");
    let switch = Switch::to(&servers.primary()).await;
    let place = Place::Postgres(switch.url(), "papertape".to_owned());
    let desk = Desk::thinking_on(&place, SCRIPTED).await;
    let app = desk.app().await;
    let job = queue(&app, Request { agents: agents(), parts: Some(PARTS), ..request(DAYS) }).await;
    let provider = "[models.providers.test]\nkind = 'openai_compatible'\nbase_url = ";
    let tool = Tool::new()
        .configured(&format!("{provider}'{}'\n[worker]\nparallel_jobs = {PARTS}", desk.server.url()))
        .with("PAPERTAPE_DATABASE_URL", &switch.url())
        // A worker whose commit is in doubt gives its part up until its lease expires.
        .with("PAPERTAPE_WORKER__LEASE_SECS", "3")
        .with("PAPERTAPE_WORKER__POLL_INTERVAL_MS", "50")
        .with("PAPERTAPE_LOG", "error");
    let workers: Vec<Running> = (0..2).map(|_| worker(&tool)).collect();
    desk.server.request(calls / 3).await;

    servers.kill_primary().expect("is killed");
    switch.server.send_replace(None);
    let before = desk.server.count();
    servers.promote().expect("is promoted");
    switch.server.send_replace(Some(servers.standby()));
    assert_eq!(stopped(&app, &job).await, JobStatus::Completed);
    assert!(before < calls && desk.server.count() > before, "{before} of {calls} calls before it");
    for worker in workers {
        worker.signal(Signal::TERM);
        let ended = tokio::task::spawn_blocking(|| worker.end()).await.expect("no panic");
        assert_eq!(ended.code, 0, "{ended:#?}");
    }
    assert_eq!(app.store.get_job(&job).await.expect("reads").expect("is there").error, None);
    same(&expected, &export(&app.store, &job).await, "after a failover");
    let chain = app.store.verify_chain(&job).await.expect("verifies");
    assert!(chain.broken.is_none(), "{chain:?}");
    let interrupted = app.store.interrupted_attempts(&job).await.expect("counts");
    assert!(desk.server.repeats() as u64 <= interrupted, "{} of {interrupted}", desk.server.repeats());
}
