//! Masked jobs: what a request names in real terms, translated into the masked world.

use super::Request;
use crate::app::App;
use crate::error::ServiceError;
use papertape_agents::config::AgentConfig;
use papertape_core::broker::MarketProfile;
use papertape_core::id::{JobId, Symbol};
use papertape_core::market::{Dataset, MaskKind, Masking};
use papertape_core::ports::Queue as _;
use papertape_core::time::Date;
use papertape_market::MarketError;
use papertape_runtime::config::{MaskedRun, SimulationConfig};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The masked form of a job's source.
pub(super) struct MaskedWorld {
    pub(super) dataset: Arc<Dataset>,
    masking: Masking,
}

/// The masked world of a request; `None` if it is not masked.
pub(super) async fn masked_world(
    app: &App,
    request: &Request,
    source: &Arc<Dataset>,
    agents: &[AgentConfig],
) -> Result<Option<MaskedWorld>, ServiceError> {
    let Some(kind) = request.masking else { return Ok(None) };
    if request.start_date.is_none() {
        let message = "a masked job needs a start_date: it does not continue other jobs";
        return Err(ServiceError::invalid("start_date", message));
    }
    if let Some(agent) = agents.iter().find(|agent| !agent.tools.is_empty()) {
        let message = format!(
            "{}: external tools return real names and dates, so a masked job cannot use them",
            agent.name
        );
        return Err(ServiceError::invalid("masking", message));
    }
    let of_dataset = |error: MarketError| ServiceError::invalid("masking", error.to_string());
    let entry = app.catalogue.find(&source.hash().to_hex()).map_err(of_dataset)?;
    if entry.masked.is_some() {
        let message = format!("{} is already masked; name its source", source.name());
        return Err(ServiceError::invalid("masking", message));
    }
    // For a large dataset, this is much CPU and disk work.
    let (catalogue, source) = (Arc::clone(&app.catalogue), Arc::clone(source));
    let masked = tokio::task::spawn_blocking(move || catalogue.masked(&source, kind)).await;
    let (dataset, masking) = masked.map_err(anyhow::Error::from)?.map_err(of_dataset)?;
    Ok(Some(MaskedWorld { dataset, masking }))
}

impl MaskedWorld {
    /// Translates a job's config, which names everything in real terms.
    pub(super) fn translate(
        &self,
        source: &Dataset,
        config: &mut SimulationConfig,
    ) -> Result<(), ServiceError> {
        let masking = &self.masking;
        let symbol = |real: &Symbol| {
            masking.masked_symbol(real).ok_or_else(|| anyhow::anyhow!("{real} has no masked symbol"))
        };
        let texts = papertape_market::text_mask(source, masking.kind).map_err(anyhow::Error::from)?;
        for agent in &mut config.agents {
            agent.instructions = agent.instructions.as_deref().map(|text| texts.apply(text));
        }
        config.dataset.name = self.dataset.name().to_owned();
        config.dataset.hash = self.dataset.hash();
        config.start_date = masking.masked_date(config.start_date);
        config.end_date = masking.masked_date(config.end_date);
        config.symbols = config.symbols.iter().map(symbol).collect::<Result<BTreeSet<_>, _>>()?;
        // An index that is an instrument too has its masked symbol.
        config.universe = config.universe.take().map(|index| {
            let masked = masking.masked_symbol(&Symbol::new(&index)).map(|masked| masked.to_string());
            masked.unwrap_or(index)
        });
        let benchmark = config.benchmark.take();
        // One that the dataset does not have is reported by its own name.
        let masked = |real: &Symbol| masking.masked_symbol(real).unwrap_or_else(|| real.clone());
        config.benchmark = benchmark.as_ref().map(masked);
        let translation = masking.clone().only(&config.symbols);
        let market: MarketProfile = translation.market(&config.market);
        let real = std::mem::replace(&mut config.market, market);
        config.masking = Some(Box::new(MaskedRun { translation, market: real, benchmark }));
        Ok(())
    }
}

/// A memory can be inherited only within one world.
pub(super) async fn check_memory(
    app: &App,
    job: &JobId,
    config: &SimulationConfig,
) -> Result<(), ServiceError> {
    let row = app.store.get_job(job).await?;
    let before = row.and_then(|row| serde_json::from_value::<SimulationConfig>(row.config).ok());
    let Some(before) = before else { return Ok(()) };
    let is_masked = before.masking.is_some() || config.masking.is_some();
    if is_masked && before.dataset.hash != config.dataset.hash {
        let name =
            |config: &SimulationConfig| config.translation().map_or("none", |masking| masking.kind.as_str());
        let message = format!(
            "job {job} has the mask `{}` of another world than this one (`{}`): its memories would mix real and masked \
             names",
            name(&before),
            name(config)
        );
        return Err(ServiceError::invalid("memory_from", message));
    }
    Ok(())
}

/// The masked cut of a branch: its day and its node, as the user names them.
pub(super) fn masked_cut(masking: &Masking, date: Date, at: Option<String>) -> (Date, Option<String>) {
    let at = at.map(|at| {
        let (first, rest) = at.split_at(at.find('/').unwrap_or(at.len()));
        let masked = masking.masked_symbol(&Symbol::new(first)).filter(|_| !masking.symbols.is_empty());
        masked.map_or_else(|| at.clone(), |masked| format!("{masked}{rest}"))
    });
    (masking.masked_date(date), at)
}

/// A mask as a request names it.
pub(crate) fn mask_of(field: &'static str, text: &str) -> Result<Option<MaskKind>, ServiceError> {
    match text {
        "none" => Ok(None),
        text => text.parse().map(Some).map_err(|_| {
            let text = text.escape_default();
            ServiceError::invalid(
                field,
                format!("unknown mask `{text}`; expected none, dates, entities or all"),
            )
        }),
    }
}
