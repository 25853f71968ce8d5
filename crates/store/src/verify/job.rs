//! Checks above the sessions: each expected day, the job's anchor, its agents' chains, and a published head.

use super::texts::Texts;
use super::{ChainBreak, duplicates};
use crate::db::Db;
use crate::error::Result;
use crate::texts;
use papertape_core::id::{AgentName, ContentHash};
use papertape_core::record::{DayStatus, ExpectedDay, JobHead, JobRecord, JobStatus, NotExtended};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The first place above the sessions where the record was altered, or does not extend the published head.
pub(super) async fn check(
    db: &mut dyn Db,
    rows: &JobRecord,
    published: Option<&JobHead>,
) -> Result<Option<ChainBreak>> {
    if let Some(broken) = days(rows) {
        return Ok(Some(broken));
    }
    if let Some((table, why)) = duplicates::check_job(db, &rows.job, rows.rules_version).await? {
        return Ok(Some(ChainBreak::in_job(vec![table], why)));
    }
    if let Some(why) = documents(db, rows).await? {
        return Ok(Some(ChainBreak::in_job(vec!["texts"], why)));
    }
    let branched = rows.config.pointer("/branch/job").and_then(Value::as_str);
    if rows.parent.as_ref().is_some_and(|parent| Some(parent.as_str()) != branched) {
        return Ok(Some(ChainBreak::in_job(vec!["jobs"], "its parent is not the job that it branched from")));
    }
    if let Some((tables, why)) = rows.difference_from_stored() {
        return Ok(Some(ChainBreak::in_job(tables, why)));
    }
    Ok(published.and_then(|published| extends(rows, published)))
}

/// Each expected day is a session, a day completed in another job, or one of an agent's last days that has not
/// been reached yet.
fn days(rows: &JobRecord) -> Option<ChainBreak> {
    let mut by_agent: BTreeMap<&AgentName, Vec<&ExpectedDay>> = BTreeMap::new();
    for day in &rows.days {
        by_agent.entry(&day.agent).or_default().push(day);
    }
    let none = BTreeMap::new();
    for (agent, days) in &by_agent {
        let sessions = rows.sessions.get(*agent).unwrap_or(&none);
        // The first open or unreached day: no session may follow it.
        let mut ends_at = None;
        for day in days {
            let broken = |tables: &[&'static str], why: &str| {
                Some(ChainBreak::in_day(agent, day.date, tables.to_vec(), why))
            };
            let session = sessions.get(&day.date);
            let is_skipped = day.status == DayStatus::Skipped;
            match session {
                Some(_) if is_skipped => {
                    return broken(&["job_details", "trading_sessions"], "a skipped day has a session");
                }
                Some(session) if session.is_closed => {
                    if day.status.as_str() != session.status || day.error != session.error {
                        let why = "the day's status or error differs from its session's";
                        return broken(&["job_details", "trading_sessions"], why);
                    }
                }
                None | Some(_) => {
                    if !is_skipped && matches!(day.status, DayStatus::Completed | DayStatus::Failed) {
                        return broken(&["trading_sessions", "job_details"], "the day's session is missing");
                    }
                }
            }
            if !is_skipped && ends_at.is_some() && session.is_some() {
                let why = "the days before this one are missing";
                return broken(&["trading_sessions", "job_details"], why);
            }
            if !is_skipped && session.is_none_or(|session| !session.is_closed) {
                ends_at.get_or_insert(day.date);
            }
        }
        if let Some(date) = ends_at.filter(|_| rows.status == JobStatus::Completed) {
            let why = "the job is completed, but this day is not";
            return Some(ChainBreak::in_day(
                agent,
                date,
                vec!["trading_sessions", "job_details", "jobs"],
                why,
            ));
        }
    }
    // The assistant's jobs have a session but no expected days.
    if rows.days.is_empty() {
        return None;
    }
    for (agent, sessions) in &rows.sessions {
        for date in sessions.keys() {
            let is_expected =
                by_agent.get(agent).is_some_and(|days| days.iter().any(|day| day.date == *date));
            if !is_expected {
                let tables = vec!["trading_sessions", "job_details"];
                return Some(ChainBreak::in_day(agent, *date, tables, "unexpected session on this day"));
            }
        }
    }
    None
}

/// Checks the documents that the job references outside its steps: its initial and final states, the logs of an
/// import, its parent's head. Returns what is wrong.
async fn documents(db: &mut dyn Db, rows: &JobRecord) -> Result<Option<String>> {
    let mut checked = Texts::default();
    let mut named: BTreeSet<ContentHash> = rows.parent_head.into_iter().collect();
    named.extend(rows.sessions.values().flat_map(BTreeMap::values).filter_map(|session| session.state));
    named.extend(hashes(rows.config.get("starts")));
    let logs: BTreeSet<ContentHash> = hashes(rows.config.pointer("/imported/logs")).collect();
    named.extend(&logs);
    for (_, index) in texts::documents(db, &logs).await? {
        named.extend(hashes(Some(&index)));
    }
    for hash in named {
        if let Some(why) = checked.check(db, hash).await? {
            return Ok(Some(why));
        }
    }
    Ok(None)
}

/// The hashes among an object's values.
fn hashes(object: Option<&Value>) -> impl Iterator<Item = ContentHash> + '_ {
    let values = object.and_then(Value::as_object).into_iter().flatten();
    values.filter_map(|(_, value)| value.as_str().and_then(ContentHash::from_hex))
}

/// Whether the record extends the published head. The sessions themselves are verified separately.
fn extends(rows: &JobRecord, published: &JobHead) -> Option<ChainBreak> {
    let why = rows.contradiction(published)?;
    let days = vec!["trading_sessions", "job_details", "agent_chains"];
    Some(match &why {
        NotExtended::OtherJob(_) => ChainBreak::in_job(vec!["jobs"], why.to_string()),
        NotExtended::OtherInputs => {
            ChainBreak::in_job(vec!["jobs", "job_configs", "job_details"], why.to_string())
        }
        NotExtended::OtherDays(agent) => {
            ChainBreak { agent: Some(agent.clone()), ..ChainBreak::in_job(days, why.to_string()) }
        }
        NotExtended::MissingSession(agent, date) => ChainBreak::in_day(agent, *date, days, why.to_string()),
    })
}
