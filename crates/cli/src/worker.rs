//! `papertape worker`

use super::output::note;
use super::{Common, Outcome, record_access, signals};
use papertape_runtime::cancellation::CancelSource;
use papertape_service::app::Access;
use papertape_service::config::{Config, without_password};
use std::process::ExitCode;

/// Works until it is told to stop.
pub(super) async fn worker(_: &Common, config: Config) -> Outcome {
    let place = match &config.database_url {
        Some(url) => without_password(url),
        None => config.data_dir.display().to_string(),
    };
    let app = record_access::open_exclusive(common, config, Access::Own).await?;
    let stopper = CancelSource::default();
    signals::listen(&stopper, || note!("stopping after the steps under way; once more stops at once"))?;
    note!("takes jobs of {place}, at most {} at once", app.config.worker.parallel_jobs);
    app.worker.serve(stopper.signal()).await;
    app.flush().await;
    Ok(ExitCode::SUCCESS)
}
