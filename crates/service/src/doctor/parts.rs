//! Checks of what a simulation needs: data, models, prompts, tools.

use crate::config::{Config, ExternalAgent, prompt_overrides, split_overrides};
use crate::format::counted;
use crate::integrations::ConnectTools;
use papertape_agents::prompt::{PromptError, PromptSet};
use papertape_assistant::prompt::Prompts as AssistantPrompts;
use papertape_core::external::ExternalAgents;
use papertape_market::Catalogue;
use papertape_protocol::doctor::Finding;
use std::collections::BTreeMap;
use std::time::Duration;

/// The timeout for a tool server to list its tools.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Checks the dataset that simulations use by default.
pub(super) fn dataset(config: &Config) -> Finding {
    match Catalogue::at(config.datasets_dir()).open(&config.simulation.dataset) {
        Ok(dataset) => {
            let symbols = counted(dataset.all_symbols().count() as u64, "symbol");
            let days = counted(dataset.days().len() as u64, "day");
            Finding::ok("dataset", format!("{}: {symbols}, {days}", dataset.name()))
        }
        Err(error) => Finding::broken("dataset", error.to_string()),
    }
}

/// Checks the imported datasets: every file is read and compared with its checksum.
pub(super) fn imported_datasets(config: &Config) -> Vec<Finding> {
    let catalogue = Catalogue::at(config.datasets_dir());
    let entries = match catalogue.list() {
        Ok(entries) => entries,
        Err(error) => return vec![Finding::broken("dataset", error.to_string())],
    };
    let imported = entries.iter().filter(|entry| entry.bytes > 0);
    let damaged = imported.clone().filter_map(|entry| {
        let error = catalogue.open(&entry.hash.to_hex()).err()?;
        Some(Finding::broken("dataset", format!("{}: {error}", entry.name)))
    });
    let mut findings: Vec<Finding> = damaged.collect();
    let count = imported.count();
    if findings.is_empty() && count > 0 {
        findings.push(Finding::ok("dataset", format!("{count} imported, all checksums match")));
    }
    findings
}

/// Checks the prompts.
pub(super) fn prompts(config: &Config) -> Finding {
    let set = match &config.prompts.dir {
        None => Ok((PromptSet::built_in(), "built-in".to_owned())),
        Some(dir) => prompt_overrides(dir).and_then(|overrides| {
            let text = format!("{} replaced by files in {}", overrides.len(), dir.display());
            let (overrides, of_assistant) = split_overrides(overrides);
            let with_dir = |error: PromptError| anyhow::anyhow!("in {}: {error}", dir.display());
            AssistantPrompts::with_overrides(&of_assistant).map_err(with_dir)?;
            Ok((PromptSet::with_overrides(overrides).map_err(with_dir)?, text))
        }),
    };
    match set {
        Ok((set, text)) => Finding::ok("prompts", format!("{text}, set {}", &set.hash().to_hex()[..12])),
        Err(error) => Finding::broken("prompts", format!("{error:#}")),
    }
}

/// Checks the tool servers, one by one, by listing their tools.
pub(super) async fn tools(config: &Config, connect: ConnectTools) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, server) in &config.tools {
        let tools = connect(BTreeMap::from([(name.clone(), server.clone())]));
        findings.push(match tokio::time::timeout(TIMEOUT, tools.list()).await {
            Ok(Ok(listed)) if server.allow_unbounded => {
                Finding::ok("tools", format!("{name} offers {} tools", listed.len()))
            }
            Ok(Ok(listed)) => {
                let text = format!(
                    "{name} offers {} tools, but simulations may use it only with allow_unbounded = true",
                    listed.len()
                );
                Finding::note("tools", text)
            }
            Ok(Err(error)) => Finding::broken("tools", format!("{name}: {error}")),
            Err(_) => {
                Finding::broken("tools", format!("{name} did not respond within {} s", TIMEOUT.as_secs()))
            }
        });
    }
    findings
}

/// Checks whether the external agents can be started here. None is started, and no URL is called.
pub(super) fn external_agents(config: &Config, agents: &dyn ExternalAgents) -> Vec<Finding> {
    let check = |(name, agent): (&String, &ExternalAgent)| match (agents.facts(name), &agent.url) {
        (Err(error), _) => Finding::broken("external agent", error),
        (Ok(_), Some(_)) => {
            Finding::ok("external agent", format!("{name}: the URL is called on the first day"))
        }
        (Ok(facts), None) => {
            let sandbox = if facts.sandbox { " in a sandbox" } else { "" };
            Finding::ok(
                "external agent",
                format!("{name}: `{}` can be started{sandbox}", agent.command.join(" ")),
            )
        }
    };
    config.external_agents.iter().map(check).collect()
}
