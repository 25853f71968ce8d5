//! A tool server as a child process that uses its standard streams.

use super::bounded::{MAX_MESSAGE_BYTES, TOO_LARGE, check};
use super::ending::Ending;
use papertape_llm::bounds::Shape;
use papertape_service::config::ToolServer;
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use std::io;
use std::pin::Pin;
use std::process::Stdio;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader, ReadBuf};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinSet;

/// The maximum piece of a child's standard error that is logged at once.
const LOG_LINE_BYTES: u64 = 8 << 10;
/// How long a child may take to exit once its standard input is closed, before it is killed.
const GRACE: Duration = Duration::from_secs(3);
/// How long to wait for the exit status of a child that has closed its standard output.
const STATUS_WAIT: Duration = Duration::from_millis(500);

/// Starts the server. The error text follows the server's name.
pub(super) fn spawn(name: &str, config: &ToolServer, ending: Ending) -> Result<ChildTransport, String> {
    let Some((program, arguments)) = config.command.split_first() else {
        return Err("has neither a command nor an address".to_owned());
    };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.kill_on_drop(true).env_clear();
    // Ctrl-C at a terminal reaches the whole process group. We stop after the current step, and the tool that
    // works on it must still be running then.
    #[cfg(unix)]
    command.process_group(0);
    for variable in ["PATH", "HOME"].into_iter().chain(config.env.iter().map(String::as_str)) {
        if let Some(value) = std::env::var_os(variable) {
            command.env(variable, value);
        } else if !matches!(variable, "PATH" | "HOME") {
            tracing::warn!(server = %name, variable, "an environment variable for a tool server is not set");
        }
    }
    let failed = |error: &io::Error| format!("cannot be started: `{program}`: {error}");
    let mut child = command.spawn().map_err(|error| failed(&error))?;
    let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
        return Err(failed(&io::Error::other("it has no standard streams")));
    };
    let mut draining = JoinSet::new();
    draining.spawn(drain(name.to_owned(), stderr));
    let lines = Lines { inner: stdout, line_bytes: 0, shape: Shape::default(), ending: ending.clone() };
    let streams = AsyncRwTransport::new(lines, stdin);
    Ok(ChildTransport { streams, child, is_over: false, ending, _draining: draining })
}

/// The child and its streams. Dropping it kills the child; closing it lets the child exit first.
pub(super) struct ChildTransport {
    streams: AsyncRwTransport<RoleClient, Lines<ChildStdout>, ChildStdin>,
    child: Child,
    /// Nothing more is read from it.
    is_over: bool,
    ending: Ending,
    /// Ends with the child, even if a grandchild still holds its standard error.
    _draining: JoinSet<()>,
}

impl Transport<RoleClient> for ChildTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.streams.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.streams.receive().await;
        self.is_over = message.is_none();
        if self.is_over
            && let Ok(Ok(status)) = tokio::time::timeout(STATUS_WAIT, self.child.wait()).await
        {
            // The first known reason for an exit wins.
            self.ending.get_or_init(|| format!("ended ({status})"));
        }
        message
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        let (streams, child) = (&mut self.streams, &mut self.child);
        // A child that does not read its input would also block closing that input.
        let grace = if self.is_over { Duration::ZERO } else { GRACE };
        let exited = tokio::time::timeout(grace, async {
            let _ = streams.close().await;
            child.wait().await
        });
        match exited.await {
            Ok(ended) => ended.map(|_| ()),
            Err(_) => self.child.kill().await,
        }
    }
}

/// Reads lines up to the size limit. A longer line is an error that ends the connection: skipping the line,
/// as the SDK would, leaves its call without a response forever.
struct Lines<R> {
    inner: R,
    line_bytes: usize,
    shape: Shape,
    ending: Ending,
}

impl<R: AsyncRead + Unpin> AsyncRead for Lines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        let read = &buffer.filled()[before..];
        for piece in read.split_inclusive(|byte| *byte == b'\n') {
            self.line_bytes += piece.len();
            self.shape.read(piece);
            let exceeded =
                if self.line_bytes > MAX_MESSAGE_BYTES { Some(TOO_LARGE) } else { check(&self.shape) };
            if let Some(reason) = exceeded {
                self.ending.get_or_init(|| reason.to_owned());
                return Poll::Ready(Err(io::Error::other(reason)));
            }
            if piece.ends_with(b"\n") {
                self.line_bytes = 0;
                self.shape = Shape::default();
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// Drains a child's standard error into the log, so that the pipe never fills up.
async fn drain(server: String, stderr: ChildStderr) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut stderr).take(LOG_LINE_BYTES).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let line = String::from_utf8_lossy(&line);
                tracing::debug!(server = %server, line = line.trim_end(), "tool server wrote to its standard error");
            }
        }
    }
}
