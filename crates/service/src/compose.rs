//! Puts the product together: the one place where concrete types meet.

use crate::access::Authenticator;
use crate::app::{Access, App, make_data_dir, target};
use crate::assistant;
use crate::config::{Config, Mode, prompt_overrides, split_overrides};
use crate::doors::DoorListener;
use crate::embeddings::{self, Embeddings, ExternalTools, WithSentenceModel};
use crate::integrations::{AgentSetup, Integrations};
use crate::secrets;
use anyhow::{Context as _, Result};
use papertape_agents::prompt::PromptSet;
use papertape_core::id::ContentHash;
use papertape_core::market::Dataset;
use papertape_house::HouseModels;
use papertape_llm::Gateway;
use papertape_market::Catalogue;
use papertape_runtime::clock::SystemClock;
use papertape_runtime::services::{Datasets, Services};
use papertape_runtime::session_log::LINGER;
use papertape_runtime::worker::{Worker, WorkerOptions};
use papertape_store::Store;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

impl App {
    /// Opens everything. Creates the data directory if it is missing.
    ///
    /// # Errors
    /// A directory, database, prompt, price or key that cannot be used, with what to do about it.
    pub async fn open(config: Config, access: Access, integrations: Integrations) -> Result<Self> {
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
        let store = store.context("cannot open the database")?;
        if access != Access::Read {
            // The work of a process that died can be resumed at once.
            store.end_leases().await.context("cannot write to the database")?;
        }
        Self::compose(config, store, integrations)
    }

    /// Composes the application around a store.
    ///
    /// # Errors
    /// As [`App::open`].
    pub fn compose(config: Config, store: Store, integrations: Integrations) -> Result<Self> {
        let catalogue = Catalogue::at(config.datasets_dir());
        Self::build_with(config, store, catalogue, integrations)
    }

    /// As [`Self::compose`], with these datasets.
    ///
    /// # Errors
    /// As [`Self::compose`].
    pub fn build_with(
        config: Config,
        store: Store,
        catalogue: Catalogue,
        integrations: Integrations,
    ) -> Result<Self> {
        let Integrations { tools, agents, telemetry } = integrations;
        let env = |name: &str| std::env::var(name).ok();
        let gateway = Arc::new(Gateway::new(&config.models, &HouseModels, &env).context("models")?);
        let overrides = config.prompts.dir.as_deref().map(prompt_overrides).transpose()?.unwrap_or_default();
        let (overrides, assistant_overrides) = split_overrides(overrides);
        let place = config.prompts.dir.as_deref().map(|dir| format!("prompts in {}", dir.display()));
        let place = place.unwrap_or_else(|| "prompts".to_owned());
        let prompts = PromptSet::with_overrides(overrides).with_context(|| place.clone())?;
        let redactor = Arc::new(secrets::redactor(&config, &gateway, &env)?);
        let catalogue = Arc::new(catalogue);
        let model_dir = embeddings::house::dir(&config.data_dir);
        let embeddings = Arc::new(Embeddings::new(Arc::clone(&gateway), model_dir));
        let doors = Arc::<DoorListener>::default();
        let setup = AgentSetup::new(&config, Arc::clone(&doors), Arc::clone(&redactor));
        let models = WithSentenceModel::new(Arc::clone(&gateway) as _, Arc::clone(&embeddings));
        let services = Services {
            record: Arc::clone(&telemetry).record(Arc::new(store.clone())),
            queue: Arc::new(store.clone()),
            shared_budgets: Arc::new(store.clone()),
            overruns: Arc::default(),
            actions: Arc::clone(&telemetry).actions(Arc::new(store.clone())),
            models: Arc::clone(&telemetry).models(Arc::new(models)),
            tools: Arc::new(ExternalTools::new(tools(config.tools.clone()), Arc::clone(&embeddings))),
            external: agents(setup),
            doors: Arc::default(),
            clock: Arc::new(SystemClock),
            datasets: Arc::new(OpenedDatasets(Arc::clone(&catalogue))),
            prompts: Arc::new(prompts),
            redactor,
            call_slots: Arc::new(Semaphore::new(config.worker.parallel_calls.max(1))),
            linger: LINGER,
            exclusive_slot: Arc::new(Semaphore::new(1)),
        };
        let options = WorkerOptions {
            owner: format!("{}-{}", std::process::id(), uuid::Uuid::new_v4()),
            lease_for: Duration::from_secs(config.worker.lease_secs.max(3)),
            poll_every: Duration::from_millis(config.worker.poll_interval_ms.max(10)),
            parallel_jobs: config.worker.parallel_jobs,
            max_crashes_per_step: config.worker.max_crashes_per_step,
        };
        let worker = Worker::new(services.clone(), options);
        let vectors = Arc::default();
        let authenticator = Arc::new(Authenticator::new(&config.auth.tokens, config.auth.session_hours));
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
            deltas: Arc::default(),
            projector: None,
            authenticator,
            telemetry,
            tools,
            doors,
            serve_doors: None,
            results: Arc::default(),
            boards: Arc::default(),
        };
        assistant::with_assistant(app, &assistant_overrides)
    }
}

/// The catalogue as the runtime sees it.
struct OpenedDatasets(Arc<Catalogue>);

impl Datasets for OpenedDatasets {
    fn open(&self, hash: ContentHash) -> Result<Arc<Dataset>, String> {
        self.0.open(&hash.to_hex()).map_err(|error| error.to_string())
    }
}
