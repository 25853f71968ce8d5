//! Messages to and from a model, in our own types. Only the `llm` crate knows the providers' formats.

mod digest;

pub(crate) use digest::RequestHasher;

use crate::id::ContentHash;
use crate::json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;

/// The version of the model step's digest. Increment it when the content or the method of the digest changes.
pub const FORMAT_VERSION: u32 = 1;

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user: the day's question, or any other text sent to the model.
    User,
    /// The model.
    Assistant,
    /// The result of a tool call.
    Tool,
}

crate::words!(Role { User = "user", Assistant = "assistant", Tool = "tool" });

/// A model as `provider::model`, such as `house::momentum` or `openai::gpt-5`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ModelName {
    /// The provider's name in the config, or `house`.
    pub provider: String,
    /// The model's name as the provider spells it.
    pub model: String,
}

impl ModelName {
    /// Whether it is one of the built-in rule-based house models, which are not LLMs.
    #[must_use]
    pub fn is_house(&self) -> bool {
        self.provider == "house"
    }

    /// Whether it names an imported model, which has only recorded messages and cannot be called.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        self.provider == Self::RECORDED
    }

    /// Whether it stands for an external agent without a configured model, and cannot be called.
    #[must_use]
    pub fn is_external(&self) -> bool {
        self.provider == Self::EXTERNAL
    }

    /// The provider name of imported models.
    pub const RECORDED: &str = "recorded";
    /// The provider name of external agents without a configured model.
    pub const EXTERNAL: &str = "external";
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.provider, self.model)
    }
}

impl std::str::FromStr for ModelName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once("::") {
            Some((provider, model)) if !provider.is_empty() && !model.is_empty() => {
                Ok(Self { provider: provider.to_owned(), model: model.to_owned() })
            }
            _ => Err(format!("`{text}` is not of the form provider::model")),
        }
    }
}

impl TryFrom<String> for ModelName {
    type Error = String;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ModelName> for String {
    fn from(name: ModelName) -> Self {
        name.to_string()
    }
}

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    /// What it does; the model reads this.
    pub description: String,
    /// JSON Schema of its arguments, an object.
    pub parameters: Value,
}

/// A tool call requested by the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's ID of the call, repeated in the tool's result.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// Its arguments. A JSON string here is the raw text of arguments that were not a JSON object: the call
    /// is malformed, and its result says so.
    pub arguments: Value,
}

/// State that a provider returns with a response and expects back, unchanged, with the next request, such as
/// signed thinking. Only the `llm` crate reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderNote {
    /// The model that returned it, and the only one that it is sent back to.
    pub model: ModelName,
    /// The state itself.
    pub content: Value,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// A text sent to the model.
    User {
        /// The text.
        content: String,
    },
    /// A response of the model.
    Assistant {
        /// Its text, empty when it contains only tool calls.
        content: String,
        /// The tool calls it requests.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
        /// The provider state to send back with the next request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider: Option<ProviderNote>,
    },
    /// The result of a tool call.
    Tool {
        /// The ID of the call.
        call_id: String,
        /// The tool's name.
        name: String,
        /// The result, usually JSON.
        content: String,
    },
}

impl Message {
    /// A user message.
    #[must_use]
    pub fn user(content: impl Into<String>) -> Self {
        Self::User { content: content.into() }
    }

    /// The author.
    #[must_use]
    pub const fn role(&self) -> Role {
        match self {
            Self::User { .. } => Role::User,
            Self::Assistant { .. } => Role::Assistant,
            Self::Tool { .. } => Role::Tool,
        }
    }

    /// The message's text.
    #[must_use]
    pub fn content(&self) -> &str {
        match self {
            Self::User { content } | Self::Assistant { content, .. } | Self::Tool { content, .. } => content,
        }
    }
}

