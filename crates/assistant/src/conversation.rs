//! A conversation in rounds: the model responds and requests actions, they are executed, their results are sent
//! back.
//!
//! Round n has the scope `turn#n`: its response is at `turn#n/model#1`, its actions are at `turn#n/action#k` in
//! order. The model's requests decide which actions run; confirmation and limits are enforced here.

use crate::action_results::{ExecutedAction, result_messages};
use crate::actions::{ACTIONS, ActionSpec};
use crate::calls::{CallResult, call};
use crate::confirm::{Pending, requires_confirmation};
use crate::deletion_preview::{self, DeletionPreview};
use crate::prompt::Prompts;
use crate::protocol::{self, ActionCall, RetryPolicy, unknown};
use crate::settings::{ConversationLimits, ModelSettings, ReplyFormat};
use futures::future::{BoxFuture, Either, select};
use futures::stream::{FuturesUnordered, StreamExt as _};
use papertape_core::action::{ACTION_KEY, ActionDraft, ActionStatus};
use papertape_core::chat::ChatId;
use papertape_core::language::Language;
use papertape_core::message::{
    CallFailure, FinishReason, Message, ModelReply, ModelRequest, ResponseSchema, ToolChoice, ToolSpec,
};
use papertape_core::plan::PlanId;
use papertape_core::ports::ExternalCall;
use papertape_core::tape::{
    ActionBlock, ActionOptions, ActionReply, ActionRequest, Ctx, ScopeKey, SessionStop,
};
use serde_json::{Value, json};
use std::time::Duration;

/// A conversation request.
pub(crate) struct ConversationRequest<'a> {
    /// The model.
    pub(crate) model: &'a ModelSettings,
    /// Its limits.
    pub(crate) limits: ConversationLimits,
    /// The system prompt.
    pub(crate) instructions: String,
    /// The history, and the new message.
    pub(crate) messages: Vec<Message>,
    /// Which actions may be requested.
    pub(crate) allows: fn(&ActionSpec) -> bool,
    /// The user message and the plan.
    pub(crate) context: ActionContext,
    /// Whether a user can be asked to confirm. Otherwise, actions that require confirmation are rejected.
    pub(crate) can_confirm: bool,
    /// Whether it may incur cost after untrusted text was read.
    pub(crate) trusted: bool,
    /// Whether untrusted text has already been read.
    pub(crate) tainted: bool,
    /// The actions executed before the first round; numbering in `turn#1/action#k` continues from them.
    pub(crate) actions: Vec<ExecutedAction>,
}

/// Context of an action for its rows in the action log.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActionContext {
    /// The plan.
    pub(crate) plan: Option<PlanId>,
    /// The conversation.
    pub(crate) chat: Option<ChatId>,
    /// The user's message, or the task's name.
    pub(crate) user_message: Option<String>,
}

/// How a conversation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConversationEnd {
    /// The model requested no more actions.
    Answered,
    /// It requested more, but no round was left.
    OutOfRounds,
    /// Its last response was truncated by its token limit.
    Truncated,
    /// A model call failed permanently.
    Failed(CallFailure),
}

/// A finished conversation.
#[derive(Debug)]
pub(crate) struct ConversationOutcome {
    /// How it ended.
    pub(crate) ended: ConversationEnd,
    /// The model's last message.
    pub(crate) message: String,
    /// The actions, in order.
    pub(crate) actions: Vec<ExecutedAction>,
    /// Whether untrusted text has been read.
    pub(crate) tainted: bool,
    /// The current plan at the end.
    pub(crate) plan: Option<PlanId>,
    /// Number of rounds.
    pub(crate) rounds: u32,
}

