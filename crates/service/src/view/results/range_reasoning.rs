//! The reasoning of the days of a range, with order counts.

use super::super::reasoning::message;
use crate::app::App;
use crate::error::ServiceError;
use crate::view::quality::books;
use papertape_core::id::{AgentName, JobId};
use papertape_core::record::SessionId;
use papertape_protocol::results::range::RangeReasoning;
use papertape_store::{ClosedDay, OrderCounts, PageRequest, SessionFilter};
use std::collections::BTreeSet;

/// The reasoning of each day, without messages.
pub(super) async fn summaries(app: &App, days: &[&ClosedDay]) -> Result<Vec<RangeReasoning>, ServiceError> {
    let ids: Vec<SessionId> = days.iter().map(|day| day.id).collect();
    let orders = app.store.order_counts(&ids).await?;
    Ok(days.iter().map(|day| range_reasoning(day, orders.get(&day.id))).collect())
}

fn range_reasoning(day: &ClosedDay, orders: Option<&OrderCounts>) -> RangeReasoning {
    RangeReasoning {
        books: books(orders, day.fills.len()),
        date: day.date,
        session_id: day.id.0,
        session_summary: day.session_summary.clone(),
        conversation: None,
    }
}

pub(super) async fn conversations(
    app: &App,
    days: &[&ClosedDay],
) -> Result<Vec<RangeReasoning>, ServiceError> {
    let mut all = summaries(app, days).await?;
    let jobs: BTreeSet<(&JobId, &AgentName)> = days.iter().map(|day| (&day.job, &day.agent)).collect();
    for (job, agent) in jobs {
        let filter =
            SessionFilter { job: Some(job.clone()), agent: Some(agent.clone()), ..SessionFilter::default() };
        let mut request = PageRequest::default();
        loop {
            let page = app.store.sessions(&filter, true, &request).await?;
            for view in page.items {
                if let Some(entry) = all.iter_mut().find(|entry| entry.session_id == view.id.0) {
                    entry.conversation =
                        view.conversation.map(|said| said.into_iter().map(message).collect());
                }
            }
            match page.next {
                Some(cursor) => request = PageRequest::after(0, &cursor),
                None => break,
            }
        }
    }
    Ok(all)
}
