//! `papertape chat`

use super::api_client::ApiClient;
use super::args::parse_plan;
use super::failure::{FAILED, STOPPED, not_found, service_error, usage};
use super::output::{json, note, say};
use super::record_access::RecordAccess;
use super::terminal::terminal_language;
use super::{Common, Outcome, record_access, signals};
use anyhow::{Context as _, Result, anyhow};
use clap::Args;
use papertape_core::action::{ActionRow, ActionStatus, LogPosition};
use papertape_core::chat::ChatTurn;
use papertape_core::id::JobId;
use papertape_core::language::Language;
use papertape_core::page::PageRequest;
use papertape_core::ports::{ActionLog as _, Chats as _, Queue as _};
use papertape_core::record::JobStatus;
use papertape_protocol::chat::{ChatMessageResponse, MessageBody, TurnResponse};
use papertape_runtime::cancellation::{CancelSource, CancelToken, StopReason};
use papertape_service::app::App;
use papertape_service::assistant::{self, NewMessage};
use papertape_service::config::Config;
use papertape_store::JobFilter;
use serde_json::json;
use std::io::{BufRead as _, IsTerminal as _};
use std::process::ExitCode;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// The interval at which a turn is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(150);
const PROMPT: &str = "you> ";

/// Requests that the house assistant also understands.
const AFTER_HELP: &str = "Examples:
  papertape chat 'backtest momentum on AAPL for 2012 with $50k and compare it with buy and hold'
  papertape chat \"why did it lose in November?\" --session latest
  papertape chat \"stop the running job\"
  papertape chat \"what data do you have?\"
  papertape chat help";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct ChatArgs {
    /// Message to send [default: start a conversation]
    message: Option<String>,
    /// Continue a conversation: its ID, or `latest`
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The plan that the conversation is about
    #[arg(long, value_name = "PLAN", value_parser = parse_plan)]
    plan: Option<i64>,
    /// Language for messages whose language is unclear [default: the terminal's, else the message's]
    #[arg(long, value_name = "LANGUAGE", value_parser = ["en", "zh"])]
    language: Option<String>,
}

pub(super) async fn chat(common: &Common, config: Config, args: ChatArgs) -> Outcome {
    let access = record_access::open_for_writing(common, config).await?;
    let worker = ChatWorker::start(common, &access).await?;
    let mut conversation = Conversation::new(&access, &worker, common);
    conversation.session = session(&worker.reader, args.session.as_deref()).await?;
    conversation.plan = args.plan;
    conversation.language =
        args.language.as_deref().and_then(|tag| tag.parse().ok()).or_else(terminal_language);
    let outcome = match &args.message {
        Some(message) => conversation.turn(message).await,
        None => conversation.lines().await,
    };
    worker.end(&access).await?;
    outcome
}

/// Follows one of the assistant's jobs until it has stopped, and prints its actions and its result.
pub(super) async fn follow_job(common: &Common, access: &RecordAccess, job: &JobId) -> Outcome {
    let worker = ChatWorker::start(common, access).await?;
    let outcome = Conversation::new(access, &worker, common).follow_job(job).await;
    worker.end(access).await?;
    outcome
}

/// Runs jobs in this process during the conversation, unless a server does.
struct ChatWorker {
    reader: App,
    worker: Option<JoinHandle<()>>,
    cancel: CancelSource,
}

impl ChatWorker {
    async fn start(common: &Common, access: &RecordAccess) -> Result<Self> {
        let cancel = CancelSource::default();
        signals::listen(&cancel, || {
            note!("stopping after the current step; press Ctrl-C again to stop immediately");
        })?;
        let (reader, worker) = match access {
            RecordAccess::Local(app) => {
                report_unfinished(app).await?;
                app.open_doors().await?;
                let (worker, signal) = (app.worker.clone(), cancel.signal());
                (app.as_ref().clone(), Some(tokio::spawn(async move { worker.serve(signal).await })))
            }
            RecordAccess::Remote(server) => {
                (record_access::open_read_only(common, server.config.clone()).await?, None)
            }
        };
        Ok(Self { reader, worker, cancel })
    }

