//! Retention of the action log: rows that are too old are removed, and of each job all but the newest. The
//! tape, the messages and the books are never touched.

use crate::app::App;
use crate::config::Config;
use futures::future::{Either, select};
use papertape_core::action::CleanupReport;
use papertape_core::ports::{ActionLog as _, RecordError};
use papertape_core::time::Timestamp;
use papertape_runtime::cancellation::CancelToken;
use std::time::Duration;

/// The maximum number of rows per job.
pub const MAX_ROWS: u32 = 10_000;
/// The time of the nightly cleanup, from midnight UTC.
const NIGHT: Duration = Duration::from_secs(3 * 3600);
const DAY_SECS: i64 = 86_400;

/// The oldest instant whose rows are retained; a row at exactly this instant stays.
#[must_use]
pub fn retention_start(config: &Config, now: Timestamp) -> Timestamp {
    let days = Duration::from_secs(u64::from(config.settings.jobs.log_retention_days) * 86_400);
    now.checked_sub(days).unwrap_or(Timestamp::MIN)
}

/// Removes rows that are too old or too many now, or (`dry_run`) counts them.
///
/// # Errors
/// A database error.
pub async fn clean_up(app: &App, dry_run: bool) -> Result<CleanupReport, RecordError> {
    let older_than = retention_start(&app.config, app.services.clock.now());
    app.store.cleanup_action_logs(older_than, MAX_ROWS, dry_run).await
}

/// Cleans up every night, until shutdown. Several servers of one database may do so: the cleanup is idempotent.
pub async fn nightly(app: App, shutdown: CancelToken) {
    loop {
        let night = app.services.clock.sleep(until_night(app.services.clock.now()));
        if let Either::Left(_) = select(Box::pin(shutdown.stopped()), night).await {
            return;
        }
        match clean_up(&app, false).await {
            Ok(removed) => tracing::info!(
                rows_by_age = removed.by_age,
                rows_by_count = removed.by_count,
                jobs = removed.jobs,
                "cleaned up the action log"
            ),
            Err(error) => tracing::error!(error = %error, "failed to clean up the action log"),
        }
    }
}

/// The time until the next nightly cleanup; never zero.
fn until_night(now: Timestamp) -> Duration {
    let into_the_day = now.as_second().rem_euclid(DAY_SECS).unsigned_abs();
    let night = NIGHT.as_secs();
    let day = DAY_SECS.unsigned_abs();
    let left = if into_the_day < night { night - into_the_day } else { day - into_the_day + night };
    Duration::from_secs(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_night_is_ahead() {
        let until = |text: &str| until_night(text.parse().expect("an instant")).as_secs();
        assert_eq!(until("2026-01-02T00:00:00Z"), 3 * 3600);
        assert_eq!(until("2026-01-02T02:59:59Z"), 1);
        assert_eq!(until("2026-01-02T03:00:00Z"), 24 * 3600);
        assert_eq!(until("2026-01-02T23:00:00Z"), 4 * 3600);
    }

    #[test]
    fn rows_are_kept_for_whole_days() {
        let mut config = Config::default();
        let now: Timestamp = "2026-01-31T12:00:00Z".parse().expect("an instant");
        assert_eq!(retention_start(&config, now).to_string(), "2026-01-01T12:00:00Z");
        config.settings.jobs.log_retention_days = u32::MAX;
        assert_eq!(retention_start(&config, now), Timestamp::MIN);
    }
}
