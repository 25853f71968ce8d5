//! `papertape doctor`

mod data;
mod figures;
mod parts;

use super::failure::FAILED;
use super::output::{json, note, say};
use super::{Common, Outcome};
use crate::config::{Config, file_in_use};
use figures::Figure;
use serde::Serialize;
use serde_json::json;
use std::process::ExitCode;

/// What one look came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// As it should be.
    Ok,
    /// Nothing is broken, but somebody may want to know.
    Note,
    /// It does not work.
    Broken,
}

/// One look.
#[derive(Clone, Debug, Serialize)]
struct Finding {
    state: State,
    what: &'static str,
    text: String,
}

impl Finding {
    fn ok(what: &'static str, text: impl Into<String>) -> Self {
        Self { state: State::Ok, what, text: text.into() }
    }

    fn note(what: &'static str, text: impl Into<String>) -> Self {
        Self { state: State::Note, what, text: text.into() }
    }

    fn broken(what: &'static str, text: impl Into<String>) -> Self {
        Self { state: State::Broken, what, text: text.into() }
    }
}

/// Looks at everything that a simulation needs. Makes and changes nothing.
pub(super) async fn doctor(common: &Common, config: Config) -> Outcome {
    let mut found = Vec::new();
    found.push(match file_in_use(common.config.as_deref()) {
        Some(file) => Finding::ok("config", format!("read from {}", file.display())),
        None => Finding::ok("config", "the defaults and the environment; there is no papertape.toml here"),
    });
    found.extend(data::directory(&config));
    found.extend(data::database(&config).await);
    found.push(data::listening(&config));
    found.push(parts::dataset(&config));
    found.extend(parts::models(&config));
    found.push(parts::prompts(&config));
    found.extend(parts::tools(&config).await);
    let figures = match figures::figures(&config).await {
        Ok(figures) => figures,
        Err(error) => {
            found.push(Finding::broken("figures", format!("{error:#}")));
            Vec::new()
        }
    };
    let broken = found.iter().filter(|finding| finding.state == State::Broken).count();
    if common.json {
        json(&json!({ "ok": broken == 0, "findings": found, "metrics": figures }))?;
    } else {
        for finding in &found {
            let mark = match finding.state {
                State::Ok => '✓',
                State::Note => '·',
                State::Broken => '✗',
            };
            say(format_args!("{mark} {:<10} {}", finding.what, finding.text))?;
        }
        for Figure { name, value } in &figures {
            say(format_args!("  {name} {value}"))?;
        }
    }
    if broken == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    note!("{broken} of {} looks found something broken", found.len());
    Ok(ExitCode::from(FAILED))
}
