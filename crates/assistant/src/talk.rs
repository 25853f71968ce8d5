//! A conversation in rounds: the model speaks and asks for actions, they are done, their results go back.
//!
//! Round n stands in the scope `turn#n`: its answer at `turn#n/model#1`, its actions at `turn#n/action#k` in
//! their order. What the model asked for decides which are done; a person's confirmation and the bounds are
//! held here.

use crate::confirm::{Pending, asks_first};
use crate::doomed::{self, Doomed};
use crate::prompt::Prompts;
use crate::protocol::{self, Asked, RetryPolicy, unknown};
use crate::table::{ACTIONS, ActionSpec};
pub use crate::told::RESULTS;
use crate::told::told;
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
use papertape_core::tape::{ActionAsk, ActionHold, ActionOptions, ActionReply, CallOptions, Ctx, Key, Stop};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;

/// Who does an action, in the arguments of its step.
pub const SERVER: &str = "assistant";

/// How a model is asked to answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// One JSON object, asked for by its schema.
    #[default]
    Structured,
    /// Native tool calls.
    Tools,
}

/// Who speaks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Speaker {
    /// The model.
    pub model: ModelName,
    /// Its version, where it is a house model.
    pub house_version: Option<u32>,
    /// How its words are drawn.
    pub sampling: Sampling,
    /// How it is asked to answer.
    pub form: Form,
    /// The language of its prompts.
    pub language: Language,
}

/// What bounds a conversation; nothing of it reaches a digest.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The most rounds.
    pub rounds: u32,
    /// How calls to the model are made.
    pub call: CallOptions,
    /// How long one attempt at an action may take.
    pub action_timeout: Duration,
}

/// A conversation about to be held.
pub struct Talk<'a> {
    /// Who speaks.
    pub speaker: &'a Speaker,
    /// What bounds it.
    pub bounds: Bounds,
    /// The system prompt.
    pub instructions: String,
    /// What was said before, and the question.
    pub messages: Vec<Message>,
    /// May this be asked for?
    pub allows: fn(&ActionSpec) -> bool,
    /// Whose words and plan it is about.
    pub about: About,
    /// Can a person be asked? Otherwise what needs that is refused.
    pub may_ask: bool,
    /// May it spend after text of others was read?
    pub trusted: bool,
    /// Has text of others been read already?
    pub tainted: bool,
    /// How many actions there were before the first round; `turn#1/action#k` goes on from them.
    pub done: Vec<Done>,
}

/// What the rows of the action log say of where an action comes from.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The plan.
    pub plan: Option<PlanId>,
    /// The conversation.
    pub chat: Option<ChatId>,
    /// The person's words.
    pub words: Option<String>,
}

/// An action that was done, or why it was not.
#[derive(Debug)]
pub struct Done {
    /// What was asked for.
    pub asked: Asked,
    /// What came of it.
    pub result: Result<ActionReply, CallFailure>,
    /// It waits for a person's word.
    pub waits: Option<Pending>,
    /// It may not spend, for text of others has been read and nobody can be asked.
    pub held_back: bool,
    /// Its row in the action log, as it ended.
    pub row: ActionDraft,
}

/// How a conversation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The model had nothing more to do.
    Answered,
    /// It had, but no round was left.
    OutOfRounds,
    /// Its last answer was cut short by its limit of tokens.
    CutShort,
    /// A call of the model failed for good.
    Failed(CallFailure),
}

/// A conversation that was held.
#[derive(Debug)]
pub struct Held {
    /// How it ended.
    pub ended: Ended,
    /// The last thing that the model said.
    pub message: String,
    /// What was done, in order.
    pub done: Vec<Done>,
    /// Has text of others been read?
    pub tainted: bool,
    /// The plan that it came to be about.
    pub plan: Option<PlanId>,
    /// How many rounds it took.
    pub rounds: u32,
}

