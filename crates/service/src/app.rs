//! The composed product: its database, models, datasets and workers.

use crate::access::Authenticator;
use crate::board_cache::BoardCache;
use crate::config::{Config, Mode};
use crate::deltas::DeltaBus;
use crate::doors::DoorListener;
use crate::embeddings::{Embeddings, VectorIndex};
use crate::integrations::{ConnectTools, ProcessState, Telemetry};
use crate::result_cache::ResultCache;
use crate::streams::Streams;
use anyhow::{Context as _, Result};
use papertape_core::ports::BoxFuture;
use papertape_llm::Gateway;
use papertape_market::Catalogue;
use papertape_runtime::services::Services;
use papertape_runtime::worker::Worker;
use papertape_store::{DatabaseTarget, PortableFiles, Projector, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::TcpListener;

/// Serves the doors of running sessions, and nothing else, until the runtime ends.
pub type ServeDoors = fn(App, TcpListener) -> BoxFuture<'static, ()>;

/// The composed application.
#[derive(Clone)]
pub struct App {
    /// The configuration.
    pub config: Arc<Config>,
    /// The database.
    pub store: Store,
    /// The services that jobs run with.
    pub services: Services,
    /// Datasets.
    pub catalogue: Arc<Catalogue>,
    /// Model providers.
    pub gateway: Arc<Gateway>,
    /// Sentence models.
    pub embeddings: Arc<Embeddings>,
    /// The reflections' vectors for search.
    pub vectors: Arc<VectorIndex>,
    /// Runs jobs in this process.
    pub worker: Worker,
    /// Open streams of this process.
    pub streams: Arc<Streams>,
    /// Deltas of answers that are being written in this process.
    pub deltas: Arc<DeltaBus>,
    /// Updates the plans' portable files, in a process that writes.
    pub(crate) projector: Option<Arc<Projector>>,
    /// Authenticates callers of the server.
    pub authenticator: Arc<Authenticator>,
    /// The process's telemetry.
    pub telemetry: Arc<dyn Telemetry>,
    /// Connects to tool servers.
    pub tools: ConnectTools,
    /// Where external agents reach their sessions in this process.
    pub doors: Arc<DoorListener>,
    /// Serves the doors in a process without a server.
    pub(crate) serve_doors: Option<ServeDoors>,
    /// Cached results of stopped jobs that this process computed.
    pub results: Arc<ResultCache>,
    /// Where completed runs belong on leaderboards, and ranked boards.
    pub boards: Arc<BoardCache>,
}

/// How a command uses the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Owns it: reads and writes.
    Own,
    /// Owns it, like a server at startup: wipes dev-mode data unless it is to be preserved.
    Start,
    /// Reads while another process owns it.
    Read,
}

impl App {
    /// The portable files of this database's plans.
    #[must_use]
    pub fn portable_files(&self) -> PortableFiles {
        PortableFiles::new(
            self.store.clone(),
            self.config.data_dir.clone(),
            Arc::clone(&self.services.redactor),
        )
    }

    /// Enables updates of the plans' portable files. Dev mode has no such files, because its data may be
    /// wiped at any start.
    #[must_use]
    pub fn with_portable_files(mut self) -> Self {
        if self.config.mode == Mode::Prod && self.projector.is_none() {
            self.projector = Some(Arc::new(Projector::start(self.portable_files())));
        }
        self
    }

    /// Lets this process serve the doors of its sessions without a server, once [`Self::open_doors`] is called.
    #[must_use]
    pub fn with_doors(self, serve: ServeDoors) -> Self {
        Self { serve_doors: Some(serve), ..self }
    }

    /// Serves the doors on a free port of loopback, unless this process has a server. They close with the process's
    /// runtime.
    ///
    /// # Errors
    /// No port is available.
    pub async fn open_doors(&self) -> Result<()> {
        if let Some(serve) = self.serve_doors
            && let Some(listener) = self.doors.bind().await?
        {
            tokio::spawn(serve(self.clone(), listener));
        }
        Ok(())
    }

    /// Resolves once everything committed is also in the portable files.
    pub async fn flush(&self) {
        if let Some(projector) = &self.projector {
            projector.flush().await;
        }
    }

    /// The process's telemetry in Prometheus's text format.
    ///
    /// # Errors
    /// A database that cannot be read.
    pub async fn telemetry(&self) -> Result<String> {
        let process = ProcessState {
            store: &self.store,
            config: &self.config,
            open_streams: self.streams.count() as u64,
            broken_streams: self.streams.broken(),
        };
        self.telemetry.render(process).await
    }

    /// Notifies this process's worker that there may be a job.
    pub fn notify_workers(&self) {
        self.worker.notify();
    }
}

/// The database that the config selects.
#[must_use]
pub fn target(config: &Config) -> DatabaseTarget {
    match (&config.database_url, config.mode) {
        (Some(url), Mode::Prod) => DatabaseTarget::Postgres(url.clone(), "papertape".to_owned()),
        (Some(url), Mode::Dev) => DatabaseTarget::Postgres(url.clone(), "papertape_dev".to_owned()),
        (None, mode) => DatabaseTarget::Sqlite(database_file(&config.data_dir, mode)),
    }
}

/// The SQLite file of a mode.
#[must_use]
pub fn database_file(data_dir: &Path, mode: Mode) -> PathBuf {
    data_dir.join(match mode {
        Mode::Prod => "papertape.db",
        Mode::Dev => "papertape-dev.db",
    })
}

/// Creates the data directory, accessible to its owner only.
///
/// # Errors
/// The operating system's error, with the path.
pub fn make_data_dir(dir: &Path) -> Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).with_context(|| format!("cannot create the data directory {}", dir.display()))
}
