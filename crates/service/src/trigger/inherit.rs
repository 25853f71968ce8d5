//! What a job inherits from another: an account or a memory, each with the mark of sessions that could see more than
//! the market view.

use crate::app::App;
use crate::error::ServiceError;
use papertape_agents::day::StartState;
use papertape_core::id::{AgentName, JobId};
use papertape_core::json::to_value;
use papertape_core::point_in_time::{Unverified, UnverifiedKind};
use papertape_core::ports::Queue as _;
use papertape_core::time::Date;
use papertape_runtime::config::SimulationConfig;
use serde_json::Value;
use std::collections::BTreeSet;

/// A job's agent at the end of a day.
#[derive(Clone, Copy)]
pub(super) struct Ancestor<'a> {
    pub(super) job: &'a JobId,
    pub(super) agent: &'a AgentName,
    pub(super) until: Date,
}

/// Converts an ancestor's final state into a state that another job continues. Returns its mark.
pub(super) async fn continued(
    app: &App,
    ancestor: Ancestor<'_>,
    state: &mut Value,
) -> Result<Option<Unverified>, ServiceError> {
    let mut own: StartState = serde_json::from_value(state.take()).map_err(anyhow::Error::from)?;
    let unmarked = unmarked(app, ancestor, &own).await?;
    let mark = own.unverified.or_else(|| unmarked.clone());
    own.unverified = mark.map(|mark| mark.continued(ancestor.job));
    own.memory = own.memory.of_job(ancestor.job, unmarked.as_ref());
    own.is_marked = true;
    *state = to_value(&own);
    Ok(own.unverified)
}

/// The mark of a state of rules version 1, which stores none. It follows from the sessions of the ancestor and of its
/// own ancestors.
pub(super) async fn unmarked(
    app: &App,
    ancestor: Ancestor<'_>,
    state: &StartState,
) -> Result<Option<Unverified>, ServiceError> {
    if state.is_marked {
        return Ok(None);
    }
    let agent = ancestor.agent;
    let (mut seen, mut next) = (BTreeSet::new(), vec![(ancestor.job.clone(), ancestor.until)]);
    while let Some((job, until)) = next.pop() {
        if !seen.insert(job.clone()) {
            continue;
        }
        let row = app.store.get_job(&job).await?;
        let config = row.and_then(|row| serde_json::from_value::<SimulationConfig>(row.config).ok());
        let newest = app.store.newest_unverified(&job, agent, until).await?;
        if let Some((date, metadata)) = newest {
            return Ok(Some(Unverified::from_session(&metadata, date).of_job(&job)));
        }
        let Some(config) = config else { continue };
        next.extend(config.continues.get(agent).map(|from| (from.job.clone(), from.date)));
        let before = config.start_date.yesterday().ok();
        next.extend(config.memory_from.zip(before));
    }
    Ok(None)
}

/// The warning about an inherited mark.
pub(super) fn warning(ancestor: Ancestor<'_>, mark: &Unverified) -> String {
    let Ancestor { job, agent, .. } = ancestor;
    let origin = mark.job.as_ref().unwrap_or(job);
    let what = match mark.kind {
        UnverifiedKind::Continuation => format!("it continues job {job}"),
        _ => format!("it may read memories of job {job}"),
    };
    format!(
        "{agent}: {what}, which goes back to the session of {} in job {origin}, that is not bounded in time: what comes \
         of it carries point_in_time = unverified",
        mark.date
    )
}
