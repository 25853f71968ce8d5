//! One provider: sends it a request, for a whole or a streamed response.

use crate::bounds::{Bound, MAX_BODY_BYTES, MAX_ERROR_BYTES};
use crate::config::{ConfigError, ProviderConfig, ProviderKind};
use crate::keys::ApiKey;
use crate::reply::RawReply;
use crate::wire::forward::{self, ForwardReader};
use crate::wire::listing::{self, ModelList};
use crate::wire::sse::Flow;
use crate::wire::{self, Protocol, StreamReader, WireError, WireRequest};
use crate::{failure, http};
use papertape_core::external::{DoorProtocol, ModelDoorRequest, ModelDoorResponse};
use papertape_core::message::{FailureKind, ModelRequest};
use papertape_core::ports::{AttemptFailure, DeltaSink, ModelResponse};
use reqwest::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, Url};
use secrecy::ExposeSecret as _;
use tracing::dispatcher::Dispatch;
use tracing::instrument::WithSubscriber as _;

/// Texts per embedding request; the response then stays well below its bound.
const EMBEDDINGS_AT_ONCE: usize = 32;

/// A configured provider.
pub(crate) struct Provider {
    pub(crate) kind: ProviderKind,
    /// Its path ends with a slash.
    base_url: Url,
    /// Whether it has its kind's default base URL, and so its prices.
    pub(crate) is_original: bool,
    pub(crate) key: ApiKey,
    stream: bool,
    protocols: Option<Vec<DoorProtocol>>,
}

impl Provider {
    pub(crate) fn new(
        name: &str,
        kind: ProviderKind,
        config: &ProviderConfig,
        key: ApiKey,
    ) -> Result<Self, ConfigError> {
        let fault = |what: &str| Err(ConfigError::provider(name, what));
        let Some(given) = config.base_url.as_deref().or(kind.default_base_url()) else {
            return fault("needs a `base_url`");
        };
        let Ok(mut base_url) = Url::parse(given) else {
            return fault("has a `base_url` that is not a URL");
        };
        if !matches!(base_url.scheme(), "http" | "https") || !base_url.has_host() {
            return fault("needs a `base_url` that begins with http:// or https://");
        }
        if !base_url.username().is_empty() || base_url.password().is_some() {
            return fault("has credentials in its `base_url`: put the key into an environment variable");
        }
        let path = format!("{}/", base_url.path().trim_end_matches('/'));
        base_url.set_path(&path);
        let (is_original, protocols) = (config.base_url.is_none(), config.protocols.clone());
        Ok(Self { kind, base_url, is_original, key, stream: config.stream, protocols })
    }

    /// The protocols in which it takes requests of the model endpoint.
    pub(crate) fn door_protocols(&self) -> &[DoorProtocol] {
        self.protocols.as_deref().unwrap_or_else(|| self.kind.door_protocols())
    }

    /// Whether it is reached over TLS.
    pub(crate) fn uses_tls(&self) -> bool {
        self.base_url.scheme() == "https"
    }

    /// Makes one attempt.
    pub(crate) async fn call(
        &self,
        client: &Client,
        request: &ModelRequest,
        delta: Option<DeltaSink<'_>>,
    ) -> Result<ModelResponse, Box<AttemptFailure>> {
        let sent = wire::request(self.kind, request, self.stream)?;
        let response = self.send(client, sent, self.kind.protocol()).await?;
        // Some servers do not stream and return a whole response.
        let reply = if self.stream && !is_json(&response) {
            self.streamed(response, delta).await?
        } else {
            let body = whole(response).await?;
            let reply = wire::read_whole(self.kind, &body).map_err(WireError::into_failure)?;
            if let Some(delta) = delta.filter(|_| !reply.text.is_empty()) {
                delta(&reply.text);
            }
            reply
        };
        reply.into_answer(self.kind, &request.model)
    }

    /// Makes one attempt at a request of the model endpoint.
    pub(crate) async fn forward(
        &self,
        client: &Client,
        request: &ModelDoorRequest,
        delta: Option<DeltaSink<'_>>,
    ) -> Result<ModelDoorResponse, Box<AttemptFailure>> {
        let protocol = request.protocol;
        let stream = self.stream && protocol != DoorProtocol::Embeddings;
        let sent = forward::request(self.kind, request, stream)?;
        let scheme = match protocol {
            DoorProtocol::AnthropicMessages => Protocol::AnthropicMessages,
            _ => Protocol::ChatCompletions,
        };
        let response = self.send(client, sent, scheme).await?;
        // Some servers do not stream and return a whole response.
        if !stream || is_json(&response) {
            let body = whole(response).await?;
            return forward::read_whole(self.kind, protocol, &body).map_err(WireError::into_failure);
        }
        let mut reader = ForwardReader::new(self.kind, protocol)?;
        read_stream(response, delta, |bytes, sink| reader.push(bytes, sink)).await?;
        reader.finish().map_err(WireError::into_failure)
    }

    /// The texts' embeddings, in the order of the texts. One attempt.
    pub(crate) async fn embed(
        &self,
        client: &Client,
        model: &str,
        texts: Vec<String>,
    ) -> Result<Vec<Vec<f32>>, Box<AttemptFailure>> {
        let mut vectors = Vec::new();
        for texts in texts.chunks(EMBEDDINGS_AT_ONCE) {
            let request = wire::embedding_request(self.kind, model, texts)?;
            let body = whole(self.send(client, request, self.kind.protocol()).await?).await?;
            let read = wire::read_embeddings(self.kind, &body, texts.len());
            vectors.extend(read.map_err(WireError::into_failure)?);
        }
        Ok(vectors)
    }

