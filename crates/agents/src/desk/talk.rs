//! A node's conversation with its model: system prompt, task, tools if it has any, and an answer in the
//! format that the role needs. It runs in the node's own scope, inside its guard.

use super::answer::Structured;
use super::config::PromptStyle;
use super::roles::{RolePrompt, RoleSpec};
use super::{DeskContext, tools};
use papertape_core::fence::{Author, fence, is_blank};
use papertape_core::message::{CallFailure, FailureKind, Message, ModelReply, ModelRequest, ToolChoice};
use papertape_core::tape::{CallOptions, Ctx, NodeFailure, SessionStop};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The failure kind of an answer that is unparseable even after a repair request.
pub(super) const UNPARSEABLE: &str = "unparseable";
/// The failure kind of a node that kept calling tools and never answered.
const STEP_LIMIT: &str = "step_limit";
/// The failure kind of a node whose prompt could not be rendered.
const BAD_PROMPT: &str = "bad_prompt";
/// The failure kinds of nodes themselves; the others come from their calls.
pub const NODE_FAILURES: [&str; 3] = [UNPARSEABLE, STEP_LIMIT, BAD_PROMPT];

/// Maximum characters of the reason why an answer could not be parsed.
const MAX_REASON_CHARS: usize = 500;

/// A node's conversation.
pub struct NodeConversation<'a> {
    pub(super) ctx: Ctx,
    pub(super) room: &'a DeskContext<'a>,
    pub(super) seat: &'static RoleSpec,
    pub(super) task: RolePrompt,
}

/// A node's answer, with how it was obtained.
#[derive(Debug)]
pub struct NodeResult<A> {
    /// Its answer.
    pub answer: A,
    /// The number of tool calls.
    pub tool_calls: u32,
    /// Requested sources that were not available, each with the reason.
    pub sources_missing: BTreeMap<String, String>,
    /// The parts of its answer that could not be parsed and were left out.
    pub notes: Vec<String>,
}

/// An answer, or why there is none; the outer error is a stop.
type Outcome<T> = Result<Result<T, NodeFailure>, SessionStop>;

impl<A> NodeResult<A> {
    fn of(answer: A) -> Self {
        Self { answer, tool_calls: 0, sources_missing: BTreeMap::new(), notes: Vec::new() }
    }

    fn read((answer, notes): (A, Vec<String>)) -> Self {
        Self { notes, ..Self::of(answer) }
    }
}

