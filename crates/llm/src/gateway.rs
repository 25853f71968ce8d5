//! All models behind one port.

use crate::config::{ConfigError, ModelsConfig};
use crate::cutoffs::{Cutoff, Cutoffs};
use crate::http::Http;
use crate::keys::{self, ApiKey};
use crate::prices::Prices;
use crate::provider::Provider;
use crate::wire::forward::house;
use crate::wire::listing::ModelList;
use crate::{failure, http};
use papertape_core::external::{DoorProtocol, ModelDoorRequest, ModelDoorResponse};
use papertape_core::message::{FailureKind, ModelName, ModelRequest, Usage};
use papertape_core::ports::{
    AttemptFailure, BoxFuture, BuiltInModels, DeltaSink, ModelClient, ModelResponse,
};
use rust_decimal::Decimal;
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::fmt;

/// The configured providers and the built-in models.
pub struct Gateway {
    built_in: &'static dyn BuiltInModels,
    providers: BTreeMap<String, Provider>,
    prices: Prices,
    cutoffs: Cutoffs,
    client: reqwest::Client,
    has_roots: bool,
}

impl Gateway {
    /// Sets up the providers, with `built_in` as the house models. `env` is queried for keys and for the files that hold them; a missing key is an
    /// error only when its provider is checked or called.
    ///
    /// # Errors
    /// An invalid config, an unreadable price file, or no HTTP client.
    pub fn new(
        config: &ModelsConfig,
        built_in: &'static dyn BuiltInModels,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let mut providers = BTreeMap::new();
        for (name, (kind, provider)) in config.resolved()? {
            let variable = provider.api_key_env.as_deref().or(kind.default_api_key_env());
            let key = keys::find(&name, variable, env);
            providers.insert(name.clone(), Provider::new(&name, kind, &provider, key)?);
        }
        let prices = Prices::load(config.prices.as_deref())?;
        let cutoffs = Cutoffs::load(&config.cutoffs)?;
        let Http { client, has_roots } = http::build().map_err(|fault| ConfigError::Http { fault })?;
        Ok(Self { built_in, providers, prices, cutoffs, client, has_roots })
    }

    /// The keys in use with the names of their variables, for the redactor.
    #[must_use]
    pub fn secrets(&self) -> Vec<(String, SecretString)> {
        let found = self.providers.values().filter_map(|provider| match &provider.key {
            ApiKey::Found { variable, value } => Some((variable.clone(), value.clone())),
            ApiKey::NotNeeded | ApiKey::Missing(_) => None,
        });
        found.collect()
    }

    /// The prices in use.
    #[must_use]
    pub const fn prices(&self) -> &Prices {
        &self.prices
    }

    /// What the vendor states about the end of a model's training data; `None`: unknown.
    #[must_use]
    pub fn cutoff(&self, model: &ModelName) -> Option<&Cutoff> {
        self.cutoffs.get(model)
    }

    /// The names of all providers, `house` excluded.
    pub fn providers(&self) -> impl Iterator<Item = &str> {
        self.providers.keys().map(String::as_str)
    }

    /// Whether the protocol of the model's provider has a sampling seed. A provider may still ignore it. `false` for
    /// house models, which need none.
    #[must_use]
    pub fn takes_seed(&self, model: &ModelName) -> bool {
        self.providers.get(&model.provider).is_some_and(|provider| provider.kind.protocol().takes_seed())
    }

    fn provider(&self, model: &ModelName) -> Result<&Provider, String> {
        self.providers.get(&model.provider).ok_or_else(|| {
            let known: Vec<&str> = std::iter::once("house").chain(self.providers()).collect();
            format!(
                "unknown provider `{}` of the model `{model}`; expected one of {}",
                model.provider,
                known.join(", ")
            )
        })
    }

    /// The embeddings of the texts, in order, from a provider's embedding model. One call is one attempt.
    ///
    /// # Errors
    /// Like [`ModelClient::call`]; [`FailureKind::BadRequest`] for a house model, which has no embeddings.
    pub async fn embed(
        &self,
        model: &ModelName,
        texts: Vec<String>,
    ) -> Result<Vec<Vec<f32>>, AttemptFailure> {
        if model.is_house() {
            let why = format!("`{model}` is not an embedding model");
            return Err(failure::plain(FailureKind::BadRequest, why));
        }
        let provider = self.provider(model).map_err(|why| failure::plain(FailureKind::UnknownModel, why))?;
        provider.embed(&self.client, &model.model, texts).await.map_err(|failure| *failure)
    }

