//! `papertape audit`

use super::failure::{FAILED, service_error};
use super::output::{count, json, note, say, table, text_of, width, wrap};
use super::record_access::find_job;
use super::{Common, Outcome, record_access, terminal};
use anyhow::Result;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use papertape_core::time::{Date, parse_date};
use papertape_protocol::audit::{
    AuditFinding, AuditQuery, AuditResponse, AuditSummary, AuditVerdict, AuditedSession, NewestRead,
};
use papertape_service::config::Config;
use papertape_service::view;
use std::process::ExitCode;
use std::sync::Mutex;

#[derive(Debug, Args)]
pub(super) struct AuditArgs {
    /// The job, or `latest`
    job: String,
    /// Only this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only this day
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date, conflicts_with_all = ["from", "to"])]
    date: Option<Date>,
    /// Only from this day on
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    from: Option<Date>,
    /// Only until this day, inclusive
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    to: Option<Date>,
}

pub(super) async fn audit(common: &Common, config: Config, args: AuditArgs) -> Outcome {
    let app = record_access::open_read_only(common, config).await?;
    let job = find_job(&app, &args.job).await?;
    let query = AuditQuery {
        model: args.agent,
        date: args.date,
        from: args.from,
        to: args.to,
        ..AuditQuery::default()
    };
    let progress = AuditProgress::default();
    let advance = |done, all| progress.advance(done, all);
    let audited = view::audit_all(&app, job.as_str(), &query, &advance).await;
    drop(progress);
    let audited = audited.map_err(service_error)?;
    if common.json {
        json(&audited)?;
    } else {
        print(&audited)?;
    }
    let AuditSummary { verified, failed, unverifiable, unfinished } = audited.summary;
    if failed > 0 {
        note!("{} of {} sessions have findings", count(failed as u64), count(audited.count as u64));
        return Ok(ExitCode::from(FAILED));
    }
    if verified == 0 {
        let number = |sessions: usize| count(sessions as u64);
        note!(
            "nothing could be verified: {} sessions unverifiable, {} unfinished",
            number(unverifiable),
            number(unfinished)
        );
        return Ok(ExitCode::from(FAILED));
    }
    Ok(ExitCode::SUCCESS)
}

fn print(audited: &AuditResponse) -> Result<()> {
    let mut table =
        table(["date", "agent", "verdict", ">reads", "newest at the open", "newest at the close"]);
    for session in &audited.sessions {
        table.add_row([
            session.date.to_string(),
            session.model.clone(),
            verdict(session.verdict).to_owned(),
            count(session.reads),
            newest(session.newest_at_open.as_ref()),
            newest(session.newest_at_close.as_ref()),
        ]);
    }
    if !audited.sessions.is_empty() {
        say(text_of(&table))?;
    }
    for session in &audited.sessions {
        explain(session)?;
    }
    let AuditSummary { verified, failed, unverifiable, unfinished } = audited.summary;
    let [verified, failed, unverifiable, unfinished] =
        [verified, failed, unverifiable, unfinished].map(|sessions| count(sessions as u64));
    say(format_args!(
        "{verified} verified, {failed} failed, {unverifiable} unverifiable, {unfinished} unfinished"
    ))
}

fn verdict(verdict: AuditVerdict) -> &'static str {
    match verdict {
        AuditVerdict::Verified => "verified",
        AuditVerdict::Failed => "FAILED",
        AuditVerdict::Unverifiable => "unverifiable",
        AuditVerdict::Unfinished => "unfinished",
    }
}

fn newest(read: Option<&NewestRead>) -> String {
    read.map_or_else(|| "-".to_owned(), |read| format!("{} {}", read.known_at, read.series))
}

/// The reason or the findings of a session, below the table.
fn explain(session: &AuditedSession) -> Result<()> {
    let who = format!("{} on {}", session.model, session.date);
    if let Some(reason) = &session.reason {
        say(wrap(&format!("{who}: {}", reason.message), width(), "  "))?;
    }
    for finding in &session.findings {
        say(wrap(&format!("{who}: {}", describe(finding)), width(), "  "))?;
        for item in &finding.items {
            say(wrap(&format!("  - {}", item.describe()), width(), "    "))?;
        }
    }
    Ok(())
}

fn describe(finding: &AuditFinding) -> String {
    let runs: Vec<&str> = finding.variants.iter().map(|variant| variant.as_str()).collect();
    match runs.is_empty() {
        true => finding.message.clone(),
        false => format!("{} (data {})", finding.message, runs.join(" and ")),
    }
}

/// A bar in a terminal, nothing elsewhere.
#[derive(Default)]
pub(super) struct AuditProgress {
    bar: Mutex<Option<ProgressBar>>,
}

impl AuditProgress {
    pub(super) fn advance(&self, done: usize, all: usize) {
        if terminal::bars_are_hidden() {
            return;
        }
        let mut bar = self.bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let bar = bar.get_or_insert_with(|| {
            let bar = terminal::add_bar(ProgressBar::new(all as u64));
            if let Ok(style) = ProgressStyle::with_template("audit {bar:20} {pos:>4}/{len} sessions") {
                bar.set_style(style.progress_chars("━╸─"));
            }
            bar
        });
        bar.set_position(done as u64);
    }
}

impl Drop for AuditProgress {
    fn drop(&mut self) {
        let bar = self.bar.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(bar) = bar.take() {
            bar.finish_and_clear();
        }
    }
}