    /// The models that the provider lists. One attempt.
    pub(crate) async fn models(&self, client: &Client) -> Result<ModelList, Box<AttemptFailure>> {
        let (path, query) = listing::place(self.kind);
        let listed = self.answered(client.get(self.url_of(path, query)), self.kind.protocol());
        let body = whole(listed.await?).await?;
        listing::read(&body).map_err(WireError::into_failure)
    }

    /// Sends a request and returns a successful response, its body unread.
    async fn send(
        &self,
        client: &Client,
        request: WireRequest,
        protocol: Protocol,
    ) -> Result<Response, Box<AttemptFailure>> {
        let url = self.url_of(&request.path, request.query);
        let post = client.post(url).header(CONTENT_TYPE, "application/json").body(request.body);
        self.answered(post, protocol).await
    }

    async fn answered(
        &self,
        request: RequestBuilder,
        protocol: Protocol,
    ) -> Result<Response, Box<AttemptFailure>> {
        let sent = self.authorized(request, protocol)?.send().with_subscriber(silence()).await;
        let response = sent.map_err(|error| Box::new(failure::from_transport(&error)))?;
        let status = response.status();
        if !status.is_success() {
            let headers = response.headers().clone();
            return Err(Box::new(match http::body(response, MAX_ERROR_BYTES, Bound::ErrorBody).await {
                Ok(body) => failure::from_status(status.as_u16(), &headers, &body),
                Err(http::Unread::Exceeded(_)) => failure::endless(status.as_u16(), &headers),
                // The status is known even if the body broke off.
                Err(http::Unread::Failed(_)) => failure::from_status(status.as_u16(), &headers, b""),
            }));
        }
        let is_encoded = |encoding: &HeaderValue| encoding.as_bytes() != b"identity";
        if response.headers().get(CONTENT_ENCODING).is_some_and(is_encoded) {
            let message = "the provider's answer is compressed, which was not requested";
            return Err(Box::new(failure::plain(FailureKind::BadAnswer, message)));
        }
        Ok(response)
    }

    fn authorized(
        &self,
        post: RequestBuilder,
        protocol: Protocol,
    ) -> Result<RequestBuilder, Box<AttemptFailure>> {
        let post = match protocol {
            Protocol::AnthropicMessages => post.header("anthropic-version", wire::anthropic::VERSION),
            Protocol::ChatCompletions | Protocol::GeminiContent => post,
        };
        let key = match &self.key {
            ApiKey::Found { value, .. } => value.expose_secret(),
            ApiKey::NotNeeded => return Ok(post),
            ApiKey::Missing(why) => {
                return Err(Box::new(failure::plain(FailureKind::Unauthorised, why.clone())));
            }
        };
        let sensitive = |value: String| {
            let mut value = HeaderValue::from_str(&value)
                .map_err(|_| wire::refused("the key cannot be sent in a header"))?;
            value.set_sensitive(true);
            Ok::<_, Box<AttemptFailure>>(value)
        };
        let bearer = || sensitive(format!("Bearer {key}"));
        let anthropic = HeaderName::from_static("x-api-key");
        Ok(match protocol {
            Protocol::ChatCompletions => post.header(AUTHORIZATION, bearer()?),
            Protocol::AnthropicMessages if self.kind.protocol() == protocol => {
                post.header(anthropic, sensitive(key.to_owned())?)
            }
            // Other servers that speak the protocol expect either.
            Protocol::AnthropicMessages => {
                post.header(anthropic, sensitive(key.to_owned())?).header(AUTHORIZATION, bearer()?)
            }
            Protocol::GeminiContent => {
                post.header(HeaderName::from_static("x-goog-api-key"), sensitive(key.to_owned())?)
            }
        })
    }

    async fn streamed(
        &self,
        response: Response,
        delta: Option<DeltaSink<'_>>,
    ) -> Result<RawReply, Box<AttemptFailure>> {
        let mut reader = StreamReader::new(self.kind);
        read_stream(response, delta, |bytes, sink| reader.push(bytes, sink)).await?;
        reader.finish().map_err(WireError::into_failure)
    }

    fn url_of(&self, path: &str, query: Option<(&str, &str)>) -> Url {
        let mut url = self.base_url.clone();
        url.set_path(&format!("{}{path}", self.base_url.path()));
        if let Some((key, value)) = query {
            url.query_pairs_mut().append_pair(key, value);
        }
        url
    }
}

/// Reads a streamed response until `push` has its end, or the connection ends.
async fn read_stream(
    mut response: Response,
    delta: Option<DeltaSink<'_>>,
    mut push: impl FnMut(&[u8], &mut dyn FnMut(&str)) -> Result<Flow, WireError>,
) -> Result<(), Box<AttemptFailure>> {
    let mut sink = |text: &str| {
        if let Some(delta) = delta {
            delta(text);
        }
    };
    // The sink is called with logging enabled: its events are not the client's.
    while let Some(bytes) = response
        .chunk()
        .with_subscriber(silence())
        .await
        .map_err(|error| Box::new(failure::from_transport(&error)))?
    {
        if push(&bytes, &mut sink).map_err(WireError::into_failure)? == Flow::Done {
            break;
        }
    }
    Ok(())
}

fn is_json(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    kind.starts_with(b"application/json")
}

/// The body of a response.
async fn whole(response: Response) -> Result<Vec<u8>, Box<AttemptFailure>> {
    http::body(response, MAX_BODY_BYTES, Bound::Body).await.map_err(|unread| {
        Box::new(match unread {
            http::Unread::Exceeded(bound) => failure::exceeded(bound),
            http::Unread::Failed(error) => failure::from_transport(&error),
        })
    })
}

/// A dispatcher that drops the client's own log events, which contain URLs.
fn silence() -> Dispatch {
    // Not a new subscriber: each one makes every callsite query all subscribers again.
    Dispatch::none()
}
