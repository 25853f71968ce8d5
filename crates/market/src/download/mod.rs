//! Downloads market data from network sources: at a polite rate, with responses stored as received, and resumable.
//!
//! A source ([`SourceName`]) defines the requests and interprets the responses, one file each; it sends
//! nothing itself. The [`Downloader`] sends requests at the source's rate, waits when told to, and writes
//! every response to its folder before using it:
//!
//! ```text
//! ROOT/SOURCE/KIND/SYMBOL/SYMBOL-PAGE.json          the response
//! ROOT/SOURCE/KIND/SYMBOL/.SYMBOL-PAGE.json.about   the request, its time, and the hash of the response
//! ```
//!
//! A download that is started again reads the stored responses and requests only those that are missing, or
//! that were incomplete when they were fetched. So you can stop it at any time by dropping it.
//! [`crate::import`] reads the files into a dataset.

mod alpha_vantage;
mod binance;
mod client;
mod collect;
mod config;
mod pacer;
mod report;
mod request;
mod shelf;
mod source;
mod stooq;
mod yahoo;

pub use collect::collect_files;
pub use config::{AlphaVantageConfig, BinanceConfig, DownloadConfig, SourceName, StooqConfig, YahooConfig};
pub use report::{DownloadReport, Ended, Event, Planned, ProgressSink, State, SymbolReport};
pub use request::{BarInterval, DataKind, DownloadRequest};
pub(crate) use shelf::CacheMeta;

