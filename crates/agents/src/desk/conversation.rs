//! A node's conversation with its model: system prompt, task, tools if it has any, and an answer in the
//! format that the role needs. It runs in the node's own scope, inside its guard.

use super::analysis::RoleResponse;
use super::answer::Structured;
use super::role_prompt::RolePrompt;
use super::{DeskContext, tools};
use crate::roles::{RoleKind, RoleSpec};
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

pub(super) struct NodeConversation<'a> {
    pub(super) ctx: Ctx,
    pub(super) desk: &'a DeskContext<'a>,
    pub(super) role: &'static RoleSpec,
    pub(super) prompt: RolePrompt,
}

/// A node's answer, with how it was obtained.
pub(super) struct NodeResult {
    pub(super) answer: RoleResponse,
    pub(super) tool_calls: u32,
    /// Requested sources that were not available, each with the reason.
    pub(super) sources_missing: BTreeMap<String, String>,
    /// The parts of its answer that could not be parsed and were left out.
    pub(super) notes: Vec<String>,
}

/// An answer, or why there is none; the outer error is a stop.
pub(super) type Outcome<T> = Result<Result<T, NodeFailure>, SessionStop>;

impl NodeResult {
    fn of(answer: RoleResponse) -> Self {
        Self { answer, tool_calls: 0, sources_missing: BTreeMap::new(), notes: Vec::new() }
    }
}

/// The value of an outcome. A failure is returned to the caller as the outcome.
macro_rules! ok {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(failure) => return Ok(Err(failure)),
        }
    };
}

