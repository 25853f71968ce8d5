//! Queries over the record. Each one is a statement or a few, on one snapshot.

mod accounts;
mod closed;
mod counts;
mod curves;
mod ended_days;
mod events;
mod experiments;
mod exposures_by_item;
mod figures;
mod finished;
mod job_list;
pub(crate) mod jobs;
mod labels;
mod leaderboard;
pub(crate) mod memory;
mod order_origin;
mod outcome;
mod parts;
mod quality;
mod results;
mod reviews;
mod sessions;
mod steps;
mod unverified;

pub use accounts::{AccountDay, AccountDays, NewestJob};
pub use closed::{ClosedDay, StoppedJob};
pub use counts::Counts;
pub use curves::{Close, JobCurves};
pub(crate) use ended_days::ended_days;
pub(crate) use events::message_event;
pub use events::{JobEvent, JobTail};
pub use experiments::{ExperimentJobOverview, ExperimentRow, RecentUsage};
pub use exposures_by_item::{ExposurePredicate, GivenFilter, ShownFilter, ShownRead, ShownSession};
pub use figures::Figures;
pub use finished::{SessionBrief, SessionRecord};
pub use job_list::JobSearch;
pub(crate) use job_list::MAX_CURSOR_AGE;
pub use jobs::{DayCounts, DayRow, JobDetails, JobFilter, JobOverview, UsageCost};
pub(crate) use labels::labels_of;
pub use leaderboard::CompletedRun;
pub use memory::{ArchiveRow, GivenMemory, MemoryFilter, StoredRound, TradeFilter};
pub use order_origin::{OrderPlace, Placed};
pub use parts::PartCounts;
pub use quality::{DegradedDay, DegradedDays, OrderCounts};
pub use results::{AnalysisFilter, DailyValue, ResultFilter, SessionResult};
pub(crate) use reviews::reviews_of;
pub use reviews::{ReviewFilter, ReviewedSession};
pub use sessions::{ConversationPage, Instructions, MessageView, SessionFilter, SessionView};
pub use steps::{ExposureView, StepView};

use crate::db::{Db, Statement};
use crate::error::Result;
use crate::value::{FromRow, FromValue, Value};
use std::collections::BTreeMap;

/// Number of keys per statement.
const GROUP: usize = 32;

/// Rows that belong to several parents, by their keys: `sql` has a `?` where the keys go, and selects the key
/// first.
async fn by_key<K, T>(db: &mut dyn Db, sql: &str, keys: &[K]) -> Result<BTreeMap<K, Vec<T>>>
where
    K: FromValue + Ord,
    T: FromRow,
    for<'k> Value: From<&'k K>,
{
    let mut found: BTreeMap<K, Vec<T>> = BTreeMap::new();
    for group in keys.chunks(GROUP) {
        // One statement for every group size: the last key is repeated as padding.
        let filled = (0..GROUP).map(|at| Value::from(&group[at.min(group.len() - 1)]));
        let mut statement = Statement::default();
        statement.add(&sql.replace('?', &vec!["?"; GROUP].join(", ")), filled);
        for (key, item) in statement.all(db).await? {
            found.entry(key).or_default().push(item);
        }
    }
    Ok(found)
}
