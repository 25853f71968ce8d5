//! Shared helpers of the download tests: a clock on which pauses pass at once and timeouts fire by hand, a
//! source on loopback, and a reader of rows.

use papertape_core::ports::{BoxFuture, Clock};
use papertape_core::time::{Timestamp, parse_date};
use papertape_market::download::{
    BarInterval, DataKind, DownloadConfig, DownloadReport, DownloadRequest, Downloader, Event, ProgressSink,
    SourceName,
};
use papertape_market::import::{Hints, ImportedRow, Location, ReadAbort, Sink, Source, format_named};
use papertape_testkit::clock::FakeClock;
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

/// Unlike any pause, so that the two cannot be confused.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(77);
pub(crate) const KEY: &str = "K3Y+secret/of=mine";

/// A clock on which a pause passes as soon as it is awaited; a request's timeout fires when the test advances
/// the time.
#[derive(Clone, Default)]
pub(crate) struct HandClock {
    time: FakeClock,
    pauses: Arc<Mutex<Vec<Duration>>>,
}

impl HandClock {
    pub(crate) fn at(instant: &str) -> Self {
        let clock = Self { time: FakeClock::new(), pauses: Arc::default() };
        let instant: Timestamp = instant.parse().expect("is an instant");
        clock.pass(Duration::try_from(instant.duration_since(clock.now())).expect("is later"));
        clock
    }

    /// Advances the time.
    pub(crate) fn pass(&self, time: Duration) {
        self.time.advance(time);
    }

    /// The pauses that were awaited, in seconds.
    pub(crate) fn pauses(&self) -> Vec<f64> {
        let pauses = self.pauses.lock().expect("no panic");
        // A source without a rate limit pauses for practically no time.
        let pauses = pauses.iter().filter(|pause| **pause > Duration::from_millis(1));
        pauses.map(|pause| (pause.as_secs_f64() * 1000.0).round() / 1000.0).collect()
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        self.time.now()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        if duration == TIMEOUT {
            return self.time.sleep(duration);
        }
        self.pauses.lock().expect("no panic").push(duration);
        self.time.advance(duration);
        Box::pin(std::future::ready(()))
    }
}

/// A source on loopback, and a folder for its responses.
pub(crate) struct Stage {
    pub(crate) server: ModelServer,
    pub(crate) clock: HandClock,
    pub(crate) config: DownloadConfig,
    pub(crate) dir: TempDir,
    name: SourceName,
}

impl Stage {
    /// A source that returns these responses in order, at this time.
    pub(crate) async fn new(
        name: SourceName,
        now: &str,
        answers: impl IntoIterator<Item = ScriptedAnswer>,
    ) -> Self {
        let server = ModelServer::scripted(answers).await;
        let mut config = DownloadConfig { timeout_secs: TIMEOUT.as_secs(), ..DownloadConfig::default() };
        for url in [
            &mut config.alpha_vantage.base_url,
            &mut config.yahoo.base_url,
            &mut config.stooq.base_url,
            &mut config.binance.base_url,
        ] {
            *url = server.url();
        }
        // Practically no rate limit; that has its own test.
        config.alpha_vantage.requests_per_minute = u32::MAX;
        config.yahoo.requests_per_minute = u32::MAX;
        config.stooq.requests_per_minute = u32::MAX;
        config.binance.requests_per_minute = u32::MAX;
        let dir = tempfile::tempdir().expect("makes a folder");
        Self { server, clock: HandClock::at(now), config, dir, name }
    }

    pub(crate) fn downloader(&self) -> Downloader {
        let key = self.config.api_key_env(self.name).map(|_| KEY.into());
        let clock = Arc::new(self.clock.clone());
        Downloader::new(self.name, &self.config, key, self.dir.path(), clock).expect("can be asked")
    }

    pub(crate) async fn run(&self, order: &DownloadRequest) -> DownloadReport {
        self.downloader().run(order, &Nobody).await.expect("files can be written")
    }

    /// The paths and queries of all requests, without the server's prefix.
    pub(crate) fn asked(&self) -> Vec<String> {
        let paths = self.server.requests().into_iter().map(|request| request.path);
        paths.map(|path| path.strip_prefix("/v1").expect("is below the address").to_owned()).collect()
    }

    /// All files with their contents.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut open = vec![self.dir.path().to_owned()];
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(dir).expect("is a folder") {
                let path = entry.expect("is there").path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    let relative = path.strip_prefix(self.dir.path()).expect("is below").to_owned();
                    found.push((relative, std::fs::read(&path).expect("can be read")));
                }
            }
        }
        found.sort();
        found
    }
}

/// A sink that ignores all events.
pub(crate) struct Nobody;

impl ProgressSink for Nobody {
    fn on_event(&self, _event: &Event<'_>) {}
}

pub(crate) fn json(text: impl Display) -> ScriptedAnswer {
    ScriptedAnswer::raw("application/json", text.to_string())
}

pub(crate) fn plain(text: &str) -> ScriptedAnswer {
    ScriptedAnswer::raw("text/plain", text)
}

pub(crate) fn bars(symbols: &[&str], from: &str, to: &str, span: &str) -> DownloadRequest {
    let span: BarInterval = span.parse().expect("is an interval");
    order(symbols, from, to, DataKind::Bars { interval: span, actions: false })
}

pub(crate) fn order(symbols: &[&str], from: &str, to: &str, what: DataKind) -> DownloadRequest {
    let date = |text| parse_date(text).expect("is a date");
    DownloadRequest::new(symbols, date(from), date(to), what).expect("is an order")
}

/// The rows of a file, or why they are unreadable, each with its location.
pub(crate) fn rows(format: &str, path: &Path) -> Vec<Result<ImportedRow, String>> {
    read(format, &Source::file(path)).expect("is of use")
}

pub(crate) fn read(format: &str, source: &Source) -> Result<Vec<Result<ImportedRow, String>>, ReadAbort> {
    struct Rows(Vec<Result<ImportedRow, String>>);
    impl Sink for Rows {
        fn row(
            &mut self,
            at: Location<'_>,
            row: Result<ImportedRow, String>,
            _raw: &dyn Display,
        ) -> Result<(), ReadAbort> {
            let place = at.path.map_or_else(|| at.line.to_string(), str::to_owned);
            self.0.push(row.map_err(|reason| format!("{place}: {reason}")));
            Ok(())
        }
    }
    let zone = jiff::tz::TimeZoneDatabase::bundled().get("America/New_York").expect("is known");
    let hints = Hints { symbol: None, zone, interval: None, basis: None };
    let mut rows = Rows(Vec::new());
    (format_named(format).expect("is a format").read)(source, &hints, &mut rows)?;
    Ok(rows.0)
}
