//! The samples of `GET /metrics`: of the server that owns the database, else computed from the database.

use crate::Common;
use crate::api_client::ApiClient;
use anyhow::Result;
use papertape_service::address::Address;
use papertape_service::app::{Access, App, database_file};
use papertape_service::config::Config;
use papertape_store::Store;
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Sample {
    /// The metric's name with its labels.
    pub(super) name: String,
    pub(super) value: String,
}

/// All samples; none if the database is missing or unreadable, which a check reports.
///
/// # Errors
/// A server that does not respond.
pub(super) async fn samples(common: &Common, config: &Config) -> Result<Vec<Sample>> {
    let text = match server(config)? {
        Some(server) => server.metrics().await?,
        None => from_database(common, config).await.unwrap_or_default(),
    };
    let sample = |line: &str| {
        let (name, value) = line.rsplit_once(' ')?;
        Some(Sample { name: name.to_owned(), value: value.to_owned() })
    };
    Ok(text.lines().filter(|line| !line.starts_with('#')).filter_map(sample).collect())
}

/// The server that owns the database, if any.
fn server(config: &Config) -> Result<Option<ApiClient>> {
    if config.database_url.is_some() {
        return Ok(None);
    }
    let owner = Store::holder(&database_file(&config.data_dir, config.mode));
    let address = owner.and_then(|pid| Address::read(&config.data_dir, config.mode, pid));
    address.map(|address| ApiClient::new(address, config.clone())).transpose()
}

async fn from_database(common: &Common, config: &Config) -> Option<String> {
    if config.database_url.is_none() && !database_file(&config.data_dir, config.mode).exists() {
        return None;
    }
    let app = App::open(config.clone(), Access::Read, common.product.integrations()).await.ok()?;
    app.telemetry().await.ok()
}