/// Runs a conversation.
///
/// # Errors
/// Returns a stop if the session must stop.
pub(crate) async fn run_conversation(
    ctx: &mut Ctx,
    mut conversation: ConversationRequest<'_>,
) -> Result<ConversationOutcome, SessionStop> {
    let mut outcome = ConversationOutcome {
        ended: ConversationEnd::OutOfRounds,
        message: String::new(),
        actions: std::mem::take(&mut conversation.actions),
        tainted: conversation.tainted,
        plan: conversation.context.plan,
        rounds: 0,
    };
    let instructions = ctx.set_system_prompt(&conversation.instructions);
    let mut request = conversation.request(instructions);
    for round in 1..=conversation.limits.max_rounds.max(1) {
        outcome.rounds = round;
        let mut scope = ctx.child(ScopeKey::Node("turn".to_owned(), round))?;
        if round == 1
            && let Some(last) = request.messages.last_mut()
        {
            // The message is recorded as it is sent.
            *last = Message::user(scope.push_user_message(last.content()).await?);
        }
        let reply = match scope.model(&request, conversation.limits.call).await? {
            Ok(reply) => reply,
            Err(failure) => {
                outcome.ended = ConversationEnd::Failed(failure);
                break;
            }
        };
        let read = protocol::read(&reply);
        if !read.message.is_empty() {
            outcome.message = read.message;
        }
        if read.actions.is_empty() {
            let cut = reply.finish == FinishReason::Length;
            outcome.ended = if cut { ConversationEnd::Truncated } else { ConversationEnd::Answered };
            break;
        }
        let from = outcome.actions.len();
        let executed = execute_round(&mut scope, &conversation, &mut outcome, read.actions).await?;
        outcome.actions.extend(executed);
        request.messages.push(reply.to_message());
        request.messages.extend(result_messages(&reply, &outcome.actions[from..], from));
    }
    Ok(outcome)
}

/// Executes confirmed actions, one after the other.
///
/// # Errors
/// Returns a stop if the session must stop.
pub(crate) async fn execute_confirmed(
    ctx: &mut Ctx,
    context: &mut ActionContext,
    timeout: Duration,
    pending: Vec<Pending>,
) -> Result<Vec<ExecutedAction>, SessionStop> {
    let mut executed = Vec::new();
    for one in pending {
        let action = ActionCall::confirmed(one);
        let call = external_call(&action, context.plan);
        let (request, row) = action_request(call, &action, context, None, timeout, executed.len());
        let result = ctx.action(request).await?;
        context.plan = result.as_ref().ok().and_then(|reply| reply.plan).or(context.plan);
        let row = final_row(row, &result, false);
        executed.push(ExecutedAction { row, call: action, result, pending: None, held_back: false });
    }
    Ok(executed)
}

