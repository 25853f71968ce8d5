//! `papertape review`

use super::args::whole;
use super::export::Output;
use super::failure::{not_found, service_error, usage};
use super::output::{counted, json, note, say, table, text_of};
use super::record_access::{self, RecordAccess, find_job, open_read_only};
use super::{Common, Outcome};
use anyhow::{Context as _, Result};
use clap::Args;
use papertape_core::review::{MAX_SCORE, MIN_SCORE, ReviewChanges};
use papertape_core::time::{Date, parse_date};
use papertape_protocol::reasoning::ReasoningQuery;
use papertape_protocol::reviews::{
    Review, ReviewPatch, ReviewResponse, ReviewedSessionResponse, ReviewsQuery,
};
use papertape_service::ServiceError;
use papertape_service::app::App;
use papertape_service::config::Config;
use papertape_service::reviews::change_review;
use papertape_service::view;
use serde_json::json;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Rows of a page.
const PAGE: u32 = 200;

#[derive(Debug, Args)]
pub(super) struct ReviewArgs {
    /// The job, or `latest`
    job: String,
    /// The session's trading day
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    date: Option<Date>,
    /// The session's agent [default: the only one]
    #[arg(long, value_name = "NAME", requires = "date")]
    agent: Option<String>,
    /// Score of the session, 1 (bad) to 5 (good), or `none` to remove it
    #[arg(long, requires = "date", value_parser = parse_score)]
    score: Option<NewScore>,
    /// Note on the session; empty removes it
    #[arg(long, requires = "date")]
    note: Option<String>,
    /// List only sessions with this score or a higher one
    #[arg(long, value_name = "SCORE", conflicts_with = "date", value_parser = whole(MIN_SCORE..=MAX_SCORE))]
    min_score: Option<u8>,
    /// List only sessions with this score or a lower one
    #[arg(long, value_name = "SCORE", conflicts_with = "date", value_parser = whole(MIN_SCORE..=MAX_SCORE))]
    max_score: Option<u8>,
    /// Print the list as CSV
    #[arg(long, conflicts_with = "date")]
    csv: bool,
    /// File to write the CSV to [default: stdout]
    #[arg(short, long, value_name = "FILE", requires = "csv")]
    output: Option<PathBuf>,
}

/// A score, or none.
#[derive(Clone, Copy, Debug)]
struct NewScore(Option<u8>);

fn parse_score(text: &str) -> Result<NewScore, String> {
    if text == "none" {
        return Ok(NewScore(None));
    }
    let score = whole(MIN_SCORE..=MAX_SCORE)(text);
    score.map(|score| NewScore(Some(score))).map_err(|error| format!("{error}, or `none`"))
}

pub(super) async fn review(common: &Common, config: Config, args: ReviewArgs) -> Outcome {
    match args.date {
        Some(date) => Box::pin(change(common, config, args, date)).await,
        None => list(common, config, args).await,
    }
}

