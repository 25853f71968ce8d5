//! What `GET /metrics` says: of the server that has the record, else of the record alone.

use crate::api_client::ApiClient;
use crate::metrics::{collect, render};
use anyhow::Result;
use papertape_service::address::Address;
use papertape_service::app::{Access, App, database_file};
use papertape_service::config::Config;
use papertape_store::Store;
use serde::Serialize;

/// One figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Figure {
    /// Its name, with its labels.
    pub(super) name: String,
    /// The figure.
    pub(super) value: String,
}

/// All figures; none where there is no record, or none that can be read, which is said elsewhere.
///
/// # Errors
/// A server that does not answer.
pub(super) async fn figures(config: &Config) -> Result<Vec<Figure>> {
    let text = match server(config)? {
        Some(server) => server.metrics().await?,
        None => of_record(config).await.unwrap_or_default(),
    };
    let figure = |line: &str| {
        let (name, value) = line.rsplit_once(' ')?;
        Some(Figure { name: name.to_owned(), value: value.to_owned() })
    };
    Ok(text.lines().filter(|line| !line.starts_with('#')).filter_map(figure).collect())
}

/// The server that owns the record, if one does.
fn server(config: &Config) -> Result<Option<ApiClient>> {
    if config.database_url.is_some() {
        return Ok(None);
    }
    let holder = Store::holder(&database_file(&config.data_dir, config.mode));
    let address = holder.and_then(|pid| Address::read(&config.data_dir, config.mode, pid));
    address.map(|address| ApiClient::new(address, config.clone())).transpose()
}

async fn of_record(config: &Config) -> Option<String> {
    if config.database_url.is_none() && !database_file(&config.data_dir, config.mode).exists() {
        return None;
    }
    let app = App::open(config.clone(), Access::Read).await.ok()?;
    Some(render(&collect(&app).await.ok()?))
}
