//! The program of one agent of one job: started for its first day, and kept for the next ones.

use super::lines::Line;
use super::process::AgentProcess;
use papertape_core::external::{
    AgentDoor, AgentReply, ErrorCode, IncomingMessage, SessionEnding, end_message, oversized_message,
    parse_message, reply_message,
};
use papertape_core::message::{CallFailure, FailureKind};
use serde_json::Value;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::timeout;

/// How long a reply that is being made or written may take once the session is over.
const REPLY_GRACE: Duration = Duration::from_secs(5);
/// How long an agent whose day ended early may take to read that.
const END_GRACE: Duration = Duration::from_secs(1);

/// A day that waits for its program.
pub(super) struct ProgramDay {
    /// The `day` message.
    pub(super) message: Value,
    /// Where requests go.
    pub(super) door: Arc<dyn AgentDoor>,
    /// Whether the program could be started.
    pub(super) started: oneshot::Sender<Result<(), CallFailure>>,
    /// Why it can make no more requests.
    pub(super) failure: watch::Sender<Option<CallFailure>>,
    /// The session's end. Dropped without one: the day is abandoned.
    pub(super) ending: oneshot::Receiver<SessionEnding>,
    /// The agent knows of the end.
    pub(super) done: oneshot::Sender<()>,
}

/// Starts the program.
pub(super) trait Start: Send + 'static {
    /// The agent's name.
    fn agent(&self) -> &str;

    /// # Errors
    /// A sentence.
    fn start(&self) -> Result<AgentProcess, String>;
}

/// Runs days one after the other until the sender is gone, or no day has come for `idle`.
pub(super) async fn run(start: impl Start, mut days: mpsc::Receiver<ProgramDay>, idle: Duration) {
    let mut process: Option<AgentProcess> = None;
    loop {
        let next = tokio::select! {
            day = days.recv() => day,
            () = wait_idle(&mut process, idle) => {
                // A day that was sent meanwhile is still received.
                days.close();
                if let Some(process) = process.take() {
                    process.close().await;
                }
                days.recv().await
            }
        };
        match next {
            Some(day) => process = run_day(&start, process, day).await,
            None => break,
        }
    }
    if let Some(process) = process {
        process.close().await;
    }
}

/// Waits between two days. Requests are answered: there is no session.
async fn wait_idle(process: &mut Option<AgentProcess>, idle: Duration) {
    let mut waiting = pin!(tokio::time::sleep(idle));
    loop {
        let Some(running) = process else { return waiting.await };
        let line = tokio::select! {
            () = waiting.as_mut() => return,
            line = running.lines.next() => line,
        };
        let is_usable = match line {
            Ok(Some(Line::Message(line))) => {
                let reply = AgentReply::error(
                    ErrorCode::SessionEnded,
                    "the session has ended; wait for the next day",
                );
                let reply = reply_message(&parse_message(&line).id, &reply);
                matches!(timeout(REPLY_GRACE, running.write(&reply)).await, Ok(Ok(())))
            }
            _ => false,
        };
        if !is_usable && let Some(ended) = process.take() {
            ended.end().await;
        }
    }
}

/// Why no more requests come.
enum Broken {
    /// The program closed its standard output, or no longer reads.
    Closed,
    TooLarge,
    Io(io::Error),
}

/// Returns the program if it can be used for another day.
async fn run_day(start: &impl Start, reused: Option<AgentProcess>, day: ProgramDay) -> Option<AgentProcess> {
    let ProgramDay { message, door, started, failure, mut ending, done } = day;
    let mut may_restart = reused.is_some();
    let mut process = match reused.map_or_else(|| start.start(), Ok) {
        Ok(process) => process,
        Err(reason) => {
            let _ = started.send(Err(unavailable(start, &reason)));
            return None;
        }
    };
    let _ = started.send(Ok(()));
    loop {
        let (over, requested) = (Notify::new(), AtomicBool::new(false));
        let served = {
            let mut serving = pin!(serve(&mut process, &message, &*door, &over, &requested));
            tokio::select! {
                served = serving.as_mut() => Err(served.err().unwrap_or(Broken::Closed)),
                ended = &mut ending => {
                    over.notify_one();
                    let is_idle = ended.is_ok() && timeout(REPLY_GRACE, serving).await.is_ok_and(|end| end.is_ok());
                    Ok(ended.ok().map(|ended| (ended, is_idle)))
                }
            }
        };
        let broken = match served {
            Ok(ended) => return finish(process, ended, done).await,
            Err(broken) => broken,
        };
        // A program may serve one day and exit: the next day gets a new one. A request at another door counts too: a new
        // program would repeat it.
        let is_used = requested.load(Ordering::Relaxed) || door.is_used();
        if matches!(broken, Broken::Closed) && may_restart && !is_used {
            may_restart = false;
            process.end().await;
            match start.start() {
                Ok(restarted) => {
                    process = restarted;
                    continue;
                }
                Err(reason) => {
                    failure.send_replace(Some(unavailable(start, &reason)));
                    return wait_for_end(ending, done).await;
                }
            }
        }
        let reason = describe(start.agent(), &mut process, broken).await;
        process.end().await;
        failure.send_replace(Some(reason));
        return wait_for_end(ending, done).await;
    }
}

