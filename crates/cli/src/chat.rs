//! `papertape chat`

use super::api_client::ApiClient;
use super::failure::{FAILED, STOPPED, not_found, usage};
use super::output::{json, note, say};
use super::record_access::RecordAccess;
use super::{Common, Outcome, record_access, signals};
use anyhow::{Context as _, Result, anyhow};
use clap::Args;
use papertape_assistant::language;
use papertape_core::action::{ActionRow, ActionStatus, Language, LogPosition};
use papertape_core::chat::ChatTurn;
use papertape_core::id::JobId;
use papertape_core::page::PageRequest;
use papertape_core::ports::{ActionLog as _, Chats as _, Queue as _};
use papertape_core::record::JobStatus;
use papertape_protocol::chat::{ChatMessageResponse, MessageBody, TurnResponse};
use papertape_runtime::cancellation::{CancelSource, CancelToken, StopReason};
use papertape_service::app::App;
use papertape_service::assistant::{self, NewMessage, PostMessageError};
use papertape_service::config::Config;
use papertape_store::JobFilter;
use serde_json::json;
use std::io::{BufRead as _, IsTerminal as _};
use std::process::ExitCode;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// How often a turn is looked at.
const LOOK: Duration = Duration::from_millis(150);
/// What the person is shown before a line.
const PROMPT: &str = "you> ";

/// Requests that every model of the assistant understands.
const AFTER: &str = "Examples:
  papertape chat 'backtest momentum on AAPL for 2012 with $50k and compare it with buy and hold'
  papertape chat \"why did it lose in November?\" --session latest
  papertape chat \"stop the running job\"
  papertape chat \"what data do you have?\"
  papertape chat help";

/// What to say to the assistant.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(super) struct ChatArgs {
    /// What to say; without it, a conversation line by line
    message: Option<String>,
    /// Go on with a conversation: its id, or `latest`
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The plan that the conversation is about
    #[arg(long, value_name = "PLAN")]
    plan: Option<i64>,
    /// Language of a new conversation, for messages that show none [default: the terminal's, else the message's]
    #[arg(long, value_name = "LANGUAGE", value_parser = ["en", "zh"])]
    language: Option<String>,
}

/// Talks with the assistant.
pub(super) async fn chat(common: &Common, config: Config, args: ChatArgs) -> Outcome {
    let way = record_access::to_write(common, config).await?;
    let serving = Serving::start(&way).await?;
    let mut talk = ChatTurns::new(&way, &serving, common);
    talk.session = session(&serving.reader, args.session.as_deref()).await?;
    talk.plan = args.plan;
    talk.language = args.language.as_deref().and_then(|tag| tag.parse().ok()).or_else(of_terminal);
    let outcome = match &args.message {
        Some(message) => talk.turn(message).await,
        None => talk.lines().await,
    };
    serving.end(&way).await?;
    outcome
}

/// Goes on with a job of the assistant's until it has stopped, and shows what it does and comes to.
pub(super) async fn go_on(common: &Common, way: &RecordAccess, job: &JobId) -> Outcome {
    let serving = Serving::start(way).await?;
    let outcome = ChatTurns::new(way, &serving, common).go_on(job).await;
    serving.end(way).await?;
    outcome
}

/// What works while somebody talks: this process, where no server does.
struct Serving {
    /// Reads the record.
    reader: App,
    worker: Option<JoinHandle<()>>,
    stopper: CancelSource,
}

impl Serving {
    async fn start(way: &RecordAccess) -> Result<Self> {
        let stopper = CancelSource::default();
        signals::listen(&stopper, || note!("stopping after the step under way; once more stops at once"))?;
        let (reader, worker) = match way {
            RecordAccess::Local(app) => {
                report_unfinished(app).await?;
                let (worker, signal) = (app.worker.clone(), stopper.signal());
                (app.as_ref().clone(), Some(tokio::spawn(async move { worker.serve(signal).await })))
            }
            RecordAccess::Remote(server) => {
                (record_access::to_read(common, server.config.clone()).await?, None)
            }
        };
        Ok(Self { reader, worker, stopper })
    }

    async fn end(self, way: &RecordAccess) -> Result<()> {
        self.stopper.stop(StopReason::Shutdown);
        if let Some(worker) = self.worker {
            worker.await.context("the worker broke off")?;
        }
        if let RecordAccess::Local(app) = way {
            app.flush().await;
        }
        Ok(())
    }
}

/// What was left unfinished goes on beside, and may cost: nobody is to find that out afterwards.
async fn report_unfinished(app: &App) -> Result<()> {
    let mut unfinished = Vec::new();
    for status in [JobStatus::Running, JobStatus::Queued] {
        let filter = JobFilter { status: Some(status), ..JobFilter::default() };
        let page = app.store.jobs(&filter, &PageRequest::first(100)).await?;
        unfinished.extend(page.items.into_iter().map(|item| item.job.id));
    }
    if let Some(first) = unfinished.first() {
        let jobs = if unfinished.len() == 1 { "job goes" } else { "jobs go" };
        note!("{} unfinished {jobs} on beside this; `papertape cancel {first}` stops one", unfinished.len());
    }
    Ok(())
}

