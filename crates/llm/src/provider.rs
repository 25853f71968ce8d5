//! One provider: puts a request to it, whole or streamed.

use crate::config::{ConfigError, ProviderConfig, ProviderKind};
use crate::keys::Key;
use crate::reply::Parts;
use crate::{failure, salvage, wire};
use futures::StreamExt as _;
use genai::adapter::AdapterKind;
use genai::chat::{ChatOptions, ChatRequest, ChatStreamEvent, StreamEnd};
use genai::embed::EmbedRequest;
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, Headers, ModelIden, ServiceTarget};
use papertape_core::message::{FailureKind, ModelName, ModelRequest};
use papertape_core::ports::{Answer, AttemptFailure, DeltaSink};
use reqwest::Url;
use secrecy::ExposeSecret as _;
use tracing::dispatcher::Dispatch;
use tracing::instrument::WithSubscriber as _;

/// A configured provider.
pub(crate) struct Provider {
    pub(crate) kind: ProviderKind,
    /// Its path ends with a slash.
    base_url: Url,
    /// Has it its kind's own address, and so its prices?
    pub(crate) is_original: bool,
    pub(crate) key: Key,
    stream: bool,
}

impl Provider {
    pub(crate) fn new(
        name: &str,
        kind: ProviderKind,
        config: &ProviderConfig,
        key: Key,
    ) -> Result<Self, ConfigError> {
        let fault = |what: &str| Err(ConfigError::provider(name, what));
        let Some(given) = config.base_url.as_deref().or(kind.default_base_url()) else {
            return fault("needs a `base_url`");
        };
        let Ok(mut base_url) = Url::parse(given) else {
            return fault("has a `base_url` that is no URL");
        };
        if !matches!(base_url.scheme(), "http" | "https") || !base_url.has_host() {
            return fault("needs a `base_url` that begins with http:// or https://");
        }
        if !base_url.username().is_empty() || base_url.password().is_some() {
            return fault("has credentials in its `base_url`: a key belongs into the environment");
        }
        let path = format!("{}/", base_url.path().trim_end_matches('/'));
        base_url.set_path(&path);
        Ok(Self { kind, base_url, is_original: config.base_url.is_none(), key, stream: config.stream })
    }

    /// Must certificates be checked to talk to it?
    pub(crate) fn uses_tls(&self) -> bool {
        self.base_url.scheme() == "https"
    }

    /// One attempt.
    pub(crate) async fn call(
        &self,
        client: &Client,
        request: &ModelRequest,
        delta: Option<DeltaSink<'_>>,
    ) -> Result<Answer, Box<AttemptFailure>> {
        let target = self.target(&request.model.model, "chat/completions")?;
        let chat = wire::conversation(request, self.kind)?;
        let options = wire::options(request, self.kind)?;
        let parts = if self.stream {
            self.streamed(client, target, chat, (&options, &request.model), delta).await?
        } else {
            let parts = self.whole(client, target, chat, (&options, &request.model)).await?;
            if let Some(delta) = delta.filter(|_| !parts.text.is_empty()) {
                delta(&parts.text);
            }
            parts
        };
        parts.into_answer()
    }

    /// The texts' vectors, in the order of the texts. One attempt.
    pub(crate) async fn embed(
        &self,
        client: &Client,
        model: &str,
        texts: Vec<String>,
    ) -> Result<Vec<Vec<f32>>, Box<AttemptFailure>> {
        let count = texts.len();
        let target = self.target(model, "embeddings")?;
        let request = EmbedRequest::new_batch(texts);
        let answer = client.exec_embed(target, request, None).with_subscriber(silence()).await;
        let mut found = answer.map_err(|error| Box::new(failure::from_library(&error)))?.embeddings;
        found.sort_by_key(|embedding| embedding.index);
        let whole = found.len() == count
            && found.iter().zip(0..).all(|(embedding, index)| embedding.index == index)
            && found.iter().all(|embedding| {
                !embedding.vector.is_empty() && embedding.vector.iter().all(|number| number.is_finite())
            });
        if !whole {
            let message = format!("{count} vectors were asked for, and the answer has others");
            return Err(Box::new(failure::plain(FailureKind::BadAnswer, message)));
        }
        Ok(found.into_iter().map(|embedding| embedding.vector).collect())
    }

