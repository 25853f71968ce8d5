//! Checks whether the models can be called. Each provider that an agent uses, that is configured or that has
//! a key is asked for its list of models, which costs nothing.

use crate::config::Config;
use futures::future::join_all;
use papertape_core::message::{FailureKind, ModelName};
use papertape_core::ports::ModelClient as _;
use papertape_house::HouseModels;
use papertape_llm::{Gateway, ModelList, ProviderKind};
use papertape_protocol::doctor::Finding;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The timeout for a provider to list its models.
const DEADLINE: Duration = Duration::from_secs(5);

/// The result of listing a provider's models.
enum ListingResult {
    Listed(ModelList),
    /// The provider can be reached, but lists nothing.
    NoList(String),
    /// The provider rejects the key, cannot be reached or times out.
    Failed(String),
}

/// Checks every provider that could be called, and every configured agent's model.
pub(super) async fn models(config: &Config) -> Vec<Finding> {
    let gateway = match Gateway::new(&config.models, &HouseModels, &|name| std::env::var(name).ok()) {
        Ok(gateway) => gateway,
        Err(error) => return vec![Finding::broken("models", error.to_string())],
    };
    let mut found =
        vec![Finding::ok("models", "house::momentum, house::contrarian, house::buy_and_hold need no key")];
    let used: BTreeSet<&str> = config.agents.iter().map(|agent| agent.model.provider.as_str()).collect();
    let (mut ready, mut without, mut unusable) = (Vec::new(), Vec::new(), Vec::new());
    for provider in gateway.providers() {
        let is_configured = config.models.providers.contains_key(provider);
        let is_wanted = is_configured || used.contains(provider);
        let model = ModelName { provider: provider.to_owned(), model: "any".to_owned() };
        match gateway.check(&model) {
            Ok(()) if is_wanted || provider != ProviderKind::Ollama.as_str() => ready.push(provider),
            Ok(()) => {}
            Err(error) if is_configured => unusable.push(Finding::note("provider", error)),
            Err(_) => without.push(provider),
        }
    }
    let asked = join_all(ready.iter().map(|provider| list_models(&gateway, provider, DEADLINE))).await;
    let asked: BTreeMap<&str, ListingResult> = ready.into_iter().zip(asked).collect();
    for agent in &config.agents {
        let (name, model) = (&agent.name, &agent.model);
        found.push(match (gateway.check(model), asked.get(model.provider.as_str())) {
            (Err(error), _) => Finding::broken("agent", format!("{name}: {error}")),
            (Ok(()), Some(asked)) => of_agent(name.as_str(), model, asked),
            (Ok(()), None) => Finding::ok("agent", format!("{name}: {model} can be called")),
        });
    }
    found.extend(asked.iter().map(|(provider, asked)| of_provider(provider, asked)));
    found.append(&mut unusable);
    if !without.is_empty() {
        found.push(Finding::note("provider", format!("no key for {}", without.join(", "))));
    }
    found
}

async fn list_models(gateway: &Gateway, provider: &str, deadline: Duration) -> ListingResult {
    match tokio::time::timeout(deadline, gateway.list_models(provider)).await {
        Err(_) => ListingResult::Failed(format!("has not answered in {} s", deadline.as_secs())),
        Ok(Ok(list)) => ListingResult::Listed(list),
        Ok(Err(failed)) => match failed.failure.kind {
            // The address has no such list, or returns something else: the models remain unknown.
            FailureKind::BadRequest | FailureKind::BadAnswer | FailureKind::UnknownModel => {
                ListingResult::NoList(failed.failure.to_string())
            }
            _ => ListingResult::Failed(failed.failure.to_string()),
        },
    }
}

fn of_provider(provider: &str, asked: &ListingResult) -> Finding {
    match asked {
        ListingResult::Listed(list) => {
            let (least, count) = (if list.is_complete { "" } else { "at least " }, list.models.len());
            Finding::ok("provider", format!("{provider} can be called and lists {least}{count} models"))
        }
        ListingResult::NoList(why) => {
            Finding::note("provider", format!("{provider} answers, but lists no models: {why}"))
        }
        ListingResult::Failed(why) => {
            Finding::note("provider", format!("{provider} cannot be called: {why}"))
        }
    }
}

fn of_agent(name: &str, model: &ModelName, asked: &ListingResult) -> Finding {
    match asked {
        ListingResult::Listed(list) if list.models.contains(&model.model) => {
            Finding::ok("agent", format!("{name}: {model} can be called"))
        }
        // It may be an alias, or on a later page.
        ListingResult::Listed(_) => {
            let text = format!(
                "{name}: {} does not list {}; the first call will tell whether it knows the name",
                model.provider, model.model
            );
            Finding::note("agent", text)
        }
        ListingResult::NoList(why) => {
            let text = format!(
                "{name}: {} answers, but lists no models ({why}); the first call will tell whether it has {}",
                model.provider, model.model
            );
            Finding::note("agent", text)
        }
        ListingResult::Failed(why) => {
            Finding::broken("agent", format!("{name}: {model} cannot be called: {} {why}", model.provider))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use papertape_llm::{ModelsConfig, ProviderConfig};

    /// Goal: a provider that accepts connections but never responds does not block the check.
    #[tokio::test]
    async fn a_silent_provider_is_given_up() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let provider = ProviderConfig {
            kind: Some(ProviderKind::OpenaiCompatible),
            base_url: Some(format!("http://{address}/v1")),
            ..ProviderConfig::default()
        };
        let config =
            ModelsConfig { providers: [("silent".to_owned(), provider)].into(), ..ModelsConfig::default() };
        let gateway = Gateway::new(&config, &HouseModels, &|_| None).expect("is well");
        let asked = list_models(&gateway, "silent", Duration::ZERO).await;
        assert!(matches!(&asked, ListingResult::Failed(why) if why == "has not answered in 0 s"));
    }
}
