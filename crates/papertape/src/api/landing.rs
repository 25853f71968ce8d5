//! `GET /`: a plain page for who comes by with a browser.

use super::error::ApiError;
use super::html::escape;
use crate::app::App;
use crate::view::{self, JobSummary, JobsAnswer, JobsQuery};
use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::Html;
use axum::routing::get;
use std::fmt::Write as _;

/// Jobs on the page.
const JOBS: u32 = 20;

/// The routes.
pub(super) fn routes() -> Router<App> {
    let style = async || ([(CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("landing.css"));
    Router::new().route("/", get(landing)).route("/landing.css", get(style))
}

async fn landing(State(app): State<App>) -> Result<Html<String>, ApiError> {
    let query = JobsQuery { limit: Some(JOBS), ..JobsQuery::default() };
    Ok(Html(page(&view::jobs(&app, query).await?)))
}

fn page(found: &JobsAnswer) -> String {
    let jobs = if found.jobs.is_empty() {
        "<p>There is no job yet. Start one with <code>POST /simulate/trigger</code> (the \
         <a href=\"/docs/\">docs page</a> can send it).</p>"
            .to_owned()
    } else {
        table(&found.jobs)
    };
    let mode = if found.deployment.is_dev_mode {
        " <span class=\"mark\">dev mode: this data does not last</span>"
    } else {
        ""
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Papertape</title>\n\
         <link rel=\"stylesheet\" href=\"/landing.css\">\n</head>\n<body>\n\
         <h1>Papertape</h1>\n<p class=\"quiet\">Paper-trades desks of LLM agents and keeps everything on one \
         durable tape. Version {version}.{mode}</p>\n\
         <nav><a href=\"/docs/\">API docs</a><a href=\"/openapi.json\">OpenAPI</a><a href=\"/jobs\">Jobs</a>\
         <a href=\"/results\">Results</a><a href=\"/reasoning\">Reasoning</a><a href=\"/health\">Health</a></nav>\n\
         <h2>Newest jobs</h2>\n{jobs}\n</body>\n</html>\n",
        version = env!("CARGO_PKG_VERSION"),
    )
}

fn table(jobs: &[JobSummary]) -> String {
    let mut rows = String::new();
    for job in jobs {
        let id = escape(&job.job_id);
        let days = job.progress.completed + job.progress.skipped;
        // Writing to a string does not fail.
        let _ = writeln!(
            rows,
            "<tr><td><code>{id}</code><br><a href=\"/simulate/status/{id}\">status</a> \
             <a href=\"/results?job_id={id}\">results</a> <a href=\"/reasoning?job_id={id}\">reasoning</a></td>\
             <td>{status}</td><td>{what}</td><td class=\"number\">{days} / {all}</td><td>{created:.0}</td></tr>",
            status = escape(job.status.as_str()),
            what = what(job),
            all = job.progress.total_model_days,
            created = job.created_at,
        );
    }
    format!(
        "<div class=\"table\"><table>\n<thead><tr><th>Job</th><th>Status</th><th>What</th>\
         <th class=\"number\">Model-days</th><th>Created</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>"
    )
}

fn what(job: &JobSummary) -> String {
    let Some(simulation) = &job.simulation else { return escape(&job.kind) };
    let agent = |agent: &view::AgentSummary| {
        let mark = if agent.is_llm { "" } else { " <span class=\"mark\">house model, no LLM</span>" };
        format!("{}{mark}", escape(&agent.name))
    };
    let agents: Vec<String> = simulation.agents.iter().map(agent).collect();
    format!(
        "{}<br><span class=\"quiet\">{} to {}</span>",
        agents.join("<br>"),
        simulation.start_date,
        simulation.end_date
    )
}