/// Sampling parameters. Every field is part of the digest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sampling {
    /// 0 to 2; absent: the provider's default.
    pub temperature: Option<f64>,
    /// 0 to 1.
    pub top_p: Option<f64>,
    /// Maximum output tokens of one response.
    pub max_tokens: Option<u32>,
    /// The provider's sampling seed.
    pub seed: Option<u64>,
    /// Stop sequences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// `minimal`, `low`, `medium` or `high`, for models that reason.
    pub reasoning_effort: Option<String>,
}

impl Sampling {
    /// Checks the ranges that all providers share.
    ///
    /// # Errors
    /// A sentence that begins with the key.
    pub fn check(&self) -> Result<(), String> {
        check_temperature(self.temperature).map_err(|reason| format!("temperature: {reason}"))?;
        if let Some(top_p) = self.top_p.filter(|top_p| !(0.0..=1.0).contains(top_p)) {
            return Err(format!("top_p: {top_p} is out of range; expected 0 to 1"));
        }
        match self.max_tokens {
            Some(0) => Err("max_tokens must be above 0".to_owned()),
            _ => Ok(()),
        }
    }
}

/// Checks a temperature.
///
/// # Errors
/// A sentence if it is not from 0 to 2.
pub fn check_temperature(temperature: Option<f64>) -> Result<(), String> {
    match temperature.filter(|temperature| !(0.0..=2.0).contains(temperature)) {
        Some(temperature) => Err(format!("{temperature} is out of range; expected 0 to 2")),
        None => Ok(()),
    }
}

/// Whether the model may or must call tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model must not call tools.
    None,
    /// The model must call a tool.
    Required,
}

/// The JSON Schema that a response must follow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseSchema {
    /// A short name: letters, digits, `_` and `-`.
    pub name: String,
    /// The schema.
    pub schema: Value,
}

/// Everything that determines a model's response. What does not determine it (URL, key, deadlines, retries,
/// streaming) is not part of this type and so cannot affect the digest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    /// The model.
    pub model: ModelName,
    /// The house model's version; `None` for a real model, whose provider versions it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub house_version: Option<u32>,
    /// The system prompt.
    pub instructions: Option<String>,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The tools offered to the model.
    #[serde(default)]
    pub tools: Vec<ToolSpec>,
    /// Whether the model may or must call them.
    #[serde(default)]
    pub tool_choice: ToolChoice,
    /// The format required of the response.
    #[serde(default)]
    pub response_schema: Option<ResponseSchema>,
    /// Sampling parameters.
    #[serde(default)]
    pub sampling: Sampling,
}

impl ModelRequest {
    /// Everything but the messages, which all requests of one conversation have in common.
    #[must_use]
    pub fn head(&self) -> Value {
        json!({
            "format": FORMAT_VERSION,
            "model": self.model,
            "house_version": self.house_version,
            "instructions": self.instructions,
            "tools": self.tools,
            "tool_choice": self.tool_choice,
            "response_schema": self.response_schema,
            "sampling": self.sampling,
        })
    }

    /// The whole request as JSON, in the form that is hashed and compared.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut whole = self.head();
        whole["messages"] = json::to_value(&self.messages);
        whole
    }

    /// The digest of the request: blake3 of its canonical JSON, with the providers' call IDs replaced by
    /// their numbers in order of appearance. Call IDs are random and only link results to calls. A
    /// [`ProviderNote`] is included when it is sent, that is, when the request goes to the model that
    /// returned it.
    ///
    /// Across a conversation, each digest costs only the messages that its turn adds, see
    /// [`Chain`](crate::tape::RequestChain).
    #[must_use]
    pub fn digest(&self) -> ContentHash {
        let mut digesting = RequestHasher::new(self);
        for message in &self.messages {
            let value = json::to_value(message);
            let json = json::canonical(&value);
            digesting.add(message, value, json.as_bytes());
        }
        digesting.digest()
    }

    /// Whether both requests are equal apart from their messages.
    pub(crate) fn has_head_of(&self, other: &Self) -> bool {
        let Self {
            model,
            house_version,
            instructions,
            messages: _,
            tools,
            tool_choice,
            response_schema,
            sampling,
        } = self;
        *model == other.model
            && *house_version == other.house_version
            && *instructions == other.instructions
            && *tools == other.tools
            && *tool_choice == other.tool_choice
            && *response_schema == other.response_schema
            && *sampling == other.sampling
    }
}

