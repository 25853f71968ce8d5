//! The report of `GET /doctor`.

use crate::app::App;
use crate::doctor::check;
use crate::view::deployment;
use papertape_protocol::doctor::{CheckState, DoctorResponse};
use tokio::sync::Mutex;

/// One check at a time: it starts tool servers, and reads the disk.
static CHECKING: Mutex<()> = Mutex::const_new(());

/// Checks everything that a simulation needs, without changing anything.
pub async fn report(app: &App) -> DoctorResponse {
    let _guard = CHECKING.lock().await;
    let mut findings = check(&app.config, true, app.tools, &*app.services.external).await;
    for finding in &mut findings {
        finding.text = app.services.redactor.redact_text(&finding.text).value;
    }
    DoctorResponse {
        ok: findings.iter().all(|finding| finding.state != CheckState::Broken),
        findings,
        checked_at: app.services.clock.now(),
        deployment: deployment(app),
    }
}
