//! A conversation in rounds: the model responds and requests actions, they are executed, their results are sent
//! back.
//!
//! Round n has the scope `turn#n`: its response is at `turn#n/model#1`, its actions are at `turn#n/action#k` in
//! order. The model's requests decide which actions run; confirmation and limits are enforced here.

pub use crate::action_results::RESULTS;
use crate::action_results::told;
use crate::actions::{ACTIONS, ActionSpec};
use crate::confirm::{Pending, requires_confirmation};
use crate::deletion_preview::{self, Doomed};
use crate::prompt::Prompts;
use crate::protocol::{self, ActionCall, RetryPolicy, unknown};
use futures::future::{BoxFuture, Either, select};
use futures::stream::{FuturesUnordered, StreamExt as _};
use papertape_core::action::{ACTION_KEY, ActionDraft, ActionStatus, Language};
use papertape_core::chat::ChatId;
use papertape_core::message::{
    CallFailure, FinishReason, Message, ModelName, ModelReply, ModelRequest, ResponseSchema, Sampling,
    ToolChoice, ToolSpec,
};
use papertape_core::plan::PlanId;
use papertape_core::ports::ExternalCall;
use papertape_core::tape::{
    ActionBlock, ActionOptions, ActionReply, ActionRequest, CallOptions, Ctx, ScopeKey, SessionStop,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;

/// The server name in the arguments of an action's step.
pub const SERVER: &str = "assistant";

/// Response format requested from a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyFormat {
    /// One JSON object, requested by schema.
    #[default]
    Structured,
    /// Native tool calls.
    Tools,
}

/// The model and how it is called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Speaker {
    /// The model.
    pub model: ModelName,
    /// Its version, if it is a house model.
    pub house_version: Option<u32>,
    /// Its sampling parameters.
    pub sampling: Sampling,
    /// Its response format.
    pub form: ReplyFormat,
    /// The language of its prompts.
    pub language: Language,
}

/// Limits of a conversation; they do not enter any digest.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Max rounds.
    pub rounds: u32,
    /// Options of model calls.
    pub call: CallOptions,
    /// Timeout of one attempt of an action.
    pub action_timeout: Duration,
}

/// A conversation request.
pub struct ConversationRequest<'a> {
    /// The model.
    pub speaker: &'a Speaker,
    /// Its limits.
    pub bounds: Bounds,
    /// The system prompt.
    pub instructions: String,
    /// The history, and the new message.
    pub messages: Vec<Message>,
    /// Which actions may be requested.
    pub allows: fn(&ActionSpec) -> bool,
    /// The user message and plan that it is about.
    pub about: ActionContext,
    /// Whether a user can be asked to confirm. Otherwise, actions that require confirmation are rejected.
    pub may_ask: bool,
    /// Whether it may incur cost after untrusted text was read.
    pub trusted: bool,
    /// Whether untrusted text has already been read.
    pub tainted: bool,
    /// The actions before the first round; numbering in `turn#1/action#k` continues from them.
    pub done: Vec<Done>,
}

/// Context of an action for its rows in the action log.
#[derive(Clone, Debug, Default)]
pub struct ActionContext {
    /// The plan.
    pub plan: Option<PlanId>,
    /// The conversation.
    pub chat: Option<ChatId>,
    /// The user's message.
    pub words: Option<String>,
}

/// An executed action, or why it was not executed.
#[derive(Debug)]
pub struct Done {
    /// The request.
    pub asked: ActionCall,
    /// The result.
    pub result: Result<ActionReply, CallFailure>,
    /// Set if it awaits confirmation.
    pub waits: Option<Pending>,
    /// Whether it may not incur cost, because untrusted text was read and there is no user to confirm.
    pub held_back: bool,
    /// Its final row in the action log.
    pub row: ActionDraft,
}

/// How a conversation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The model requested no more actions.
    Answered,
    /// It requested more, but no round was left.
    OutOfRounds,
    /// Its last response was truncated by its token limit.
    CutShort,
    /// A model call failed permanently.
    Failed(CallFailure),
}

