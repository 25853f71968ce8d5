//! Replies to a user message: one turn of a conversation.

use crate::action_results::{ExecutedAction, results_as_data};
use crate::actions::ActionSpec;
use crate::calls::{TURN, request};
use crate::confirm::{self, Pending};
use crate::conversation::{
    ActionContext, ConversationEnd, ConversationOutcome, ConversationRequest, execute_confirmed,
    instructions, run_conversation,
};
use crate::prompt::Prompts;
use crate::settings::Settings;
use crate::summary::paragraph;
use papertape_core::action::{ActionDraft, ActionSummary, summarize};
use papertape_core::chat::{ChatId, unanswered};
use papertape_core::fence::{Author, fence};
use papertape_core::id::JobId;
use papertape_core::json::to_value;
use papertape_core::language::Language;
use papertape_core::message::Message;
use papertape_core::plan::PlanId;
use papertape_core::record::JobStatus;
use papertape_core::tape::{Ctx, ScopeKey, SessionStop};
use serde::Deserialize;
use serde_json::{Value, json};

/// Max characters of an earlier message in a prompt.
const PAST_CHARS: usize = 4_000;
/// Max characters of page context in a prompt.
const MAX_CONTEXT_CHARS: usize = 20_000;
/// Max characters of the user's message in a row of the action log.
const MAX_LOGGED_CHARS: usize = 500;
/// `metadata.type` of a message whose text comes from a job.
pub const JOB_LOG: &str = "job_log";

/// A reply, ready to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The conversation.
    pub session: ChatId,
    /// The placeholder message that it fills.
    pub message: i64,
    /// Its text.
    pub content: String,
    /// `type`, `job_id`, `actions_summary`, `pending`, `error`.
    pub metadata: Value,
    /// The conversation's current plan.
    pub plan: Option<PlanId>,
    /// Why the job produced no regular reply; `None` if it did.
    pub error: Option<String>,
}

/// Replies to the message for which the job was created.
///
/// # Errors
/// Returns a stop if the session must stop; the inner error is the reason why there is no message.
pub async fn answer(
    ctx: &mut Ctx,
    job: &JobId,
    settings: &Settings,
    prompts: &Prompts,
) -> Result<Result<Answer, String>, SessionStop> {
    let turn = match turn(ctx, settings).await? {
        Ok(turn) => turn,
        Err(why) => return Ok(Err(why)),
    };
    let words = &turn.user.content;
    let mut context = ActionContext {
        plan: turn.session.plan_id,
        chat: Some(turn.session.id.clone()),
        user_message: Some(words.chars().take(MAX_LOGGED_CHARS).collect()),
    };
    let pending = turn.history.iter().rev().find(|past| past.is_assistant()).map(TurnMessage::pending);
    let ids: Vec<String> = serde_json::from_value(turn.user.metadata["confirm"].clone()).unwrap_or_default();
    let pending = confirm::confirmed(pending.unwrap_or_default(), words, &ids);
    let mut scope = ctx.child(ScopeKey::node("confirmed"))?;
    let limits = settings.conversation_limits();
    let actions = execute_confirmed(&mut scope, &mut context, limits.action_timeout, pending).await?;

    let model = &settings.model;
    let results: Vec<Value> = actions.iter().zip(1..).map(|(one, order)| one.result_json(order)).collect();
    let values = json!({
        "agents": settings.agents,
        "datasets": settings.datasets,
        "plan": context.plan,
        "context": Some(&turn.user.metadata["context"]).filter(|context| !context.is_null())
            .map(|context| fence(Author::Outside, "the user's page", &context.to_string(), MAX_CONTEXT_CHARS)),
        "confirmed": (!results.is_empty()).then(|| results_as_data(&Value::Array(results))),
        "message": words,
    });
    let instructions = instructions(prompts, "chat", model, any);
    let opening = prompts.render("message", model.language, values);
    let (instructions, opening) = match (instructions, opening) {
        (Ok(instructions), Ok(opening)) => (instructions, opening),
        (Err(error), _) | (_, Err(error)) => {
            return Ok(Ok(turn.failed(job, &error.to_string(), model.language)));
        }
    };
    let mut messages: Vec<Message> = turn.history.iter().filter_map(TurnMessage::to_message).collect();
    messages.push(Message::user(opening));
    let outcome = run_conversation(
        ctx,
        ConversationRequest {
            model,
            limits,
            instructions,
            messages,
            allows: any,
            context,
            can_confirm: true,
            trusted: false,
            tainted: actions.iter().any(ExecutedAction::has_untrusted_text),
            actions,
        },
    )
    .await?;
    Ok(Ok(turn.answered(job, &outcome, settings)))
}

fn any(_: &ActionSpec) -> bool {
    true
}

/// A turn as read.
#[derive(Debug, Deserialize)]
struct Turn {
    session: Session,
    user: TurnMessage,
    assistant: TurnMessage,
    #[serde(skip)]
    history: Vec<TurnMessage>,
}

#[derive(Debug, Deserialize)]
struct Session {
    id: ChatId,
    plan_id: Option<PlanId>,
}

