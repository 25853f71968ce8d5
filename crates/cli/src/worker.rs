//! `papertape worker`

use super::output::note;
use super::{Common, Outcome, record_access, signals};
use papertape_runtime::cancellation::CancelSource;
use papertape_service::app::Access;
use papertape_service::config::{Config, without_password};
use std::process::ExitCode;

/// Runs jobs until a signal stops it.
pub(super) async fn worker(common: &Common, config: Config) -> Outcome {
    let database = match &config.database_url {
        Some(url) => without_password(url),
        None => config.data_dir.display().to_string(),
    };
    let app = record_access::open_exclusive(common, config, Access::Own).await?;
    let cancel = CancelSource::default();
    signals::listen(&cancel, || {
        note!("stopping after the current steps; press Ctrl-C again to stop immediately");
    })?;
    app.open_doors().await?;
    note!("running jobs of {database}, at most {} in parallel", app.config.worker.parallel_jobs);
    app.worker.serve(cancel.signal()).await;
    app.flush().await;
    Ok(ExitCode::SUCCESS)
}