impl ConversationRequest<'_> {
    fn request(&self, instructions: String) -> ModelRequest {
        let tools = self.model.reply_format == ReplyFormat::Tools;
        let specs = ACTIONS.iter().filter(|spec| (self.allows)(spec));
        let tool = |spec: &ActionSpec| ToolSpec {
            name: spec.name.to_owned(),
            description: spec.description.to_owned(),
            parameters: spec.call_schema(),
        };
        ModelRequest {
            model: self.model.model.clone(),
            house_version: self.model.house_version,
            instructions: Some(instructions),
            messages: self.messages.clone(),
            tools: if tools { specs.map(tool).collect() } else { Vec::new() },
            tool_choice: ToolChoice::Auto,
            response_schema: (!tools)
                .then(|| ResponseSchema { name: "assistant_answer".to_owned(), schema: protocol::schema() }),
            sampling: self.model.sampling.clone(),
        }
    }

    /// Decides whether an action is held. A pending action stores its current arguments, including the
    /// conversation's plan, which may be a different one by the time the user replies.
    fn hold_decision(
        &self,
        action: &ActionCall,
        call: &ExternalCall,
        tainted: bool,
        preview: Option<&DeletionPreview>,
    ) -> HoldDecision {
        let language = self.model.language;
        let denied =
            |why: String| HoldDecision { hold: Some(ActionBlock::Denied(why)), ..HoldDecision::default() };
        if let Some(fault) = &action.fault {
            return denied(fault.text(language).to_owned());
        }
        let Some(spec) = action.spec else { return denied(unknown(&action.name).text(language).to_owned()) };
        if !(self.allows)(spec) {
            return denied(match language {
                Language::En => format!("{}/{} cannot be used here", spec.kind, spec.name),
                Language::Zh => format!("此处不能使用 {}/{}", spec.kind, spec.name),
            });
        }
        let parameters = call.arguments.as_object().unwrap_or(&action.parameters);
        if !requires_confirmation(spec, parameters, tainted && !self.trusted) {
            return HoldDecision::default();
        }
        if !self.can_confirm {
            let why = match language {
                Language::En => {
                    "text written by others has been read, and there is no user to ask here: actions that incur costs are rejected"
                }
                Language::Zh => "已读入他人撰写的文字，且这里没有人可以询问：产生费用的动作被拒绝",
            };
            return HoldDecision { held_back: true, ..denied(why.to_owned()) };
        }
        let affected = match preview {
            // Nothing to confirm.
            Some(Err(why)) => return denied(why.clone()),
            Some(Ok(affected)) => Some(affected.as_str()),
            None => None,
        };
        let pending = Pending::new(spec, parameters, action.retry, language, affected);
        let hold = Some(ActionBlock::AwaitingConfirmation(pending.question.clone()));
        HoldDecision { hold, pending: Some(pending), held_back: false }
    }
}

/// Whether an action is held, and why.
#[derive(Default)]
struct HoldDecision {
    hold: Option<ActionBlock>,
    pending: Option<Pending>,
    held_back: bool,
}

/// A running action, with its index in the round.
type Running = BoxFuture<'static, (usize, Result<CallResult<ActionReply>, SessionStop>)>;

/// Executes a round's actions in order; later ones wait for blocking ones.
async fn execute_round(
    ctx: &mut Ctx,
    conversation: &ConversationRequest<'_>,
    outcome: &mut ConversationOutcome,
    actions: Vec<ActionCall>,
) -> Result<Vec<ExecutedAction>, SessionStop> {
    let from = outcome.actions.len();
    let tainted = outcome.tainted;
    let mut concurrent: FuturesUnordered<Running> = FuturesUnordered::new();
    let mut results: Vec<Option<CallResult<ActionReply>>> = Vec::new();
    let mut rows = Vec::new();
    let timeout = conversation.limits.action_timeout;
    let reading = options(RetryPolicy::default(), timeout);
    let previews = deletion_preview::read(ctx, &actions, reading, conversation.model.language).await?;
    for (at, action) in actions.iter().enumerate() {
        let call = external_call(action, outcome.plan);
        let decision = conversation.hold_decision(action, &call, tainted, previews.get(&at));
        let HoldDecision { hold, pending, held_back } = decision;
        let context = ActionContext { plan: outcome.plan, ..conversation.context.clone() };
        let (request, row) = action_request(call, action, &context, hold, timeout, from + at);
        rows.push((row, pending, held_back));
        results.push(None);
        let running = ctx.action(request);
        if !action.blocking {
            concurrent.push(Box::pin(async move { (at, running.await) }));
            continue;
        }
        let mut running = Box::pin(running);
        let result = loop {
            if concurrent.is_empty() {
                break running.await?;
            }
            match select(running, concurrent.next()).await {
                Either::Left((result, _)) => break result?,
                Either::Right((finished, still)) => {
                    if let Some((at, result)) = finished {
                        results[at] = Some(result?);
                    }
                    running = still;
                }
            }
        };
        outcome.plan = result.as_ref().ok().and_then(|reply| reply.plan).or(outcome.plan);
        results[at] = Some(result);
    }
    while let Some((at, result)) = concurrent.next().await {
        results[at] = Some(result?);
    }
    let mut executed = Vec::new();
    for ((call, result), (row, pending, held_back)) in actions.into_iter().zip(results).zip(rows) {
        let result = result
            .ok_or_else(|| SessionStop::ContractViolation("an action was not waited for".to_owned()))?;
        outcome.plan = outcome.plan.or(result.as_ref().ok().and_then(|reply| reply.plan));
        let row = final_row(row, &result, pending.is_some());
        let action = ExecutedAction { row, call, result, pending, held_back };
        outcome.tainted |= action.has_untrusted_text();
        executed.push(action);
    }
    Ok(executed)
}

