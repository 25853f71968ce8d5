//! Where a branch diverges from its parent's tape.

use crate::config::{Branch, Change, SimulationConfig};
use papertape_agents::config::AgentConfig;
use papertape_agents::day_input::AgentOverride;
use papertape_agents::graph::Graph;
use papertape_core::record::TapeRow;
use papertape_core::time::Date;

/// A branch's changes to an agent on a day: none before the first cut that changes it; on a cut's own day, the
/// changes from the cut's node on; on later days, all of them.
#[must_use]
pub(crate) fn changes_on(branch: Option<&Branch>, graph: &Graph, date: Date) -> Vec<AgentOverride> {
    let Some(branch) = branch else { return Vec::new() };
    let earlier = branch.earlier.iter().map(|change| (change.date, &change.at, &change.agent));
    let newest = branch.agent.iter().map(|agent| (branch.date, &branch.at, agent));
    let holds = |(cut, at, agent): (Date, &String, &AgentConfig)| {
        let at = match cut.cmp(&date) {
            std::cmp::Ordering::Less => graph.start(),
            std::cmp::Ordering::Equal if !graph.is_step(at) => at,
            _ => return None,
        };
        Some(AgentOverride { at: at.to_owned(), agent: agent.clone() })
    };
    earlier.chain(newest).filter_map(holds).collect()
}

/// An agent of a job as of a cut, and the changes that led to it. Changes after the cut are not part of its past.
/// `graph`: of the agent's own day on this date.
#[must_use]
pub fn at_cut(
    config: &SimulationConfig,
    own: &AgentConfig,
    graph: &Graph,
    (date, at): (Date, &str),
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
    changes.retain(|change| {
        let past = || graph.is_same_node(&change.at, at) || !graph.is_at_or_after(&change.at, at);
        change.date < date || (change.date == date && past())
    });
    let holds = |change: &&Change| change.date < date || graph.is_at_or_after(at, &change.at);
    let agent = changes.iter().rev().find(holds).map_or(own, |change| &change.agent).clone();
    (agent, changes)
}

/// The rows before the cut; `rows` are in recorded order.
#[must_use]
pub(crate) fn before_cut(rows: Vec<TapeRow>, graph: &Graph, at: &str) -> Vec<TapeRow> {
    // Within the cut's node, the recorded order decides; if the cut is a node, nothing of it is reused.
    let within = rows.iter().position(|row| row.path.as_str() == at);
    rows.into_iter()
        .enumerate()
        .filter(|(index, row)| {
            let path = row.path.as_str();
            !graph.is_at_or_after(path, at)
                || (graph.is_same_node(path, at) && within.is_some_and(|cut| *index < cut))
        })
        .map(|(_, row)| row)
        .collect()
}
