//! Checks the installation: the same checks for the command line and the server's pages.
//!
//! Nothing is created or changed. Keys are looked up, sent to their providers to list the models, and never shown.

mod data;
mod models;
mod parts;
mod report;

pub use report::report;

use crate::config::Config;
use crate::integrations::ConnectTools;
use papertape_core::external::ExternalAgents;
use papertape_protocol::doctor::Finding;

/// Runs every check that a simulation needs. `by_server`: the server itself runs them, and so already has its
/// address.
pub async fn check(
    config: &Config,
    by_server: bool,
    connect: ConnectTools,
    agents: &dyn ExternalAgents,
) -> Vec<Finding> {
    let mut findings = vec![match &config.file {
        Some(file) => Finding::ok("config", format!("read from {}", file.display())),
        None => Finding::ok("config", "no config file; using the defaults and the environment"),
    }];
    findings.extend(data::directory(config));
    findings.extend(data::database(config).await);
    findings.push(data::listening(config, by_server));
    findings.push(parts::dataset(config));
    findings.extend(parts::imported_datasets(config));
    findings.extend(models::models(config).await);
    findings.push(parts::prompts(config));
    findings.extend(parts::tools(config, connect).await);
    findings.extend(parts::external_agents(config, agents));
    findings
}
