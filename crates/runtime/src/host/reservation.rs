//! What a call holds while it is made: its place in the queue, and its part of the budget.

use super::LiveHost;
use crate::budget::{self, Spend};
use crate::sync::lock;
use papertape_core::message::{FailureKind, ModelReply, ModelRequest, Usage};
use papertape_core::record::Estimate;
use papertape_core::tape::StepPath;
use rust_decimal::Decimal;

/// A call waiting for a slot, until it gets one or is dropped.
pub(super) struct Waiting<'h> {
    host: &'h LiveHost,
    path: &'h StepPath,
}

impl<'h> Waiting<'h> {
    pub(super) fn new(host: &'h LiveHost, path: &'h StepPath) -> Self {
        host.waits.begin(path, host.run.services.clock.now());
        Self { host, path }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.host.waits.end(self.path, self.host.run.services.clock.now());
    }
}

/// A call's reservation, settled with the usage of its attempts when the call is over: completed, failed,
/// stopped, or dropped by its guard.
pub(super) struct Reservation<'h> {
    host: &'h LiveHost,
    path: &'h StepPath,
    used: Spend,
}

impl<'h> Reservation<'h> {
    pub(super) fn new(host: &'h LiveHost, path: &'h StepPath) -> Self {
        Self { host, path, used: Spend::default() }
    }

    /// Counts an attempt: the usage that it reports, or an estimate. Returns its cost or the estimate.
    pub(super) fn meter(
        &mut self,
        request: &ModelRequest,
        usage: Option<Usage>,
        result: Result<&ModelReply, FailureKind>,
    ) -> (Option<Decimal>, Option<Estimate>) {
        let models = &self.host.run.services.models;
        let price = |usage: &Usage| models.cost(&request.model, usage);
        if let Some(usage) = usage {
            let cost_usd = price(&usage);
            self.used.add(Spend::of(&usage, cost_usd));
            return (cost_usd, None);
        }
        let estimate =
            budget::estimate(request, result).map(|usage| Estimate { usage, cost_usd: price(&usage) });
        if let Some(Estimate { usage, cost_usd }) = &estimate {
            self.used.add(Spend::of(usage, *cost_usd));
        }
        (None, estimate)
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if let Some(amount) = lock(&self.host.reserved).remove(self.path) {
            self.host.run.settle(&self.host.line, amount, self.used);
        }
    }
}