    async fn end(self, access: &RecordAccess) -> Result<()> {
        self.cancel.stop(StopReason::Shutdown);
        if let Some(worker) = self.worker {
            worker.await.context("the worker panicked")?;
        }
        if let RecordAccess::Local(app) = access {
            app.flush().await;
        }
        Ok(())
    }
}

/// Announces unfinished jobs, since this process resumes them and they may cost money.
async fn report_unfinished(app: &App) -> Result<()> {
    let mut unfinished = Vec::new();
    for status in [JobStatus::Running, JobStatus::Queued] {
        let filter = JobFilter { status: Some(status), ..JobFilter::default() };
        let page = app.store.jobs(&filter, &PageRequest::first(100)).await?;
        unfinished.extend(page.items.into_iter().map(|item| item.job.id));
    }
    if let Some(first) = unfinished.first() {
        let jobs = if unfinished.len() == 1 { "job continues" } else { "jobs continue" };
        note!(
            "{} unfinished {jobs} in this process; to stop one:\n  papertape cancel {first}",
            unfinished.len()
        );
    }
    Ok(())
}

/// Resolves `latest` to the newest conversation.
async fn session(app: &App, id: Option<&str>) -> Result<Option<String>> {
    match id {
        Some("latest") => {
            let page = papertape_core::ports::Chats::sessions(&app.store, &PageRequest::first(1)).await?;
            let newest = page.items.into_iter().next();
            newest
                .map(|session| Some(session.id.to_string()))
                .ok_or_else(|| not_found("no conversations yet"))
        }
        id => Ok(id.map(str::to_owned)),
    }
}

struct Conversation<'a> {
    access: &'a RecordAccess,
    app: &'a App,
    session: Option<String>,
    plan: Option<i64>,
    language: Option<Language>,
    stop: CancelToken,
    as_json: bool,
}

impl<'a> Conversation<'a> {
    fn new(access: &'a RecordAccess, worker: &'a ChatWorker, common: &Common) -> Self {
        Self {
            access,
            app: &worker.reader,
            session: None,
            plan: None,
            language: terminal_language(),
            stop: worker.cancel.signal(),
            as_json: common.json,
        }
    }

    /// Sends each line of stdin as a message.
    async fn lines(&mut self) -> Outcome {
        let is_terminal = std::io::stdin().is_terminal();
        if is_terminal {
            let model = &self.app.config.chat.model;
            note!("Papertape's assistant ({model}). Ask for a backtest, a comparison, a plan, or `help`.");
            note!("/new starts a new conversation. /quit or Ctrl-D ends this one.");
        }
        let mut lines = stdin_lines();
        let mut code = ExitCode::SUCCESS;
        loop {
            if is_terminal {
                eprint!("{PROMPT}");
            }
            let line = tokio::select! {
                line = lines.recv() => line,
                _ = self.stop.stopped() => None,
            };
            let Some(line) = line else { break };
            let line = match line {
                Ok(line) => line,
                Err(error) if is_terminal => {
                    note!("{error}");
                    continue;
                }
                Err(error) => return Err(usage(format!("stdin: {error}"))),
            };
            match line.trim() {
                "" => {}
                "/quit" | "/exit" => break,
                "/new" => {
                    self.session = None;
                    note!("New conversation.");
                }
                message => {
                    // A failed turn does not end a conversation in a terminal.
                    code = match self.turn(message).await {
                        Ok(code) => code,
                        Err(error) if is_terminal => {
                            note!("{error:#}");
                            ExitCode::from(FAILED)
                        }
                        Err(error) => return Err(error),
                    };
                }
            }
            if self.stop.reason().is_some() {
                break;
            }
        }
        Ok(code)
    }

    /// Sends a message, and prints the actions and the reply.
    async fn turn(&mut self, message: &str) -> Outcome {
        let (session, job) = match self.access {
            RecordAccess::Local(app) => self.post_local(app, message).await?,
            RecordAccess::Remote(server) => self.post_remote(server, message).await?,
        };
        self.session = Some(session.clone());
        self.follow_job(&job).await
    }