    async fn whole(
        &self,
        client: &Client,
        target: ServiceTarget,
        chat: ChatRequest,
        (options, model): (&ChatOptions, &ModelName),
    ) -> Result<Parts, Box<AttemptFailure>> {
        match client.exec_chat(target, chat, Some(options)).with_subscriber(silence()).await {
            Ok(response) => {
                // Gateways answer 200 with an error in the place of an answer.
                if let Some(body) = &response.captured_raw_body
                    && response.content.is_empty()
                    && body.get("error").is_some_and(|error| !error.is_null())
                {
                    return Err(Box::new(failure::from_event(body)));
                }
                Ok(Parts::new(
                    Some(response.content),
                    response.reasoning_content,
                    response.stop_reason,
                    Some(&response.usage),
                    (self.kind, model),
                ))
            }
            Err(genai::Error::ChatResponseGeneration { response_body, .. }) if self.is_chat_completions() => {
                salvage::chat_completion(&response_body).ok_or_else(|| Box::new(unreadable()))
            }
            Err(error) => Err(Box::new(failure::from_library(&error))),
        }
    }

    async fn streamed(
        &self,
        client: &Client,
        target: ServiceTarget,
        chat: ChatRequest,
        (options, model): (&ChatOptions, &ModelName),
        delta: Option<DeltaSink<'_>>,
    ) -> Result<Parts, Box<AttemptFailure>> {
        let failed = |error: genai::Error| Box::new(failure::from_library(&error));
        let mut stream = client
            .exec_chat_stream(target, chat, Some(options))
            .with_subscriber(silence())
            .await
            .map_err(failed)?
            .stream;
        // The sink is called outside of the silence: its events are not the library's.
        while let Some(event) = stream.next().with_subscriber(silence()).await {
            match event.map_err(failed)? {
                ChatStreamEvent::Chunk(chunk) => {
                    if let Some(delta) = delta {
                        delta(&chunk.content);
                    }
                }
                ChatStreamEvent::End(end) => return self.ended(end, model),
                _ => {}
            }
        }
        Err(Box::new(failure::cut()))
    }

    fn ended(&self, end: StreamEnd, model: &ModelName) -> Result<Parts, Box<AttemptFailure>> {
        // For Gemini the library reports an end even where the connection broke.
        if self.kind == ProviderKind::Gemini && end.captured_stop_reason.is_none() {
            return Err(Box::new(failure::cut()));
        }
        Ok(Parts::new(
            end.captured_content,
            end.captured_reasoning_content,
            end.captured_stop_reason,
            end.captured_usage.as_ref(),
            (self.kind, model),
        ))
    }

    /// `path`: what is called, where an address has to be given whole.
    fn target(&self, model: &str, path: &str) -> Result<ServiceTarget, Box<AttemptFailure>> {
        let auth = match &self.key {
            Key::Found { value, .. } => AuthData::from_single(value.expose_secret()),
            Key::NotNeeded => {
                AuthData::RequestOverride { url: self.url_of(path), headers: Headers::default() }
            }
            Key::Missing(why) => {
                return Err(Box::new(failure::plain(FailureKind::Unauthorised, why.clone())));
            }
        };
        // The library takes what stands before `::` for a name of its own.
        let name = if model.contains("::") { format!("as::{model}") } else { model.to_owned() };
        Ok(ServiceTarget {
            endpoint: Endpoint::from_owned(self.base_url.as_str()),
            auth,
            model: ModelIden::new(self.adapter(), name),
        })
    }

    fn url_of(&self, path: &str) -> String {
        let mut url = self.base_url.clone();
        url.set_path(&format!("{}{path}", self.base_url.path()));
        url.into()
    }

    fn is_chat_completions(&self) -> bool {
        !matches!(self.kind, ProviderKind::Anthropic | ProviderKind::Gemini)
    }

    const fn adapter(&self) -> AdapterKind {
        match self.kind {
            ProviderKind::Anthropic => AdapterKind::Anthropic,
            ProviderKind::Gemini => AdapterKind::Gemini,
            ProviderKind::Deepseek => AdapterKind::DeepSeek,
            ProviderKind::Groq => AdapterKind::Groq,
            ProviderKind::Xai => AdapterKind::Xai,
            ProviderKind::Openrouter => AdapterKind::OpenRouter,
            ProviderKind::Mistral => AdapterKind::Mistral,
            ProviderKind::Together => AdapterKind::Together,
            ProviderKind::Moonshot => AdapterKind::Moonshot,
            ProviderKind::Qwen => AdapterKind::QwenCloud,
            ProviderKind::Openai | ProviderKind::Ollama | ProviderKind::OpenaiCompatible => {
                AdapterKind::OpenAI
            }
        }
    }
}

/// The library's own events print answers and errors in full: nobody is to hear them.
fn silence() -> Dispatch {
    // Not a subscriber of its own: each new one makes every place that can log ask all that there are.
    Dispatch::none()
}

fn unreadable() -> AttemptFailure {
    failure::plain(FailureKind::BadAnswer, "the provider's answer cannot be read")
}
