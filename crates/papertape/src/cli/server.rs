//! The API of the server that owns the record, for the few commands that write.

use super::failure::{no_job, usage};
use super::way;
use crate::address::Address;
use crate::config::Config;
use anyhow::{Context as _, Result, anyhow, bail};
use papertape_core::id::JobId;
use reqwest::{StatusCode, Url};
use serde_json::Value;
use std::time::Duration;

/// How long an answer may take: a job is only queued, not done.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The server.
pub(super) struct Server {
    address: Address,
    client: reqwest::Client,
    /// What the command was given, to read beside the server.
    pub(super) config: Config,
}

impl Server {
    pub(super) fn new(address: Address, config: Config) -> Result<Self> {
        // The client wants to know a cryptography even where it is never to use one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .tls_certs_only([])
            .build()
            .context("the HTTP client cannot be built")?;
        Ok(Self { address, client, config })
    }

    /// Where it is.
    pub(super) fn url(&self) -> &str {
        &self.address.url
    }

    /// The job that is named, where `latest` is the newest one.
    pub(super) async fn job_named(&self, job: &str) -> Result<JobId> {
        way::job_named(&way::to_read(self.config.clone()).await?, job).await
    }

    /// Sends a request; `path` is given segment by segment.
    pub(super) async fn post(&self, path: &[&str], body: &Value) -> Result<Value> {
        self.post_in(path, body, None).await
    }

    /// The same, for a reader of this language.
    pub(super) async fn post_in(
        &self,
        path: &[&str],
        body: &Value,
        language: Option<&str>,
    ) -> Result<Value> {
        let mut url: Url = self.address.url.parse().context("the server's address cannot be read")?;
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.extend(path);
        }
        let unreachable = || format!("the server at {} does not answer", self.address.url);
        let mut request = self.client.post(url).json(body);
        if let Some(language) = language {
            request = request.header(reqwest::header::ACCEPT_LANGUAGE, language);
        }
        let response = request.send().await;
        let response = response.map_err(reqwest::Error::without_url).with_context(unreachable)?;
        let status = response.status();
        let answer: Value =
            response.json().await.map_err(reqwest::Error::without_url).with_context(unreachable)?;
        if status.is_success() {
            return Ok(answer);
        }
        let message = answer["message"].as_str().unwrap_or("it gives no reason").to_owned();
        match (status, path) {
            (StatusCode::NOT_FOUND, ["chat", ..]) => Err(super::failure::not_found(message)),
            (StatusCode::NOT_FOUND, [_, job, ..]) => Err(no_job(job)),
            (StatusCode::BAD_REQUEST, _) => Err(usage(message)),
            (StatusCode::CONFLICT, _) => Err(anyhow!(message)),
            _ => bail!("the server at {} refused with {status}: {message}", self.address.url),
        }
    }
}
