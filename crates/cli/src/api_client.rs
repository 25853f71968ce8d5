//! A client of the server that owns the database, for commands that write.

use super::failure::{no_job, not_found, usage};
use anyhow::{Context as _, Result, anyhow, bail};
use papertape_protocol::error::ErrorBody;
use papertape_service::address::Address;
use papertape_service::config::Config;
use reqwest::{RequestBuilder, Response, StatusCode, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// The timeout of a request. The server only queues jobs, so responses are quick.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(super) struct ApiClient {
    address: Address,
    client: reqwest::Client,
    /// The command's config, for reading the database directly.
    pub(super) config: Config,
}

impl ApiClient {
    pub(super) fn new(address: Address, config: Config) -> Result<Self> {
        // The client requires a crypto provider even for plain HTTP.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .tls_certs_only([])
            .build()
            .context("cannot create the HTTP client")?;
        Ok(Self { address, client, config })
    }

    pub(super) fn url(&self) -> &str {
        &self.address.url
    }

    /// The server's telemetry, in Prometheus' text format.
    pub(super) async fn metrics(&self) -> Result<String> {
        let unreachable = || self.unreachable();
        let response =
            self.authenticated(self.client.get(format!("{}/metrics", self.address.url))).send().await;
        let response = response.map_err(reqwest::Error::without_url).with_context(unreachable)?;
        let status = response.status();
        if !status.is_success() {
            bail!("the server at {} returned {status}", self.address.url);
        }
        response.text().await.map_err(reqwest::Error::without_url).with_context(unreachable)
    }

    fn unreachable(&self) -> String {
        format!("the server at {} does not respond", self.address.url)
    }

    /// Adds the key for this user's commands, if the server requires one.
    fn authenticated(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        match self.address.key() {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// `path` holds the URL's unescaped segments, here and below.
    pub(super) async fn post<T: DeserializeOwned>(&self, path: &[&str], body: &impl Serialize) -> Result<T> {
        self.send(self.client.post(self.url_of(path)?).json(body), path).await
    }

    /// As [`Self::post`], with `Accept-Language`.
    pub(super) async fn post_in<T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &impl Serialize,
        language: &str,
    ) -> Result<T> {
        let request = self.client.post(self.url_of(path)?).json(body);
        self.send(request.header(reqwest::header::ACCEPT_LANGUAGE, language), path).await
    }

    pub(super) async fn patch<T: DeserializeOwned>(&self, path: &[&str], body: &impl Serialize) -> Result<T> {
        self.send(self.client.patch(self.url_of(path)?).json(body), path).await
    }

    pub(super) async fn delete(&self, path: &[&str]) -> Result<()> {
        self.sent(self.client.delete(self.url_of(path)?), path).await.map(drop)
    }

    /// As [`Self::delete`], with a query; returns the response.
    pub(super) async fn delete_with<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<T> {
        let mut url = self.url_of(path)?;
        url.query_pairs_mut().extend_pairs(query);
        self.send(self.client.delete(url), path).await
    }

    fn url_of(&self, path: &[&str]) -> Result<Url> {
        let mut url: Url = self.address.url.parse().context("the server's URL is invalid")?;
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.extend(path);
        }
        Ok(url)
    }

    async fn send<T: DeserializeOwned>(&self, request: RequestBuilder, path: &[&str]) -> Result<T> {
        self.sent(request, path)
            .await?
            .json()
            .await
            .map_err(reqwest::Error::without_url)
            .with_context(|| format!("cannot read the response of the server at {}", self.address.url))
    }

    async fn sent(&self, request: RequestBuilder, path: &[&str]) -> Result<Response> {
        let unreachable = || self.unreachable();
        let response = self.authenticated(request).send().await;
        let response = response.map_err(reqwest::Error::without_url).with_context(unreachable)?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let error: Option<ErrorBody> = response.json().await.ok();
        let message = error.map_or_else(|| "no reason given".to_owned(), |error| error.message);
        match (status, path) {
            (StatusCode::NOT_FOUND, ["chat" | "plans" | "experiments" | "sessions", ..]) => {
                Err(not_found(message))
            }
            (StatusCode::NOT_FOUND, [_, job, ..]) => Err(no_job(job)),
            (StatusCode::BAD_REQUEST, _) => Err(usage(message)),
            (StatusCode::CONFLICT, _) => Err(anyhow!(message)),
            _ => bail!("the server at {} returned {status}: {message}", self.address.url),
        }
    }
}
