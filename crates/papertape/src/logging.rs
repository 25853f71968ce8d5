//! The log, on stderr above the progress bars, with secrets redacted.

use anyhow::{Context as _, Result};
use papertape_cli::terminal::above_bars;
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

/// Set once the secrets are known.
static REDACTOR: OnceLock<Arc<Redactor>> = OnceLock::new();

/// Used until then: redacts by pattern only.
static PATTERNS_ONLY: LazyLock<Redactor> = LazyLock::new(Redactor::default);

/// Libraries that log payloads and headers at lower levels.
const QUIET: &str = "rmcp=warn,hyper=warn,hyper_util=warn,h2=warn,reqwest=warn,rustls=warn";

/// Redacts the log with this redactor from now on.
pub(crate) fn redact_with(redactor: &Arc<Redactor>) {
    // The config is read once, so a second redactor would know the same secrets.
    let _ = REDACTOR.set(Arc::clone(redactor));
}

/// Starts the log, at `default_level` unless the config or `-v` sets another.
pub(crate) fn start(verbosity: u8, config: &Config, default_level: &str) -> Result<()> {
    let with_quiet_libraries = |level: &str| format!("{level},{QUIET}");
    let directives = match (verbosity, &config.log) {
        (0, None) => with_quiet_libraries(default_level),
        (0, Some(log)) => log.clone(),
        (1, _) => with_quiet_libraries("debug"),
        _ => with_quiet_libraries("trace"),
    };
    let filter: Targets =
        directives.parse().with_context(|| format!("log: invalid filter `{directives}`"))?;
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

/// Redacts panic messages, which may contain anything that the code was working on.
pub fn redact_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let text = clean(&panic_message(panic));
        above_bars(|| {
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

fn clean(text: &str) -> String {
    REDACTOR.get().map_or(&*PATTERNS_ONLY, |redactor| redactor).redact_text(text).value
}

/// Receives whole lines, as the subscriber writes them.
struct Lines;

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let text = clean(&text);
        above_bars(|| {
            // An unwritable log does not stop the process.
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

    /// Goal: a panic's message does not print secrets, neither configured ones nor ones recognized by pattern.
    #[test]
    fn panic_messages_are_redacted() {
        let secrets = vec![("desk".to_owned(), "plain-words&of/no=shape+42".to_owned())];
        redact_with(&Arc::new(Redactor::new(secrets).expect("long enough")));
        let printed = Arc::new(Mutex::new(String::new()));
        let sink = Arc::clone(&printed);
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            sink.lock().expect("not poisoned").push_str(&clean(&panic_message(panic)));
        }));
        let result =
            std::panic::catch_unwind(|| panic!("sent plain-words&of/no=shape+42 and password=hunter22abc"));
        std::panic::set_hook(previous);
        assert!(result.is_err());
        let text = printed.lock().expect("not poisoned").clone();
        assert!(text.contains("panicked at") && text.contains("[redacted:desk]"), "{text}");
        assert!(!text.contains("shape+42") && !text.contains("hunter22abc"), "{text}");
    }
}
