//! `papertape doctor`

mod figures;

use super::failure::FAILED;
use super::output::{json, note, say, table, text_of};
use super::{Common, Outcome};
use figures::Figure;
use papertape_protocol::doctor::{CheckState, Finding};
use papertape_service::config::Config;
use papertape_service::doctor::check;
use serde_json::json;
use std::process::ExitCode;

/// Looks at everything that a simulation needs. Makes and changes nothing.
pub(super) async fn doctor(common: &Common, config: Config) -> Outcome {
    let mut found = check(&config, false).await;
    let figures = match figures::figures(&config).await {
        Ok(figures) => figures,
        Err(error) => {
            found.push(Finding::broken("figures", format!("{error:#}")));
            Vec::new()
        }
    };
    let broken = found.iter().filter(|finding| finding.state == CheckState::Broken).count();
    if common.json {
        json(&json!({ "ok": broken == 0, "findings": found, "metrics": figures }))?;
    } else {
        let mut checks = table(["state", "check", "~finding"]);
        for finding in &found {
            let state = match finding.state {
                CheckState::Ok => "✓ ok",
                CheckState::Note => "· note",
                CheckState::Broken => "✗ broken",
            };
            checks.add_row([state, &finding.check, &finding.text]);
        }
        say(text_of(&checks))?;
        if !figures.is_empty() {
            let mut metrics = table(["~metric", "value"]);
            for Figure { name, value } in &figures {
                metrics.add_row([name, value]);
            }
            say(format_args!("\n{}", text_of(&metrics)))?;
        }
    }
    if broken == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    note!("{broken} of {} checks failed", found.len());
    Ok(ExitCode::from(FAILED))
}
