//! Is everything there that is needed? As `papertape doctor` sees it.

use super::Deployment;
use crate::app::App;
use crate::doctor::{Finding, LookState, look};
use papertape_core::time::Timestamp;
use serde::Serialize;
use tokio::sync::Mutex;
use utoipa::ToSchema;

/// One look at a time: it starts tool servers, and asks the disk.
static LOOKING: Mutex<()> = Mutex::const_new(());

/// What the doctor has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct DoctorAnswer {
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
pub async fn doctor(app: &App) -> DoctorAnswer {
    let _alone = LOOKING.lock().await;
    let mut findings = look(&app.config, true).await;
    for finding in &mut findings {
        finding.text = app.services.redactor.redact_text(&finding.text).value;
    }
    DoctorAnswer {
        ok: findings.iter().all(|finding| finding.state != LookState::Broken),
        findings,
        looked_at: app.services.clock.now(),
        deployment: Deployment::of(app),
    }
}
