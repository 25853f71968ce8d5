//! `papertape worker`

use super::output::note;
use super::{Common, Outcome, signals, way};
use crate::app::Access;
use crate::config::{Config, without_password};
use papertape_runtime::stopping::Stopper;
use std::process::ExitCode;

/// Works until it is told to stop.
pub(super) async fn worker(_: &Common, config: Config) -> Outcome {
    let place = match &config.database_url {
        Some(url) => without_password(url),
        None => config.data_dir.display().to_string(),
    };
    let app = way::to_own(config, Access::Own).await?;
    let stopper = Stopper::default();
    signals::listen(&stopper, || note!("stopping after the steps under way; once more stops at once"))?;
    note!("takes jobs of {place}, at most {} at once", app.config.worker.parallel_jobs);
    app.worker.serve(stopper.signal()).await;
    app.settle().await;
    Ok(ExitCode::SUCCESS)
}
