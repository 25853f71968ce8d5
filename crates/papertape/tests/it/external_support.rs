//! External agents as the product starts them, with a session that the test plays.

use crate::mcp_support::Watch;
use futures::FutureExt as _;
use papertape_core::external::{
    AgentDay, AgentDoor, AgentReply, AgentRequest, ExternalAgents as _, RunningAgent, SessionEnding,
};
use papertape_core::id::JobId;
use papertape_core::message::CallFailure;
use papertape_core::time::{Date, Timestamp};
use papertape_integrations::external_agents::ConfiguredAgents;
use papertape_redact::Redactor;
use papertape_runtime::doors::{DoorScope, OpenDoor, WaitingRequest};
use papertape_service::app::{Access, App};
use papertape_service::config::{Config, ExternalAgent};
use papertape_service::integrations::AgentSetup;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// The path of the agent's program.
pub(crate) const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fixtures/external_agent.py");

pub(crate) struct Agents {
    pub(crate) app: App,
    pub(crate) agents: ConfiguredAgents,
    _dir: TempDir,
}

/// A session that the test plays.
pub(crate) struct Played {
    pub(crate) open: OpenDoor,
    pub(crate) running: Box<dyn RunningAgent>,
}

/// A program in one of the fixture's modes.
pub(crate) fn program(mode: &str, watch: Option<&Watch>) -> ExternalAgent {
    let mut command = vec![python(), AGENT.to_owned(), mode.to_owned()];
    command.extend(watch.map(|watch| watch.address().to_string()));
    ExternalAgent { command, ..ExternalAgent::default() }
}

/// `python3` may be a script that sets variables of its own before it starts the real one.
pub(crate) fn python() -> String {
    let print =
        std::process::Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    String::from_utf8(print.expect("python3 is there").stdout).expect("UTF-8").trim().to_owned()
}

impl Agents {
    /// One configured agent, `mine`.
    pub(crate) async fn new(agent: ExternalAgent) -> Self {
        Self::with(agent, &[]).await
    }

    /// As [`Self::new`], with secrets that redaction knows.
    pub(crate) async fn with(agent: ExternalAgent, secrets: &[&str]) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let mut config = Config { data_dir: dir.path().join("data"), ..crate::frictionless() };
        config.external_agents.insert("mine".to_owned(), agent);
        let app = App::open(config, Access::Own, papertape::integrations()).await.expect("it opens");
        let app = app.with_doors(|app, listener| papertape_api::serve_doors(app, listener).boxed());
        let secrets = secrets.iter().map(|secret| ("KEY".to_owned(), (*secret).to_owned())).collect();
        let redactor = Arc::new(Redactor::new(secrets).expect("the secrets are long"));
        let setup = AgentSetup::new(&app.config, Arc::clone(&app.doors), redactor);
        let agents = ConfiguredAgents::new(setup)
            .with_max_idle(Duration::from_secs(600))
            .with_sandbox_programs("bwrap", env!("CARGO_BIN_EXE_papertape"));
        Self { app, agents, _dir: dir }
    }

    /// Opens the doors of a session and starts its agent's day.
    pub(crate) async fn start(&self, job: &str, date: Date) -> Result<Played, CallFailure> {
        let open = self.open(job, date);
        let running = self.agents.start(self.day(&open, Value::Null), Arc::clone(&open.door) as _).await?;
        Ok(Played { open, running })
    }

    pub(crate) fn open(&self, job: &str, date: Date) -> OpenDoor {
        self.app.services.doors.open(DoorScope {
            job: JobId::new(job),
            name: "mine".into(),
            agent: "mine".to_owned(),
            date,
            instant: instant(date),
            reads: Vec::new(),
            orders: Vec::new(),
            models: Vec::new(),
        })
    }

    pub(crate) fn day(&self, open: &OpenDoor, state: Value) -> AgentDay {
        let scope = open.door.scope();
        let doors = self.agents.addresses("mine", &open.token);
        AgentDay {
            agent: "mine".to_owned(),
            job: scope.job.clone(),
            name: scope.name.clone(),
            date: scope.date,
            instant: scope.instant,
            message: day_message(scope.date, doors.map_or(Value::Null, |doors| json!(doors)), state),
            sandbox: false,
        }
    }
}

pub(crate) fn instant(date: Date) -> Timestamp {
    date.at(14, 30, 0, 0).to_zoned(jiff::tz::TimeZone::UTC).expect("an instant").timestamp()
}

pub(crate) fn day_message(date: Date, doors: Value, state: Value) -> Value {
    json!({
        "type": "day",
        "protocol": 1,
        "job": "job",
        "agent": "mine",
        "date": date.to_string(),
        "instant": instant(date).to_string(),
        "language": "en",
        "account": { "cash": 10000 },
        "pending_orders": [],
        "notices": [],
        "symbols": ["AAPL", "IBM"],
        "universe": null,
        "tools": [{ "name": "get_portfolio", "description": "The account", "parameters": { "type": "object" } }],
        "order_tools": [],
        "limits": {
            "session_secs": 1800, "max_requests": 500, "max_orders": 100, "max_line_bytes": 4_194_304,
            "max_state_bytes": 1_048_576,
        },
        "doors": doors,
        "state": state,
    })
}

impl Played {
    /// The agent's next request, or why there is none.
    pub(crate) async fn next(&mut self) -> Result<WaitingRequest, CallFailure> {
        tokio::select! {
            asked = self.open.requests.recv() => Ok(asked.expect("the door is open")),
            failure = self.running.failed() => Err(failure),
        }
    }

    /// Answers the next request.
    pub(crate) async fn answer(&mut self, result: Value) -> AgentRequest {
        let asked = self.next().await.expect("a request");
        let _ = asked.reply.send(AgentReply::Ok { result });
        asked.request
    }

    /// Answers a malformed request as a session does. Returns its code.
    pub(crate) async fn reject(&mut self) -> String {
        let asked = self.next().await.expect("a request");
        let AgentRequest::Malformed { error, .. } = asked.request else { panic!("{:?}", asked.request) };
        let code = error.code.as_str().to_owned();
        let _ = asked.reply.send(AgentReply::Error { error });
        code
    }

    /// Answers everything until the agent is done. Returns its decision and its state.
    pub(crate) async fn play(&mut self) -> (Option<String>, Option<Value>) {
        loop {
            match self.answer(json!({ "state_stored": true })).await {
                AgentRequest::Done { decision, state } => return (decision, state),
                AgentRequest::Malformed { error, .. } => panic!("{error:?}"),
                _ => {}
            }
        }
    }

    /// Ends the session.
    pub(crate) async fn end(self, ending: SessionEnding) {
        self.open.close(ending);
        self.running.finish(ending).await;
    }
}

/// A request at the door, as a client over HTTP makes it.
pub(crate) async fn post(url: &str, token: &str, body: &Value) -> reqwest::Response {
    client().post(url).bearer_auth(token).json(body).send().await.expect("it responds")
}

pub(crate) fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().expect("a client")
}

/// A door that is asked nothing.
pub(crate) fn door(open: &OpenDoor) -> Arc<dyn AgentDoor> {
    Arc::clone(&open.door) as _
}
