//! The assistant's composition: what its jobs need, how they are queued, and what it sees of simulations.

mod audit;
mod decisions;
mod job_tools;
mod listing;
mod post_message;
mod runs;
mod search;
mod start;
mod toolbox;

pub use post_message::{MAX_MESSAGE_CHARS, NewMessage, post_message};
pub use start::{decompose, execute};

use crate::app::App;
use crate::config::{Mode, PromptOverrides};
use anyhow::{Context as _, Result};
use papertape_assistant::prompt::Prompts;
use papertape_assistant::settings::{ModelSettings, Settings};
use papertape_core::language::Language;
use papertape_core::message::Sampling;
use papertape_core::ports::ModelClient as _;
use papertape_runtime::assistant_job::{Assistant, AssistantConfig};
use papertape_runtime::budget::Budget;
use papertape_runtime::job_runner::JobRunner;
use papertape_runtime::jobs;
use std::sync::Arc;

/// The application, with a worker that can also run the assistant's jobs.
pub(crate) fn with_assistant(mut app: App, overrides: &PromptOverrides) -> Result<App> {
    app.worker = app.worker.clone().with_runners(runners(&app, overrides)?);
    Ok(app)
}

/// The runners of the assistant's jobs.
///
/// # Errors
/// A prompt that cannot be used.
pub fn runners(app: &App, overrides: &PromptOverrides) -> Result<Vec<Arc<dyn JobRunner>>> {
    let store = Arc::new(app.store.clone());
    let assistant = Assistant {
        plans: Arc::clone(&store) as _,
        chats: store,
        jobs: Arc::new(toolbox::JobToolbox(app.clone())),
        web: Arc::new(search::Search::new(app.config.web_search.clone(), Arc::clone(&app.services.redactor))),
        prompts: Prompts::with_overrides(overrides).with_context(|| match &app.config.prompts.dir {
            Some(dir) => format!("prompts in {}", dir.display()),
            None => "prompts".to_owned(),
        })?,
        listener: Arc::clone(&app.deltas) as _,
    };
    Ok(jobs::assistant(&Arc::new(assistant)))
}

/// The settings that an assistant's job runs with, from the current configuration.
///
/// # Errors
/// A model that cannot be called, or a limit in USD for one without a price.
pub(crate) fn config(app: &App, language: Language) -> Result<AssistantConfig, String> {
    let chat = &app.config.chat;
    app.gateway.check(&chat.model).map_err(|why| format!("chat.model: {why}"))?;
    if app.config.mode == Mode::Dev && !chat.model.is_house() {
        return Err(format!("chat.model: {}: dev mode runs only house models", chat.model));
    }
    let usage = papertape_core::message::Usage::default();
    if chat.budget.usd.is_some() && app.gateway.cost(&chat.model, &usage).is_none() {
        return Err(format!("chat.budget.usd: no known price for {}", chat.model));
    }
    let datasets = app.catalogue.list().map_err(|error| error.to_string())?;
    let dataset = |entry: papertape_market::Entry| {
        let symbols: Vec<&str> =
            entry.symbols.iter().take(12).map(papertape_core::id::Symbol::as_str).collect();
        let more = if entry.symbols.len() > 12 { ", …" } else { "" };
        let (first, last) = (entry.first_day?, entry.last_day?);
        Some(format!("{}, {first} to {last}, {}{more}", entry.name, symbols.join(", ")))
    };
    let settings = Settings {
        model: ModelSettings {
            model: chat.model.clone(),
            house_version: app.gateway.house_version(&chat.model),
            sampling: Sampling {
                temperature: chat.temperature,
                max_tokens: chat.max_tokens,
                ..Sampling::default()
            },
            reply_format: chat.reply_format,
            language,
        },
        max_rounds: chat.max_rounds,
        max_attempts: chat.max_attempts,
        call_timeout_secs: chat.call_timeout_secs,
        action_timeout_secs: chat.action_timeout_secs,
        wait_secs: chat.job_wait_secs,
        parallel_tasks: chat.parallel_tasks.max(1),
        include_action_summary: app.config.settings.chat.include_action_summary,
        agents: app.config.agents.iter().map(|agent| agent.name.to_string()).collect(),
        datasets: datasets.into_iter().filter(|entry| !entry.replaced).filter_map(dataset).take(20).collect(),
    };
    let budget = Budget { job: chat.budget, ..Budget::default() };
    let simulations = chat.simulation_budget;
    Ok(AssistantConfig {
        settings,
        budget,
        simulations,
        language,
        session_id: None,
        decompose: None,
        execute: None,
        started_by: None,
    })
}
