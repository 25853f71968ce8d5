//! Where a branch leaves its parent's tape.

use crate::config::{Branch, Change, SimulationConfig};
use papertape_agents::config::AgentConfig;
use papertape_agents::day::NODES;
use papertape_core::record::TapeRow;
use papertape_core::time::Date;

/// Checks a cut: a node of a day's graph, or a step of the conversation.
///
/// # Errors
/// A sentence that lists what can be cut at.
pub fn check_cut(at: &str) -> Result<(), String> {
    let node = at.split('/').next().unwrap_or_default();
    let step = at.split_once('/').map(|(_, step)| step);
    let known = NODES.contains(&node);
    let numbered = |step: &str| {
        step.split_once('#').is_some_and(|(kind, n)| !kind.is_empty() && n.parse::<u32>().is_ok())
    };
    if known && step.is_none_or(numbered) {
        return Ok(());
    }
    Err(format!(
        "`{at}` is no place to branch at; there are: {}, and steps as solo#1/model#3",
        NODES.join(", ")
    ))
}

/// The agent as it is on a day: the job's own before the first cut that changes it, from each cut on
/// as it was changed there. A cut within or after the conversation leaves that day's conversation as
/// it was.
#[must_use]
pub(crate) fn agent_on<'a>(branch: Option<&'a Branch>, own: &'a AgentConfig, date: Date) -> &'a AgentConfig {
    let Some(branch) = branch else { return own };
    let earlier = branch.earlier.iter().map(|change| (change.date, &change.at, &change.agent));
    let newest = branch.agent.iter().map(|agent| (branch.date, &branch.at, agent));
    let talk = place("solo#1");
    let at_a_node = |at: &str| !at.contains('/');
    let holds = |cut: Date, at: &str| cut < date || (cut == date && at_a_node(at) && place(at) <= talk);
    let mut changes = earlier.chain(newest).rev();
    changes.find(|(cut, at, _)| holds(*cut, at)).map_or(own, |(_, _, agent)| agent)
}

/// An agent of a job as it is at a cut, and the changes that have made it so. What the job changes
/// after the cut is no part of its past.
#[must_use]
pub fn at_cut(
    config: &SimulationConfig,
    own: &AgentConfig,
    date: Date,
    at: &str,
) -> (AgentConfig, Vec<Change>) {
    let mut changes = Vec::new();
    if let Some(branch) = &config.branch {
        changes.clone_from(&branch.earlier);
        changes.extend(branch.agent.clone().map(|agent| Change {
            date: branch.date,
            at: branch.at.clone(),
            agent,
        }));
    }
    changes.retain(|change| (change.date, place(&change.at)) <= (date, place(at)));
    let agent = changes.last().map_or(own, |change| &change.agent).clone();
    (agent, changes)
}

/// Where the node of a path stands in the day's declared order; after all others where it is none.
fn place(at: &str) -> usize {
    let node = at.split('/').next().unwrap_or_default();
    NODES.iter().position(|known| *known == node).unwrap_or(usize::MAX)
}

/// The rows that come before the cut, of rows in their recorded order.
#[must_use]
pub(crate) fn before_cut(rows: Vec<TapeRow>, at: &str) -> Vec<TapeRow> {
    let cut_order = place(at);
    // Within the node of the cut the recorded order decides; at a node, nothing of it is kept.
    let within = rows.iter().position(|row| row.path.as_str() == at);
    rows.into_iter()
        .enumerate()
        .filter(|(index, row)| {
            let row_order = place(row.path.as_str());
            row_order < cut_order || (row_order == cut_order && within.is_some_and(|cut| *index < cut))
        })
        .map(|(_, row)| row)
        .collect()
}
