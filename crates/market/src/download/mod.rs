//! Downloads market data from network sources: at a polite rate, with responses stored as received, and resumable.
//!
//! A [vendor](SourceName) defines the requests and interprets the responses; it sends nothing itself. The
//! [`Downloader`] sends requests at the vendor's rate, waits when told to, and writes every response to its
//! folder before using it:
//!
//! ```text
//! ROOT/SOURCE/KIND/SYMBOL/SYMBOL-PAGE.json          the response
//! ROOT/SOURCE/KIND/SYMBOL/.SYMBOL-PAGE.json.about   the request, its time, and the hash of the response
//! ```
//!
//! A download that is started again reads the stored responses and requests only those that are missing, or
//! that were incomplete when they were fetched. So you can stop it at any time by dropping it.
//! [`crate::import`] reads the files into a dataset.

mod cache;
mod client;
mod pacer;
mod report;

pub use crate::vendors::{
    AlphaVantageConfig, BarInterval, BinanceConfig, DataKind, DownloadConfig, DownloadRequest, SourceName,
    StooqConfig, YahooConfig,
};
pub use report::{DownloadReport, Ended, Event, Planned, ProgressSink, State, SymbolReport};

use crate::input::Source;
use crate::vendors::{DataQuery, DataResponse, FetchContext, Page, ResponseError, Vendor};
use cache::{CachedResponse, ResponseCache};
use client::{FetchError, HttpFetcher};
use pacer::{Pacer, backoff};
use papertape_core::id::Symbol;
use papertape_core::ports::Clock;
use secrecy::SecretString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The maximum number of attempts per request.
const MAX_ATTEMPTS: u32 = 5;
/// A shorter pause is not reported.
const MIN_REPORTED_PAUSE: Duration = Duration::from_secs(2);

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DownloadError {
    /// The source does not offer this kind of data. The caller must change the request.
    #[error("{0}")]
    Request(String),
    /// The source cannot be used with this configuration.
    #[error("{0}")]
    Setup(String),
    /// A file cannot be read or written.
    #[error("{} cannot be used: {error}", path.display())]
    Disk {
        /// The path.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
}

impl DownloadError {
    fn disk(path: &Path, error: io::Error) -> Self {
        Self::Disk { path: path.to_owned(), error }
    }
}

/// What the import reads of a download: its files, without duplicate news items.
///
/// # Errors
/// [`DownloadError::Disk`].
pub fn collect_files(report: &DownloadReport) -> Result<Vec<Source>, DownloadError> {
    let files: Vec<PathBuf> = report.symbols.iter().flat_map(|symbol| symbol.files.clone()).collect();
    let sources = report.source.vendor().sources(report.format, &files);
    sources.map_err(|(path, error)| DownloadError::Disk { path, error })
}

/// Downloads from one source.
pub struct Downloader {
    vendor: &'static dyn Vendor,
    fetcher: HttpFetcher,
    pacer: Pacer,
    clock: Arc<dyn Clock>,
    root: PathBuf,
    max_wait: Duration,
}

/// The result of a request.
enum FetchOutcome {
    /// A page, and its file if it is worth storing.
    Page(Page, Option<CachedResponse>),
    /// The symbol is done.
    Symbol(State, String),
    /// The whole download ends.
    End(Ended),
}

impl Downloader {
    /// A downloader that stores its files below `root`. A key is required if the source needs one.
    ///
    /// # Errors
    /// [`DownloadError::Setup`]: an invalid address, or a missing key.
    pub fn new(
        name: SourceName,
        config: &DownloadConfig,
        key: Option<SecretString>,
        root: impl Into<PathBuf>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, DownloadError> {
        let (url, per_minute) = config.endpoint(name);
        if key.is_none() && name.needs_key() {
            return Err(DownloadError::Setup(format!("{} requires a key", name.as_str())));
        }
        let timeout = Duration::from_secs(config.timeout_secs);
        let fetcher = HttpFetcher::new(url, key, timeout, Arc::clone(&clock))
            .map_err(|reason| DownloadError::Setup(format!("{}: {reason}", name.as_str())))?;
        Ok(Self {
            vendor: name.vendor(),
            fetcher,
            pacer: Pacer::new(per_minute, Arc::clone(&clock)),
            clock,
            root: root.into(),
            max_wait: Duration::from_secs(config.max_wait_secs),
        })
    }

    /// What [`run`](Self::run) would request now: for each symbol the first request without a stored
    /// response. Sends nothing.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn plan(&self, request: &DownloadRequest) -> Result<Vec<Planned>, DownloadError> {
        self.vendor.check(request).map_err(DownloadError::Request)?;
        let mut plan = Vec::new();
        for symbol in request.symbols() {
            let cache = self.cache(request, symbol);
            let mut next = Some(self.vendor.first_query(request, symbol, self.clock.now()));
            let mut cached = 0;
            while let Some(query) = &next {
                let Some((page, _)) = self.cached(&cache, request, symbol, query)? else { break };
                cached += 1;
                next = page.next;
            }
            let next_url = next.map(|query| self.fetcher.address(&query));
            plan.push(Planned { symbol: symbol.clone(), cached, next_url });
        }
        Ok(plan)
    }

    /// Runs a download. It may be dropped at any time: what is stored is reused next time.
    ///
    /// # Errors
    /// [`DownloadError::Request`] if the source does not offer this kind of data, and [`DownloadError::Disk`].
    /// Requests that the source rejects are in the report.
    pub async fn run(
        &mut self,
        request: &DownloadRequest,
        progress: &dyn ProgressSink,
    ) -> Result<DownloadReport, DownloadError> {
        self.vendor.check(request).map_err(DownloadError::Request)?;
        let (format, _) = self.vendor.format(request.data);
        let mut report = DownloadReport::new(self.vendor.name(), self.vendor.folder(request), format.name);
        for (at, symbol) in request.symbols().iter().enumerate() {
            let mut symbol_report = SymbolReport::new(symbol.clone());
            if report.ended.is_none() {
                progress.on_event(&Event::Started { symbol, at, of: request.symbols().len() });
                report.ended = self.symbol(request, &mut symbol_report, &mut report, progress).await?;
                progress.on_event(&Event::Finished { report: &symbol_report });
            }
            report.symbols.push(symbol_report);
        }
        Ok(report)
    }

    /// Follows a symbol's pages to the end. The result says whether the whole download ends here.
    async fn symbol(
        &mut self,
        request: &DownloadRequest,
        symbol_report: &mut SymbolReport,
        report: &mut DownloadReport,
        progress: &dyn ProgressSink,
    ) -> Result<Option<Ended>, DownloadError> {
        let symbol = symbol_report.symbol.clone();
        let cache = self.cache(request, &symbol);
        let mut next = Some(self.vendor.first_query(request, &symbol, self.clock.now()));
        while let Some(query) = next {
            let (page, file, is_new) = match self.cached(&cache, request, &symbol, &query)? {
                Some((page, file)) => (page, Some(file), false),
                None => match self.fetch(&cache, request, &symbol, &query, report, progress).await? {
                    FetchOutcome::Page(page, file) => (page, file, true),
                    FetchOutcome::Symbol(state, reason) => {
                        symbol_report.state = state;
                        symbol_report.reason = Some(reason);
                        return Ok(None);
                    }
                    FetchOutcome::End(ended) => return Ok(Some(ended)),
                },
            };
            let bytes = file.as_ref().map_or(0, |file| file.body.len() as u64);
            report.cached += u64::from(!is_new);
            if is_new {
                report.bytes += bytes;
                self.pacer.hold(page.pause.unwrap_or_default());
            }
            symbol_report.add(&page, file.map(|file| file.path));
            progress.on_event(&Event::Page { symbol: &symbol, rows: page.rows, bytes, is_new });
            next = page.next;
        }
        symbol_report.state = State::Complete;
        Ok(None)
    }

    /// The stored page if it is final; `None` if it must be requested.
    fn cached(
        &self,
        cache: &ResponseCache,
        request: &DownloadRequest,
        symbol: &Symbol,
        query: &DataQuery,
    ) -> Result<Option<(Page, CachedResponse)>, DownloadError> {
        let Some(mut file) = cache.find(&query.stem)? else { return Ok(None) };
        let body = std::mem::take(&mut file.body);
        let response = DataResponse { status: 200, retry_after: None, used_weight: None, body };
        let context = FetchContext { request, symbol, query, fetched_at: file.fetched_at };
        let page = self.vendor.classify(&context, &response);
        file.body = response.body;
        Ok(page.ok().filter(|page| page.settled).map(|page| (page, file)))
    }

    /// Sends a request until there is a response, or until retrying is pointless.
    async fn fetch(
        &mut self,
        cache: &ResponseCache,
        request: &DownloadRequest,
        symbol: &Symbol,
        query: &DataQuery,
        report: &mut DownloadReport,
        progress: &dyn ProgressSink,
    ) -> Result<FetchOutcome, DownloadError> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let is_last = attempt >= MAX_ATTEMPTS;
            let wait = self.pacer.wait();
            if !wait.is_zero() {
                self.clock.sleep(wait).await;
            }
            self.pacer.sent();
            report.requests += 1;
            // The time before the request: data that was incomplete then may be incomplete in the response.
            let fetched_at = self.clock.now();
            let context = FetchContext { request, symbol, query, fetched_at };
            let error = match self.fetcher.fetch(query).await {
                Ok(response) => match self.vendor.classify(&context, &response) {
                    Ok(page) if response.status == 200 => {
                        let relative = self.fetcher.relative(query);
                        let file = cache.store(&query.stem, response.body, fetched_at, relative)?;
                        return Ok(FetchOutcome::Page(page, Some(file)));
                    }
                    Ok(page) => return Ok(FetchOutcome::Page(page, None)),
                    Err(error) => error,
                },
                Err(FetchError::Unreachable(reason)) if is_last => {
                    return Ok(FetchOutcome::End(Ended::Unreachable(reason.to_owned())));
                }
                Err(FetchError::Unreachable(reason) | FetchError::Broken(reason)) => {
                    ResponseError::Broken(reason.to_owned())
                }
                Err(FetchError::Useless(reason)) => ResponseError::Rejected(reason.to_owned()),
            };
            let scrub = |message: &str| self.fetcher.scrub(message);
            let (pause, reason) = match error {
                ResponseError::Unknown(message) => {
                    return Ok(FetchOutcome::Symbol(State::Unknown, scrub(&message)));
                }
                ResponseError::Rejected(message) => {
                    return Ok(FetchOutcome::Symbol(State::Rejected, scrub(&message)));
                }
                ResponseError::Denied(message) => {
                    return Ok(FetchOutcome::End(Ended::Denied(scrub(&message))));
                }
                ResponseError::Quota(message) => {
                    return Ok(FetchOutcome::End(Ended::Quota(scrub(&message))));
                }
                ResponseError::Busy { pause, message } => {
                    let message = scrub(&message);
                    let pause = pause.unwrap_or_default().max(backoff(attempt));
                    if is_last || pause > self.max_wait {
                        return Ok(FetchOutcome::End(Ended::Busy { pause_secs: pause.as_secs(), message }));
                    }
                    (pause, message)
                }
                ResponseError::Broken(message) if is_last => {
                    return Ok(FetchOutcome::Symbol(State::Failed, scrub(&message)));
                }
                ResponseError::Broken(message) => (backoff(attempt), scrub(&message)),
            };
            self.pacer.hold(pause);
            if pause >= MIN_REPORTED_PAUSE {
                progress.on_event(&Event::Waiting { symbol, pause, reason: &reason });
            }
            tracing::debug!(%symbol, attempt, pause_secs = pause.as_secs(), reason, "retries");
        }
    }

    fn cache(&self, request: &DownloadRequest, symbol: &Symbol) -> ResponseCache {
        let (_, extension) = self.vendor.format(request.data);
        let (name, folder) = (self.vendor.name().as_str(), self.vendor.folder(request));
        ResponseCache::new(&self.root, name, &folder, symbol, extension)
    }
}
