//! The API of the server that owns the record, for the few commands that write.

use super::failure::{no_job, not_found, usage};
use super::{Common, record_access};
use anyhow::{Context as _, Result, anyhow, bail};
use papertape_core::id::JobId;
use papertape_protocol::error::ErrorBody;
use papertape_service::address::Address;
use papertape_service::app::App;
use papertape_service::config::Config;
use reqwest::{RequestBuilder, Response, StatusCode, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// How long an answer may take: a job is only queued, not done.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The server.
pub(super) struct ApiClient {
    address: Address,
    client: reqwest::Client,
    common: Common,
    config: Config,
}

impl ApiClient {
    pub(super) fn new(common: &Common, address: Address, config: Config) -> Result<Self> {
        // The client wants to know a cryptography even where it is never to use one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .tls_certs_only([])
            .build()
            .context("the HTTP client cannot be built")?;
        Ok(Self { address, client, common: common.clone(), config })
    }

    /// Where it is.
    pub(super) fn url(&self) -> &str {
        &self.address.url
    }

    /// The job that is named, where `latest` is the newest one.
    pub(super) async fn job_named(&self, job: &str) -> Result<JobId> {
        record_access::job_named(&self.read_database().await?, job).await
    }

    /// Opens the server's database for reading, alongside the server.
    pub(super) async fn read_database(&self) -> Result<App> {
        record_access::to_read(&self.common, self.config.clone()).await
    }

    /// What the server counts, in Prometheus' text format.
    pub(super) async fn metrics(&self) -> Result<String> {
        let unreachable = || format!("the server at {} does not answer", self.address.url);
        let response = self.known(self.client.get(format!("{}/metrics", self.address.url))).send().await;
        let response = response.map_err(reqwest::Error::without_url).with_context(unreachable)?;
        let status = response.status();
        if !status.is_success() {
            bail!("the server at {} refused with {status}", self.address.url);
        }
        response.text().await.map_err(reqwest::Error::without_url).with_context(unreachable)
    }

    /// The request with the key that lets this user's commands in, where one is needed.
    fn known(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        match self.address.key() {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// Sends a request; `path` is given segment by segment.
    pub(super) async fn post<T: DeserializeOwned>(&self, path: &[&str], body: &impl Serialize) -> Result<T> {
        self.send(self.client.post(self.address_of(path)?).json(body), path).await
    }

    /// The same, for a reader of this language.
    pub(super) async fn post_in<T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &impl Serialize,
        language: &str,
    ) -> Result<T> {
        let request = self.client.post(self.address_of(path)?).json(body);
        self.send(request.header(reqwest::header::ACCEPT_LANGUAGE, language), path).await
    }

    /// Deletes something; `path` is given segment by segment.
    pub(super) async fn delete(&self, path: &[&str]) -> Result<()> {
        self.sent(self.client.delete(self.address_of(path)?), path).await.map(drop)
    }

    /// The same, with a query; gives what is answered.
    pub(super) async fn delete_with<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<T> {
        let mut url = self.address_of(path)?;
        url.query_pairs_mut().extend_pairs(query);
        self.send(self.client.delete(url), path).await
    }

    fn address_of(&self, path: &[&str]) -> Result<Url> {
        let mut url: Url = self.address.url.parse().context("the server's address cannot be read")?;
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.extend(path);
        }
        Ok(url)
    }

    /// Sends a request, and reads what is answered.
    async fn send<T: DeserializeOwned>(&self, request: RequestBuilder, path: &[&str]) -> Result<T> {
        self.sent(request, path)
            .await?
            .json()
            .await
            .map_err(reqwest::Error::without_url)
            .with_context(|| format!("the answer of the server at {} cannot be read", self.address.url))
    }

    /// Sends a request; an error is its message.
    async fn sent(&self, request: RequestBuilder, path: &[&str]) -> Result<Response> {
        let unreachable = || format!("the server at {} does not answer", self.address.url);
        let response = self.known(request).send().await;
        let response = response.map_err(reqwest::Error::without_url).with_context(unreachable)?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let error: Option<ErrorBody> = response.json().await.ok();
        let message = error.map_or_else(|| "it gives no reason".to_owned(), |error| error.message);
        match (status, path) {
            (StatusCode::NOT_FOUND, ["chat" | "plans", ..]) => Err(not_found(message)),
            (StatusCode::NOT_FOUND, [_, job, ..]) => Err(no_job(job)),
            (StatusCode::BAD_REQUEST, _) => Err(usage(message)),
            (StatusCode::CONFLICT, _) => Err(anyhow!(message)),
            _ => bail!("the server at {} refused with {status}: {message}", self.address.url),
        }
    }
}
