//! The log: to stderr, above the progress bars, without the secrets that the process knows.

use super::Common;
use super::progress::above_the_bars;
use anyhow::{Context as _, Result};
use papertape_redact::Redactor;
use papertape_service::config::{Config, LogFormat};
use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, Write};
use std::panic::PanicHookInfo;
use std::sync::{Arc, LazyLock, OnceLock};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Set once the secrets are known, which is when the product has been put together.
static REDACTOR: OnceLock<Arc<Redactor>> = OnceLock::new();

/// Until then, and in a process that has no secrets of its own, the rules do without them.
static RULES: LazyLock<Redactor> = LazyLock::new(Redactor::default);

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

/// A panic's message may hold whatever the code was working on: it goes the way of the log.
pub(super) fn redact_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let text = clean(&panic_message(panic));
        above_the_bars(|| {
            let _ = io::stderr().lock().write_all(text.as_bytes());
        });
    }));
}

fn panic_message(panic: &PanicHookInfo<'_>) -> String {
    let thread = std::thread::current();
    let backtrace = Backtrace::capture();
    let backtrace = match backtrace.status() {
        BacktraceStatus::Captured => format!("\n{backtrace}"),
        _ => String::new(),
    };
    format!("thread '{}' {panic}{backtrace}\n", thread.name().unwrap_or("<unnamed>"))
}

/// A text without secrets.
fn clean(text: &str) -> String {
    REDACTOR.get().map_or(&*RULES, |redactor| redactor).redact_text(text).value
}

/// Takes whole lines, as the subscriber writes them.
struct Lines;

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let text = clean(&text);
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Goal: what a panic says of a secret is not printed, whether it is configured or known by its shape.
    #[test]
    fn a_panic_keeps_secrets_to_itself() {
        let secrets = vec![("desk".to_owned(), "plain-words&of/no=shape+42".to_owned())];
        redact_with(&Arc::new(Redactor::new(secrets).expect("long enough")));
        let seen = Arc::new(Mutex::new(String::new()));
        let into = Arc::clone(&seen);
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            into.lock().expect("is whole").push_str(&clean(&panic_message(panic)));
        }));
        let ended = std::panic::catch_unwind(|| {
            panic!("asked with plain-words&of/no=shape+42 and password=hunter22abc")
        });
        std::panic::set_hook(usual);
        assert!(ended.is_err());
        let text = seen.lock().expect("is whole").clone();
        assert!(text.contains("panicked at") && text.contains("[redacted:desk]"), "{text}");
        assert!(!text.contains("shape+42") && !text.contains("hunter22abc"), "{text}");
    }
}
