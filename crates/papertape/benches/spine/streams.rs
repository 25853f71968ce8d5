//! A job's stream to many concurrent clients over loopback: the delay from each event's timestamp to each
//! client while the job runs, and the events per second delivered for a finished job. Server, clients and job
//! share one process and the machine's cores.

use crate::product;
use papertape_core::id::JobId;
use papertape_core::time::{Timestamp, to_micros};
use papertape_runtime::cancellation::{CancelSource, StopReason};
use papertape_service::app::App;
use papertape_testkit::bench::server::Conversation;
use papertape_testkit::bench::{BenchTarget, Series, Table, Unit};
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Clients.
const CLIENTS: [usize; 4] = [1, 100, 500, 2_000];
/// The number of clients with a target, and the maximum seconds from an event to half of them.
const AIM: (usize, f64) = (500, 0.005);
/// The model's latency, so that the job runs while events are delivered.
const THINKS: Duration = Duration::from_millis(50);
/// The maximum number of clients that are connecting at a time.
const AT_ONCE: usize = 100;

pub(crate) fn run() {
    more_files();
    let runtime = product::runtime();
    let mut table = Table::default();
    for clients in CLIENTS {
        let (latencies, live, told) = runtime.block_on(measure(clients));
        let what = |what: &str| format!("{clients} clients, {what}");
        let at = |part| [latencies.quantile(part)].into_iter().collect::<Series>();
        let (p50, p99) = (at(0.5), at(0.99));
        let aim = if clients == AIM.0 { BenchTarget::To(AIM.1) } else { BenchTarget::Shown };
        table.add(what("event to client, p50"), Unit::Millis, &p50, None, aim);
        table.add(what("event to client, p99"), Unit::Millis, &p99, None, BenchTarget::Shown);
        let live: Series = [live].into_iter().collect();
        table.add(what("deliveries of a running job"), Unit::PerSecond, &live, None, BenchTarget::Shown);
        let told: Series = [told].into_iter().collect();
        table.add(what("deliveries of a finished job"), Unit::PerSecond, &told, None, BenchTarget::Shown);
    }
    table.print();
}

/// Raises the file limit, because both ends of every connection belong to this process.
fn more_files() {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum;
    // If the limit cannot be raised, opening the connections will fail.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most });
}

/// Latencies in seconds, and deliveries per second of a running and of a finished job.
async fn measure(clients: usize) -> (Series, f64, f64) {
    let answer = |body: &Value| {
        ScriptedAnswer::raw("application/json", Conversation::Short.answer_to(body).to_string())
    };
    let models = ModelServer::answering(answer).await;
    models.set_latency(THINKS);
    let dir = product::directory();
    let mut app = product::open(dir.path(), &models.url(), 8).await;
    let mut config = (*app.config).clone();
    config.server.max_streams_per_client = clients + 1;
    config.server.max_connections = clients + 16;
    app.config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let address = listener.local_addr().expect("has an address");
    let stopper = CancelSource::default();
    let serving = tokio::spawn(papertape_api::serve(app.clone(), listener, stopper.signal()));
    let (start, end) = (jiff::civil::date(2012, 10, 1), jiff::civil::date(2012, 10, 3));
    let (job, _) = product::queue(&app, product::request("whole", &["watched".to_owned()], start, end)).await;

    // Every client is connected before the job starts: it has received the first event, which reports the queued job.
    let (ready, mut all_ready) = watch::channel(0_usize);
    let reading = listen(address, &job, clients, ready);
    all_ready.wait_for(|count| *count == clients).await.expect("they listen");
    let began = Instant::now();
    product::work(&app, &job).await;
    let mut heard = Vec::new();
    for reader in reading {
        heard.push(reader.await.expect("no panic"));
    }
    let live = rate(&heard, began);
    let latencies = latencies(&app, &job, &heard).await;

    let began = Instant::now();
    let again = listen(address, &job, clients, watch::channel(0).0);
    let mut told = Vec::new();
    for reader in again {
        told.push(reader.await.expect("no panic"));
    }
    let finished = rate(&told, began);
    stopper.stop(StopReason::Shutdown);
    serving.await.expect("no panic").expect("it ends well");
    (latencies, live, finished)
}

type Heard = Vec<(i64, Timestamp)>;

/// Starts clients that record when each event arrives, until the end.
fn listen(
    address: SocketAddr,
    job: &JobId,
    clients: usize,
    ready: watch::Sender<usize>,
) -> Vec<tokio::task::JoinHandle<Heard>> {
    let places = Arc::new(tokio::sync::Semaphore::new(AT_ONCE));
    let ready = Arc::new(ready);
    let one = |_| {
        let (job, places, ready) = (job.clone(), Arc::clone(&places), Arc::clone(&ready));
        tokio::spawn(async move {
            let place = places.acquire_owned().await.expect("is open");
            let mut stream = TcpStream::connect(address).await.expect("connects");
            let ask = format!("GET /jobs/{job}/stream?after=0 HTTP/1.1\r\nhost: localhost\r\n\r\n");
            stream.write_all(ask.as_bytes()).await.expect("is sent");
            let mut place = Some(place);
            let mut heard = Vec::new();
            let (mut unread, mut piece) = (Vec::new(), vec![0; 64 * 1024]);
            loop {
                let read = stream.read(&mut piece).await.expect("goes on");
                assert!(read > 0, "the stream broke off");
                // Stamped on arrival, however long parsing takes.
                let now = Timestamp::now();
                unread.extend_from_slice(&piece[..read]);
                let whole = unread.windows(2).rposition(|pair| pair == b"\n\n").map_or(0, |at| at + 2);
                let text = std::str::from_utf8(&unread[..whole]).expect("a text");
                let before = heard.len();
                let ids = text.lines().filter_map(|line| line.strip_prefix("id: "));
                heard.extend(ids.map(|id| (id.parse::<i64>().expect("a number"), now)));
                if heard.len() > before && place.take().is_some() {
                    ready.send_modify(|count| *count += 1);
                }
                if text.lines().any(|line| line == "event: end") {
                    return heard;
                }
                unread.drain(..whole);
            }
        })
    };
    (0..clients).map(one).collect()
}

/// Events per second, until the last one.
fn rate(heard: &[Heard], began: Instant) -> f64 {
    let count: usize = heard.iter().map(Vec::len).sum();
    count as f64 / began.elapsed().as_secs_f64()
}

/// Latencies from each event's timestamp to each client, except the first event, which precedes the clients.
async fn latencies(app: &App, job: &JobId, heard: &[Heard]) -> Series {
    let mut events = BTreeMap::new();
    let mut after = 0;
    loop {
        let found = app.store.events(job, after, 1_000).await.expect("reads");
        let Some(last) = found.last() else { break };
        after = last.n;
        events.extend(found.into_iter().map(|event| (event.n, event.at)));
    }
    let mut latencies = Vec::new();
    for one in heard {
        let ids: Vec<i64> = one.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, events.keys().copied().collect::<Vec<_>>(), "nobody loses or repeats any");
        for (id, at) in one.iter().filter(|(id, _)| *id > 1) {
            latencies.push((to_micros(*at) - to_micros(events[id])).max(0) as f64 / 1e6);
        }
    }
    latencies.into_iter().collect()
}
