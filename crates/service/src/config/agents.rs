//! Checks of configured agents.

use super::renamed;
use anyhow::{Result, anyhow, bail};
use papertape_agents::config::AgentConfig;
use papertape_core::message::Sampling;
use std::collections::BTreeSet;

/// # Errors
/// A duplicate name, or a value that is out of range.
pub(super) fn check(agents: &[AgentConfig]) -> Result<()> {
    let mut names = BTreeSet::new();
    for agent in agents {
        if !names.insert(&agent.name) {
            bail!("agents: duplicate name `{}`", agent.name);
        }
        let checks = [agent.validate(), check_limits(agent), check_sampling(&agent.sampling)];
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

fn check_sampling(sampling: &Sampling) -> Result<(), String> {
    check_temperature(sampling.temperature).map_err(|reason| format!("sampling.temperature: {reason}"))?;
    if let Some(top_p) = sampling.top_p.filter(|top_p| !(0.0..=1.0).contains(top_p)) {
        return Err(format!("sampling.top_p: {top_p} is out of range; expected 0 to 1"));
    }
    match sampling.max_tokens {
        Some(0) => Err("sampling.max_tokens must be above 0".to_owned()),
        _ => Ok(()),
    }
}

pub(super) fn check_temperature(temperature: Option<f64>) -> Result<(), String> {
    match temperature.filter(|temperature| !(0.0..=2.0).contains(temperature)) {
        Some(temperature) => Err(format!("{temperature} is out of range; expected 0 to 2")),
        None => Ok(()),
    }
}
