//! What is said to a model and by it, in our own types. Only the `llm` crate knows how a provider
//! spells them.

use crate::digest::Digesting;
use crate::id::ContentHash;
use crate::json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;

/// The version of a model step's digest. A change of what goes into it, or how, counts it up.
pub const FORMAT_VERSION: u32 = 1;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The day's question, or any other text put to the model.
    User,
    /// The model.
    Assistant,
    /// A tool's answer.
    Tool,
}

impl Role {
    /// As the record spells it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// `provider::model`, as `house::momentum` or `openai::gpt-5`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ModelName {
    /// The provider's name in the config, or `house`.
    pub provider: String,
    /// The model's name as the provider spells it.
    pub model: String,
}

impl ModelName {
    /// Is it one of the built-in rule-based stand-ins, and so no language model?
    #[must_use]
    pub fn is_house(&self) -> bool {
        self.provider == "house"
    }

    /// Does it stand for a model that has spoken elsewhere, of which there is a record alone? Nobody can
    /// call it.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        self.provider == Self::RECORDED
    }

    /// The provider of models of which there is a record alone.
    pub const RECORDED: &str = "recorded";
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
    /// What it does, for the model to read.
    pub description: String,
    /// JSON schema of its arguments, an object.
    pub parameters: Value,
}

/// A call that the model asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id of the call, repeated in its answer.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// Its arguments. A JSON string here is the raw text of arguments that were no JSON object: the
    /// call is malformed, and is answered so.
    pub arguments: Value,
}

/// What a provider gives with an answer and wants back, unchanged, with the next request: signed
/// thinking, say. Nobody but the `llm` crate reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderNote {
    /// The model that gave it, and the only one that it is sent back to.
    pub model: ModelName,
    /// The note itself.
    pub content: Value,
}

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// A text put to the model.
    User {
        /// The text.
        content: String,
    },
    /// What the model answered.
    Assistant {
        /// Its text, empty for a turn of tool calls alone.
        content: String,
        /// The calls it asked for.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
        /// What its provider wants back with the next request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider: Option<ProviderNote>,
    },
    /// A tool's answer.
    Tool {
        /// The id of the call that it answers.
        call_id: String,
        /// The tool's name.
        name: String,
        /// The answer, usually JSON.
        content: String,
    },
}

impl Message {
    /// A user's turn.
    #[must_use]
    pub fn user(content: impl Into<String>) -> Self {
        Self::User { content: content.into() }
    }

    /// Who speaks.
    #[must_use]
    pub const fn role(&self) -> Role {
        match self {
            Self::User { .. } => Role::User,
            Self::Assistant { .. } => Role::Assistant,
            Self::Tool { .. } => Role::Tool,
        }
    }

    /// The turn's text.
    #[must_use]
    pub fn content(&self) -> &str {
        match self {
            Self::User { content } | Self::Assistant { content, .. } | Self::Tool { content, .. } => content,
        }
    }
}

/// How the model is to draw its words. Every field is part of the digest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sampling {
    /// 0 to 2; the provider's default where absent.
    pub temperature: Option<f64>,
    /// 0 to 1.
    pub top_p: Option<f64>,
    /// The most output tokens of one answer.
    pub max_tokens: Option<u32>,
    /// The provider's sampling seed.
    pub seed: Option<u64>,
    /// Texts at which the answer stops.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// `minimal`, `low`, `medium` or `high`, where the model reasons.
    pub reasoning_effort: Option<String>,
}

/// May the model call tools, must it?
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// Not at all.
    None,
    /// It has to call one.
    Required,
}

/// The JSON schema that an answer must follow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseSchema {
    /// A short name: letters, digits, `_` and `-`.
    pub name: String,
    /// The schema.
    pub schema: Value,
}

/// All that decides what a model answers. What does not (URL, key, deadlines, retries, streaming) is
/// not here, and so cannot reach the digest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    /// Which model.
    pub model: ModelName,
    /// The house model's version; `None` for a real model, whose provider versions it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub house_version: Option<u32>,
    /// The system prompt.
    pub instructions: Option<String>,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The tools on offer.
    #[serde(default)]
    pub tools: Vec<ToolSpec>,
    /// Whether they may be used.
    #[serde(default)]
    pub tool_choice: ToolChoice,
    /// The form that the answer must have.
    #[serde(default)]
    pub response_schema: Option<ResponseSchema>,
    /// How words are drawn.
    #[serde(default)]
    pub sampling: Sampling,
}

impl ModelRequest {
    /// Everything but the messages: what the turns of one conversation have in common.
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