/// Why a response ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// It was complete, or the provider gives no reason.
    #[default]
    Stop,
    /// It requests tool calls.
    ToolCalls,
    /// It reached the token limit and is truncated.
    Length,
    /// The provider's content filter blocked it.
    ContentFilter,
}

crate::words!(FinishReason {
    Stop = "stop", ToolCalls = "tool_calls", Length = "length", ContentFilter = "content_filter",
});

/// A model's response, as the session sees it and the tape stores it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelReply {
    /// Its text, empty when it contains only tool calls.
    pub text: String,
    /// Its reasoning, when the provider returns it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The tool calls it requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Why it ended.
    #[serde(default)]
    pub finish: FinishReason,
    /// The provider state to send back with the next request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderNote>,
}

impl ModelReply {
    /// The message that this response adds to the conversation.
    #[must_use]
    pub fn to_message(&self) -> Message {
        Message::Assistant {
            content: self.text.clone(),
            tool_calls: self.tool_calls.clone(),
            provider: self.provider.clone(),
        }
    }
}

/// Token usage of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens, cached ones included.
    pub input_tokens: u64,
    /// Input tokens read from the provider's cache.
    pub cached_tokens: u64,
    /// Output tokens, reasoning included.
    pub output_tokens: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.cached_tokens += other.cached_tokens;
        self.output_tokens += other.output_tokens;
    }
}

/// Why a call failed after all retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// No response within the deadline.
    TimedOut,
    /// 429.
    RateLimited,
    /// The provider is down: 5xx, or no connection.
    Unavailable,
    /// The stream broke off, or the response was unparseable.
    BadAnswer,
    /// An empty response: neither text nor tool calls.
    EmptyAnswer,
    /// The key is missing or wrong: 401.
    Unauthorised,
    /// The account has no credit left: 402, or an exhausted quota.
    PaymentRequired,
    /// The key lacks the permission: 403.
    Forbidden,
    /// The provider does not have the model, or the provider is not configured.
    UnknownModel,
    /// The provider rejected the request.
    BadRequest,
    /// The conversation exceeds the model's context length.
    ContextLength,
    /// An external tool returned an error.
    ToolError,
}

crate::words!(FailureKind {
    TimedOut = "timed_out", RateLimited = "rate_limited", Unavailable = "unavailable",
    BadAnswer = "bad_answer", EmptyAnswer = "empty_answer", Unauthorised = "unauthorised",
    PaymentRequired = "payment_required", Forbidden = "forbidden", UnknownModel = "unknown_model",
    BadRequest = "bad_request", ContextLength = "context_length", ToolError = "tool_error",
});

impl FailureKind {
    /// Whether every call of the model fails this way until someone fixes its key, its account or its name.
    /// Such a failure does not depend on the request, so it is never an outcome: the session stops.
    #[must_use]
    pub const fn is_denied(self) -> bool {
        matches!(self, Self::Unauthorised | Self::PaymentRequired | Self::Forbidden | Self::UnknownModel)
    }

    /// Whether a retry can succeed.
    #[must_use]
    pub const fn is_transient(self) -> bool {
        matches!(
            self,
            Self::TimedOut | Self::RateLimited | Self::Unavailable | Self::BadAnswer | Self::EmptyAnswer
        )
    }
}

/// A call that failed after all retries. It is an outcome and goes on the tape like a response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{}: {message}", kind.as_str())]
pub struct CallFailure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// A sentence without payloads or secrets.
    pub message: String,
}
