//! Posts a user's message to the assistant.

use super::config;
use super::start::new_job;
use crate::app::App;
use crate::error::ServiceError;
use papertape_assistant::chat::waiting;
use papertape_assistant::language;
use papertape_core::chat::{ChatId, ChatTurn, NewChat, NewTurn};
use papertape_core::id::JobId;
use papertape_core::json::to_value;
use papertape_core::language::Language;
use papertape_core::plan::PlanId;
use papertape_core::ports::{Chats as _, Plans as _, RecordError};
use papertape_core::record::JobKind;
use papertape_redact::Sanitized;
use papertape_runtime::assistant_job::AssistantConfig;
use serde_json::{Map, Value};

/// The maximum length of a message, in characters.
pub const MAX_MESSAGE_CHARS: usize = 20_000;
/// How many characters of the first message become the conversation's title.
const TITLE_CHARS: usize = 60;

/// A user's message.
#[derive(Clone, Debug, Default)]
pub struct NewMessage {
    /// The text.
    pub message: String,
    /// The conversation; `None`: a new one.
    pub session: Option<String>,
    /// The plan that the conversation is about from now on; `None`: unchanged.
    pub plan: Option<i64>,
    /// Additional context for the model: what the user's page displays. Its `confirm` names what is confirmed.
    pub context: Map<String, Value>,
    /// The language of a new conversation, for messages that do not reveal one; `None`: the message's
    /// language, else Chinese.
    pub language: Option<Language>,
}

/// Stores a message together with a placeholder for its answer, and queues the job that answers it.
///
/// # Errors
/// An empty or too long message; no such conversation or plan; a conversation whose last message is still
/// being answered; a model that cannot be called; a database error.
pub async fn post_message(app: &App, new: NewMessage) -> Result<ChatTurn, ServiceError> {
    // Redact before truncating: half a secret is not recognized as one.
    let message = app.services.redactor.redact_text(new.message.trim()).value;
    if message.is_empty() {
        return Err(ServiceError::invalid("message", "it is empty"));
    }
    if message.chars().nth(MAX_MESSAGE_CHARS).is_some() {
        return Err(ServiceError::invalid(
            "message",
            format!("it has more than {MAX_MESSAGE_CHARS} characters"),
        ));
    }
    if message.contains('\0') || has_nul(&Value::Object(new.context.clone())) {
        return Err(ServiceError::invalid("message", "it contains a NUL character"));
    }
    let plan = match new.plan {
        Some(id) => {
            let id = PlanId(id);
            Some(app.store.plan(id).await?.ok_or_else(|| ServiceError::no_plan(id))?.id)
        }
        None => None,
    };
    let (session, opens, default_language) = conversation(app, &new, &message).await?;
    let mut config =
        config(app, language::reply_language(&message, default_language)).map_err(ServiceError::Conflict)?;
    config.session_id = Some(session.clone());
    let id = JobId::new(uuid::Uuid::now_v7().to_string());
    let config: AssistantConfig = config;
    let job = new_job(app, id.clone(), JobKind::ChatAction, to_value(&config), plan);
    let turn = NewTurn {
        session: session.clone(),
        opens,
        message,
        metadata: metadata(new.context),
        answer_metadata: waiting(&id),
        plan,
        job,
        at: app.services.clock.now(),
    };
    let turn = match app.store.ask(Sanitized::of(&app.services.redactor, turn)).await {
        Ok(turn) => turn,
        // The answer depends on the previous one, so that one must be complete.
        Err(RecordError::Busy(job)) => {
            let why = format!("job {job} is still answering the last message of this conversation");
            return Err(ServiceError::Conflict(why));
        }
        Err(error) => return Err(error.into()),
    };
    let turn = turn.ok_or_else(|| ServiceError::no_conversation(session.as_str()))?;
    app.notify_workers();
    Ok(turn)
}

/// The requested conversation, or a new one, with its language.
async fn conversation(
    app: &App,
    new: &NewMessage,
    message: &str,
) -> Result<(ChatId, Option<NewChat>, Language), ServiceError> {
    let Some(id) = &new.session else {
        let language = new.language.unwrap_or_else(|| Language::detect(message));
        let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
        let title: String = line.chars().take(TITLE_CHARS).collect();
        let id = ChatId::new(uuid::Uuid::now_v7().to_string());
        return Ok((id, Some(NewChat { title, language }), language));
    };
    let missing = || ServiceError::no_conversation(id);
    if id.contains('\0') {
        return Err(missing());
    }
    let id = ChatId::new(id);
    let found = papertape_core::ports::Chats::session(&app.store, &id).await?;
    let found = found.ok_or_else(missing)?;
    Ok((id, None, found.language))
}

/// What is stored with the message: the page's context, and what is confirmed.
fn metadata(mut context: Map<String, Value>) -> Value {
    let mut metadata = Map::new();
    if let Some(confirm) = context.remove("confirm") {
        metadata.insert("confirm".to_owned(), confirm);
    }
    if !context.is_empty() {
        metadata.insert("context".to_owned(), Value::Object(context));
    }
    Value::Object(metadata)
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(map) => map.iter().any(|(key, value)| key.contains('\0') || has_nul(value)),
        _ => false,
    }
}
