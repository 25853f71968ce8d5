//! Checks of configured agents.

use super::renamed;
use anyhow::{Result, anyhow, bail};
use papertape_agents::config::AgentConfig;
use std::collections::BTreeSet;

/// # Errors
/// A duplicate name, or a value that is out of range.
pub(super) fn check(agents: &[AgentConfig]) -> Result<()> {
    let mut names = BTreeSet::new();
    for agent in agents {
        if !names.insert(&agent.name) {
            bail!("agents: duplicate name `{}`", agent.name);
        }
        let checks = [agent.validate(), check_limits(agent)];
        checks
            .into_iter()
            .collect::<Result<(), String>>()
            .map_err(|reason| anyhow!("agents: `{}`: {}", agent.name, renamed::translate_message(&reason)))?;
    }
    Ok(())
}

/// Limits that a job may have, but no configuration: they let every call fail, or count as 1.
fn check_limits(agent: &AgentConfig) -> Result<(), String> {
    let limits = [
        ("max_attempts", u64::from(agent.limits.max_attempts)),
        ("session_timeout_secs", agent.limits.session_timeout_secs),
    ];
    match limits.iter().find(|(_, limit)| *limit == 0) {
        Some((key, _)) => Err(format!("limits.{key} must be above 0")),
        None => Ok(()),
    }
}
