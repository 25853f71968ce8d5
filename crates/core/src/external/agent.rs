//! Starting external agents, and the doors that they reach their session through.

use super::{AgentReply, AgentRequest};
use crate::id::{AgentName, JobId};
use crate::message::{CallFailure, FailureKind, ModelName};
use crate::ports::BoxFuture;
use crate::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// A day that an agent is to be started for.
#[derive(Clone, Debug)]
pub struct AgentDay {
    /// The configured agent.
    pub agent: String,
    /// The job.
    pub job: JobId,
    /// The agent's name in the job.
    pub name: AgentName,
    /// The trading day.
    pub date: Date,
    /// The instant of the session.
    pub instant: Timestamp,
    /// The `day` message, complete.
    pub message: Value,
    /// Whether the job requires a sandbox, even if the config does not.
    pub sandbox: bool,
}

/// Where an agent reaches its session, besides its standard input and output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoorAddresses {
    /// The session's token: the bearer token of the session URL and of the MCP server, and the API key of the model
    /// endpoint. It ends with the session.
    pub token: String,
    /// Takes one request per POST.
    pub session_url: String,
    /// The MCP server.
    pub mcp_url: String,
    /// The model endpoint, for clients of `OpenAI`'s API. Clients of Anthropic's omit the last segment.
    pub model_base_url: String,
    /// The models that it serves, `provider::model`.
    pub models: Vec<String>,
}

/// A session as its doors see it.
pub trait AgentDoor: Send + Sync {
    /// Makes a request. Requests are answered one at a time, in the order in which they come. The reply is durable when
    /// this returns.
    fn ask(&self, request: AgentRequest) -> BoxFuture<'_, AgentReply>;

    /// Whether anything was requested yet, at any of the session's doors.
    fn is_used(&self) -> bool;

    /// Resolves when the session is over, at once if it is.
    fn ended(&self) -> BoxFuture<'_, SessionEnding>;
}

/// How a session ended, for its agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionEnding {
    /// The agent finished its day.
    Completed,
    /// Its time or its requests were used up.
    Deadline,
    /// The session stopped and may be resumed.
    Stopped,
}

crate::words!(SessionEnding { Completed = "completed", Deadline = "deadline", Stopped = "stopped" });

/// What is configured about an external agent, as far as a job may depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalAgentFacts {
    /// The models that its model endpoint serves; the first is the default. Empty: it has none.
    pub models: Vec<ModelName>,
    /// Regular expressions whose matches are left out of the digests of its model calls.
    pub normalize: Vec<String>,
    /// Whether it runs in a sandbox.
    pub sandbox: bool,
}

/// For processes without external agents.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoExternalAgents;

impl ExternalAgents for NoExternalAgents {
    fn facts(&self, agent: &str) -> Result<ExternalAgentFacts, String> {
        Err(not_configured(agent))
    }

    fn addresses(&self, _: &str, _: &str) -> Option<DoorAddresses> {
        None
    }

    fn start<'a>(
        &'a self,
        day: AgentDay,
        _: Arc<dyn AgentDoor>,
    ) -> BoxFuture<'a, Result<Box<dyn RunningAgent>, CallFailure>> {
        let failure = CallFailure { kind: FailureKind::BadRequest, message: not_configured(&day.agent) };
        Box::pin(async move { Err(failure) })
    }
}

/// The sentence about an agent that the config does not have.
#[must_use]
pub fn not_configured(agent: &str) -> String {
    format!("the external agent `{agent}` is not configured: add [external_agents.{agent}] to the config")
}

/// Starts external agents.
pub trait ExternalAgents: Send + Sync {
    /// The agent's settings.
    ///
    /// # Errors
    /// A sentence if no such agent is configured, or it cannot be started on this machine.
    fn facts(&self, agent: &str) -> Result<ExternalAgentFacts, String>;

    /// The addresses of the doors for a session with this token; `None`: there is no listener.
    fn addresses(&self, agent: &str, token: &str) -> Option<DoorAddresses>;

    /// Starts an agent's day: starts or reuses its process, or calls its URL. Its requests go to `door`. Waits while too
    /// many sessions of the agent are running.
    fn start<'a>(
        &'a self,
        day: AgentDay,
        door: Arc<dyn AgentDoor>,
    ) -> BoxFuture<'a, Result<Box<dyn RunningAgent>, CallFailure>>;
}

/// An agent that has been given a day. Dropping it ends the agent's processes, if it has any.
pub trait RunningAgent: Send + Sync {
    /// Resolves when the agent can make no more requests though its session goes on: its process has ended, its URL
    /// answered with an error, or it sent what no transport can read.
    fn failed(&self) -> BoxFuture<'_, CallFailure>;

    /// Tells the agent that its session is over, after the reply to its last request. A process may be kept for the
    /// next day.
    fn finish(self: Box<Self>, ending: SessionEnding) -> BoxFuture<'static, ()>;
}
