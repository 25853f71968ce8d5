//! The wall time of nodes, computed from their steps on demand: a session reads no clock.

use crate::app::App;
use crate::error::ServiceError;
use papertape_core::provenance::Degradation;
use papertape_core::record::SessionId;
use papertape_core::tape::StepClass;
use papertape_core::time::Timestamp;
use papertape_store::PageRequest;
use std::collections::BTreeMap;

/// Steps are read in pages of this many.
const PAGE: u32 = 1000;

/// When the nodes of a session started and ended, by scope: `AAPL/Trader#1`.
#[derive(Debug, Default)]
pub(super) struct NodeTimes(BTreeMap<String, NodeSpan>);

#[derive(Clone, Copy, Debug)]
struct NodeSpan {
    began: Timestamp,
    ended: Timestamp,
}

impl NodeTimes {
    /// From a session's external and guard steps; local steps are deferred and carry no times.
    pub(super) async fn of(app: &App, session: SessionId) -> Result<Self, ServiceError> {
        let mut times = Self::default();
        let mut request = PageRequest::first(PAGE);
        loop {
            let page = app.store.steps(session, &request).await?;
            for step in page.items {
                let tells = matches!(step.class, StepClass::External | StepClass::Guard) && !step.detached;
                if tells {
                    let began = step.started_at;
                    times.note(step.path.scope(), NodeSpan { began, ended: step.ended_at.unwrap_or(began) });
                }
            }
            match page.next {
                Some(cursor) => request = PageRequest::after(PAGE, &cursor),
                None => return Ok(times),
            }
        }
    }

    fn note(&mut self, scope: &str, span: NodeSpan) {
        let known = self.0.entry(scope.to_owned()).or_insert(span);
        known.began = known.began.min(span.began);
        known.ended = known.ended.max(span.ended);
    }

    /// Sets each degradation's wall time from its node's steps. A node that failed in several rounds is matched in the
    /// order of its rounds.
    pub(super) fn fill_in(&self, degradations: &mut [Degradation]) {
        let mut told: BTreeMap<(String, String), u32> = BTreeMap::new();
        for degradation in degradations {
            let symbol = degradation.symbol.as_ref().map(ToString::to_string).unwrap_or_default();
            let seen = told.entry((symbol.clone(), degradation.node.clone())).or_insert(0);
            let round = self.rounds(&symbol, &degradation.node).nth(*seen as usize);
            *seen += 1;
            degradation.elapsed_ms = round.and_then(|span| {
                let took = span.ended.duration_since(span.began);
                u64::try_from(took.as_millis()).ok()
            });
        }
    }

    /// The rounds of a node, in order.
    fn rounds(&self, symbol: &str, node: &str) -> impl Iterator<Item = NodeSpan> + '_ {
        let scope = if symbol.is_empty() { format!("{node}#") } else { format!("{symbol}/{node}#") };
        let mut rounds: Vec<(u32, NodeSpan)> = self
            .0
            .iter()
            .filter_map(|(path, span)| Some((path.strip_prefix(&scope)?.parse().ok()?, *span)))
            .collect();
        rounds.sort_by_key(|(round, _)| *round);
        rounds.into_iter().map(|(_, span)| span)
    }
}
