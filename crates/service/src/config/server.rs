//! The server's configuration.

use super::in_range;
use anyhow::{Result, bail};
use reqwest::Url;
use serde::{Deserialize, Serialize};

/// The server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    /// Whether to run jobs in the server's process as well.
    pub run_jobs: bool,
    /// The maximum size of a request body, in bytes.
    pub body_limit_bytes: usize,
    /// Host names that requests may use (the `Host` header), in addition to loopback's.
    pub allowed_hosts: Vec<String>,
    /// Origins of other sites whose pages may use the API (CORS).
    pub allowed_origins: Vec<String>,
    /// The URL at which external agents with a `url` reach this server; absent: its own address.
    pub public_url: Option<String>,
    /// The maximum number of open streams per client.
    pub max_streams_per_client: usize,
    /// The maximum number of concurrent connections; further ones wait.
    pub max_connections: usize,
    /// Seconds within which a request's head must arrive, and after which an idle connection is closed.
    pub header_timeout_secs: u64,
    /// Seconds within which a request's body must arrive.
    pub body_timeout_secs: u64,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            run_jobs: true,
            body_limit_bytes: 1_048_576,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            public_url: None,
            max_streams_per_client: 64,
            max_connections: 4_096,
            header_timeout_secs: 30,
            body_timeout_secs: 30,
        }
    }
}

impl ServerConfig {
    /// The host of [`Self::public_url`]. Requests that external agents send there name it.
    #[must_use]
    pub fn public_host(&self) -> Option<String> {
        Url::parse(self.public_url.as_ref()?).ok()?.host_str().map(str::to_owned)
    }

    /// # Errors
    /// An origin or a host that no request can have; a limit of 0.
    pub(super) fn check(&self) -> Result<()> {
        for origin in &self.allowed_origins {
            let own = Url::parse(origin).map(|url| url.origin().ascii_serialization());
            if own.as_deref() != Ok(origin) || origin == "null" {
                bail!(
                    "server.allowed_origins: invalid origin `{origin}`; expected the form `https://desk.example` or \
                     `http://localhost:5173`"
                );
            }
        }
        let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
        if let Some(host) =
            self.allowed_hosts.iter().find(|host| host.is_empty() || !host.chars().all(is_of_name))
        {
            bail!("server.allowed_hosts: invalid host name `{host}`; expected the form `desk.example`");
        }
        if let Some(url) = &self.public_url {
            let parsed = Url::parse(url).ok().filter(|url| ["http", "https"].contains(&url.scheme()));
            if !parsed.is_some_and(|url| url.has_host() && url.query().is_none() && url.fragment().is_none())
            {
                bail!("server.public_url: invalid URL; expected the form https://desk.example");
            }
        }
        in_range(
            "server",
            &[
                ("body_limit_bytes", self.body_limit_bytes as u64),
                ("max_streams_per_client", self.max_streams_per_client as u64),
                ("max_connections", self.max_connections as u64),
                ("header_timeout_secs", self.header_timeout_secs),
                ("body_timeout_secs", self.body_timeout_secs),
            ],
        )
    }
}