impl NodeConversation<'_> {
    /// The role's answer, in the format that its kind determines.
    ///
    /// # Errors
    /// A stop.
    pub(super) async fn run(self) -> Outcome<NodeResult> {
        match self.role.kind {
            RoleKind::Analyst(analyst) => self.report(|text| RoleResponse::Report(analyst, text)).await,
            RoleKind::Researcher(side) => self.prose(|text| RoleResponse::Argument(side, text)).await,
            RoleKind::RiskAnalyst(stance) => {
                self.prose(|text| RoleResponse::RiskArgument(stance, text)).await
            }
            RoleKind::ResearchManager => self.structured(RoleResponse::Plan).await,
            RoleKind::Trader => self.structured(RoleResponse::Proposal).await,
            RoleKind::PortfolioManager => self.structured(RoleResponse::Decision).await,
        }
    }

    /// An answer in prose.
    async fn prose(mut self, answer: impl FnOnce(String) -> RoleResponse) -> Outcome<NodeResult> {
        let (request, options) = ok!(self.open().await?);
        let reply = self.ctx.model(&request, options).await?;
        Ok(reply.map_err(failed).and_then(|reply| text_of(&reply)).map(answer).map(NodeResult::of))
    }

    /// A report in prose, after reading with tools. The last call may not request tools, so that a node that
    /// would read forever still writes.
    async fn report(mut self, answer: impl FnOnce(String) -> RoleResponse) -> Outcome<NodeResult> {
        let (mut request, options) = ok!(self.open().await?);
        request.tools = tools::specs(self.desk.view, self.role.tools);
        let (mut tool_calls, mut sources_missing) = (0, BTreeMap::new());
        let max_steps = self.desk.agent(self.ctx.scope()).limits.max_steps.max(1);
        for step in 1..=max_steps {
            if step == max_steps {
                request.tool_choice = ToolChoice::None;
            }
            let reply = ok!(self.ctx.model(&request, options).await?.map_err(failed));
            if reply.tool_calls.is_empty() || (step == max_steps && !is_blank(&reply.text)) {
                let result = text_of(&reply).map(answer).map(NodeResult::of);
                return Ok(result.map(|result| NodeResult { tool_calls, sources_missing, ..result }));
            }
            request.messages.push(reply.to_message());
            for call in &reply.tool_calls {
                tool_calls += 1;
                let offered = (self.role.tools, request.tools.as_slice());
                let output = tools::run(&mut self.ctx, self.desk.view, offered, call).await?;
                sources_missing.extend(output.missing);
                let (call_id, name) = (call.id.clone(), call.name.clone());
                request.messages.push(Message::Tool { call_id, name, content: output.content });
            }
        }
        let message = format!("no report after {max_steps} model calls");
        Ok(Err(NodeFailure { kind: STEP_LIMIT.to_owned(), message }))
    }

    /// A structured answer. If the provider rejects the schema, the request is repeated without it; an
    /// unparseable answer gets one repair request.
    async fn structured<T: Structured>(mut self, answer: fn(T) -> RoleResponse) -> Outcome<NodeResult> {
        let result = |(parsed, notes)| NodeResult { notes, ..NodeResult::of(answer(parsed)) };
        let (mut request, options) = ok!(self.open().await?);
        request.response_schema = Some(T::schema());
        let mut reply = self.ctx.model(&request, options).await?;
        if reply.as_ref().is_err_and(|failure| failure.kind == FailureKind::BadRequest) {
            request.response_schema = None;
            reply = self.ctx.model(&request, options).await?;
        }
        let reply = ok!(reply.map_err(failed));
        let reason = match T::read(&reply.text) {
            Ok(parsed) => return Ok(Ok(result(parsed))),
            Err(unparseable) => unparseable.reason,
        };
        // The reason quotes the answer.
        let reason = fence(Author::Earlier, "the reader of your answer", &reason, MAX_REASON_CHARS);
        let repair = ok!(self.render("desk/repair", &json!({ "reason": reason })));
        let repair = self.ctx.push_user_message(&repair).await?;
        request.messages.extend([reply.to_message(), Message::user(repair)]);
        let reply = ok!(self.ctx.model(&request, options).await?.map_err(failed));
        Ok(T::read(&reply.text)
            .map(result)
            .map_err(|unparseable| NodeFailure { kind: UNPARSEABLE.to_owned(), message: unparseable.reason }))
    }

    /// The start of the conversation, as recorded.
    async fn open(&mut self) -> Outcome<(ModelRequest, CallOptions)> {
        let instructions = ok!(self.instructions());
        let task = ok!(self.render(self.prompt.prompt, &Value::Object(self.prompt.values.clone())));
        let instructions = self.ctx.set_system_prompt(&instructions);
        let task = self.ctx.push_with_exposure(&task, std::mem::take(&mut self.prompt.shown)).await?;
        let agent = self.desk.agent(self.ctx.scope());
        let config = agent.desk_config();
        let model = config.model(agent, self.role.llm);
        let request = ModelRequest {
            model: model.clone(),
            house_version: self.desk.input.house_versions.get(model).copied(),
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
        let style = format!("desk/style-{}", self.desk.config.analysis_prompt_style.as_str());
        let style = self.role.is_prose().then(|| self.render(&style, &json!({}))).transpose()?;
        let owner = &self.desk.agent(self.ctx.scope()).instructions;
        let role = self.render(&self.role.prompt(), &json!({}))?;
        let common = self.render("desk/common", &json!({ "style": style, "instructions": owner }))?;
        Ok(format!("{role}\n\n{common}"))
    }

    fn render(&self, prompt: &str, values: &Value) -> Result<String, NodeFailure> {
        let language = self.desk.agent(self.ctx.scope()).language;
        self.desk
            .input
            .prompts
            .render(prompt, language, values)
            .map_err(|error| NodeFailure { kind: BAD_PROMPT.to_owned(), message: error.to_string() })
    }
}

fn text_of(reply: &ModelReply) -> Result<String, NodeFailure> {
    let text = reply.text.trim();
    if is_blank(text) {
        let message = "the answer has no visible text".to_owned();
        return Err(NodeFailure { kind: FailureKind::EmptyAnswer.as_str().to_owned(), message });
    }
    Ok(text.to_owned())
}

fn failed(failure: CallFailure) -> NodeFailure {
    NodeFailure { kind: failure.kind.as_str().to_owned(), message: failure.message }
}
