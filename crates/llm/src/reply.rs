//! A response in our types, whatever its protocol.

use crate::config::ProviderKind;
use crate::failure;
use crate::provider_state::{self, NoteParts};
use papertape_core::message::{FailureKind, FinishReason, ModelName, ModelReply, ToolCall, Usage};
use papertape_core::ports::{AttemptFailure, ModelResponse};

/// Why a response ended, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It reached a token limit.
    Length,
    /// A content filter blocked it.
    Filter,
    /// Anything else.
    Other,
}

impl Stop {
    /// Parses the reason in any protocol's spelling.
    #[must_use]
    pub fn read(reason: &str) -> Self {
        match reason {
            "length"
            | "max_tokens"
            | "MAX_TOKENS"
            | "incomplete"
            | "model_context_window_exceeded"
            | "model_length" => Self::Length,
            "content_filter"
            | "refusal"
            | "SAFETY"
            | "RECITATION"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION"
            | "LANGUAGE" => Self::Filter,
            _ => Self::Other,
        }
    }
}

/// The parts of a response, whole or streamed.
#[derive(Debug, Default)]
pub struct RawReply {
    /// Its text.
    pub text: String,
    /// Its reasoning, when the provider returns it.
    pub reasoning: Option<String>,
    /// Its tool calls, in order.
    pub tool_calls: Vec<ToolCall>,
    /// Why it ended.
    pub stop: Option<Stop>,
    /// Token usage; `None` when the provider reports nothing plausible.
    pub usage: Option<Usage>,
    /// The provider state to send back with the next request.
    pub(crate) note: NoteParts,
}

impl RawReply {
    /// Why it ended, in our own words.
    #[must_use]
    pub fn finish(&self) -> FinishReason {
        match (self.stop, self.tool_calls.is_empty()) {
            (Some(Stop::Length), _) => FinishReason::Length,
            (Some(Stop::Filter), _) => FinishReason::ContentFilter,
            (_, false) => FinishReason::ToolCalls,
            (_, true) => FinishReason::Stop,
        }
    }

    /// The response, unless it is empty.
    ///
    /// # Errors
    /// [`FailureKind::EmptyAnswer`], with its usage.
    pub fn into_answer(
        self,
        kind: ProviderKind,
        model: &ModelName,
    ) -> Result<ModelResponse, Box<AttemptFailure>> {
        let finish = self.finish();
        if self.tool_calls.is_empty() && self.text.trim().is_empty() {
            let message = match finish {
                FinishReason::Length => "the limit of output tokens was used up before any text",
                FinishReason::ContentFilter => "the provider's filter held the answer back",
                FinishReason::Stop | FinishReason::ToolCalls => "the answer has neither text nor tool calls",
            };
            return Err(Box::new(failure::used(FailureKind::EmptyAnswer, message, self.usage)));
        }
        let reasoning = self.reasoning.filter(|reasoning| !reasoning.trim().is_empty());
        let has_calls = !self.tool_calls.is_empty();
        let provider =
            provider_state::from_response(self.note, (reasoning.as_deref(), has_calls), kind, model);
        let (text, tool_calls) = (self.text, self.tool_calls);
        let reply = ModelReply { text, reasoning, tool_calls, finish, provider };
        Ok(ModelResponse { reply, usage: self.usage })
    }
}