/// A finished conversation.
#[derive(Debug)]
pub struct Held {
    /// How it ended.
    pub ended: Ended,
    /// The model's last message.
    pub message: String,
    /// The actions, in order.
    pub done: Vec<Done>,
    /// Whether untrusted text has been read.
    pub tainted: bool,
    /// The current plan at the end.
    pub plan: Option<PlanId>,
    /// Number of rounds.
    pub rounds: u32,
}

/// Runs a conversation.
///
/// # Errors
/// Returns a stop if the session must stop.
pub async fn hold(ctx: &mut Ctx, mut talk: ConversationRequest<'_>) -> Result<Held, SessionStop> {
    let mut held = Held {
        ended: Ended::OutOfRounds,
        message: String::new(),
        done: std::mem::take(&mut talk.done),
        tainted: talk.tainted,
        plan: talk.about.plan,
        rounds: 0,
    };
    let instructions = ctx.set_system_prompt(&talk.instructions);
    let mut request = talk.request(instructions);
    for round in 1..=talk.bounds.rounds.max(1) {
        held.rounds = round;
        let mut scope = ctx.child(ScopeKey::Node("turn".to_owned(), round))?;
        if round == 1
            && let Some(last) = request.messages.last_mut()
        {
            // The message is recorded as it is sent.
            *last = Message::user(scope.push_user_message(last.content()).await?);
        }
        let reply = match scope.model(&request, talk.bounds.call).await? {
            Ok(reply) => reply,
            Err(failure) => {
                held.ended = Ended::Failed(failure);
                break;
            }
        };
        let read = protocol::read(&reply);
        if !read.message.is_empty() {
            held.message = read.message;
        }
        if read.actions.is_empty() {
            let cut = reply.finish == FinishReason::Length;
            held.ended = if cut { Ended::CutShort } else { Ended::Answered };
            break;
        }
        let from = held.done.len();
        let done = run(&mut scope, &talk, &mut held, read.actions).await?;
        held.done.extend(done);
        request.messages.push(reply.to_message());
        request.messages.extend(told(&reply, &held.done[from..], from));
    }
    Ok(held)
}

/// Executes confirmed actions, one after the other.
///
/// # Errors
/// Returns a stop if the session must stop.
pub async fn confirmed(
    ctx: &mut Ctx,
    about: &mut ActionContext,
    timeout: Duration,
    pending: Vec<Pending>,
) -> Result<Vec<Done>, SessionStop> {
    let mut all = Vec::new();
    for one in pending {
        let asked = ActionCall::confirmed(one);
        let options = options(asked.retry, timeout);
        let (ask, row) = ready(external_call(&asked, about.plan), &asked, about, None, options, all.len());
        let result = ctx.action(ask).await?;
        about.plan = result.as_ref().ok().and_then(|reply| reply.plan).or(about.plan);
        all.push(Done { row: ended(row, &result, false), asked, result, waits: None, held_back: false });
    }
    Ok(all)
}

impl ConversationRequest<'_> {
    fn request(&self, instructions: String) -> ModelRequest {
        let tools = self.speaker.form == ReplyFormat::Tools;
        let specs = ACTIONS.iter().filter(|spec| (self.allows)(spec));
        let tool = |spec: &ActionSpec| ToolSpec {
            name: spec.name.to_owned(),
            description: spec.what.to_owned(),
            parameters: spec.call_schema(),
        };
        ModelRequest {
            model: self.speaker.model.clone(),
            house_version: self.speaker.house_version,
            instructions: Some(instructions),
            messages: self.messages.clone(),
            tools: if tools { specs.map(tool).collect() } else { Vec::new() },
            tool_choice: ToolChoice::Auto,
            response_schema: (!tools)
                .then(|| ResponseSchema { name: "assistant_answer".to_owned(), schema: protocol::schema() }),
            sampling: self.speaker.sampling.clone(),
        }
    }

    /// Decides whether an action is held. A pending action stores its current arguments, including the
    /// conversation's plan, which may be a different one by the time the user replies.
    fn hold(
        &self,
        asked: &ActionCall,
        call: &ExternalCall,
        tainted: bool,
        doomed: Option<&Doomed>,
    ) -> StoredReply {
        let language = self.speaker.language;
        let refused =
            |why: String| StoredReply { hold: Some(ActionBlock::Denied(why)), ..StoredReply::default() };
        if let Some(fault) = &asked.fault {
            return refused(fault.text(language).to_owned());
        }
        let Some(spec) = asked.spec else { return refused(unknown(&asked.name).text(language).to_owned()) };
        if !(self.allows)(spec) {
            return refused(match language {
                Language::En => format!("{}/{} cannot be used here", spec.kind, spec.name),
                Language::Zh => format!("此处不能使用 {}/{}", spec.kind, spec.name),
            });
        }
        let parameters = call.arguments.as_object().unwrap_or(&asked.parameters);
        if !requires_confirmation(spec, parameters, tainted && !self.trusted) {
            return StoredReply::default();
        }
        if !self.may_ask {
            let why = match language {
                Language::En => {
                    "text that others wrote has been read, and nobody can be asked here: work that costs is refused"
                }
                Language::Zh => "已读入他人撰写的文字，且这里没有人可以询问：产生费用的动作被拒绝",
            };
            return StoredReply { held_back: true, ..refused(why.to_owned()) };
        }
        let what = match doomed {
            // Nothing to confirm.
            Some(Err(why)) => return refused(why.clone()),
            Some(Ok(what)) => Some(what.as_str()),
            None => None,
        };
        let pending = Pending::new(spec, parameters, asked.retry, language, what);
        let hold = Some(ActionBlock::AwaitingConfirmation(pending.question.clone()));
        StoredReply { hold, waits: Some(pending), held_back: false }
    }
}