/// The conversation that is named.
async fn session(app: &App, named: Option<&str>) -> Result<Option<String>> {
    match named {
        Some("latest") => {
            let found = papertape_core::ports::Chats::sessions(&app.store, &PageRequest::first(1)).await?;
            let found = found.items.into_iter().next();
            found
                .map(|one| Some(one.id.to_string()))
                .ok_or_else(|| not_found("there are no conversations yet"))
        }
        named => Ok(named.map(str::to_owned)),
    }
}

/// The language of the terminal; `None`: it does not say, or one that there is not.
fn of_terminal() -> Option<Language> {
    let variables = ["LC_ALL", "LC_MESSAGES", "LANG"];
    let set = variables.iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    set.as_deref().and_then(language::of_tag)
}

/// A conversation at a terminal.
struct ChatTurns<'a> {
    way: &'a RecordAccess,
    /// Reads the record.
    app: &'a App,
    session: Option<String>,
    plan: Option<i64>,
    language: Option<Language>,
    stop: CancelToken,
    as_json: bool,
}

impl<'a> ChatTurns<'a> {
    fn new(way: &'a RecordAccess, serving: &'a Serving, common: &Common) -> Self {
        Self {
            way,
            app: &serving.reader,
            session: None,
            plan: None,
            language: of_terminal(),
            stop: serving.stopper.signal(),
            as_json: common.json,
        }
    }

    /// A turn a line, until there are no more.
    async fn lines(&mut self) -> Outcome {
        let is_terminal = std::io::stdin().is_terminal();
        if is_terminal {
            let model = &self.app.config.chat.model;
            note!("Papertape's assistant ({model}). Ask for a backtest, a comparison, a plan, or `help`.");
            note!("/new begins another conversation, /quit or Ctrl-D ends this.");
        }
        let mut lines = typed();
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
                Err(error) => return Err(usage(format!("what is said cannot be read: {error}"))),
            };
            match line.trim() {
                "" => {}
                "/quit" | "/exit" => break,
                "/new" => {
                    self.session = None;
                    note!("A new conversation begins.");
                }
                message => {
                    // One turn that fails does not end the conversation.
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

    /// Says something, shows what is done about it, and then the answer.
    async fn turn(&mut self, message: &str) -> Outcome {
        let (session, job) = match self.way {
            RecordAccess::Local(app) => self.say_here(app, message).await?,
            RecordAccess::Remote(server) => self.say_there(server, message).await?,
        };
        self.session = Some(session.clone());
        self.go_on(&job).await
    }

    /// Follows a job until it has stopped, and shows what it came to.
    async fn go_on(&mut self, job: &JobId) -> Outcome {
        let status = self.follow(job).await?;
        let turn = self.app.store.turn(job).await?;
        if !status.is_stopped() {
            let read = turn.map_or_else(
                || format!("`papertape actions {job}` shows it then"),
                |turn| format!("read it then with --session {}", turn.session.id),
            );
            note!("it goes on when a server or another `papertape chat` runs; {read}");
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

    async fn say_here(&self, app: &App, message: &str) -> Result<(String, JobId)> {
        let asked = NewMessage {
            message: message.to_owned(),
            session: self.session.clone(),
            plan: self.plan,
            language: self.language,
            ..NewMessage::default()
        };
        let turn = assistant::post_message(app, asked).await.map_err(of_asking)?;
        let job = turn.assistant.job_id.ok_or_else(|| anyhow!("nobody answers the message"))?;
        Ok((turn.session.id.to_string(), job))
    }

    async fn say_there(&self, server: &ApiClient, message: &str) -> Result<(String, JobId)> {
        let body = MessageBody {
            message: message.to_owned(),
            session_id: self.session.clone(),
            context: None,
            plan_id: self.plan,
        };
        let language = self.language.unwrap_or_else(|| language::of_text(message));
        let turn: TurnResponse = server.post_in(&["chat", "message"], &body, language.as_str()).await?;
        Ok((turn.session.id, JobId::new(turn.job_id)))
    }

    /// Shows what a job does until it has stopped, or somebody says stop.
    async fn follow(&mut self, job: &JobId) -> Result<JobStatus> {
        let mut cursor: Option<String> = None;
        loop {
            let row =
                self.app.store.get_job(job).await?.ok_or_else(|| super::failure::no_job(job.as_str()))?;
            loop {
                let from = cursor.clone().map_or(LogPosition::Newest, LogPosition::After);
                let page = self.app.store.list_action_logs(job, from, 100).await?;
                page.rows.iter().for_each(show);
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
                () = tokio::time::sleep(LOOK) => {}
                _ = self.stop.stopped() => return Ok(row.status),
            }
        }
    }
}

/// An action as it begins and ends. The turn itself is no news.
fn show(row: &ActionRow) {
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

fn of_asking(error: PostMessageError) -> anyhow::Error {
    match error {
        PostMessageError::Bad { .. } => usage(error.to_string()),
        PostMessageError::NotFound(what) => not_found(what),
        PostMessageError::Conflict(why) => anyhow!(why),
        PostMessageError::Record(cause) => cause,
    }
}

/// Lines as they are typed. The thread that waits for them goes with the process.
fn typed() -> mpsc::Receiver<std::io::Result<String>> {
    let (sender, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        // A line that cannot be read is told, and those behind it are read all the same where they can be.
        for line in std::io::stdin().lock().lines() {
            let is_over = line.as_ref().is_err_and(|error| error.kind() != std::io::ErrorKind::InvalidData);
            if sender.blocking_send(line).is_err() || is_over {
                return;
            }
        }
    });
    lines
}
