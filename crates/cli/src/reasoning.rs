//! `papertape reasoning`

use super::args::whole;
use super::failure::{not_found, service_error};
use super::output::{money, note, only_json, say, width, wrap};
use super::record_access::find_filter;
use super::{Common, Outcome, record_access};
use anyhow::Result;
use clap::Args;
use papertape_core::json::canonical;
use papertape_core::message::Role;
use papertape_core::review::MAX_SCORE;
use papertape_core::time::{Date, parse_date};
use papertape_protocol::reasoning::{MessageResponse, PositionResponse, ReasoningQuery, SessionResponse};
use papertape_service::ServiceError;
use papertape_service::config::Config;
use papertape_service::view;
use std::process::ExitCode;

/// Lines of a tool's output that are printed without `--full`.
const TOOL_LINES: usize = 8;

#[derive(Debug, Args)]
pub(super) struct ReasoningArgs {
    /// Only this job, or `latest` [default: all jobs]
    job: Option<String>,
    /// Only this trading day
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    date: Option<Date>,
    /// Only this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only sessions about this instrument
    #[arg(long)]
    symbol: Option<String>,
    /// Only messages of this node
    #[arg(long)]
    node: Option<String>,
    /// Only sessions with a message that has all these words
    #[arg(long, value_name = "WORDS")]
    search: Option<String>,
    /// Only summaries and actions, without conversations
    #[arg(long)]
    brief: bool,
    /// Print tool output and instructions in full
    #[arg(long, conflicts_with = "brief")]
    full: bool,
    /// Max sessions, 1 to 200
    #[arg(long, value_name = "COUNT", value_parser = whole(1_u32..=200))]
    limit: Option<u32>,
    /// Continue after a cursor from an earlier page
    #[arg(long)]
    cursor: Option<String>,
}

pub(super) async fn reasoning(common: &Common, config: Config, args: ReasoningArgs) -> Outcome {
    let app = record_access::open_read_only(common, config).await?;
    let query = ReasoningQuery {
        job_id: find_filter(&app, args.job.as_deref()).await?,
        date: args.date,
        model: args.agent,
        include_full_conversation: !args.brief,
        symbol: args.symbol,
        node: args.node,
        q: args.search,
        limit: args.limit,
        cursor: args.cursor,
    };
    let response = view::reasoning(&app, query).await.map_err(describe)?;
    if common.json {
        return only_json(&response);
    }
    for session in &response.sessions {
        print(session, args.full)?;
    }
    if let Some(cursor) = response.next_cursor {
        note!("more sessions: repeat the command with --cursor {cursor}");
    }
    Ok(ExitCode::SUCCESS)
}

/// As [`service_error`], with what to do if nothing matches.
fn describe(error: ServiceError) -> anyhow::Error {
    match error {
        ServiceError::NotFound(message) => {
            not_found(format!("{message}; check the options, or run `papertape jobs`"))
        }
        error => service_error(error),
    }
}

fn print(session: &SessionResponse, full: bool) -> Result<()> {
    let label = if session.is_llm == Some(false) { ", house model, not an LLM" } else { "" };
    let title = format!("{} on {}: {}{label}", session.model, session.date, session.status);
    say(format_args!("{title}\n{}", "─".repeat(title.chars().count().min(width()))))?;
    say(format_args!("job {}, session {}", session.job_id, session.session_id))?;
    if let Some(error) = &session.error {
        say(wrap(&format!("failed: {error}"), width(), ""))?;
    }
    if let Some(quality) = session.quality.as_ref().filter(|quality| quality.state != "ok") {
        // The error is printed above.
        let reason = quality.reason.as_ref().filter(|_| session.error.is_none());
        let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        say(wrap(&format!("quality: {}{reason}", quality.state), width(), ""))?;
    }
    say(format_args!("books: {}", session.books.text))?;
    if let Some(score) = session.review.score {
        say(format_args!("score: {score} of {MAX_SCORE}"))?;
    }
    if let Some(note) = &session.review.note {
        say(wrap(&format!("note: {note}"), width(), ""))?;
    }
    if let Some(summary) = &session.session_summary {
        say(format_args!("\nSummary\n{}", wrap(summary, width(), "  ")))?;
    } else if let Some(error) = &session.summary_error {
        say(format_args!("\nNo summary: {error}"))?;
    }
    if !session.positions.is_empty() {
        say("\nActions")?;
        for position in &session.positions {
            say(format_args!("  {}", action(position)))?;
        }
    }
    if let Some(instructions) = session.instructions.iter().flatten().next().filter(|_| full) {
        say(format_args!(
            "\ninstructions  {}\n{}",
            instructions.node,
            wrap(&instructions.content, width(), "  ")
        ))?;
    }
    for message in session.conversation.iter().flatten() {
        print_message(message, full)?;
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

fn print_message(message: &MessageResponse, full: bool) -> Result<()> {
    match (&message.role, &message.tool_name) {
        (Role::Tool, Some(tool)) => {
            let input = message.tool_input.as_ref().map(canonical).unwrap_or_default();
            say(format_args!("\n{}\n{}", message.path, wrap(&format!("{tool} {input}"), width(), "  → ")))?;
            let text = wrap(&message.content, width(), "    ");
            let lines: Vec<&str> = text.lines().collect();
            let shown = if full { lines.len() } else { TOOL_LINES.min(lines.len()) };
            say(lines[..shown].join("\n"))?;
            if shown < lines.len() {
                say(format_args!("    … {} more lines; print them with --full", lines.len() - shown))?;
            }
            Ok(())
        }
        (role, _) => {
            if message.content.trim().is_empty() {
                // A message with only tool calls: their results follow.
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
