//! `papertape backup` and `papertape restore`

use super::output::{bytes, count, json, note, say};
use super::{Common, Outcome, record_access};
use clap::Args;
use papertape_service::backup::{Manifest, back_up, restore as restore_from};
use papertape_service::config::{Config, Mode, without_password};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Where a backup is.
#[derive(Debug, Args)]
pub(super) struct BackupArgs {
    /// The backup's directory
    dir: PathBuf,
}

/// Makes a backup; for PostgreSQL prints the command that does.
pub(super) async fn backup(common: &Common, config: Config, args: BackupArgs) -> Outcome {
    if let Some(url) = &config.database_url {
        let (dir, schema) = (args.dir.display(), schema(config.mode));
        return print_commands(
            common,
            &config,
            url,
            &[
                format!(
                    "pg_dump --format=custom --schema={schema} --file={dir}/papertape.dump \"$DATABASE_URL\""
                ),
                format!("cp -R {} {dir}/datasets", config.datasets_dir().display()),
            ],
        );
    }
    let app = record_access::to_read(common, config).await?;
    let manifest = back_up(&app, &args.dir, app.services.clock.now()).await?;
    report(common, "backed up", &manifest, &args)
}

/// Restores a backup; for PostgreSQL prints the command that does.
pub(super) async fn restore(common: &Common, config: Config, args: BackupArgs) -> Outcome {
    if let Some(url) = &config.database_url {
        let dir = args.dir.display();
        return print_commands(
            common,
            &config,
            url,
            &[
                format!(
                    "pg_restore --exit-on-error --single-transaction --dbname=\"$DATABASE_URL\" {dir}/papertape.dump"
                ),
                format!("cp -R {dir}/datasets {}", config.datasets_dir().display()),
            ],
        );
    }
    let manifest = restore_from(&config, &args.dir)?;
    report(common, "restored", &manifest, &args)
}

fn report(common: &Common, verb: &str, manifest: &Manifest, args: &BackupArgs) -> Outcome {
    if common.json {
        json(&json!({ "dir": args.dir, "manifest": manifest }))?;
    }
    note!(
        "{verb}: {} files, {}, {} imported dataset(s), verified; {}",
        count(manifest.files.len() as u64),
        bytes(manifest.bytes()),
        count(manifest.datasets() as u64),
        args.dir.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// PostgreSQL has tools of its own, which a program should not imitate.
fn print_commands(common: &Common, config: &Config, url: &str, commands: &[String]) -> Outcome {
    if common.json {
        json(&json!({ "commands": commands }))?;
    } else {
        note!(
            "the record is on PostgreSQL at {}, mode {}: run these commands, with DATABASE_URL set to its URL",
            without_password(url),
            config.mode.as_str()
        );
        for command in commands {
            say(command)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

const fn schema(mode: Mode) -> &'static str {
    match mode {
        Mode::Prod => "papertape",
        Mode::Dev => "papertape_dev",
    }
}