    /// The models that a provider lists, which also shows that it is reachable and accepts the key. One
    /// attempt, without its own deadline.
    ///
    /// # Errors
    /// Like [`ModelClient::call`]; [`FailureKind::UnknownModel`] for a provider that is not configured.
    pub async fn list_models(&self, provider: &str) -> Result<ModelList, AttemptFailure> {
        let Some(found) = self.providers.get(provider) else {
            let why = format!("the provider `{provider}` is not configured");
            return Err(failure::plain(FailureKind::UnknownModel, why));
        };
        found.models(&self.client).await.map_err(|failure| *failure)
    }

    async fn attempt(
        &self,
        request: &ModelRequest,
        delta: Option<DeltaSink<'_>>,
    ) -> Result<ModelResponse, AttemptFailure> {
        if request.model.is_house() {
            let response =
                self.built_in.respond(request).map_err(|why| failure::plain(FailureKind::BadRequest, why))?;
            if let Some(delta) = delta {
                delta(&response.reply.text);
            }
            return Ok(response);
        }
        let provider =
            self.provider(&request.model).map_err(|why| failure::plain(FailureKind::UnknownModel, why))?;
        provider.call(&self.client, request, delta).await.map_err(|failure| *failure)
    }

    async fn forward_attempt(
        &self,
        request: &ModelDoorRequest,
        delta: Option<DeltaSink<'_>>,
    ) -> Result<ModelDoorResponse, AttemptFailure> {
        let bad_request = |why: String| failure::plain(FailureKind::BadRequest, why);
        let (model, protocol) = (&request.model, request.protocol);
        if model.is_house() {
            let read = house::read(request).map_err(bad_request)?;
            let response = self.built_in.respond(&read).map_err(bad_request)?;
            return Ok(house::write(protocol, &read, response));
        }
        let provider = self.provider(model).map_err(|why| failure::plain(FailureKind::UnknownModel, why))?;
        let spoken = provider.door_protocols();
        if !spoken.contains(&protocol) {
            let spoken: Vec<&str> = spoken.iter().map(|protocol| protocol.as_str()).collect();
            return Err(bad_request(format!(
                "the provider of `{model}` does not speak {}; it speaks {}",
                protocol.as_str(),
                spoken.join(", ")
            )));
        }
        provider.forward(&self.client, request, delta).await.map_err(|failure| *failure)
    }
}

impl ModelClient for Gateway {
    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        delta: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelResponse, AttemptFailure>> {
        Box::pin(self.attempt(request, delta))
    }

    fn check(&self, model: &ModelName) -> Result<(), String> {
        if model.is_house() {
            return self.built_in.check(&model.model);
        }
        let provider = self.provider(model)?;
        if let ApiKey::Missing(why) = &provider.key {
            return Err(why.clone());
        }
        if provider.uses_tls() && !self.has_roots {
            return Err(format!(
                "the provider `{}` is reached by https, but this machine has no root certificates: \
                 install them (the package is often called ca-certificates)",
                model.provider
            ));
        }
        Ok(())
    }

    fn house_version(&self, model: &ModelName) -> Option<u32> {
        model.is_house().then(|| self.built_in.version())
    }

    fn forward<'a>(
        &'a self,
        request: &'a ModelDoorRequest,
        delta: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelDoorResponse, AttemptFailure>> {
        Box::pin(self.forward_attempt(request, delta))
    }

    fn protocols(&self, model: &ModelName) -> Vec<DoorProtocol> {
        if model.is_house() {
            let is_known = self.built_in.check(&model.model).is_ok();
            return if is_known { house::PROTOCOLS.to_vec() } else { Vec::new() };
        }
        self.provider(model).map(|provider| provider.door_protocols().to_vec()).unwrap_or_default()
    }

    fn cost(&self, model: &ModelName, usage: &Usage) -> Option<Decimal> {
        if model.is_house() {
            return Some(Decimal::ZERO);
        }
        // A renamed provider at its kind's default base URL has that kind's prices.
        let original = || {
            let provider = self.providers.get(&model.provider).filter(|provider| provider.is_original)?;
            let provider = provider.kind.as_str().to_owned();
            self.prices.get(&ModelName { provider, model: model.model.clone() })
        };
        self.prices.get(model).or_else(original).map(|price| price.cost(usage))
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway").field("providers", &self.providers.keys()).finish_non_exhaustive()
    }
}
