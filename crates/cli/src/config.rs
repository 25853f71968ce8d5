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
                let description = without_links(&key.description);
                table.add_row([key.key, key.default, description]);
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

/// The text of the documentation without the targets of its links.
fn without_links(mut text: &str) -> String {
    let mut plain = String::new();
    while let Some((before, link)) = text.split_once('[')
        && let Some((label, target)) = link.split_once("](")
        && let Some((_, after)) = target.split_once(')')
    {
        plain.push_str(before);
        plain.push_str(label);
        text = after;
    }
    plain + text
}

#[cfg(test)]
mod tests {
    use super::without_links;

    /// Goal: a link is its label, and other brackets stay.
    #[test]
    fn links_are_their_labels() {
        assert_eq!(
            without_links("Requires [tokens](#access), see [a.md](a.md)."),
            "Requires tokens, see a.md."
        );
        assert_eq!(without_links("A table `[markets.x]`."), "A table `[markets.x]`.");
    }
}
