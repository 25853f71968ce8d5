//! The export of finished sessions as spans.

use super::in_range;
use anyhow::{Context as _, Result, anyhow, bail};
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The end of a span receiver's path.
const TRACES: &str = "v1/traces";

/// The export of finished sessions as spans, over OTLP/HTTP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OtlpConfig {
    /// The receiver's address, up to and without `v1/traces`; absent: nothing is sent.
    pub endpoint: Option<String>,
    /// By header: the variable that holds its value.
    pub headers: BTreeMap<String, String>,
    /// Seconds between exports of finished sessions.
    pub export_interval_secs: u64,
}

impl Default for OtlpConfig {
    fn default() -> Self {
        Self { endpoint: None, headers: BTreeMap::new(), export_interval_secs: 5 }
    }
}

impl OtlpConfig {
    /// # Errors
    /// An invalid address or header name.
    pub(super) fn check(&self) -> Result<()> {
        self.url()?;
        if let Some(name) = self.headers.keys().find(|name| HeaderName::try_from(name.as_str()).is_err()) {
            bail!("otlp.headers: `{name}` is not a valid header name");
        }
        in_range("otlp", &[("export_interval_secs", self.export_interval_secs)])
    }

    /// Where spans are sent; `None` if they are not.
    ///
    /// # Errors
    /// An invalid address.
    pub fn url(&self) -> Result<Option<Url>> {
        let Some(endpoint) = &self.endpoint else { return Ok(None) };
        let mut url = Url::parse(endpoint).ok().filter(|url| ["http", "https"].contains(&url.scheme()));
        if let Some(url) = url.as_mut().filter(|url| !url.path().trim_end_matches('/').ends_with(TRACES)) {
            let path = format!("{}/{TRACES}", url.path().trim_end_matches('/'));
            url.set_path(&path);
        }
        // The value is not repeated: an address may contain a key.
        url.map(Some).ok_or_else(|| anyhow!("otlp.endpoint: invalid URL; expected the form https://host/"))
    }

    /// The headers sent with spans.
    ///
    /// # Errors
    /// A variable that is not set, or whose value is not a valid header value.
    pub fn header_map(&self, env: &dyn Fn(&str) -> Option<String>) -> Result<HeaderMap> {
        let mut map = HeaderMap::new();
        for (name, variable) in &self.headers {
            let value = read(variable, env).with_context(|| {
                format!(
                    "otlp.headers.{name}: missing value; set the environment variable {variable}, or set \
                     {variable}_FILE to a file with the value"
                )
            })?;
            let mut value = HeaderValue::from_str(&value).map_err(|_| {
                anyhow!("otlp.headers.{name}: the value of {variable} is not a valid header value")
            })?;
            value.set_sensitive(true);
            map.insert(HeaderName::try_from(name.as_str())?, value);
        }
        Ok(map)
    }

    /// What must stay out of the database and the log: the headers' values, and the part after the scheme in
    /// each of them.
    #[must_use]
    pub fn secrets(&self, env: &dyn Fn(&str) -> Option<String>) -> Vec<(String, String)> {
        let mut secrets = Vec::new();
        for variable in self.headers.values() {
            let Some(value) = read(variable, env) else { continue };
            let last = value.rsplit(' ').next().unwrap_or_default().to_owned();
            secrets.extend([value, last].into_iter().map(|value| (variable.clone(), value)));
        }
        secrets.dedup();
        secrets
    }
}

/// The value of a variable, or the content of the file that `VARIABLE_FILE` names.
fn read(variable: &str, env: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let by_file = || std::fs::read_to_string(env(&format!("{variable}_FILE"))?.trim()).ok();
    let clean = |value: String| Some(value.trim().to_owned()).filter(|value| !value.is_empty());
    env(variable).and_then(clean).or_else(|| by_file().and_then(clean))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(endpoint: &str) -> OtlpConfig {
        OtlpConfig { endpoint: Some(endpoint.to_owned()), ..OtlpConfig::default() }
    }

    #[test]
    fn the_receivers_address_is_completed() {
        let url = |endpoint: &str| at(endpoint).url().ok().flatten().map(String::from);
        assert_eq!(url("http://localhost:4318").as_deref(), Some("http://localhost:4318/v1/traces"));
        assert_eq!(url("https://x.example/otlp/").as_deref(), Some("https://x.example/otlp/v1/traces"));
        assert_eq!(url("https://x.example/v1/traces").as_deref(), Some("https://x.example/v1/traces"));
        for wrong in ["", "localhost:4318", "ftp://x.example", "not a url"] {
            assert!(at(wrong).check().is_err(), "{wrong}");
        }
    }

    /// A header's value comes from a variable or a file, and is redacted as a secret, apart from its scheme.
    #[test]
    fn headers_come_from_the_environment() {
        let mut config = at("http://localhost:4318");
        config.headers.insert("Authorization".to_owned(), "SPANS_AUTH".to_owned());
        let set = |name: &str| (name == "SPANS_AUTH").then(|| "Bearer 0123456789abcdef\n".to_owned());
        let headers = config.header_map(&set).expect("is set");
        assert_eq!(headers["authorization"], "Bearer 0123456789abcdef");
        let secrets: Vec<String> = config.secrets(&set).into_iter().map(|(_, secret)| secret).collect();
        assert_eq!(secrets, ["Bearer 0123456789abcdef", "0123456789abcdef"]);
        let error = config.header_map(&|_| None).expect_err("is not set");
        assert!(error.to_string().contains("SPANS_AUTH"), "{error}");
    }
}
