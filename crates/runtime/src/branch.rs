//! Where a branch leaves its parent's tape.

use crate::config::Branch;
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

/// The agent as it is on a day: the job's own before the branch's cut, the branch's from the cut on. A
/// cut within or after the conversation leaves that day's conversation to the job's own.
#[must_use]
pub(crate) fn agent_on<'a>(branch: Option<&'a Branch>, own: &'a AgentConfig, date: Date) -> &'a AgentConfig {
    let Some(branch) = branch else { return own };
    let place = |node: &str| NODES.iter().position(|known| *known == node);
    let before_talk = place(&branch.at).is_some_and(|cut| Some(cut) <= place("solo#1"));
    let changed = branch.date < date || (branch.date == date && before_talk);
    branch.agent.as_ref().filter(|_| changed).unwrap_or(own)
}

/// The rows that come before the cut, of rows in their recorded order.
#[must_use]
pub(crate) fn before_cut(rows: Vec<TapeRow>, at: &str) -> Vec<TapeRow> {
    let cut_node = at.split('/').next().unwrap_or_default();
    let order = |node: &str| NODES.iter().position(|known| *known == node).unwrap_or(usize::MAX);
    let cut_order = order(cut_node);
    // Within the node of the cut the recorded order decides; at a node, nothing of it is kept.
    let within = rows.iter().position(|row| row.path.as_str() == at).filter(|_| at != cut_node);
    rows.into_iter()
        .enumerate()
        .filter(|(index, row)| {
            let row_order = order(row.path.node());
            row_order < cut_order || (row_order == cut_order && within.is_some_and(|cut| *index < cut))
        })
        .map(|(_, row)| row)
        .collect()
}
