//! Checks the installation: the same checks for the command line and the server's pages.
//!
//! Nothing is created or changed. Keys are looked up, sent to their providers to list the models, and never shown.

mod data;
mod models;
mod parts;
mod report;

pub use report::report;

use crate::config::Config;
use papertape_protocol::doctor::Finding;

/// Runs every check that a simulation needs. `by_server`: the server itself runs them, and so already has its
/// address.
pub async fn check(config: &Config, by_server: bool) -> Vec<Finding> {
    let mut found = vec![match &config.file {
        Some(file) => Finding::ok("config", format!("read from {}", file.display())),
        None => Finding::ok("config", "the defaults and the environment; there is no papertape.toml here"),
    }];
    found.extend(data::directory(config));
    found.extend(data::database(config).await);
    found.push(data::listening(config, by_server));
    found.push(parts::dataset(config));
    found.extend(parts::imported_datasets(config));
    found.extend(models::models(config).await);
    found.push(parts::prompts(config));
    found.extend(parts::tools(config).await);
    found
}
