//! Is everything there that is needed? As `papertape doctor` sees it.

use super::Deployment;
use crate::app::App;
use crate::doctor::{CheckState, Finding, check};
use papertape_core::time::Timestamp;
use serde::Serialize;
use tokio::sync::Mutex;
use utoipa::ToSchema;

/// One look at a time: it starts tool servers, and asks the disk.
static LOOKING: Mutex<()> = Mutex::const_new(());

/// What the doctor has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct DoctorResponse {
    /// Is nothing broken?
    pub ok: bool,
    /// Every look.
    pub findings: Vec<Finding>,
    /// When it was looked.
    pub looked_at: Timestamp,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// Looks at everything that a simulation needs. Makes and changes nothing.
pub async fn doctor(app: &App) -> DoctorResponse {
    let _alone = LOOKING.lock().await;
    let mut findings = check(&app.config, true).await;
    for finding in &mut findings {
        finding.text = app.services.redactor.redact_text(&finding.text).value;
    }
    DoctorResponse {
        ok: findings.iter().all(|finding| finding.state != CheckState::Broken),
        findings,
        looked_at: app.services.clock.now(),
        deployment: Deployment::of(app),
    }
}
