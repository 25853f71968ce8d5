//! `papertape reasoning`

use super::failure::of_view;
use super::output::{json, money, note, say, width, wrap};
use super::record_access::job_named;
use super::{Common, Outcome, record_access};
use anyhow::Result;
use clap::Args;
use papertape_core::json::canonical;
use papertape_core::message::Role;
use papertape_core::time::{Date, parse_date};
use papertape_service::config::Config;
use papertape_service::view::{self, MessageResponse, PositionResponse, ReasoningQuery, SessionResponse};
use std::process::ExitCode;

/// Lines of a tool's answer that are shown without `--whole`.
const TOOL_LINES: usize = 8;

/// Which sessions.
#[derive(Debug, Args)]
pub(super) struct ReasoningArgs {
    /// Of this job, or of `latest` [default: of all]
    job: Option<String>,
    /// Of this trading day
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    date: Option<Date>,
    /// Of this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// That concern this instrument
    #[arg(long)]
    symbol: Option<String>,
    /// In which this node speaks; its messages alone
    #[arg(long)]
    node: Option<String>,
    /// In which one message has all these words
    #[arg(long, value_name = "WORDS")]
    search: Option<String>,
    /// Summaries and actions alone, without the conversations
    #[arg(long)]
    brief: bool,
    /// Tools' answers and instructions at full length
    #[arg(long, conflicts_with = "brief")]
    whole: bool,
    /// How many sessions at most
    #[arg(long, value_name = "COUNT")]
    limit: Option<u32>,
    /// Go on from an earlier page
    #[arg(long)]
    cursor: Option<String>,
}

/// Prints them.
pub(super) async fn reasoning(common: &Common, config: Config, args: ReasoningArgs) -> Outcome {
    let app = record_access::to_read(common, config).await?;
    let job = match &args.job {
        Some(job) => Some(job_named(&app, job).await?.to_string()),
        None => None,
    };
    let query = ReasoningQuery {
        job_id: job,
        date: args.date,
        model: args.agent,
        include_full_conversation: !args.brief,
        symbol: args.symbol,
        node: args.node,
        q: args.search,
        limit: args.limit,
        cursor: args.cursor,
    };
    let answer = view::reasoning(&app, query).await.map_err(of_view)?;
    if common.json {
        json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    for session in &answer.sessions {
        print(session, args.whole)?;
    }
    if let Some(cursor) = answer.next_cursor {
        note!("there are more sessions: the same with --cursor {cursor}");
    }
    Ok(ExitCode::SUCCESS)
}

fn print(session: &SessionResponse, whole: bool) -> Result<()> {
    let what = if session.is_llm == Some(false) { ", house model, no LLM" } else { "" };
    let title = format!("{} on {}: {}{what}", session.model, session.date, session.status);
    say(format_args!("{title}\n{}", "─".repeat(title.chars().count().min(width()))))?;
    say(format_args!("job {}, session {}", session.job_id, session.session_id))?;
    if let Some(error) = &session.error {
        say(wrap(&format!("broke off: {error}"), width(), ""))?;
    }
    if let Some(quality) = session.quality.as_ref().filter(|quality| quality.state != "ok") {
        // Why a day failed is said above.
        let reason = quality.reason.as_ref().filter(|_| session.error.is_none());
        let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        say(wrap(&format!("quality: {}{reason}", quality.state), width(), ""))?;
    }
    say(format_args!("books: {}", session.books.text))?;
    if let Some(summary) = &session.session_summary {
        say(format_args!("\nSummary\n{}", wrap(summary, width(), "  ")))?;
    } else if let Some(error) = &session.summary_error {
        say(format_args!("\nno summary: {error}"))?;
    }
    if !session.positions.is_empty() {
        say("\nActions")?;
        for position in &session.positions {
            say(format_args!("  {}", action(position)))?;
        }
    }
    if let Some(instructions) = session.instructions.iter().flatten().next().filter(|_| whole) {
        say(format_args!(
            "\ninstructions  {}\n{}",
            instructions.node,
            wrap(&instructions.content, width(), "  ")
        ))?;
    }
    for message in session.conversation.iter().flatten() {
        print_message(message, whole)?;
    }
    say("")
}

fn action(position: &PositionResponse) -> String {
    let Some(symbol) = &position.symbol else {
        return format!(
            "{}, value {}",
            position.action_type.replace('_', " "),
            money(position.portfolio_value)
        );
    };
    let price = position.price.map(|price| format!(" at {}", money(price))).unwrap_or_default();
    format!(
        "{} {} {symbol}{price}, cash {}, value {}",
        position.action_type,
        position.amount,
        money(position.cash_after),
        money(position.portfolio_value)
    )
}

fn print_message(message: &MessageResponse, whole: bool) -> Result<()> {
    match (&message.role, &message.tool_name) {
        (Role::Tool, Some(tool)) => {
            let input = message.tool_input.as_ref().map(canonical).unwrap_or_default();
            say(format_args!("\n{}\n{}", message.path, wrap(&format!("{tool} {input}"), width(), "  → ")))?;
            let text = wrap(&message.content, width(), "    ");
            let lines: Vec<&str> = text.lines().collect();
            let shown = if whole { lines.len() } else { TOOL_LINES.min(lines.len()) };
            say(lines[..shown].join("\n"))?;
            if shown < lines.len() {
                say(format_args!("    … {} more lines; --whole shows them", lines.len() - shown))?;
            }
            Ok(())
        }
        (role, _) => {
            if message.content.trim().is_empty() {
                // A turn of tool calls alone: the calls follow with their answers.
                return Ok(());
            }
            say(format_args!(
                "\n{}  {}\n{}",
                role.as_str(),
                message.path,
                wrap(&message.content, width(), "  ")
            ))
        }
    }
}