impl NodeConversation<'_> {
    /// An answer in prose.
    ///
    /// # Errors
    /// A stop.
    pub async fn prose(mut self) -> Outcome<NodeResult<String>> {
        let (request, options) = match self.open().await? {
            Ok(open) => open,
            Err(failure) => return Ok(Err(failure)),
        };
        let reply = self.ctx.model(&request, options).await?;
        Ok(reply.map_err(failed).and_then(|reply| text_of(&reply)).map(NodeResult::of))
    }

    /// A report in prose, after reading with tools. The last call may not request tools, so that a node that
    /// would read forever still writes.
    ///
    /// # Errors
    /// A stop.
    pub async fn report(mut self) -> Outcome<NodeResult<String>> {
        let (mut request, options) = match self.open().await? {
            Ok(open) => open,
            Err(failure) => return Ok(Err(failure)),
        };
        request.tools = tools::specs(self.room.view, self.seat.tools);
        let mut worked = NodeResult::of(String::new());
        let most = self.room.agent(self.ctx.scope()).limits.max_steps.max(1);
        for step in 1..=most {
            if step == most {
                request.tool_choice = ToolChoice::None;
            }
            let reply = match self.ctx.model(&request, options).await? {
                Ok(reply) => reply,
                Err(failure) => return Ok(Err(failed(failure))),
            };
            if reply.tool_calls.is_empty() || (step == most && !is_blank(&reply.text)) {
                return Ok(text_of(&reply).map(|answer| NodeResult { answer, ..worked }));
            }
            request.messages.push(reply.to_message());
            for call in &reply.tool_calls {
                worked.tool_calls += 1;
                let told = tools::run(&mut self.ctx, self.room.view, self.seat.tools, call).await?;
                worked.sources_missing.extend(told.missing);
                let (call_id, name) = (call.id.clone(), call.name.clone());
                request.messages.push(Message::Tool { call_id, name, content: told.content });
            }
        }
        let message = format!("{} calls to the model brought no report", most);
        Ok(Err(NodeFailure { kind: STEP_LIMIT.to_owned(), message }))
    }

    /// A structured answer. If the provider rejects the schema, the request is repeated without it; an
    /// unparseable answer gets one repair request.
    ///
    /// # Errors
    /// A stop.
    pub async fn structured<T: Structured>(mut self) -> Outcome<NodeResult<T>> {
        let (mut request, options) = match self.open().await? {
            Ok(open) => open,
            Err(failure) => return Ok(Err(failure)),
        };
        request.response_schema = Some(T::schema());
        let mut reply = self.ctx.model(&request, options).await?;
        if reply.as_ref().is_err_and(|failure| failure.kind == FailureKind::BadRequest) {
            request.response_schema = None;
            reply = self.ctx.model(&request, options).await?;
        }
        let reply = match reply {
            Ok(reply) => reply,
            Err(failure) => return Ok(Err(failed(failure))),
        };
        let reason = match T::read(&reply.text) {
            Ok(read) => return Ok(Ok(NodeResult::read(read))),
            Err(unparseable) => unparseable.reason,
        };
        // The reason quotes the answer.
        let reason = fence(Author::Earlier, "the reader of your answer", &reason, MAX_REASON_CHARS);
        let repair = match self.render("desk/repair", &json!({ "reason": reason })) {
            Ok(text) => text,
            Err(failure) => return Ok(Err(failure)),
        };
        let repair = self.ctx.push_user_message(&repair).await?;
        request.messages.extend([reply.to_message(), Message::user(repair)]);
        let reply = match self.ctx.model(&request, options).await? {
            Ok(reply) => reply,
            Err(failure) => return Ok(Err(failed(failure))),
        };
        Ok(T::read(&reply.text)
            .map(NodeResult::read)
            .map_err(|unparseable| NodeFailure { kind: UNPARSEABLE.to_owned(), message: unparseable.reason }))
    }

    /// The start of the conversation, as recorded.
    async fn open(&mut self) -> Outcome<(ModelRequest, CallOptions)> {
        let (instructions, task) = match self.instructions().and_then(|instructions| {
            Ok((instructions, self.render(self.task.prompt, &Value::Object(self.task.values.clone()))?))
        }) {
            Ok(texts) => texts,
            Err(failure) => return Ok(Err(failure)),
        };
        let instructions = self.ctx.set_system_prompt(&instructions);
        let task = self.ctx.push_with_exposure(&task, std::mem::take(&mut self.task.shown)).await?;
        let agent = self.room.agent(self.ctx.scope());
        let config = agent.desk_config();
        let model = config.model(agent, self.seat.llm);
        let request = ModelRequest {
            model: model.clone(),
            house_version: self.room.input.house_versions.get(model).copied(),
            instructions: Some(instructions),
            messages: vec![Message::user(task)],
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            response_schema: None,
            sampling: agent.sampling.clone(),
        };
        Ok(Ok((request, agent.limits.call_options())))
    }

    /// The role's own system prompt, followed by the desk's common one.
    fn instructions(&self) -> Result<String, NodeFailure> {
        let style = match (self.seat.styled, self.room.config.analysis_prompt_style) {
            (false, _) => None,
            (true, PromptStyle::Standard) => Some("desk/style-standard"),
            (true, PromptStyle::Compact) => Some("desk/style-compact"),
            (true, PromptStyle::Detailed) => Some("desk/style-detailed"),
        };
        let style = style.map(|style| self.render(style, &json!({}))).transpose()?;
        let owner = &self.room.agent(self.ctx.scope()).instructions;
        let role = self.render(self.seat.prompt, &json!({}))?;
        let common = self.render("desk/common", &json!({ "style": style, "instructions": owner }))?;
        Ok(format!("{role}\n\n{common}"))
    }

    fn render(&self, prompt: &str, values: &Value) -> Result<String, NodeFailure> {
        let language = self.room.agent(self.ctx.scope()).language;
        self.room
            .input
            .prompts
            .render(prompt, language, values)
            .map_err(|error| NodeFailure { kind: BAD_PROMPT.to_owned(), message: error.to_string() })
    }
}

fn text_of(reply: &ModelReply) -> Result<String, NodeFailure> {
    let text = reply.text.trim();
    if is_blank(text) {
        let message = "the answer has no text that can be seen".to_owned();
        return Err(NodeFailure { kind: FailureKind::EmptyAnswer.as_str().to_owned(), message });
    }
    Ok(text.to_owned())
}

fn failed(failure: CallFailure) -> NodeFailure {
    NodeFailure { kind: failure.kind.as_str().to_owned(), message: failure.message }
}