    /// Follows a job until it has stopped, and prints its result.
    async fn follow_job(&mut self, job: &JobId) -> Outcome {
        let status = self.print_actions(job).await?;
        let turn = self.app.store.turn(job).await?;
        if !status.is_stopped() {
            let command = turn.map_or_else(
                || format!("papertape actions {job}"),
                |turn| format!("papertape chat --session {}", turn.session.id),
            );
            note!(
                "it continues when a server or another `papertape chat` runs; to see the result:\n  {command}"
            );
            return Ok(ExitCode::from(STOPPED));
        }
        match turn {
            Some(ChatTurn { session, assistant, .. }) => {
                let assistant = ChatMessageResponse::from(assistant);
                if self.as_json {
                    let session = session.id;
                    json(
                        &json!({ "session_id": session, "job_id": job, "status": status, "message": assistant }),
                    )?;
                } else {
                    say(&assistant.content)?;
                }
            }
            None if self.as_json => json(&json!({ "job_id": job, "status": status }))?,
            None => note!("job {job} is {status}"),
        }
        Ok(if status == JobStatus::Completed { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
    }

    async fn post_local(&self, app: &App, message: &str) -> Result<(String, JobId)> {
        let message = NewMessage {
            message: message.to_owned(),
            session: self.session.clone(),
            plan: self.plan,
            language: self.language,
            ..NewMessage::default()
        };
        let turn = assistant::post_message(app, message).await.map_err(service_error)?;
        let job = turn.assistant.job_id.ok_or_else(|| anyhow!("no job replies to the message"))?;
        Ok((turn.session.id.to_string(), job))
    }

    async fn post_remote(&self, server: &ApiClient, message: &str) -> Result<(String, JobId)> {
        let body = MessageBody {
            message: message.to_owned(),
            session_id: self.session.clone(),
            context: None,
            plan_id: self.plan,
        };
        let language = self.language.unwrap_or_else(|| Language::detect(message));
        let turn: TurnResponse = server.post_in(&["chat", "message"], &body, language.as_str()).await?;
        Ok((turn.session.id, JobId::new(turn.job_id)))
    }

    /// Prints a job's actions until it has stopped, or this command is interrupted.
    async fn print_actions(&mut self, job: &JobId) -> Result<JobStatus> {
        let mut cursor: Option<String> = None;
        loop {
            let row =
                self.app.store.get_job(job).await?.ok_or_else(|| super::failure::no_job(job.as_str()))?;
            loop {
                let from = cursor.clone().map_or(LogPosition::Newest, LogPosition::After);
                let page = self.app.store.list_action_logs(job, from, 100).await?;
                page.rows.iter().for_each(print_action);
                let is_done = page.rows.is_empty();
                cursor = Some(page.cursor);
                if is_done {
                    break;
                }
            }
            if row.status.is_stopped() {
                return Ok(row.status);
            }
            tokio::select! {
                () = tokio::time::sleep(POLL_INTERVAL) => {}
                _ = self.stop.stopped() => return Ok(row.status),
            }
        }
    }
}

/// Prints an action's start or end. The row of the turn itself is left out.
fn print_action(row: &ActionRow) {
    let (name, kind) = (&row.row.name, row.row.kind);
    if row.row.details.as_ref().is_some_and(|details| details["action"] == "job") {
        return;
    }
    let message = row.row.message.as_deref().unwrap_or_default();
    match row.status() {
        ActionStatus::Running => note!("  … {kind}/{name}"),
        ActionStatus::Completed => note!("  ✓ {kind}/{name}: {message}"),
        ActionStatus::Failed => note!("  ✗ {kind}/{name}: {message}"),
        ActionStatus::Queued => note!("  ? {kind}/{name}: {message}"),
    }
}

/// The lines of stdin, read by a thread that ends with the process.
fn stdin_lines() -> mpsc::Receiver<std::io::Result<String>> {
    let (sender, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        // A line that is not UTF-8 is reported, and reading continues.
        for line in std::io::stdin().lock().lines() {
            let is_over = line.as_ref().is_err_and(|error| error.kind() != std::io::ErrorKind::InvalidData);
            if sender.blocking_send(line).is_err() || is_over {
                return;
            }
        }
    });
    lines
}