use client::{DataQuery, DataResponse, FetchError, HttpFetcher};
use pacer::{Pacer, backoff};
use papertape_core::id::Symbol;
use papertape_core::ports::Clock;
use secrecy::SecretString;
use shelf::{CachedResponse, ResponseCache};
use source::{FetchRequest, Page, ResponseClass, Source, source};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The maximum number of attempts per request.
const ATTEMPTS: u32 = 5;
/// A shorter pause is not reported.
const TOLD_PAUSE: Duration = Duration::from_secs(2);

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DownloadError {
    /// The source does not offer this kind of data. The caller must change the request.
    #[error("{0}")]
    Order(String),
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

/// Downloads from one source.
pub struct Downloader {
    name: SourceName,
    source: Box<dyn Source>,
    asker: HttpFetcher,
    pacer: Pacer,
    clock: Arc<dyn Clock>,
    root: PathBuf,
    max_wait: Duration,
}

/// The result of a request.
enum Asking {
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
            return Err(DownloadError::Setup(format!("{} answers nothing without a key", name.as_str())));
        }
        let timeout = Duration::from_secs(config.timeout_secs);
        let asker = HttpFetcher::new(url, key, timeout, Arc::clone(&clock))
            .map_err(|reason| DownloadError::Setup(format!("{}: {reason}", name.as_str())))?;
        Ok(Self {
            name,
            source: source(name),
            asker,
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
    pub fn plan(&self, order: &DownloadRequest) -> Result<Vec<Planned>, DownloadError> {
        self.source.check(order).map_err(DownloadError::Order)?;
        let mut plan = Vec::new();
        for symbol in order.symbols() {
            let shelf = self.shelf(order, symbol);
            let mut question = Some(self.source.first(order, symbol, self.clock.now()));
            let mut kept = 0;
            while let Some(open) = &question {
                let Some((page, _)) = self.cached(&shelf, order, symbol, open)? else { break };
                kept += 1;
                question = page.next;
            }
            let ask = question.map(|question| self.asker.address(&question));
            plan.push(Planned { symbol: symbol.clone(), kept, ask });
        }
        Ok(plan)
    }

    /// Runs a download. It may be dropped at any time: what is stored is reused next time.
    ///
    /// # Errors
    /// [`DownloadError::Order`] if the source does not offer this kind of data, and [`DownloadError::Disk`].
    /// Requests that the source rejects are in the report.
    pub async fn run(
        &mut self,
        order: &DownloadRequest,
        watch: &dyn ProgressSink,
    ) -> Result<DownloadReport, DownloadError> {
        self.source.check(order).map_err(DownloadError::Order)?;
        let (format, _) = self.source.format(order.what);
        let mut report = DownloadReport::new(self.name, self.source.kind(order), format);
        for (at, symbol) in order.symbols().iter().enumerate() {
            let mut of_symbol = SymbolReport::new(symbol.clone());
            if report.ended.is_none() {
                watch.see(&Event::Begun { symbol, at, of: order.symbols().len() });
                report.ended = self.symbol(order, &mut of_symbol, &mut report, watch).await?;
                watch.see(&Event::Ended { report: &of_symbol });
            }
            report.symbols.push(of_symbol);
        }
        Ok(report)
    }

    /// Follows a symbol's pages to the end. The result says whether the whole download ends here.
    async fn symbol(
        &mut self,
        order: &DownloadRequest,
        of_symbol: &mut SymbolReport,
        report: &mut DownloadReport,
        watch: &dyn ProgressSink,
    ) -> Result<Option<Ended>, DownloadError> {
        let symbol = of_symbol.symbol.clone();
        let shelf = self.shelf(order, &symbol);
        let mut question = self.source.first(order, &symbol, self.clock.now());
        loop {
            let (page, kept, is_new) = match self.cached(&shelf, order, &symbol, &question)? {
                Some((page, kept)) => (page, Some(kept), false),
                None => match self.fetch(&shelf, order, &symbol, &question, report, watch).await? {
                    Asking::Page(page, kept) => (page, kept, true),
                    Asking::Symbol(state, reason) => {
                        of_symbol.state = state;
                        of_symbol.reason = Some(reason);
                        return Ok(None);
                    }
                    Asking::End(ended) => return Ok(Some(ended)),
                },
            };
            let bytes = kept.as_ref().map_or(0, |kept| kept.body.len() as u64);
            report.kept += u64::from(!is_new);
            if is_new {
                report.bytes += bytes;
                self.pacer.hold(page.pause.unwrap_or_default());
            }
            of_symbol.add(&page, kept.map(|kept| kept.path));
            watch.see(&Event::Page { symbol: &symbol, rows: page.rows, bytes, is_new });
            match page.next {
                Some(next) => question = next,
                None => break,
            }
        }
        of_symbol.state = State::Complete;
        Ok(None)
    }

    /// The stored page if it is final; `None` if it must be requested.
    fn cached(
        &self,
        shelf: &ResponseCache,
        order: &DownloadRequest,
        symbol: &Symbol,
        question: &DataQuery,
    ) -> Result<Option<(Page, CachedResponse)>, DownloadError> {
        let Some(mut kept) = shelf.find(&question.stem)? else { return Ok(None) };
        let body = std::mem::take(&mut kept.body);
        let answer = DataResponse { status: 200, retry_after: None, used_weight: None, body };
        let asked = FetchRequest { order, symbol, question, fetched_at: kept.fetched_at };
        let verdict = self.source.read(&asked, &answer);
        kept.body = answer.body;
        Ok(match verdict {
            ResponseClass::Page(page) if page.settled => Some((page, kept)),
            _ => None,
        })
    }

    /// Sends a request until there is a response, or until retrying is pointless.
    async fn fetch(
        &mut self,
        shelf: &ResponseCache,
        order: &DownloadRequest,
        symbol: &Symbol,
        question: &DataQuery,
        report: &mut DownloadReport,
        watch: &dyn ProgressSink,
    ) -> Result<Asking, DownloadError> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            self.wait().await;
            self.pacer.sent();
            report.asked += 1;
            // The time before the request: data that was incomplete then may be incomplete in the response.
            let fetched_at = self.clock.now();
            let asked = FetchRequest { order, symbol, question, fetched_at };
            let (verdict, answer) = match self.asker.fetch(question).await {
                Ok(answer) => (self.source.read(&asked, &answer), Some(answer)),
                Err(FetchError::Unreachable(why)) if attempt >= ATTEMPTS => {
                    return Ok(Asking::End(Ended::Unreachable(why.to_owned())));
                }
                Err(FetchError::Unreachable(why) | FetchError::Broken(why)) => {
                    (ResponseClass::Broken(why.to_owned()), None)
                }
                Err(FetchError::Useless(why)) => (ResponseClass::Refused(why.to_owned()), None),
            };
            let told = |said: &str| self.asker.scrubbed(said);
            let (pause, why) = match verdict {
                ResponseClass::Page(page) => {
                    let answer = answer.filter(|answer| answer.status == 200);
                    let relative = self.asker.relative(question);
                    let keep =
                        |answer: DataResponse| shelf.store(&question.stem, answer.body, fetched_at, relative);
                    return Ok(Asking::Page(page, answer.map(keep).transpose()?));
                }
                ResponseClass::Unknown(said) => return Ok(Asking::Symbol(State::Unknown, told(&said))),
                ResponseClass::Refused(said) => return Ok(Asking::Symbol(State::Refused, told(&said))),
                ResponseClass::Denied(said) => return Ok(Asking::End(Ended::Denied(told(&said)))),
                ResponseClass::Quota(said) => return Ok(Asking::End(Ended::Quota(told(&said)))),
                ResponseClass::Busy { pause, said } => {
                    let said = told(&said);
                    let pause = pause.unwrap_or_default().max(backoff(attempt));
                    if attempt >= ATTEMPTS || pause > self.max_wait {
                        return Ok(Asking::End(Ended::Busy { pause_secs: pause.as_secs(), said }));
                    }
                    (pause, said)
                }
                ResponseClass::Broken(said) if attempt >= ATTEMPTS => {
                    return Ok(Asking::Symbol(State::Failed, told(&said)));
                }
                ResponseClass::Broken(said) => (backoff(attempt), told(&said)),
            };
            self.pacer.hold(pause);
            if pause >= TOLD_PAUSE {
                watch.see(&Event::Waiting { symbol, pause, why: &why });
            }
            tracing::debug!(%symbol, attempt, pause_secs = pause.as_secs(), why, "asks again");
        }
    }

    async fn wait(&self) {
        let wait = self.pacer.wait();
        if !wait.is_zero() {
            self.clock.sleep(wait).await;
        }
    }

    fn shelf(&self, order: &DownloadRequest, symbol: &Symbol) -> ResponseCache {
        let (_, extension) = self.source.format(order.what);
        ResponseCache::new(&self.root, self.name.as_str(), &self.source.kind(order), symbol, extension)
    }
}
