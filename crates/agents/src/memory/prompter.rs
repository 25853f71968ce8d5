//! Requests a memory from the model: once, again if the answer is unusable, and without ever failing the day.

use crate::config::AgentConfig;
use crate::prompt::PromptSet;
use papertape_core::fence::{Author, fence};
use papertape_core::message::{Message, ModelName, ModelRequest, ToolChoice};
use papertape_core::record::SummarySource;
use papertape_core::tape::{Ctx, SessionStop};
use serde_json::{Value, json};

/// The result.
pub(super) enum PromptResult<T> {
    /// A usable answer.
    Answered(T, SummarySource),
    /// No usable answer: the last text, and the reason.
    Unusable {
        /// The last answer's text, empty when there was none.
        text: String,
        /// Why it is unusable.
        why: String,
    },
}

/// Maximum characters of the reason why an answer is unusable.
const MAX_PROBLEM_CHARS: usize = 500;

/// The inputs of a memory request.
pub(super) struct MemoryPrompter<'a> {
    pub(super) agent: &'a AgentConfig,
    pub(super) model: ModelName,
    pub(super) house_version: Option<u32>,
    pub(super) prompts: &'a PromptSet,
}

impl MemoryPrompter<'_> {
    /// Sends the prompt `name`, parses the answer, and requests it again if it cannot be parsed.
    pub(super) async fn prompt<T>(
        &self,
        ctx: &mut Ctx,
        name: &str,
        values: Value,
        read: impl Fn(&str, SummarySource) -> Result<T, String>,
    ) -> Result<PromptResult<T>, SessionStop> {
        let unusable = |text: String, why: String| Ok(PromptResult::Unusable { text, why });
        let language = self.agent.language;
        let prompt = match self.prompts.render(name, language, values) {
            Ok(prompt) => prompt,
            Err(error) => return unusable(String::new(), error.to_string()),
        };
        let mut request = ModelRequest {
            model: self.model.clone(),
            house_version: self.house_version,
            instructions: None,
            messages: vec![Message::user(prompt)],
            tools: Vec::new(),
            tool_choice: ToolChoice::None,
            response_schema: None,
            sampling: self.agent.sampling.clone(),
        };
        let options = self.agent.limits.call_options();
        let first = match ctx.model_off_transcript(&request, options).await? {
            Ok(reply) => reply,
            Err(failure) => return unusable(String::new(), failure.to_string()),
        };
        let problem = match read(&first.text, SummarySource::Model) {
            Ok(value) => return Ok(PromptResult::Answered(value, SummarySource::Model)),
            Err(problem) => problem,
        };
        let repair = match self.prompts.render("memory-repair", language, json!({ "problem": fence(Author::Earlier, "the reader of your answer", &problem, MAX_PROBLEM_CHARS) })) {
            Ok(repair) => repair,
            Err(error) => return unusable(first.text, error.to_string()),
        };
        request.messages.push(first.to_message());
        request.messages.push(Message::user(repair));
        let second = match ctx.model_off_transcript(&request, options).await? {
            Ok(reply) => reply.text,
            Err(failure) => return unusable(first.text, failure.to_string()),
        };
        match read(&second, SummarySource::Repaired) {
            Ok(value) => Ok(PromptResult::Answered(value, SummarySource::Repaired)),
            Err(why) => unusable(second, why),
        }
    }
}
