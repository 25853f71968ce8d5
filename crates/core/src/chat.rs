//! Chat sessions with the assistant.

pub use crate::id::ChatId;
use crate::id::{JobId, PlanId};
use crate::job::{JobStatus, NewJob};
use crate::language::Language;
use crate::time::Timestamp;
use papertape_redact::{Redact, RedactionPass};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Maximum length of a message, in characters.
pub const MAX_MESSAGE_CHARS: usize = 100_000;

/// A chat session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChatSession {
    /// Its ID.
    pub id: ChatId,
    /// Its topic in a few words.
    pub title: String,
    /// The language of its summaries.
    pub language: Language,
    /// The plan it works on.
    pub plan_id: Option<PlanId>,
    /// When it began.
    pub created_at: Timestamp,
    /// Time of its last message.
    pub updated_at: Timestamp,
}

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatRole {
    /// The user.
    User,
    /// The assistant.
    Assistant,
}

crate::words!(ChatRole { User = "user", Assistant = "assistant" });

/// A message of a chat session.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChatMessage {
    /// Its ID.
    pub id: i64,
    /// The chat session.
    pub session_id: ChatId,
    /// Its number in the session, from 1, without gaps.
    pub n: i64,
    /// Who wrote it.
    pub role: ChatRole,
    /// The text; empty until the assistant has answered.
    pub content: String,
    /// Data for programs, an object: `type`, `job_id`, `actions_summary`.
    pub metadata: Value,
    /// The job that writes or wrote the answer.
    pub job_id: Option<JobId>,
    /// When it was written.
    pub created_at: Timestamp,
}

/// A user's message, with a placeholder for the answer and the job that will fill it.
#[derive(Clone, Debug)]
pub struct NewTurn {
    /// The chat session.
    pub session: ChatId,
    /// The session to create. `None`: it must exist.
    pub opens: Option<NewChat>,
    /// The user's text.
    pub message: String,
    /// Metadata of the user's message, an object.
    pub metadata: Value,
    /// Metadata of the placeholder until the answer arrives, an object.
    pub answer_metadata: Value,
    /// The plan that the session works on from now on; `None`: unchanged.
    pub plan: Option<PlanId>,
    /// The job that answers. Its config contains no part of the message.
    pub job: NewJob,
    /// Now.
    pub at: Timestamp,
}

/// The placeholder's text when its job ended without an answer. It stays until the job is resumed.
#[must_use]
pub fn unanswered(status: JobStatus, why: Option<&str>, language: Language) -> String {
    match (status, why, language) {
        (JobStatus::Cancelled, _, Language::En) => "This turn was stopped.".to_owned(),
        (JobStatus::Cancelled, _, Language::Zh) => "本轮已被停止。".to_owned(),
        (_, None, Language::En) => "I could not finish this turn.".to_owned(),
        (_, None, Language::Zh) => "本轮未能完成。".to_owned(),
        (_, Some(why), Language::En) => format!("I could not finish this turn: {why}"),
        (_, Some(why), Language::Zh) => format!("本轮未能完成：{why}"),
    }
}

/// A chat session to create.
#[derive(Clone, Debug)]
pub struct NewChat {
    /// Its topic in a few words.
    pub title: String,
    /// The language of its summaries.
    pub language: Language,
}

/// A user's message and the placeholder of its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatTurn {
    /// The chat session.
    pub session: ChatSession,
    /// The user's message.
    pub user: ChatMessage,
    /// The answer, or its placeholder.
    pub assistant: ChatMessage,
}

/// A change that a job makes to a chat session.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatWrite {
    /// Sets the assistant's message, replacing its text.
    Answer {
        /// The message.
        message: i64,
        /// The text.
        content: String,
        /// Its metadata, an object; replaces the previous one.
        metadata: Value,
    },
    /// Sets the plan that the session works on.
    Bind {
        /// The chat session.
        session: ChatId,
        /// The plan; `None` unsets it.
        plan: Option<PlanId>,
    },
}

impl Redact for ChatWrite {
    fn redact(self, wash: &mut RedactionPass<'_>) -> Self {
        match self {
            Self::Answer { message, content, metadata } => {
                Self::Answer { message, content: wash.text(content), metadata: wash.value(metadata) }
            }
            Self::Bind { .. } => self,
        }
    }
}

impl Redact for NewTurn {
    fn redact(self, wash: &mut RedactionPass<'_>) -> Self {
        Self {
            opens: self.opens.map(|chat| NewChat { title: wash.text(chat.title), ..chat }),
            message: wash.text(self.message),
            metadata: wash.value(self.metadata),
            answer_metadata: wash.value(self.answer_metadata),
            ..self
        }
    }
}
