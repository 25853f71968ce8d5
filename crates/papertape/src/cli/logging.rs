//! The log: to stderr, above the progress bars, without the secrets that the process knows.

use super::Common;
use super::progress::above_the_bars;
use crate::config::{Config, LogFormat};
use anyhow::{Context as _, Result};
use papertape_core::redact::Redactor;
use std::io::{self, Write};
use std::sync::{Arc, OnceLock};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Set once the secrets are known, which is when the product has been put together.
static REDACTOR: OnceLock<Arc<Redactor>> = OnceLock::new();

/// Libraries that log payloads and headers, whatever is asked for.
const QUIET: &str = "rmcp=warn,hyper=warn,hyper_util=warn,h2=warn,reqwest=warn,rustls=warn";

/// From now on the log goes through it.
pub(super) fn redact_with(redactor: &Arc<Redactor>) {
    // The first one knows what a later one would: the configuration is read once.
    let _ = REDACTOR.set(Arc::clone(redactor));
}

/// Starts the log. `usual` is its level where neither the config nor `-v` says another.
pub(super) fn start(common: &Common, config: &Config, usual: &str) -> Result<()> {
    let quietly = |level: &str| format!("{level},{QUIET}");
    let wanted = match (common.verbose, &config.log) {
        (0, None) => quietly(usual),
        (0, Some(log)) => log.clone(),
        (1, _) => quietly("debug"),
        _ => quietly("trace"),
    };
    let filter: Targets = wanted.parse().with_context(|| format!("log: `{wanted}` is no filter"))?;
    let log = tracing_subscriber::registry().with(filter);
    match config.log_format {
        LogFormat::Text => {
            log.with(layer().with_writer(|| Lines).with_ansi(io::IsTerminal::is_terminal(&io::stderr())))
                .init();
        }
        LogFormat::Json => log.with(layer().with_writer(|| Lines).json()).init(),
    }
    Ok(())
}

/// Takes whole lines, as the subscriber writes them.
struct Lines;

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let text = match REDACTOR.get() {
            Some(redactor) => redactor.redact_text(&text).value,
            None => text.into_owned(),
        };
        above_the_bars(|| {
            // A log that nobody reads is no reason to stop.
            let _ = io::stderr().lock().write_all(text.as_bytes());
        });
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
