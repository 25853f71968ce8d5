//! Summaries of what an agent said: one or two sentences by the same model, for people who skim.

use crate::config::{AgentConfig, AgentKind, Language};
use crate::desk::answer::{PortfolioDecision, ResearchPlan, Structured as _, TraderProposal};
use crate::desk::roles::{PortfolioManager, ResearchManager, Role as _, RoleSpec, Trader};
use crate::prompt::{PromptError, PromptSet};
use papertape_core::fence::{Author, fence};
use papertape_core::message::{Message, ModelRequest, ToolChoice};
use papertape_core::tape::StepPath;
use serde_json::json;

/// A message is summarised from at most so many of its first characters.
pub const LIMIT_CHARS: usize = 2_000;

/// The limit on one message in a session's summary, in characters.
const MAX_SAID_CHARS: usize = 20_000;

/// Does the summary of the whole session read what was said in this step? Of a conversation it reads
/// all; of a desk, what Traders proposed and Portfolio Managers decided, which sums up the rest.
#[must_use]
pub fn is_read_for_session(agent: &AgentConfig, path: &StepPath) -> bool {
    agent.kind == AgentKind::Solo || sits(path, Trader.seat()) || sits(path, PortfolioManager.seat())
}

/// Is it a step of who sits there?
fn sits(path: &StepPath, seat: &RoleSpec) -> bool {
    path.node().strip_prefix(seat.node).is_some_and(|rest| rest.starts_with('#'))
}

/// What was said in a step, as it is summarised: an answer that has a form as the sentences that are in it,
/// with its instrument and what it comes to in front; everything else as it is.
#[must_use]
pub fn summary_request(path: &StepPath, content: String) -> String {
    let told = if sits(path, PortfolioManager.seat()) {
        PortfolioDecision::parse(&content).ok().map(|decision| {
            let rating = decision.rating.as_str();
            format!("{rating}.\n{}\n{}", decision.executive_summary, decision.investment_thesis)
        })
    } else if sits(path, Trader.seat()) {
        let read = TraderProposal::parse(&content).ok();
        read.map(|proposal| format!("{}.\n{}", proposal.action.as_str(), proposal.reasoning))
    } else if sits(path, ResearchManager.seat()) {
        ResearchPlan::parse(&content).ok().map(|plan| {
            let rating = plan.recommendation.as_str();
            format!("{rating}.\n{}\n{}", plan.rationale, plan.strategic_actions)
        })
    } else {
        None
    };
    let symbol = path.scope().rsplit_once('/').map(|(symbol, _)| symbol);
    match (told, symbol) {
        (Some(told), Some(symbol)) => format!("{symbol}: {told}"),
        (Some(told), None) => told,
        (None, _) => content,
    }
}

/// The request that summarises one message.
///
/// # Errors
/// A replaced prompt that asks for a value that is not there.
pub fn message_request(
    prompts: &PromptSet,
    agent: &AgentConfig,
    house_version: Option<u32>,
    content: &str,
) -> Result<ModelRequest, PromptError> {
    let text = fence(Author::Earlier, "the trader", content, LIMIT_CHARS);
    request(prompts, agent, house_version, &text)
}

/// The request that summarises a whole session, from all of its assistant messages; of a desk, those that are
/// to change something come first.
///
/// # Errors
/// A replaced prompt that asks for a value that is not there.
pub fn session_request(
    prompts: &PromptSet,
    agent: &AgentConfig,
    house_version: Option<u32>,
    contents: &[String],
) -> Result<ModelRequest, PromptError> {
    let mut contents: Vec<&str> = contents.iter().map(String::as_str).collect();
    if agent.kind == AgentKind::Desk {
        // What is to change something is what the day was about.
        contents.sort_by_key(|told| told.lines().next().is_some_and(|first| first.ends_with(": Hold.")));
    }
    let fenced = |text: &&str| fence(Author::Earlier, "the trader", text, MAX_SAID_CHARS);
    let contents: Vec<String> = contents.iter().map(fenced).collect();
    request(prompts, agent, house_version, &contents.join("\n\n"))
}

fn request(
    prompts: &PromptSet,
    agent: &AgentConfig,
    house_version: Option<u32>,
    text: &str,
) -> Result<ModelRequest, PromptError> {
    let prompt = prompts.render("summary", Language::En, json!({ "text": text }))?;
    Ok(ModelRequest {
        model: agent.model.clone(),
        house_version,
        instructions: None,
        messages: vec![Message::user(prompt)],
        tools: Vec::new(),
        tool_choice: ToolChoice::None,
        response_schema: None,
        sampling: agent.sampling.clone(),
    })
}