/// The call of an action: its arguments, with the conversation's plan if it names none.
fn external_call(action: &ActionCall, plan: Option<PlanId>) -> ExternalCall {
    let mut arguments = action.parameters.clone();
    let takes_plan = |spec: &ActionSpec| spec.parameters.iter().any(|parameter| parameter.name == "plan_id");
    if let (Some(plan), Some(spec)) = (plan, action.spec)
        && takes_plan(spec)
        && spec.name != "delete_plan"
    {
        arguments.entry("plan_id").or_insert_with(|| plan.0.into());
    }
    call(&action.name, Value::Object(arguments))
}

/// The request of an action, and its first row in the action log.
fn action_request(
    call: ExternalCall,
    action: &ActionCall,
    context: &ActionContext,
    hold: Option<ActionBlock>,
    timeout: Duration,
    at: usize,
) -> (ActionRequest, ActionDraft) {
    let row = ActionDraft {
        plan: context.plan,
        chat_session: context.chat.clone(),
        user_message: context.user_message.clone(),
        details: Some(json!({ "parameters": call.arguments, "order": at + 1, "blocking": action.blocking })),
        ..ActionDraft::of(action.kind, &action.name, ActionStatus::Running, "")
    };
    let options = options(action.retry, timeout);
    (ActionRequest { call, row: Some(row.clone()), hold, options }, row)
}

fn options(retry: RetryPolicy, timeout: Duration) -> ActionOptions {
    ActionOptions { timeout, retries: retry.max_retries, backoff: retry.backoff }
}

/// The row of an ended action, for the reply's summary.
fn final_row(row: ActionDraft, result: &CallResult<ActionReply>, is_pending: bool) -> ActionDraft {
    let order = row.details.as_ref().map(|details| details["order"].clone());
    let (status, message) = match result {
        Ok(reply) => (ActionStatus::Completed, reply.message.clone()),
        Err(failure) if is_pending => (ActionStatus::Queued, failure.message.clone()),
        Err(failure) => (ActionStatus::Failed, failure.message.clone()),
    };
    let data = result.as_ref().map_or(&Value::Null, |reply| &reply.data);
    // Only the part that the summary needs.
    let ids = json!({ "job_id": data["job_id"], "plan_id": data["plan_id"],
        "plan": { "plan_id": data["plan"]["plan_id"] } });
    let details = Some(json!({ ACTION_KEY: order, "result": ids }));
    ActionDraft { status, message: Some(message), details, ..row }
}

/// The description of the actions in a prompt.
fn describe_actions(allows: fn(&ActionSpec) -> bool, language: Language) -> Value {
    let parameter = |parameter: &crate::parameters::Parameter| {
        json!({ "name": parameter.name, "form": parameter.param_type.as_str(), "required": parameter.required,
            "what": parameter.description })
    };
    let action = |spec: &ActionSpec| {
        let what = if language == Language::Zh { spec.description_zh } else { spec.description };
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
    model: &ModelSettings,
    allows: fn(&ActionSpec) -> bool,
) -> Result<String, crate::prompt::PromptError> {
    let tools = model.reply_format == ReplyFormat::Tools;
    let values = json!({ "tools": tools, "actions": describe_actions(allows, model.language) });
    prompts.render(name, model.language, values)
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
