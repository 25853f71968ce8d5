//! `papertape config`

use super::output::{json, say, table, text_of};
use super::{Common, Outcome};
use clap::{Args, Subcommand};
use papertape_service::config::{Config, file_in_use, keys};
use serde_json::json;
use std::process::ExitCode;

/// What to show of the configuration.
#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print the configuration that holds, as TOML
    Show,
    /// List every key with its default and what it does
    Keys,
    /// Print which file is read
    Path,
}

/// Shows it.
pub(super) fn config(common: &Common, config: &Config, args: &ConfigArgs) -> Outcome {
    match args.what {
        What::Show if common.json => json(&config.masked()?)?,
        What::Show => say(config.to_toml()?.trim_end())?,
        What::Keys if common.json => json(&keys::all())?,
        What::Keys => {
            let mut table = table(["key", "~default", "~what it is"]);
            for key in keys::all() {
                table.add_row([key.key, key.default, key.what]);
            }
            say(text_of(&table))?;
        }
        What::Path => {
            let path = file_in_use(common.config.as_deref());
            match (common.json, path) {
                (true, path) => json(&json!({ "path": path }))?,
                (false, Some(path)) => say(path.display())?,
                (false, None) => super::output::note!("no file is read: there is no papertape.toml here"),
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
