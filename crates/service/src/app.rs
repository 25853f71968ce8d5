//! Composition: the one place where concrete types meet.

use crate::access::Authenticator;
use crate::assistant::{self, DeltaBus};
use crate::config::{Config, Mode, prompt_overrides};
use crate::embeddings::{self, Embeddings, OutsideTools, VectorIndex};
use crate::mcp::McpTools;
use crate::metrics::{InstrumentedLog, InstrumentedModels, InstrumentedRecord, Metrics};
use crate::secrets;
use crate::streams::Streams;
use crate::view::ResultCache;
use anyhow::{Context as _, Result};
use papertape_agents::prompt::PromptSet;
use papertape_core::id::ContentHash;
use papertape_core::market::Dataset;
use papertape_llm::Gateway;
use papertape_market::Catalogue;
use papertape_runtime::clock::SystemClock;
use papertape_runtime::services::{Datasets, Services};
use papertape_runtime::worker::{Worker, WorkerOptions};
use papertape_store::{DatabaseTarget, PortableFiles, Projector, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

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
    pub words: Arc<DeltaBus>,
    /// Updates the plans' portable files, in a process that writes.
    projector: Option<Arc<Projector>>,
    /// Authenticates callers of the server.
    pub doorkeeper: Arc<Authenticator>,
    /// The process's counters.
    pub metrics: Arc<Metrics>,
    /// Cached results of stopped jobs that this process computed.
    pub results: Arc<ResultCache>,
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
    /// Opens everything. Creates the data directory if it is missing.
    ///
    /// # Errors
    /// A directory, database, prompt, price or key that cannot be used, with what to do about it.
    pub async fn open(config: Config, access: Access) -> Result<Self> {
        let target = target(&config);
        if access != Access::Read {
            make_data_dir(&config.data_dir)?;
        }
        let wipe = access == Access::Start && !config.preserve_dev_data;
        let store = match (access, config.mode) {
            (Access::Read, _) => Store::open_read_only(target).await,
            (_, Mode::Prod) => Store::open(target).await,
            (_, Mode::Dev) => Store::open_dev(target, wipe).await,
        };
        let store = store.context("the record cannot be opened")?;
        if access != Access::Read {
            // The work of a process that died can be resumed at once.
            store.end_leases().await.context("the record cannot be written")?;
        }
        Self::compose(config, store)
    }

    /// Composes the application around a store.
    ///
    /// # Errors
    /// As [`App::open`].
    pub fn compose(config: Config, store: Store) -> Result<Self> {
        let catalogue = Catalogue::at(config.datasets_dir());
        Self::build_with(config, store, catalogue)
    }

    /// As [`Self::compose`], with these datasets.
    ///
    /// # Errors
    /// As [`Self::compose`].
    pub fn build_with(config: Config, store: Store, catalogue: Catalogue) -> Result<Self> {
        let env = |name: &str| std::env::var(name).ok();
        let gateway = Arc::new(Gateway::new(&config.models, &env).context("models")?);
        let overrides = config.prompts.dir.as_deref().map(prompt_overrides).transpose()?.unwrap_or_default();
        let (overrides, of_assistant) = assistant::split_overrides(overrides);
        let place = config.prompts.dir.as_deref().map(|dir| format!("prompts in {}", dir.display()));
        let place = place.unwrap_or_else(|| "prompts".to_owned());
        let prompts = PromptSet::with_overrides(overrides).with_context(|| place.clone())?;
        let redactor = secrets::redactor(&config, &gateway, &env)?;
        let catalogue = Arc::new(catalogue);
        let model_dir = embeddings::house::dir(&config.data_dir);
        let embeddings = Arc::new(Embeddings::new(Arc::clone(&gateway), model_dir));
        let metrics: Arc<Metrics> = Arc::default();
        let services = Services {
            record: Arc::new(InstrumentedRecord::new(Arc::new(store.clone()), Arc::clone(&metrics))),
            queue: Arc::new(store.clone()),
            actions: Arc::new(InstrumentedLog::new(Arc::new(store.clone()), Arc::clone(&metrics))),
            models: Arc::new(InstrumentedModels::new(Arc::clone(&gateway) as _, Arc::clone(&metrics))),
            tools: Arc::new(OutsideTools::new(McpTools::new(config.tools.clone()), Arc::clone(&embeddings))),
            clock: Arc::new(SystemClock),
            datasets: Arc::new(Opened(Arc::clone(&catalogue))),
            prompts: Arc::new(prompts),
            redactor: Arc::new(redactor),
            call_slots: Arc::new(Semaphore::new(config.worker.parallel_calls.max(1))),
            exclusive_slot: Arc::new(Semaphore::new(1)),
        };
        let options = WorkerOptions {
            owner: format!("{}-{}", std::process::id(), uuid::Uuid::new_v4()),
            lease_for: Duration::from_secs(config.worker.lease_secs.max(3)),
            poll_every: Duration::from_millis(config.worker.poll_ms.max(10)),
            parallel_jobs: config.worker.parallel_jobs,
            max_crashes_per_step: config.worker.max_crashes_per_step,
        };
        let worker = Worker::new(services.clone(), options);
        let vectors = Arc::default();
        let doorkeeper = Arc::new(Authenticator::new(&config.auth));
        let app = Self {
            config: Arc::new(config),
            store,
            services,
            catalogue,
            gateway,
            embeddings,
            vectors,
            worker,
            streams: Arc::default(),
            words: Arc::default(),
            projector: None,
            doorkeeper,
            metrics,
            results: Arc::default(),
        };
        assistant::with_assistant(app, &of_assistant)
    }

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

    /// Resolves once everything committed is also in the portable files.
    pub async fn flush(&self) {
        if let Some(projector) = &self.projector {
            projector.flush().await;
        }
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
    builder.create(dir).with_context(|| format!("the data directory {} cannot be made", dir.display()))
}

/// The catalogue as the runtime sees it.
struct Opened(Arc<Catalogue>);

impl Datasets for Opened {
    fn open(&self, hash: ContentHash) -> Result<Arc<Dataset>, String> {
        self.0.open(&hash.to_hex()).map_err(|error| error.to_string())
    }
}
