//! `papertape doctor`

mod telemetry;

use super::failure::FAILED;
use super::output::{json, note, say, table, text_of};
use super::{Common, Outcome};
use papertape_protocol::doctor::{CheckState, Finding};
use papertape_service::config::Config;
use papertape_service::doctor::check;
use papertape_service::integrations::AgentSetup;
use serde_json::json;
use std::process::ExitCode;
use std::sync::Arc;
use telemetry::Sample;

/// Runs all checks, and changes nothing.
pub(super) async fn doctor(common: &Common, config: Config) -> Outcome {
    let integrations = common.product.integrations();
    let agents = (integrations.agents)(AgentSetup::new(&config, Arc::default(), Arc::default()));
    let mut findings = check(&config, false, integrations.tools, &*agents).await;
    let samples = match telemetry::samples(common, &config).await {
        Ok(samples) => samples,
        Err(error) => {
            findings.push(Finding::broken("telemetry", format!("{error:#}")));
            Vec::new()
        }
    };
    let failed = findings.iter().filter(|finding| finding.state == CheckState::Broken).count();
    if common.json {
        json(&json!({ "ok": failed == 0, "findings": findings, "metrics": samples }))?;
    } else {
        let mut checks = table(["state", "check", "~finding"]);
        for finding in &findings {
            let state = match finding.state {
                CheckState::Ok => "✓ ok",
                CheckState::Note => "· note",
                CheckState::Broken => "✗ failed",
            };
            checks.add_row([state, &finding.check, &finding.text]);
        }
        say(text_of(&checks))?;
        if !samples.is_empty() {
            let mut metrics = table(["~metric", "value"]);
            for Sample { name, value } in &samples {
                metrics.add_row([name, value]);
            }
            say(format_args!("\n{}", text_of(&metrics)))?;
        }
    }
    if failed == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    note!("{failed} of {} checks failed", findings.len());
    Ok(ExitCode::from(FAILED))
}
