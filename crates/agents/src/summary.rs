//! Summaries of an agent's messages: one or two sentences by the same model, for people who skim.

use crate::config::{AgentConfig, AgentKind};
use crate::desk::answer::{PortfolioDecision, ResearchPlan, Structured as _, TraderProposal};
use crate::graph::EXTERNAL;
use crate::prompt::{PromptError, PromptSet};
use crate::roles::{RoleKind, RoleSpec};
use papertape_core::fence::{Author, fence};
use papertape_core::language::Language;
use papertape_core::message::{Message, ModelRequest, ToolChoice};
use papertape_core::tape::StepPath;
use serde_json::json;

/// Maximum characters of a message that its summary is made from.
pub const LIMIT_CHARS: usize = 2_000;

/// Maximum characters of one message that a session's summary is made from.
const MAX_MESSAGE_CHARS: usize = 20_000;

/// Whether the session's summary reads the messages of a step. Of a conversation, it reads all; of an external agent, its
/// decision, not its model calls; of a desk, the proposals of Traders and the decisions of Portfolio Managers, which sum up the rest.
#[must_use]
pub fn is_read_for_session(agent: &AgentConfig, path: &StepPath) -> bool {
    let is_conclusion = matches!(role_of(path), Some(RoleKind::Trader | RoleKind::PortfolioManager));
    match agent.kind {
        AgentKind::Solo => true,
        AgentKind::External => path.is_within(EXTERNAL),
        AgentKind::Desk => is_conclusion,
    }
}

fn role_of(path: &StepPath) -> Option<RoleKind> {
    RoleSpec::for_node(path.node()).map(|role| role.kind)
}

/// A message as it is summarised: of a structured answer, its sentences, after its instrument and its conclusion;
/// other messages are unchanged.
#[must_use]
pub fn summary_request(path: &StepPath, content: String) -> String {
    let prose = match role_of(path) {
        Some(RoleKind::PortfolioManager) => PortfolioDecision::parse(&content).ok().map(|decision| {
            let rating = decision.rating.as_str();
            format!("{rating}.\n{}\n{}", decision.executive_summary, decision.investment_thesis)
        }),
        Some(RoleKind::Trader) => {
            let proposal = TraderProposal::parse(&content).ok();
            proposal.map(|proposal| format!("{}.\n{}", proposal.action.as_str(), proposal.reasoning))
        }
        Some(RoleKind::ResearchManager) => ResearchPlan::parse(&content).ok().map(|plan| {
            let rating = plan.recommendation.as_str();
            format!("{rating}.\n{}\n{}", plan.rationale, plan.strategic_actions)
        }),
        _ => None,
    };
    let symbol = path.scope().rsplit_once('/').map(|(symbol, _)| symbol);
    match (prose, symbol) {
        (Some(prose), Some(symbol)) => format!("{symbol}: {prose}"),
        (Some(prose), None) => prose,
        (None, _) => content,
    }
}

/// The request that summarizes one message.
///
/// # Errors
/// A custom prompt that uses an unknown value.
pub fn message_request(
    prompts: &PromptSet,
    agent: &AgentConfig,
    house_version: Option<u32>,
    content: &str,
) -> Result<ModelRequest, PromptError> {
    let text = fence(Author::Earlier, "the trader", content, LIMIT_CHARS);
    request(prompts, agent, house_version, &text)
}

/// The request that summarizes a whole session, from all of its assistant messages; of a desk, decisions that
/// change a position come first.
///
/// # Errors
/// A custom prompt that uses an unknown value.
pub fn session_request(
    prompts: &PromptSet,
    agent: &AgentConfig,
    house_version: Option<u32>,
    contents: &[String],
) -> Result<ModelRequest, PromptError> {
    let mut contents: Vec<&str> = contents.iter().map(String::as_str).collect();
    if agent.kind == AgentKind::Desk {
        contents.sort_by_key(|text| text.lines().next().is_some_and(|first| first.ends_with(": Hold.")));
    }
    let fenced = |text: &&str| fence(Author::Earlier, "the trader", text, MAX_MESSAGE_CHARS);
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