/// Why an action is held, if it is.
#[derive(Default)]
struct StoredReply {
    hold: Option<ActionBlock>,
    waits: Option<Pending>,
    held_back: bool,
}

/// A running action, with its index in the round.
type Running = BoxFuture<'static, (usize, Result<Result<ActionReply, CallFailure>, SessionStop>)>;

/// Executes a round's actions: in order; later ones wait for blocking ones.
async fn run(
    ctx: &mut Ctx,
    talk: &ConversationRequest<'_>,
    held: &mut Held,
    actions: Vec<ActionCall>,
) -> Result<Vec<Done>, SessionStop> {
    let from = held.done.len();
    let tainted = held.tainted;
    let mut beside: FuturesUnordered<Running> = FuturesUnordered::new();
    let mut results: Vec<Option<Result<ActionReply, CallFailure>>> = Vec::new();
    let mut rows = Vec::new();
    let reading = options(RetryPolicy::default(), talk.bounds.action_timeout);
    let doomed = deletion_preview::read(ctx, &actions, reading, talk.speaker.language).await?;
    for (at, asked) in actions.iter().enumerate() {
        let call = external_call(asked, held.plan);
        let StoredReply { hold, waits, held_back } = talk.hold(asked, &call, tainted, doomed.get(&at));
        let about = ActionContext { plan: held.plan, ..talk.about.clone() };
        let options = options(asked.retry, talk.bounds.action_timeout);
        let (ask, row) = ready(call, asked, &about, hold, options, from + at);
        rows.push((row, waits, held_back));
        results.push(None);
        let acting = ctx.action(ask);
        if !asked.blocking {
            beside.push(Box::pin(async move { (at, acting.await) }));
            continue;
        }
        let mut acting = Box::pin(acting);
        let result = loop {
            if beside.is_empty() {
                break acting.await?;
            }
            match select(acting, beside.next()).await {
                Either::Left((result, _)) => break result?,
                Either::Right((ended, still)) => {
                    if let Some((at, ended)) = ended {
                        results[at] = Some(ended?);
                    }
                    acting = still;
                }
            }
        };
        held.plan = result.as_ref().ok().and_then(|reply| reply.plan).or(held.plan);
        results[at] = Some(result);
    }
    while let Some((at, ended)) = beside.next().await {
        results[at] = Some(ended?);
    }
    let mut done = Vec::new();
    for ((asked, result), (row, waits, held_back)) in actions.into_iter().zip(results).zip(rows) {
        let result = result
            .ok_or_else(|| SessionStop::ContractViolation("an action was not waited for".to_owned()))?;
        held.plan = held.plan.or(result.as_ref().ok().and_then(|reply| reply.plan));
        let one = Done { row: ended(row, &result, waits.is_some()), asked, result, waits, held_back };
        held.tainted |= one.brings_text();
        done.push(one);
    }
    Ok(done)
}

