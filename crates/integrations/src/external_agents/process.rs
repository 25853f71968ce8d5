//! An agent's program while it runs.

use super::group::{MARK, ProcessGroup, new_mark};
use super::lines::Lines;
use super::stderr::StderrTail;
use papertape_redact::Redactor;
use serde_json::Value;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// How long a program may take to exit once its standard input is closed.
const EXIT_GRACE: Duration = Duration::from_secs(3);
/// How long it may take after it was asked to terminate, before it is killed.
const TERMINATE_GRACE: Duration = Duration::from_secs(2);
/// How long to wait for the exit status of a program that has closed its standard output.
const STATUS_WAIT: Duration = Duration::from_secs(2);

/// A running program. Dropping it kills all its processes.
pub(super) struct AgentProcess {
    /// What it writes.
    pub(super) lines: Lines<ChildStdout>,
    stdin: ChildStdin,
    stderr: StderrTail,
    child: Child,
    group: ProcessGroup,
}

impl AgentProcess {
    /// Starts the command, which must have a clean environment.
    pub(super) fn spawn(agent: &str, mut command: Command, redactor: &Arc<Redactor>) -> io::Result<Self> {
        let mark = new_mark();
        command.env(MARK, &mark).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C at a terminal does not reach it: the session decides how its day ends.
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let group = ProcessGroup::new(child.id(), mark);
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
            return Err(io::Error::other("it has no standard streams"));
        };
        let stderr = StderrTail::new(agent, stderr, redactor);
        Ok(Self { lines: Lines::new(stdout), stdin, stderr, child, group })
    }

    /// Writes a message as one line.
    pub(super) async fn write(&mut self, message: &Value) -> io::Result<()> {
        let mut line = message.to_string();
        line.push('\n');
        self.stdin.write_all(line.as_bytes()).await?;
        self.stdin.flush().await
    }

    /// How the program ended, once it has closed its standard output, and its last words.
    pub(super) async fn ending(&mut self) -> (Option<ExitStatus>, String) {
        let status = tokio::time::timeout(STATUS_WAIT, self.child.wait()).await;
        (status.ok().and_then(Result::ok), self.stderr.last_lines().await)
    }

    /// Lets the program exit by itself, then ends all its processes.
    pub(super) async fn close(self) {
        let Self { lines, stdin, stderr: _stderr, mut child, group } = self;
        drop(stdin);
        let exited = tokio::time::timeout(EXIT_GRACE, child.wait()).await;
        drop(lines);
        end(exited.is_ok(), child, group).await;
    }

    /// Ends all its processes.
    pub(super) async fn end(self) {
        let Self { lines, stdin, stderr: _stderr, child, group } = self;
        drop((lines, stdin));
        end(false, child, group).await;
    }
}

async fn end(has_exited: bool, mut child: Child, group: ProcessGroup) {
    if !has_exited {
        group.terminate();
        let _ = tokio::time::timeout(TERMINATE_GRACE, child.wait()).await;
    }
    // Its drop kills what is left. The search for processes that left the group reads files.
    let _ = tokio::task::spawn_blocking(move || drop(group)).await;
    let _ = child.wait().await;
}
