//! Network failures, independent of the source.

use crate::download_support::{KEY, Nobody, Stage, TIMEOUT, bars, json, plain};
use axum::http::header::CONTENT_ENCODING;
use flate2::Compression;
use flate2::write::GzEncoder;
use papertape_market::download::{DownloadConfig, DownloadRequest, Downloader, Ended, SourceName, State};
use std::io::Write as _;
use std::sync::Arc;

const NOW: &str = "2024-06-14T15:00:00Z";
const TABLE: &str = "Date,Open,High,Low,Close,Volume\n2024-06-13,214.74,216.75,211.6,214.24,97862729\n";

fn order() -> DownloadRequest {
    bars(&["AAPL", "IBM"], "2024-06-13", "2024-06-13", "1d")
}

// Goal: a request to a source that does not respond times out as configured and is retried.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_source_is_given_up_in_time() {
    let answers = [plain(TABLE).held(), plain(TABLE), plain(TABLE)];
    let stage = Stage::new(SourceName::Stooq, NOW, answers).await;
    let mut downloader = stage.downloader();
    let task = tokio::spawn(async move { downloader.run(&order(), &Nobody).await });
    stage.server.request(1).await;
    stage.clock.pass(TIMEOUT);
    let report = task.await.expect("does not panic").expect("files can be written");
    assert!(report.is_complete() && report.requests == 3, "{report:?}");
    stage.server.closed(1).await;
}

// Goal: if the source is unreachable, the download ends and can be resumed.
#[tokio::test]
async fn without_a_way_to_the_source_the_download_ends() {
    let mut stage = Stage::new(SourceName::Stooq, NOW, []).await;
    // A port that is reserved here, so that nobody listens on it.
    let silent = tokio::net::TcpSocket::new_v4().expect("a socket");
    silent.bind("127.0.0.1:0".parse().expect("an address")).expect("loopback can be bound");
    stage.config.stooq.base_url = format!("http://{}/", silent.local_addr().expect("has one"));
    let report = stage.run(&order()).await;
    let Some(ended @ Ended::Unreachable(_)) = &report.ended else { panic!("{report:?}") };
    assert!(ended.is_resumable() && report.in_state(State::Missing).count() == 2);
}

// Goal: a redirect within the host is followed without a referrer, which would contain the key; a redirect to
// another host, or an endless chain, is not.
#[tokio::test]
async fn redirects_are_bounded() {
    let to = |place: &str| plain("").status(302).header("location", place);
    let stage = Stage::new(SourceName::Stooq, NOW, [to("/v1/moved"), plain(TABLE), plain(TABLE)]).await;
    assert!(stage.run(&order()).await.is_complete());
    let moved = &stage.server.requests()[1];
    assert_eq!((moved.path.as_str(), moved.header("referer")), ("/v1/moved", None));

    let other = Stage::new(SourceName::Stooq, NOW, [plain(TABLE)]).await;
    let elsewhere = other.server.url().replace("127.0.0.1", "localhost");
    let endless = std::iter::repeat_with(|| to("/v1/again")).take(4);
    let stage = Stage::new(SourceName::Stooq, NOW, std::iter::once(to(&elsewhere)).chain(endless)).await;
    let report = stage.run(&order()).await;
    assert_eq!(report.in_state(State::Rejected).count(), 2, "{report:?}");
    assert_eq!((other.server.count(), stage.server.count()), (0, 5));
}

// Goal: an endless response does not fill the memory, compressed or not, and does not affect the others.
#[tokio::test]
async fn a_huge_answer_is_refused() {
    let huge = format!("{TABLE}{}", "x".repeat(64 * 1024 * 1024));
    let stage = Stage::new(SourceName::Stooq, NOW, [plain(&huge), plain(TABLE)]).await;
    let report = stage.run(&order()).await;
    let states: Vec<State> = report.symbols.iter().map(|one| one.state).collect();
    assert_eq!(states, [State::Rejected, State::Complete]);
    assert!(report.symbols[0].reason.as_ref().expect("says why").contains("64 MiB"));

    let mut zeros = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..65 {
        zeros.write_all(&vec![0; 1024 * 1024]).expect("memory can be written");
    }
    let report = packed(zeros.finish().expect("is packed")).await;
    assert_eq!(report, [State::Rejected, State::Rejected]);
}

// Goal: compressed responses are decompressed.
#[tokio::test]
async fn packed_answers_are_read() {
    let mut table = GzEncoder::new(Vec::new(), Compression::fast());
    table.write_all(TABLE.as_bytes()).expect("memory can be written");
    assert_eq!(packed(table.finish().expect("is packed")).await, [State::Complete, State::Complete]);
    assert_eq!(packed(b"no gzip".to_vec()).await, [State::Failed, State::Failed]);
}

/// The result of a download from a source that responds with these compressed bytes.
async fn packed(bytes: Vec<u8>) -> Vec<State> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("loopback can be bound");
    let mut stage = Stage::new(SourceName::Stooq, NOW, []).await;
    stage.config.stooq.base_url = format!("http://{}/", listener.local_addr().expect("has one"));
    let router = axum::Router::new().fallback(move || async move { ([(CONTENT_ENCODING, "gzip")], bytes) });
    let server = tokio::spawn(async move { axum::serve(listener, router).await });
    let report = stage.run(&order()).await;
    server.abort();
    report.symbols.iter().map(|one| one.state).collect()
}

// Goal: an address that may contain a secret, or is invalid, is rejected without being repeated.
#[test]
fn addresses_that_cannot_be_one_are_refused() {
    for url in
        ["", "ftp://example.com", "https://user:hunter2@example.com", "https://example.com/?token=hunter2"]
    {
        let mut config = DownloadConfig::default();
        config.yahoo.base_url = url.to_owned();
        let refused = config.check().expect_err("is refused");
        assert!(refused.starts_with("download.yahoo.base_url: it"), "{refused}");
        assert!(!refused.contains("hunter2"));
        let clock = Arc::new(crate::download_support::HandClock::default());
        assert!(Downloader::new(SourceName::Yahoo, &config, None, "x", clock).is_err());
    }
    let mut config = DownloadConfig::default();
    config.binance.requests_per_minute = 0;
    assert!(config.check().expect_err("is refused").contains("download.binance.requests_per_minute"));
}

// Goal: no symbol creates a file outside the folder, or a request to another place.
#[tokio::test]
async fn symbols_are_names_and_no_paths() {
    let from = "2024-06-13".parse().expect("is a date");
    let what = papertape_market::download::DataKind::News;
    for symbol in ["", "..", "../x", "a/b", "a b", "a,b", "a?b=c", "a%2f", "\u{e9}", &"x".repeat(33)] {
        assert!(DownloadRequest::new([symbol], from, from, what).is_err(), "{symbol}");
    }
    let chart = serde_json::json!({ "chart": { "error": null, "result": [{ "meta": { "symbol": "X" } }] } });
    let answers = std::iter::repeat_with(|| json(&chart)).take(4);
    let stage = Stage::new(SourceName::Yahoo, NOW, answers).await;
    stage.run(&bars(&["^GSPC", "EURUSD=X", "A:B", ".X"], "2024-06-13", "2024-06-13", "1d")).await;
    let names: Vec<String> = stage.files().iter().map(|(path, _)| path.display().to_string()).collect();
    assert!(
        names.iter().all(|name| name.starts_with("yahoo/1d/") && name.matches('/').count() == 3),
        "{names:?}"
    );
    assert!(stage.asked().iter().all(|path| path.starts_with("/v8/finance/chart/")), "{:?}", stage.asked());
    assert!(!format!("{:?}", stage.asked()).contains(KEY));
}
