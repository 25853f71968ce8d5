//! The recorded days of a job's agents, with everything that their books are recomputed from.

use super::super::Configs;
use super::Researched;
use super::load::chain;
use crate::app::App;
use crate::error::ServiceError;
use papertape_core::id::{AgentName, JobId};
use papertape_core::ledger::Insolvency;
use papertape_core::time::Date;
use papertape_store::{Page, PageRequest, ResultFilter, SessionResult};
use rust_decimal::Decimal;
use serde_json::Value;

/// Sessions are read in pages of this many.
const PAGE: u32 = 50;

/// A closed day. The session's metadata are left out.
#[derive(Clone, Debug)]
pub(crate) struct RecordedDay {
    pub(crate) session: SessionResult,
    /// Is it a day of full research?
    pub(crate) is_full: bool,
    /// Is it verified as point-in-time?
    pub(crate) is_verified: bool,
    pub(crate) insolvent: Option<Insolvency>,
    pub(crate) profit: Option<Decimal>,
    pub(crate) return_pct: Option<Decimal>,
}

impl RecordedDay {
    fn of(mut session: SessionResult) -> Self {
        let metadata = session.metadata.take().unwrap_or_default();
        let researched = Researched::read(Some(&metadata.to_string()));
        let books = metadata.get("books");
        let figure = |name: &str| -> Option<Decimal> { books?.get(name)?.as_str()?.parse().ok() };
        let insolvent = books.and_then(|books| books.get("insolvent")).cloned().map(insolvency);
        Self {
            is_full: researched.is_full(),
            is_verified: researched.is_verified(),
            insolvent: insolvent.flatten(),
            profit: figure("daily_profit"),
            return_pct: figure("daily_return_pct"),
            session,
        }
    }
}

fn insolvency(stored: Value) -> Option<Insolvency> {
    serde_json::from_value(stored).ok()
}

/// An agent's closed days in a job, those included that earlier jobs completed, by day. `first`: the first planned day.
///
/// # Errors
/// A database error.
pub(crate) async fn recorded_days(
    app: &App,
    (agent, job): (&AgentName, &JobId),
    first: Date,
) -> Result<Vec<RecordedDay>, ServiceError> {
    let mut configs = Configs::default();
    let mut all: Vec<RecordedDay> = Vec::new();
    // The newest job first: a day that a later job has is that job's.
    for (job, to) in chain(app, &mut configs, (agent, job), (Some(first), None)).await? {
        let begins = all.first().map(|day| day.session.date);
        let filter = ResultFilter { from: Some(first), to, agent: Some(agent.clone()), job: Some(job) };
        let mut days = Vec::new();
        let mut request = PageRequest::first(PAGE);
        loop {
            let Page { items, next } = app.store.results(&filter, &request).await?;
            let closed = items.into_iter().filter(|session| {
                let is_closed = session.cash.is_some() && session.portfolio_value.is_some();
                is_closed && session.starting.is_some() && begins.is_none_or(|begins| session.date < begins)
            });
            days.extend(closed.map(RecordedDay::of));
            match next {
                Some(cursor) => request = PageRequest::after(PAGE, &cursor),
                None => break,
            }
        }
        days.append(&mut all);
        all = days;
    }
    Ok(all)
}
