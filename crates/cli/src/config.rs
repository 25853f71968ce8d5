//! `papertape config`

use super::output::{json, say, table, text_of};
use super::{Common, Outcome};
use clap::{Args, Subcommand};
use papertape_service::config::{Config, file_in_use, keys};
use serde_json::json;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Print the effective configuration as TOML
    Show,
    /// List all keys with their defaults
    Keys,
    /// Print the path of the config file
    Path,
}

pub(super) fn config(common: &Common, config: &Config, args: &ConfigArgs) -> Outcome {
    match args.command {
        ConfigCommand::Show if common.json => json(&config.to_json()?)?,
        ConfigCommand::Show => say(config.to_toml()?.trim_end())?,
        ConfigCommand::Keys if common.json => json(&keys::all())?,
        ConfigCommand::Keys => {
            let mut table = table(["key", "~default", "~description"]);
            for key in keys::all() {
                table.add_row([key.key, key.default, key.description]);
            }
            say(text_of(&table))?;
        }
        ConfigCommand::Path => {
            let path = file_in_use(common.config.as_deref());
            match (common.json, path) {
                (true, path) => json(&json!({ "path": path }))?,
                (false, Some(path)) => say(path.display())?,
                (false, None) => super::output::note!("no config file: no papertape.toml in this directory"),
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
