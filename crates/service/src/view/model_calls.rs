//! What the tape's documents say about model calls: which model was requested, and why the response ended. Documents are
//! read in batches, for all steps of a page.

use crate::app::App;
use anyhow::{Context as _, Result};
use papertape_core::id::ContentHash;
use papertape_core::message::{FinishReason, ModelName, Sampling};
use papertape_core::ports::RecordStore as _;
use papertape_core::tape::{OutcomeKind, StepState};
use papertape_store::StepView;
use serde_json::Value;
use std::collections::BTreeMap;

/// The kind of a step that calls a model.
const MODEL: &str = "model";

/// What the tape says about the model calls of a page of steps, by the hashes of their documents.
#[derive(Debug, Default)]
pub(crate) struct ModelCalls {
    requested: BTreeMap<ContentHash, (ModelName, Sampling)>,
    finished: BTreeMap<ContentHash, FinishReason>,
}

impl ModelCalls {
    /// Reads the documents of these steps' model calls.
    pub(crate) async fn read(app: &App, steps: &[StepView]) -> Result<Self> {
        let (requested, finished) = (requested_models(app, steps).await?, finish_reasons(app, steps).await?);
        Ok(Self { requested, finished })
    }

    /// The model that a step requested; `None` if it called none.
    pub(crate) fn model(&self, step: &StepView) -> Option<&ModelName> {
        self.requested.get(&step.request_ref.filter(|_| is_call(step))?).map(|(model, _)| model)
    }

    /// Why a model's response ended; `None` without a response.
    pub(crate) fn finish_reason(&self, step: &StepView) -> Option<FinishReason> {
        self.finished.get(&step.outcome_ref.filter(|_| has_response(step))?).copied()
    }
}

fn is_call(step: &StepView) -> bool {
    step.path.kind() == MODEL
}

fn has_response(step: &StepView) -> bool {
    is_call(step) && step.state == StepState::Done(OutcomeKind::Ok)
}

/// Which model each request went to, with its sampling, by the request's hash. A request is a chain of links, each of
/// which names their common head.
///
/// # Errors
/// A database error, or a stored document that is not JSON.
pub async fn requested_models(
    app: &App,
    steps: &[StepView],
) -> Result<BTreeMap<ContentHash, (ModelName, Sampling)>> {
    let refs = steps.iter().filter(|step| is_call(step)).filter_map(|step| step.request_ref);
    let requests = stored_documents(app, refs.collect()).await?;
    let head_of = |document: &Value| document["head"].as_str().and_then(ContentHash::from_hex);
    let heads = stored_documents(app, requests.values().filter_map(head_of).collect()).await?;
    let mut models = BTreeMap::new();
    for (hash, document) in &requests {
        let head = head_of(document).and_then(|head| heads.get(&head)).unwrap_or(document);
        let model = ModelName::try_from(head["model"].as_str().unwrap_or_default().to_owned());
        let Ok(model) = model else { continue };
        let sampling = serde_json::from_value(head["sampling"].clone()).unwrap_or_default();
        models.insert(*hash, (model, sampling));
    }
    Ok(models)
}

/// Why each response ended, by the outcome's hash. A response that does not say so is left out.
async fn finish_reasons(app: &App, steps: &[StepView]) -> Result<BTreeMap<ContentHash, FinishReason>> {
    let refs = steps.iter().filter(|step| has_response(step)).filter_map(|step| step.outcome_ref);
    let outcomes = stored_documents(app, refs.collect()).await?;
    let reason =
        |(hash, outcome): (ContentHash, Value)| Some((hash, outcome["finish"].as_str()?.parse().ok()?));
    Ok(outcomes.into_iter().filter_map(reason).collect())
}

/// Documents as they are stored; missing ones are left out. Long texts are stored separately and not read.
///
/// # Errors
/// A database error, or a stored document that is not JSON.
pub async fn stored_documents(
    app: &App,
    mut hashes: Vec<ContentHash>,
) -> Result<BTreeMap<ContentHash, Value>> {
    hashes.sort_unstable();
    hashes.dedup();
    let texts = app.store.texts(hashes).await?;
    let read = |(hash, body): (ContentHash, String)| {
        serde_json::from_str(&body)
            .map(|document| (hash, document))
            .with_context(|| format!("document {hash} is not JSON"))
    };
    texts.into_iter().map(read).collect()
}