/// The call of an action: its arguments, with the conversation's plan if it names none.
fn external_call(asked: &ActionCall, plan: Option<PlanId>) -> ExternalCall {
    let mut arguments = asked.parameters.clone();
    let takes_plan = |spec: &ActionSpec| spec.parameters.iter().any(|parameter| parameter.name == "plan_id");
    if let (Some(plan), Some(spec)) = (plan, asked.spec)
        && takes_plan(spec)
        && spec.name != "delete_plan"
    {
        arguments.entry("plan_id").or_insert_with(|| plan.0.into());
    }
    ExternalCall { server: SERVER.to_owned(), tool: asked.name.clone(), arguments: Value::Object(arguments) }
}

fn ready(
    call: ExternalCall,
    asked: &ActionCall,
    about: &ActionContext,
    hold: Option<ActionBlock>,
    options: ActionOptions,
    at: usize,
) -> (ActionRequest, ActionDraft) {
    let row = ActionDraft {
        plan: about.plan,
        chat_session: about.chat.clone(),
        user_message: about.words.clone(),
        details: Some(json!({ "parameters": call.arguments, "order": at + 1, "blocking": asked.blocking })),
        ..ActionDraft::of(asked.kind, &asked.name, ActionStatus::Running, "")
    };
    (ActionRequest { call, row: Some(row.clone()), hold, options }, row)
}

fn options(retry: RetryPolicy, timeout: Duration) -> ActionOptions {
    ActionOptions { timeout, retries: retry.max_retries, backoff: retry.backoff }
}

/// The row of an ended action, for the reply's summary.
fn ended(row: ActionDraft, result: &Result<ActionReply, CallFailure>, waits: bool) -> ActionDraft {
    let order = row.details.as_ref().map(|details| details["order"].clone());
    let (status, message) = match result {
        Ok(reply) => (ActionStatus::Completed, reply.message.clone()),
        Err(failure) if waits => (ActionStatus::Queued, failure.message.clone()),
        Err(failure) => (ActionStatus::Failed, failure.message.clone()),
    };
    let data = result.as_ref().map_or(&Value::Null, |reply| &reply.data);
    // Only the part that the summary needs.
    let made = json!({ "job_id": data["job_id"], "plan_id": data["plan_id"],
        "plan": { "plan_id": data["plan"]["plan_id"] } });
    let details = Some(json!({ ACTION_KEY: order, "result": made }));
    ActionDraft { status, message: Some(message), details, ..row }
}

/// The description of the actions in a prompt.
#[must_use]
pub fn described(allows: fn(&ActionSpec) -> bool, language: Language) -> Value {
    let parameter = |parameter: &crate::parameters::Parameter| {
        json!({ "name": parameter.name, "form": parameter.form.as_str(), "required": parameter.required,
            "what": parameter.what })
    };
    let action = |spec: &ActionSpec| {
        let what = if language == Language::Zh { spec.what_zh } else { spec.what };
        json!({ "kind": spec.kind, "name": spec.name, "what": what,
            "parameters": spec.parameters.iter().map(parameter).collect::<Vec<_>>() })
    };
    ACTIONS.iter().filter(|spec| allows(spec)).map(action).collect()
}

/// The system prompt with this name.
///
/// # Errors
/// Returns an error if an overridden template uses a value that does not exist.
pub fn instructions(
    prompts: &Prompts,
    name: &str,
    speaker: &Speaker,
    allows: fn(&ActionSpec) -> bool,
) -> Result<String, crate::prompt::PromptError> {
    let tools = speaker.form == ReplyFormat::Tools;
    let values = json!({ "tools": tools, "actions": described(allows, speaker.language) });
    prompts.render(name, speaker.language, values)
}

impl ActionCall {
    /// The request of an action that a user has confirmed.
    fn confirmed(pending: Pending) -> Self {
        let Pending { name, parameters, retry_policy, .. } = pending;
        let whole = json!({ "actions": [{ "name": name, "parameters": parameters,
            "retry_policy": retry_policy }] });
        let reply = ModelReply { text: whole.to_string(), ..ModelReply::default() };
        protocol::read(&reply).actions.pop().unwrap_or_else(|| Self::none(&name))
    }
}