async fn change(common: &Common, config: Config, args: ReviewArgs, date: Date) -> Outcome {
    let changes = ReviewChanges { score: args.score.map(|score| score.0), note: args.note };
    if changes.is_empty() {
        return Err(usage("nothing to change; pass --score or --note"));
    }
    let (session, review): (_, Review) = match record_access::open_existing(common, config).await? {
        RecordAccess::Local(app) => {
            let session = session_of(&app, &args.job, date, args.agent).await?;
            (session, change_review(&app, session, changes, None).await.map_err(service_error)?.into())
        }
        RecordAccess::Remote(server) => {
            let app = open_read_only(common, server.config.clone()).await?;
            let session = session_of(&app, &args.job, date, args.agent).await?;
            let patch = ReviewPatch { score: changes.score, note: changes.note.map(Some) };
            let path = ["sessions", &session.to_string(), "review"];
            let changed: ReviewResponse = server.patch(&path, &patch).await?;
            (session, changed.review)
        }
    };
    if common.json {
        json(&json!({ "session_id": session, "review": review }))?;
        return Ok(ExitCode::SUCCESS);
    }
    say(format_args!("session {session}"))?;
    if let Some(score) = review.score {
        say(format_args!("score   {score}"))?;
    }
    if let Some(note) = review.note {
        say(format_args!("note    {note}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The session of a day and, if the day has several, of this agent.
async fn session_of(app: &App, job: &str, date: Date, agent: Option<String>) -> Result<i64> {
    let job = find_job(app, job).await?;
    let query = ReasoningQuery {
        job_id: Some(job.to_string()),
        date: Some(date),
        model: agent,
        limit: Some(2),
        ..ReasoningQuery::default()
    };
    let found = match view::reasoning(app, query).await {
        Ok(found) => found.sessions,
        Err(ServiceError::NotFound(_)) => Vec::new(),
        Err(error) => return Err(service_error(error)),
    };
    match &found[..] {
        [session] => Ok(session.session_id),
        [] => Err(not_found(format!(
            "no session on {date}; run `papertape reasoning {job} --brief` to list them"
        ))),
        [one, ..] => {
            let agent = one.model.escape_default();
            Err(usage(format!("several sessions on {date}; name an agent, such as --agent {agent}")))
        }
    }
}

async fn list(common: &Common, config: Config, args: ReviewArgs) -> Outcome {
    if args.csv && common.json {
        return Err(usage("choose --csv or --json"));
    }
    let app = open_read_only(common, config).await?;
    let job = find_job(&app, &args.job).await?;
    let mut reviews: Vec<ReviewedSessionResponse> = Vec::new();
    let mut cursor = None;
    loop {
        let (min_score, max_score) = (args.min_score, args.max_score);
        let query = ReviewsQuery { min_score, max_score, limit: Some(PAGE), cursor };
        let page = view::reviews(&app, job.as_str(), query).await.map_err(service_error)?;
        reviews.extend(page.reviews);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    if common.json {
        json(&json!({ "job_id": job, "reviews": reviews }))?;
    } else if args.csv {
        let mut out = Output::open(args.output)?;
        let written = out.write_all(csv(job.as_str(), &reviews).as_bytes()).context("cannot write the CSV");
        out.finish(written)?;
    } else if reviews.is_empty() {
        note!("no reviews; add one with `papertape review {job} --date YYYY-MM-DD --score 4`");
    } else {
        let mut rows = table(["date", "agent", ">score", "~note", "by"]);
        for ReviewedSessionResponse { date, model, review, .. } in &reviews {
            rows.add_row([
                date.to_string(),
                model.clone(),
                review.score.map(|score| score.to_string()).unwrap_or_default(),
                review.note.as_deref().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" "),
                review.updated_by.clone().unwrap_or_default(),
            ]);
        }
        say(text_of(&rows))?;
        note!("{}", counted(reviews.len() as u64, "reviewed session"));
    }
    Ok(ExitCode::SUCCESS)
}

/// The columns of the CSV, which the web page writes too.
const COLUMNS: [&str; 9] =
    ["job_id", "session_id", "date", "agent", "status", "score", "note", "updated_at", "updated_by"];

/// The reviews as CSV (RFC 4180).
fn csv(job: &str, reviews: &[ReviewedSessionResponse]) -> String {
    let row = |session: &ReviewedSessionResponse| {
        let review = &session.review;
        [
            job.to_owned(),
            session.session_id.to_string(),
            session.date.to_string(),
            session.model.clone(),
            session.status.as_str().to_owned(),
            review.score.map(|score| score.to_string()).unwrap_or_default(),
            review.note.clone().unwrap_or_default(),
            review.updated_at.map(|at| at.to_string()).unwrap_or_default(),
            review.updated_by.clone().unwrap_or_default(),
        ]
    };
    let rows = std::iter::once(COLUMNS.map(str::to_owned)).chain(reviews.iter().map(row));
    rows.map(|row| row.map(|text| field(&text)).join(",") + "\r\n").collect()
}

/// A field of a CSV file. A text that a spreadsheet would run as a formula begins with an apostrophe.
fn field(text: &str) -> String {
    let mark = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    let safe = format!("{mark}{text}");
    match safe.contains([',', '"', '\r', '\n']) {
        true => format!("\"{}\"", safe.replace('"', "\"\"")),
        false => safe,
    }
}

#[cfg(test)]
mod tests {
    use super::{field, parse_score};

    /// Goal: a field with separators is quoted, and a note cannot become a spreadsheet's formula.
    #[test]
    fn fields_are_quoted_and_harmless() {
        for (text, expected) in [
            ("plain text", "plain text"),
            ("a, b", "\"a, b\""),
            ("say \"no\"\nthen stop", "\"say \"\"no\"\"\nthen stop\""),
            ("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""),
            ("-1", "'-1"),
        ] {
            assert_eq!(field(text), expected);
        }
    }

    /// Goal: a score is a number in range, or `none`.
    #[test]
    fn scores_are_parsed() {
        assert_eq!(parse_score("4").map(|score| score.0), Ok(Some(4)));
        assert_eq!(parse_score("none").map(|score| score.0), Ok(None));
        for text in ["0", "6", "4.5", "good", ""] {
            let expected = "expected a whole number from 1 to 5, or `none`";
            assert_eq!(parse_score(text).map(|score| score.0), Err(expected.to_owned()), "{text}");
        }
    }
}
