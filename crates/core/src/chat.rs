//! Conversations with the assistant.

use crate::action::Language;
use crate::id::JobId;
use crate::plan::PlanId;
use crate::record::{JobStatus, NewJob, words};
use crate::time::Timestamp;
use papertape_redact::{Redact, Wash};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

crate::id::text_id!(
    /// A conversation's id: a UUID in its usual text form.
    ChatId
);

/// The most characters of a message.
pub const MOST_MESSAGE_CHARS: usize = 100_000;

/// A conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChatSession {
    /// Its id.
    pub id: ChatId,
    /// What it is about, in a few words.
    pub title: String,
    /// The language of its summaries.
    pub language: Language,
    /// The plan that it works on.
    pub plan_id: Option<PlanId>,
    /// When it began.
    pub created_at: Timestamp,
    /// When something was last said in it.
    pub updated_at: Timestamp,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The person.
    User,
    /// The assistant.
    Assistant,
}

words!(Speaker { User = "user", Assistant = "assistant" });

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChatMessage {
    /// Its id.
    pub id: i64,
    /// The conversation.
    pub session_id: ChatId,
    /// Its number there, from 1, without gaps.
    pub n: i64,
    /// Who speaks.
    pub role: Speaker,
    /// What is said; empty until the assistant has answered.
    pub content: String,
    /// More, for programs, an object: `type`, `job_id`, `actions_summary`.
    pub metadata: Value,
    /// The job that answers, or has answered.
    pub job_id: Option<JobId>,
    /// When it was written.
    pub created_at: Timestamp,
}

/// What a person says, with the place for the answer and the job that will fill it.
#[derive(Clone, Debug)]
pub struct NewTurn {
    /// The conversation.
    pub session: ChatId,
    /// Where the conversation is to begin: what it is. `None`: it must be there.
    pub opens: Option<NewChat>,
    /// What is said.
    pub message: String,
    /// More of what is said, for programs, an object.
    pub metadata: Value,
    /// What the answer's place says until it is filled, an object.
    pub answer_metadata: Value,
    /// The plan that the conversation works on from now on; `None`: as before.
    pub plan: Option<PlanId>,
    /// The job that answers. Its config holds no word of the message.
    pub job: NewJob,
    /// Now.
    pub at: Timestamp,
}

/// What stands in the place of an answer that will not come, unless its job is taken up again.
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

/// A conversation about to begin.
#[derive(Clone, Debug)]
pub struct NewChat {
    /// What it is about, in a few words.
    pub title: String,
    /// The language of its summaries.
    pub language: Language,
}

/// A question and the place of its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatTurn {
    /// The conversation.
    pub session: ChatSession,
    /// The question.
    pub user: ChatMessage,
    /// The answer, or its place.
    pub assistant: ChatMessage,
}

/// A change to a conversation that a job makes.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatWrite {
    /// The assistant's message gets its words, in place of what it had.
    Answer {
        /// The message.
        message: i64,
        /// What is said.
        content: String,
        /// More, an object; takes the place of what was there.
        metadata: Value,
    },
    /// The conversation works on this plan from now on.
    Bind {
        /// The conversation.
        session: ChatId,
        /// The plan; `None`: on none.
        plan: Option<PlanId>,
    },
}

impl Redact for ChatWrite {
    fn redact(self, wash: &mut Wash<'_>) -> Self {
        match self {
            Self::Answer { message, content, metadata } => {
                Self::Answer { message, content: wash.text(content), metadata: wash.value(metadata) }
            }
            Self::Bind { .. } => self,
        }
    }
}

impl Redact for NewTurn {
    fn redact(self, wash: &mut Wash<'_>) -> Self {
        Self {
            opens: self.opens.map(|chat| NewChat { title: wash.text(chat.title), ..chat }),
            message: wash.text(self.message),
            metadata: wash.value(self.metadata),
            answer_metadata: wash.value(self.answer_metadata),
            ..self
        }
    }
}
