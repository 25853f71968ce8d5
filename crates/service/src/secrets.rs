//! Every configured credential, for the redactor: none is skipped because it is short. One that is too short
//! to search for is rejected by name, since nothing could keep it out of the database.

use crate::config::Config;
use anyhow::{Context as _, Result};
use papertape_llm::{ApiKey, Gateway, find_key};
use papertape_market::download::SourceName;
use papertape_redact::{MIN_SECRET_CHARS, Redactor};
use papertape_store::database_password;
use secrecy::ExposeSecret as _;
use serde_json::json;

/// Reads environment variables.
type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A redactor for every configured credential: keys of providers, of data sources and of the web search, tool
/// servers' variables, external agents' variables and keys, OTLP headers, the database's password. (For access tokens
/// the configuration holds only hashes, and redaction recognizes their form.)
///
/// # Errors
/// A credential that is shorter than redaction can search for, by name.
pub fn redactor(config: &Config, gateway: &Gateway, env: Env<'_>) -> Result<Redactor> {
    let mut secrets: Vec<(String, String)> = gateway
        .secrets()
        .into_iter()
        .map(|(name, secret)| (name, secret.expose_secret().to_owned()))
        .collect();
    let variables = config.tools.values().flat_map(|server| &server.env);
    secrets.extend(variables.filter_map(|name| {
        let value = env(name)?;
        is_secret(name, &value).then(|| (name.clone(), value))
    }));
    for agent in config.external_agents.values() {
        secrets
            .extend(agent.secrets(env).into_iter().filter(|(name, value)| is_secret_of_agent(name, value)));
        secrets.extend(agent.key_env.as_deref().and_then(|variable| key(variable, env)));
    }
    let sources = SourceName::ALL.into_iter().filter_map(|source| config.download.api_key_env(source));
    let search = config.web_search.service.and(config.web_search.key_variable());
    secrets.extend(sources.chain(search).filter_map(|variable| key(variable, env)));
    secrets.extend(config.otlp.secrets(env));
    let password = config.database_url.as_deref().and_then(database_password);
    secrets.extend(password.map(|password| ("database_url".to_owned(), password)));
    Redactor::new(secrets).context("a configured secret cannot be redacted")
}

/// A key, if it is set.
fn key(variable: &str, env: Env<'_>) -> Option<(String, String)> {
    match find_key(variable, Some(variable), env) {
        ApiKey::Found { variable, value } => Some((variable, value.expose_secret().to_owned())),
        ApiKey::NotNeeded | ApiKey::Missing(_) => None,
    }
}

/// Whether an external agent's variable is a secret. Its value may be a setting in plain sight, such as a model's
/// name, so either its name or its form decides.
fn is_secret_of_agent(name: &str, value: &str) -> bool {
    Redactor::default().redact_value(json!({ name: value })).removed > 0
}

/// Whether a tool server's variable is a secret. For a short one, only its name decides: a port or a flag is
/// passed on and not redacted.
fn is_secret(name: &str, value: &str) -> bool {
    let is_long = value.trim().chars().count() >= MIN_SECRET_CHARS;
    is_long || Redactor::default().redact_value(json!({ name: value })).removed > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ToolServer;

    /// The redactor for a configuration and an environment; the error as displayed.
    fn known(change: impl FnOnce(&mut Config), env: &[(&str, &str)]) -> Result<Redactor, String> {
        let mut config = Config::default();
        change(&mut config);
        let find =
            |name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let gateway = Gateway::new(&config.models, &papertape_house::HouseModels, &find).expect("is built");
        redactor(&config, &gateway, &find).map_err(|error| format!("{error:#}"))
    }

    /// Goal: a credential of any kind that is too short is rejected at startup, by name, and not repeated.
    #[test]
    fn a_short_secret_is_rejected_whatever_it_is_for() {
        let nothing = |_: &mut Config| {};
        let spans = |config: &mut Config| {
            config.otlp.headers.insert("Authorization".to_owned(), "SPANS_AUTH".to_owned());
        };
        let search = |config: &mut Config| {
            config.web_search.service = Some(crate::config::SearchService::Brave);
            config.web_search.api_key_env = Some("WEB_KEY".to_owned());
        };
        let tool = |config: &mut Config| {
            let env = vec!["TOOL_API_KEY".to_owned(), "TOOL_PORT".to_owned()];
            config.tools.insert("tool".to_owned(), ToolServer { env, ..ToolServer::default() });
        };
        let database =
            |url: &'static str| move |config: &mut Config| config.database_url = Some(url.to_owned());
        let sources = Config::default();
        let source = sources.download.api_key_env(SourceName::AlphaVantage).expect("has a key").to_owned();
        let short = [
            ("a source's key", known(nothing, &[(&source, "zq7")]), source.to_lowercase()),
            ("the search's key", known(search, &[("WEB_KEY", "zq7")]), "web_key".to_owned()),
            ("a header", known(spans, &[("SPANS_AUTH", "zq7")]), "spans_auth".to_owned()),
            ("behind a scheme", known(spans, &[("SPANS_AUTH", "Bearer zq7")]), "spans_auth".to_owned()),
            ("a tool's key", known(tool, &[("TOOL_API_KEY", "zq7")]), "tool_api_key".to_owned()),
            ("a password", known(database("postgres://me:zq7@localhost/x"), &[]), "database_url".to_owned()),
            (
                "in words",
                known(database("host=localhost user=me password=zq7"), &[]),
                "database_url".to_owned(),
            ),
        ];
        for (what, result, name) in short {
            let error = result.err().unwrap_or_else(|| panic!("{what} is accepted"));
            assert!(
                error.contains("is shorter than 8") && error.to_lowercase().contains(&name),
                "{what}: {error}"
            );
            assert!(!error.contains("zq7"), "{what}: {error}");
        }
        assert!(known(tool, &[("TOOL_PORT", "8080")]).is_ok(), "a port is no secret");
    }

    /// Goal: a password is redacted both as it is and in the form it has in its URL.
    #[test]
    fn a_password_is_known_in_its_forms() {
        let url = "postgres://me:zq7%40zq7%2Fzq7x@localhost/x";
        let redactor = known(|config| config.database_url = Some(url.to_owned()), &[]).expect("is long");
        for text in ["said zq7@zq7/zq7x aloud", "said zq7%40zq7%2Fzq7x aloud"] {
            assert_eq!(redactor.redact_text(text).removed, 1, "{text}");
        }
    }
}