/// A session whose agent has failed still ends.
async fn wait_for_end(
    ending: oneshot::Receiver<SessionEnding>,
    done: oneshot::Sender<()>,
) -> Option<AgentProcess> {
    let _ = ending.await;
    let _ = done.send(());
    None
}

/// Tells the agent how its session ended. `None`: the day is abandoned.
async fn finish(
    mut process: AgentProcess,
    ended: Option<(SessionEnding, bool)>,
    done: oneshot::Sender<()>,
) -> Option<AgentProcess> {
    let Some((ending, is_idle)) = ended else {
        process.end().await;
        return None;
    };
    let message = end_message(ending);
    // In the middle of a line, nothing else can be written.
    let is_reported = is_idle && matches!(timeout(END_GRACE, process.write(&message)).await, Ok(Ok(())));
    let _ = done.send(());
    if is_reported && ending == SessionEnding::Completed {
        return Some(process);
    }
    // A program in the middle of a day cannot be used for another one.
    process.end().await;
    None
}

/// Passes requests to the door and replies back, one at a time, until the session is over.
async fn serve(
    process: &mut AgentProcess,
    day: &Value,
    door: &dyn AgentDoor,
    over: &Notify,
    requested: &AtomicBool,
) -> Result<(), Broken> {
    process.write(day).await.map_err(broken_pipe)?;
    loop {
        let line = tokio::select! {
            biased;
            () = over.notified() => return Ok(()),
            line = process.lines.next() => line,
        };
        let (message, is_last) = match line.map_err(Broken::Io)? {
            None => return Err(Broken::Closed),
            Some(Line::Message(line)) => (parse_message(&line), false),
            Some(Line::TooLarge(line)) => (oversized_message(&line), true),
        };
        requested.store(true, Ordering::Relaxed);
        let IncomingMessage { id, request } = message;
        let reply = door.ask(request).await;
        process.write(&reply_message(&id, &reply)).await.map_err(broken_pipe)?;
        if is_last {
            return Err(Broken::TooLarge);
        }
    }
}

/// A program that has ended no longer reads.
fn broken_pipe(error: io::Error) -> Broken {
    if error.kind() == io::ErrorKind::BrokenPipe { Broken::Closed } else { Broken::Io(error) }
}

async fn describe(agent: &str, process: &mut AgentProcess, broken: Broken) -> CallFailure {
    let too_large = || CallFailure {
        kind: FailureKind::BadAnswer,
        message: format!("the external agent `{agent}` wrote a line of more than 4 MiB"),
    };
    let reason = match broken {
        Broken::TooLarge => return too_large(),
        Broken::Io(error) => format!("cannot be read: {error}"),
        Broken::Closed => "ended before its day was over".to_owned(),
    };
    let (status, last_lines) = process.ending().await;
    let status = match status {
        Some(status) => format!(" ({status})"),
        None => String::new(),
    };
    let quoted = match last_lines.as_str() {
        "" => String::new(),
        lines => format!("; the last lines of its standard error:\n{lines}"),
    };
    let message = format!("the external agent `{agent}` {reason}{status}{quoted}");
    CallFailure { kind: FailureKind::ToolError, message }
}

fn unavailable(start: &impl Start, reason: &str) -> CallFailure {
    let message = format!("the external agent `{}` cannot be started: {reason}", start.agent());
    CallFailure { kind: FailureKind::Unavailable, message }
}
