//! What other systems add to the product. The binary provides it, so that this crate knows none of them.

use crate::config::{Config, ExternalAgent, ToolServer};
use crate::doors::DoorListener;
use anyhow::Result;
use papertape_core::external::ExternalAgents;
use papertape_core::ports::{ActionLog, BoxFuture, ModelClient, RecordStore, ToolClient};
use papertape_redact::Redactor;
use papertape_store::Store;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Connects to tool servers by name; a connection is opened on first use.
pub type ConnectTools = fn(BTreeMap<String, ToolServer>) -> Arc<dyn ToolClient>;

/// Prepares external agents; one is started on first use.
pub type ConnectAgents = fn(AgentSetup) -> Arc<dyn ExternalAgents>;

/// What external agents are started with.
#[derive(Clone)]
pub struct AgentSetup {
    /// The configured agents by name.
    pub agents: BTreeMap<String, ExternalAgent>,
    /// Where they reach their sessions.
    pub doors: Arc<DoorListener>,
    /// The URL of the doors for agents on other machines, if it is not their address.
    pub public_url: Option<String>,
    /// Removes secrets from what they write to their standard error.
    pub redactor: Arc<Redactor>,
    /// Files and folders that no sandbox may show: our data.
    pub hidden: Vec<PathBuf>,
}

impl AgentSetup {
    /// The setup that the config describes.
    #[must_use]
    pub fn new(config: &Config, doors: Arc<DoorListener>, redactor: Arc<Redactor>) -> Self {
        let own = [config.data_dir.clone(), config.datasets_dir()];
        Self {
            agents: config.external_agents.clone(),
            doors,
            public_url: config.server.public_url.clone(),
            redactor,
            hidden: own.into_iter().chain(config.file.clone()).collect(),
        }
    }
}

/// What the binary passes to `App::open`.
#[derive(Clone)]
pub struct Integrations {
    /// External tools.
    pub tools: ConnectTools,
    /// External agents.
    pub agents: ConnectAgents,
    /// The process's telemetry.
    pub telemetry: Arc<dyn Telemetry>,
}

/// What telemetry reads besides its own counters.
#[derive(Clone, Copy)]
pub struct ProcessState<'a> {
    /// The database.
    pub store: &'a Store,
    /// The configuration.
    pub config: &'a Config,
    /// Streams of jobs that are open.
    pub open_streams: u64,
    /// Streams that their client left before their end.
    pub broken_streams: u64,
}

/// Counts what passes through the ports, and renders the counts together with the database's totals.
pub trait Telemetry: Send + Sync {
    /// The same store, with failed writes of the action log counted.
    fn record(self: Arc<Self>, record: Arc<dyn RecordStore>) -> Arc<dyn RecordStore>;

    /// The same log, with failed writes counted.
    fn actions(self: Arc<Self>, log: Arc<dyn ActionLog>) -> Arc<dyn ActionLog>;

    /// The same models, with calls, tokens and cost counted.
    fn models(self: Arc<Self>, models: Arc<dyn ModelClient>) -> Arc<dyn ModelClient>;

    /// Counts a client that polled a job because its stream had failed.
    fn client_retried(&self);

    /// Everything in Prometheus's text format.
    ///
    /// # Errors
    /// A database that cannot be read.
    fn render<'a>(&'a self, process: ProcessState<'a>) -> BoxFuture<'a, Result<String>>;
}
