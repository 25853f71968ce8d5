//! Counts model calls where they are made.

use super::Metrics;
use futures::FutureExt as _;
use papertape_core::external::{DoorProtocol, ModelDoorRequest, ModelDoorResponse};
use papertape_core::message::{ModelName, ModelRequest, Usage};
use papertape_core::ports::{AttemptFailure, BoxFuture, DeltaSink, ModelClient, ModelResponse};
use rust_decimal::Decimal;
use std::sync::Arc;

/// The maximum number of models with their own label; the rest share one.
const MAX_MODELS: usize = 100;
/// The label of the rest.
const OTHER: &str = "other";

/// The counters of one model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ModelFigures {
    pub(super) succeeded: u64,
    pub(super) failed: u64,
    pub(super) usage: Usage,
    pub(super) cost_usd: Decimal,
    /// Calls that used tokens and have no known price.
    pub(super) unpriced_calls: u64,
}

/// A model client whose calls are counted.
pub(super) struct InstrumentedModels {
    pub(super) models: Arc<dyn ModelClient>,
    pub(super) metrics: Arc<Metrics>,
}

impl InstrumentedModels {
    fn count(&self, model: &ModelName, is_succeeded: bool, usage: Option<Usage>) {
        let cost = usage.as_ref().and_then(|usage| self.models.cost(model, usage));
        let mut models = self.metrics.models();
        let mut name = model.to_string();
        if models.len() >= MAX_MODELS && !models.contains_key(&name) {
            name = OTHER.to_owned();
        }
        let figures = models.entry(name).or_default();
        *(if is_succeeded { &mut figures.succeeded } else { &mut figures.failed }) += 1;
        figures.usage += usage.unwrap_or_default();
        let has_used = usage.is_some_and(|usage| usage.input_tokens + usage.output_tokens > 0);
        figures.unpriced_calls += u64::from(has_used && cost.is_none());
        figures.cost_usd += cost.unwrap_or_default();
    }
}

impl ModelClient for InstrumentedModels {
    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        delta: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelResponse, AttemptFailure>> {
        async move {
            let result = self.models.call(request, delta).await;
            match &result {
                Ok(response) => self.count(&request.model, true, response.usage),
                Err(failure) => self.count(&request.model, false, failure.usage),
            }
            result
        }
        .boxed()
    }

    fn forward<'a>(
        &'a self,
        request: &'a ModelDoorRequest,
        delta: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelDoorResponse, AttemptFailure>> {
        async move {
            let result = self.models.forward(request, delta).await;
            match &result {
                Ok(response) => self.count(&request.model, true, response.usage),
                Err(failure) => self.count(&request.model, false, failure.usage),
            }
            result
        }
        .boxed()
    }

    fn protocols(&self, model: &ModelName) -> Vec<DoorProtocol> {
        self.models.protocols(model)
    }

    fn check(&self, model: &ModelName) -> Result<(), String> {
        self.models.check(model)
    }

    fn house_version(&self, model: &ModelName) -> Option<u32> {
        self.models.house_version(model)
    }

    fn cost(&self, model: &ModelName, usage: &Usage) -> Option<Decimal> {
        self.models.cost(model, usage)
    }
}