/// A message as read.
#[derive(Debug, Deserialize)]
struct TurnMessage {
    id: i64,
    role: papertape_core::chat::ChatRole,
    content: String,
    metadata: Value,
}

impl TurnMessage {
    fn is_assistant(&self) -> bool {
        self.role == papertape_core::chat::ChatRole::Assistant
    }

    fn pending(&self) -> Vec<Pending> {
        serde_json::from_value(self.metadata["pending"].clone()).unwrap_or_default()
    }

    /// The message in the form for the model; `None` if it is empty because no reply was ever stored.
    fn to_message(&self) -> Option<Message> {
        // Without the summary paragraph, which is for people.
        let words = self.metadata["reply"].as_str().unwrap_or(&self.content);
        let content: String = words.chars().take(PAST_CHARS).collect();
        if content.trim().is_empty() {
            return None;
        }
        Some(if self.is_assistant() {
            Message::Assistant { content, tool_calls: Vec::new(), provider: None }
        } else {
            Message::user(content)
        })
    }
}

/// Reads the turn. The result is recorded, so that a resumed turn reads the same.
async fn turn(ctx: &mut Ctx, settings: &Settings) -> Result<Result<Turn, String>, SessionStop> {
    let mut scope = ctx.child(ScopeKey::node("start"))?;
    let mut data = match scope.action(request(TURN, json!({}), settings.once())).await? {
        Ok(reply) => reply.data,
        Err(failure) => return Ok(Err(failure.to_string())),
    };
    let unreadable = |error: serde_json::Error| format!("the message cannot be parsed: {error}");
    let history = serde_json::from_value(data["history"].take()).map_err(unreadable);
    let turn = serde_json::from_value::<Turn>(data["turn"].take()).map_err(unreadable);
    Ok(turn.and_then(|turn| Ok(Turn { history: history?, ..turn })))
}

impl Turn {
    fn answered(&self, job: &JobId, outcome: &ConversationOutcome, settings: &Settings) -> Answer {
        let language = settings.model.language;
        let rows = outcome.actions.iter().map(|one| &one.row);
        let summary: Vec<ActionSummary> = summarize(rows.collect::<Vec<&ActionDraft>>(), language);
        // An action requested in two rounds needs only one confirmation.
        let mut pending: Vec<&Pending> = Vec::new();
        for one in outcome.actions.iter().filter_map(|one| one.pending.as_ref()) {
            if pending.iter().all(|known| known.id != one.id) {
                pending.push(one);
            }
        }
        let (note, error) = note(&outcome.ended, language);
        let mut reply = outcome.message.clone();
        // Add our own questions: the model may forget to ask.
        let questions = pending.iter().map(|one| one.question.clone());
        for line in note.into_iter().chain(questions) {
            if !reply.contains(&line) {
                reply = [reply.as_str(), line.as_str()].join("\n\n").trim().to_owned();
            }
        }
        let paragraph = paragraph(&summary, language).filter(|_| settings.include_action_summary);
        let content = match &paragraph {
            Some(paragraph) => [reply.as_str(), paragraph].join("\n\n").trim().to_owned(),
            None => reply.clone(),
        };
        let metadata = json!({
            "type": JOB_LOG,
            "job_id": job,
            "reply": reply,
            "actions_summary": summary,
            "pending": pending,
            "rounds": outcome.rounds,
            "error": error,
        });
        let session = self.session.id.clone();
        Answer { session, message: self.assistant.id, content, metadata, plan: outcome.plan, error }
    }

    fn failed(&self, job: &JobId, why: &str, language: Language) -> Answer {
        Answer {
            session: self.session.id.clone(),
            message: self.assistant.id,
            content: unanswered(JobStatus::Failed, Some(why), language),
            metadata: json!({ "type": JOB_LOG, "job_id": job, "actions_summary": [], "error": why }),
            plan: self.session.plan_id,
            error: Some(why.to_owned()),
        }
    }
}

/// The notice for an end that is not the model's choice, and the error if the turn has failed.
fn note(ended: &ConversationEnd, language: Language) -> (Option<String>, Option<String>) {
    match (ended, language) {
        (ConversationEnd::Answered, _) => (None, None),
        (ConversationEnd::OutOfRounds, Language::En) => {
            (Some("I have used all the rounds of this turn; say “continue” to continue.".to_owned()), None)
        }
        (ConversationEnd::OutOfRounds, Language::Zh) => {
            (Some("本轮的步数已用完；请回复“继续”。".to_owned()), None)
        }
        (ConversationEnd::Truncated, Language::En) => {
            (Some("(The answer was truncated at its token limit.)".to_owned()), None)
        }
        (ConversationEnd::Truncated, Language::Zh) => (Some("（回答因长度限制被截断。）".to_owned()), None),
        (ConversationEnd::Failed(failure), language) => {
            let why = failure.to_string();
            (Some(unanswered(JobStatus::Failed, Some(&why), language)), Some(why))
        }
    }
}

/// The metadata of a reply's placeholder until it is filled.
#[must_use]
pub fn waiting(job: &JobId) -> Value {
    json!({ "type": JOB_LOG, "job_id": to_value(job) })
}
