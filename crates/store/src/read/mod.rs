//! What readers ask the record for. Each question is one statement or a few, on one snapshot.

mod counts;
mod events;
mod jobs;
mod page;
mod results;
mod sessions;
mod steps;

pub use counts::Counts;
pub use events::JobEvent;
pub use jobs::{CompletedDay, DayCounts, DayRow, JobDetails, JobFilter, JobOverview, NewestJob, Used};
pub use page::{Page, PageRequest};
pub use results::{DailyValue, ResultFilter, SessionResult};
pub(crate) use results::{read_holding, read_starting};
pub use sessions::{Instructions, MessageView, SessionFilter, SessionView};
pub use steps::{ExposureView, StepView};

use crate::db::{Db, Statement};
use crate::error::StoreError;
use crate::value::{Row, Value};
use papertape_core::record::SessionId;
use std::collections::BTreeMap;

/// Sessions are asked for in groups of this many.
const GROUP: usize = 32;

/// Rows of several sessions, by session: `sql` has a `?` where the ids go, and selects `session_id`
/// first.
async fn by_session<T>(
    db: &mut dyn Db,
    sql: &str,
    sessions: &[SessionId],
    read: impl Fn(&mut Row) -> Result<T, StoreError>,
) -> Result<BTreeMap<SessionId, Vec<T>>, StoreError> {
    let mut found: BTreeMap<SessionId, Vec<T>> = BTreeMap::new();
    for group in sessions.chunks(GROUP) {
        let filled = (0..GROUP).map(|at| Value::from(group[at.min(group.len() - 1)]));
        let mut statement = Statement::default();
        statement.add(&sql.replace('?', &vec!["?"; GROUP].join(", ")), filled);
        for mut row in statement.query(db).await? {
            found.entry(row.get()?).or_default().push(read(&mut row)?);
        }
    }
    Ok(found)
}