/// Holds a conversation.
///
/// # Errors
/// A stop.
pub async fn hold(ctx: &mut Ctx, mut talk: Talk<'_>) -> Result<Held, Stop> {
    let mut held = Held {
        ended: Ended::OutOfRounds,
        message: String::new(),
        done: std::mem::take(&mut talk.done),
        tainted: talk.tainted,
        plan: talk.about.plan,
        rounds: 0,
    };
    let instructions = ctx.instruct(&talk.instructions);
    let mut request = talk.request(instructions);
    for round in 1..=talk.bounds.rounds.max(1) {
        held.rounds = round;
        let mut scope = ctx.child(Key::Node("turn".to_owned(), round))?;
        if round == 1
            && let Some(last) = request.messages.last_mut()
        {
            // The question is kept as it is asked.
            *last = Message::user(scope.say(last.content()).await?);
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

/// Does what was confirmed, one after the other.
///
/// # Errors
/// A stop.
pub async fn confirmed(
    ctx: &mut Ctx,
    about: &mut About,
    timeout: Duration,
    pending: Vec<Pending>,
) -> Result<Vec<Done>, Stop> {
    let mut all = Vec::new();
    for one in pending {
        let asked = Asked::confirmed(one);
        let options = options(asked.retry, timeout);
        let (ask, row) = ready(asked_call(&asked, about.plan), &asked, about, None, options, all.len());
        let result = ctx.action(ask).await?;
        about.plan = result.as_ref().ok().and_then(|reply| reply.plan).or(about.plan);
        all.push(Done { row: ended(row, &result, false), asked, result, waits: None, held_back: false });
    }
    Ok(all)
}

impl Talk<'_> {
    fn request(&self, instructions: String) -> ModelRequest {
        let tools = self.speaker.form == Form::Tools;
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

    /// What keeps an action from being done. What waits keeps the arguments as they are now, the
    /// conversation's plan among them: that plan may be another one when the person has answered.
    fn hold(&self, asked: &Asked, call: &ExternalCall, tainted: bool, doomed: Option<&Doomed>) -> Kept {
        let language = self.speaker.language;
        let refused = |why: String| Kept { hold: Some(ActionHold::Refused(why)), ..Kept::default() };
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
        if !asks_first(spec, parameters, tainted && !self.trusted) {
            return Kept::default();
        }
        if !self.may_ask {
            let why = match language {
                Language::En => {
                    "text that others wrote has been read, and nobody can be asked here: work that costs is refused"
                }
                Language::Zh => "已读入他人撰写的文字，且这里没有人可以询问：产生费用的动作被拒绝",
            };
            return Kept { held_back: true, ..refused(why.to_owned()) };
        }
        let what = match doomed {
            // There is nothing to ask about.
            Some(Err(why)) => return refused(why.clone()),
            Some(Ok(what)) => Some(what.as_str()),
            None => None,
        };
        let pending = Pending::new(spec, parameters, asked.retry, language, what);
        let hold = Some(ActionHold::Waits(pending.question.clone()));
        Kept { hold, waits: Some(pending), held_back: false }
    }
}

/// What keeps an action from being done, if anything.
#[derive(Default)]
struct Kept {
    hold: Option<ActionHold>,
    waits: Option<Pending>,
    held_back: bool,
}

/// An action under way, with its place in its round.
type Running = BoxFuture<'static, (usize, Result<Result<ActionReply, CallFailure>, Stop>)>;

/// Does a round's actions: in order, later ones waiting for those that block.
async fn run(
    ctx: &mut Ctx,
    talk: &Talk<'_>,
    held: &mut Held,
    actions: Vec<Asked>,
) -> Result<Vec<Done>, Stop> {
    let from = held.done.len();
    let tainted = held.tainted;
    let mut beside: FuturesUnordered<Running> = FuturesUnordered::new();
    let mut results: Vec<Option<Result<ActionReply, CallFailure>>> = Vec::new();
    let mut rows = Vec::new();
    let reading = options(RetryPolicy::default(), talk.bounds.action_timeout);
    let doomed = doomed::read(ctx, &actions, reading, talk.speaker.language).await?;
    for (at, asked) in actions.iter().enumerate() {
        let call = asked_call(asked, held.plan);
        let Kept { hold, waits, held_back } = talk.hold(asked, &call, tainted, doomed.get(&at));
        let about = About { plan: held.plan, ..talk.about.clone() };
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
        let result = result.ok_or_else(|| Stop::Misuse("an action was not waited for".to_owned()))?;
        held.plan = held.plan.or(result.as_ref().ok().and_then(|reply| reply.plan));
        let one = Done { row: ended(row, &result, waits.is_some()), asked, result, waits, held_back };
        held.tainted |= one.brings_text();
        done.push(one);
    }
    Ok(done)
}

/// What is done for an action: its arguments, with the conversation's plan where it names none.
fn asked_call(asked: &Asked, plan: Option<PlanId>) -> ExternalCall {
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
    asked: &Asked,
    about: &About,
    hold: Option<ActionHold>,
    options: ActionOptions,
    at: usize,
) -> (ActionAsk, ActionDraft) {
    let row = ActionDraft {
        plan: about.plan,
        chat_session: about.chat.clone(),
        user_message: about.words.clone(),
        details: Some(json!({ "parameters": call.arguments, "order": at + 1, "blocking": asked.blocking })),
        ..ActionDraft::of(asked.kind, &asked.name, ActionStatus::Running, "")
    };
    (ActionAsk { call, row: Some(row.clone()), hold, options }, row)
}

fn options(retry: RetryPolicy, timeout: Duration) -> ActionOptions {
    ActionOptions { timeout, retries: retry.max_retries, backoff: retry.backoff }
}

/// The row of an action that has ended, for the reply's summary.
fn ended(row: ActionDraft, result: &Result<ActionReply, CallFailure>, waits: bool) -> ActionDraft {
    let order = row.details.as_ref().map(|details| details["order"].clone());
    let (status, message) = match result {
        Ok(reply) => (ActionStatus::Completed, reply.message.clone()),
        Err(failure) if waits => (ActionStatus::Queued, failure.message.clone()),
        Err(failure) => (ActionStatus::Failed, failure.message.clone()),
    };
    let data = result.as_ref().map_or(&Value::Null, |reply| &reply.data);
    // Of the whole, what the summary reads.
    let made = json!({ "job_id": data["job_id"], "plan_id": data["plan_id"],
        "plan": { "plan_id": data["plan"]["plan_id"] } });
    let details = Some(json!({ ACTION_KEY: order, "result": made }));
    ActionDraft { status, message: Some(message), details, ..row }
}

/// What a prompt says of the actions.
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

/// The system prompt of this name.
///
/// # Errors
/// A replaced template that asks for a value that is not there.
pub fn instructions(
    prompts: &Prompts,
    name: &str,
    speaker: &Speaker,
    allows: fn(&ActionSpec) -> bool,
) -> Result<String, crate::prompt::PromptError> {
    let tools = speaker.form == Form::Tools;
    let values = json!({ "tools": tools, "actions": described(allows, speaker.language) });
    prompts.render(name, speaker.language, values)
}

impl Asked {
    /// An action that a person has confirmed, as it was asked for.
    fn confirmed(pending: Pending) -> Self {
        let Pending { name, parameters, retry_policy, .. } = pending;
        let whole = json!({ "actions": [{ "name": name, "parameters": parameters,
            "retry_policy": retry_policy }] });
        let reply = ModelReply { text: whole.to_string(), ..ModelReply::default() };
        protocol::read(&reply).actions.pop().unwrap_or_else(|| Self::none(&name))
    }
}
