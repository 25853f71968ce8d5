//! Is everything there that is needed? As `papertape doctor` sees it.

use crate::app::App;
use crate::doctor::check;
use crate::view::deployment;
use papertape_protocol::doctor::{CheckState, DoctorResponse};
use tokio::sync::Mutex;

/// One look at a time: it starts tool servers, and asks the disk.
static LOOKING: Mutex<()> = Mutex::const_new(());

/// Looks at everything that a simulation needs. Makes and changes nothing.
pub async fn doctor(app: &App) -> DoctorResponse {
    let _alone = LOOKING.lock().await;
    let mut findings = check(&app.config, true, app.tools).await;
    for finding in &mut findings {
        finding.text = app.services.redactor.redact_text(&finding.text).value;
    }
    DoctorResponse {
        ok: findings.iter().all(|finding| finding.state != CheckState::Broken),
        findings,
        looked_at: app.services.clock.now(),
        deployment: deployment(app),
    }
}
