//! `papertape doctor`

mod figures;

use super::failure::FAILED;
use super::output::{json, note, say};
use super::{Common, Outcome};
use crate::config::Config;
use crate::doctor::{Finding, LookState, look};
use figures::Figure;
use serde_json::json;
use std::process::ExitCode;

/// Looks at everything that a simulation needs. Makes and changes nothing.
pub(super) async fn doctor(common: &Common, config: Config) -> Outcome {
    let mut found = look(&config, false).await;
    let figures = match figures::figures(&config).await {
        Ok(figures) => figures,
        Err(error) => {
            found.push(Finding::broken("figures", format!("{error:#}")));
            Vec::new()
        }
    };
    let broken = found.iter().filter(|finding| finding.state == LookState::Broken).count();
    if common.json {
        json(&json!({ "ok": broken == 0, "findings": found, "metrics": figures }))?;
    } else {
        for finding in &found {
            let mark = match finding.state {
                LookState::Ok => '✓',
                LookState::Note => '·',
                LookState::Broken => '✗',
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