    /// The whole as JSON, in the form that is hashed and compared.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut whole = self.head();
        whole["messages"] = json::to_value(&self.messages);
        whole
    }

    /// The digest of the request: blake3 of its canonical JSON, in which the ids that a provider gave
    /// to calls are replaced by their numbers in order of appearance. They are drawn at random, and
    /// say no more than which answer belongs to which call. A [`ProviderNote`] is part of it where it
    /// is sent, and so where the request goes to the model that gave it.
    ///
    /// A conversation's turns are digested at the cost of what each adds, see
    /// [`Chain`](crate::tape::Chain).
    #[must_use]
    pub fn digest(&self) -> ContentHash {
        let mut digesting = Digesting::new(self);
        self.messages.iter().for_each(|message| digesting.add(message));
        digesting.digest()
    }

    /// Has it everything but the messages in common with another?
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

/// Why an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// It was done, or the provider does not say.
    #[default]
    Stop,
    /// It asks for tools.
    ToolCalls,
    /// It ran into its limit of tokens, and is cut short.
    Length,
    /// The provider's filter held it back.
    ContentFilter,
}

/// What a model answered, as the session sees it and the tape keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelReply {
    /// Its text, empty for a turn of tool calls alone.
    pub text: String,
    /// Its reasoning, where the provider shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The calls it asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Why it ended.
    #[serde(default)]
    pub finish: FinishReason,
    /// What the provider wants back with the next request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderNote>,
}

impl ModelReply {
    /// The turn that this answer adds to the conversation.
    #[must_use]
    pub fn to_message(&self) -> Message {
        Message::Assistant {
            content: self.text.clone(),
            tool_calls: self.tool_calls.clone(),
            provider: self.provider.clone(),
        }
    }
}

/// What a call used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read, cached ones included.
    pub input_tokens: u64,
    /// Of these, read from the provider's cache.
    pub cached_tokens: u64,
    /// Tokens written, reasoning included.
    pub output_tokens: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.cached_tokens += other.cached_tokens;
        self.output_tokens += other.output_tokens;
    }
}

/// What kind of failure a call ended in, after its retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// No answer within the deadline.
    TimedOut,
    /// 429.
    RateLimited,
    /// The provider is down: 5xx, or no connection.
    Unavailable,
    /// The stream broke off, or the answer was no answer.
    BadAnswer,
    /// An empty answer: neither text nor tool calls.
    EmptyAnswer,
    /// The key is missing or wrong: 401.
    Unauthorised,
    /// The account has no credit left: 402, or a quota that is used up.
    PaymentRequired,
    /// The key is not allowed to do this: 403.
    Forbidden,
    /// The provider does not have the model, or the provider is not configured.
    UnknownModel,
    /// The request itself was refused.
    BadRequest,
    /// The conversation is too long for the model.
    ContextLength,
    /// An outside tool answered with an error.
    ToolError,
}

impl FailureKind {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::TimedOut,
        Self::RateLimited,
        Self::Unavailable,
        Self::BadAnswer,
        Self::EmptyAnswer,
        Self::Unauthorised,
        Self::PaymentRequired,
        Self::Forbidden,
        Self::UnknownModel,
        Self::BadRequest,
        Self::ContextLength,
        Self::ToolError,
    ];

    /// As the record and state strings spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TimedOut => "timed_out",
            Self::RateLimited => "rate_limited",
            Self::Unavailable => "unavailable",
            Self::BadAnswer => "bad_answer",
            Self::EmptyAnswer => "empty_answer",
            Self::Unauthorised => "unauthorised",
            Self::PaymentRequired => "payment_required",
            Self::Forbidden => "forbidden",
            Self::UnknownModel => "unknown_model",
            Self::BadRequest => "bad_request",
            Self::ContextLength => "context_length",
            Self::ToolError => "tool_error",
        }
    }

    /// Does every call of the model fail like this until somebody fixes its key, its account or its name?
    /// Says nothing about what was asked, and so is never an outcome: the session stops.
    #[must_use]
    pub const fn is_denied(self) -> bool {
        matches!(self, Self::Unauthorised | Self::PaymentRequired | Self::Forbidden | Self::UnknownModel)
    }

    /// Is another attempt worth making?
    #[must_use]
    pub const fn is_transient(self) -> bool {
        matches!(
            self,
            Self::TimedOut | Self::RateLimited | Self::Unavailable | Self::BadAnswer | Self::EmptyAnswer
        )
    }
}

/// A call that failed for good. It is an outcome, kept on the tape like an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{}: {message}", kind.as_str())]
pub struct CallFailure {
    /// What kind.
    pub kind: FailureKind,
    /// A sentence without payloads or secrets.
    pub message: String,
}
