//! The standard error of an agent's program: logged, and remembered for the sentence about its failure.

use papertape_redact::Redactor;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::ChildStderr;
use tokio::task::JoinSet;

/// Bytes that are remembered.
const REMEMBERED_BYTES: usize = 64 << 10;
/// The maximum piece that is logged at once.
const LOG_LINE_BYTES: u64 = 8 << 10;
/// Lines and characters in the sentence about a failure.
const QUOTED_LINES: usize = 12;
const QUOTED_CHARS: usize = 2_000;
/// How long the rest of the output is waited for after the program has ended. A process that it left behind may hold
/// the pipe open.
const REST_WAIT: Duration = Duration::from_secs(2);

/// Reads a program's standard error until its end.
pub(super) struct StderrTail {
    bytes: Arc<Mutex<VecDeque<u8>>>,
    reading: JoinSet<()>,
    redactor: Arc<Redactor>,
}

impl StderrTail {
    pub(super) fn new(agent: &str, stderr: ChildStderr, redactor: &Arc<Redactor>) -> Self {
        let bytes = Arc::new(Mutex::new(VecDeque::new()));
        let mut reading = JoinSet::new();
        reading.spawn(read(agent.to_owned(), stderr, Arc::clone(&bytes), Arc::clone(redactor)));
        Self { bytes, reading, redactor: Arc::clone(redactor) }
    }

    /// The last lines, without secrets, once the program has ended; empty: it wrote nothing.
    pub(super) async fn last_lines(&mut self) -> String {
        let _ = tokio::time::timeout(REST_WAIT, self.reading.join_next()).await;
        let bytes: Vec<u8> = lock(&self.bytes).iter().copied().collect();
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if bytes.len() >= REMEMBERED_BYTES {
            // The first line is incomplete, so a secret in it might not be recognized.
            text = text.split_once('\n').map(|(_, rest)| rest.to_owned()).unwrap_or_default();
        }
        // Redacted before anything is cut off, which could hide a secret's form.
        let text = self.redactor.redact_text(text.trim_end()).value;
        let lines: Vec<&str> = text.lines().collect();
        let quoted = lines.get(lines.len().saturating_sub(QUOTED_LINES)..).unwrap_or_default().join("\n");
        let chars = quoted.chars().count();
        quoted.chars().skip(chars.saturating_sub(QUOTED_CHARS)).collect()
    }
}

async fn read(agent: String, stderr: ChildStderr, bytes: Arc<Mutex<VecDeque<u8>>>, redactor: Arc<Redactor>) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut stderr).take(LOG_LINE_BYTES).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let mut bytes = lock(&bytes);
                bytes.extend(&line);
                let excess = bytes.len().saturating_sub(REMEMBERED_BYTES);
                bytes.drain(..excess);
                drop(bytes);
                if tracing::enabled!(tracing::Level::INFO) {
                    let line = redactor.redact_text(String::from_utf8_lossy(&line).trim_end()).value;
                    tracing::info!(agent = %agent, line, "external agent wrote to its standard error");
                }
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
