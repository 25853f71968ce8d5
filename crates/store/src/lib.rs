//! The record on SQLite and PostgreSQL: the only crate that knows a database.
//!
//! It implements the ports [`Record`](papertape_core::ports::RecordStore) and [`Queue`](papertape_core::ports::Queue),
//! and serves read queries. It makes no decisions about a job: it never runs, retries or plans anything, reads
//! neither config nor environment, and knows nothing of models, markets or HTTP. Its clock is the database's,
//! used only for leases; every other instant is an argument.
//!
//! # Structure
//! - [`Store`] is the handle. It runs *work*, an async function of a `&mut dyn Db`, inside a transaction. On
//!   SQLite this happens on the writer thread, which commits many pieces of work together, or on a reader, and
//!   all futures are ready immediately; on PostgreSQL it uses a pooled connection, and a job's pieces of work that
//!   queue up are committed together.
//! - What needs no database is done before the work is queued: see `record/prepared.rs`.
//! - SQL is written once, with `$n` parameters in any order. The few expressions that must differ branch on
//!   `Db::backend`.
//! - A job's work begins with `fence.rs`. Only texts may be stored before, for several pieces of work at once.
//!
//! # Adding a query
//! Write the result's type and a method of [`Store`] in `read/`, next to the statement; read columns in the order
//! of the `SELECT` with `from_row!` or `Row::get`; paginate lists with `List::page`. Readers that several modules
//! need are in `rows/`. Test it in the story test, which runs on
//! both databases.
//!
//! # Changing the schema
//! Add a numbered file to `migrations/sqlite` and `migrations/postgres` and an entry to `MIGRATIONS`. Never edit
//! existing ones.

mod action;
mod chats;
mod db;
mod delete;
mod dev;
mod enqueue;
mod error;
mod exclusivity;
mod experiments;
mod export;
mod fence;
mod head;
mod held_heads;
mod labels;
mod leases;
mod lineage;
mod logins;
mod migrate;
mod notifications;
mod page;
mod plans;
mod portable;
mod postgres;
mod queue;
mod read;
mod record;
mod reviews;
mod rows;
mod search;
mod session_head;
mod shares;
mod sqlite;
mod store;
mod texts;
mod value;
mod vectors;
mod verify;
mod wake;
mod write_scope;
mod write_task;

pub use delete::{Deleted, Deletion};
pub use error::StoreError;
pub use labels::LabelsWrite;
pub use notifications::Follower;
pub use papertape_core::page::{Page, PageRequest};
pub use portable::{FileReport, PortableFiles, Projector};
pub use postgres::database_password;
pub use read::{
    AccountDay, AccountDays, AnalysisFilter, ArchiveRow, Close, ClosedDay, CompletedRun, ConversationPage,
    Counts, DailyValue, DayCounts, DayRow, DegradedDay, DegradedDays, ExperimentJobOverview, ExperimentRow,
    ExposurePredicate, ExposureView, Figures, GivenFilter, GivenMemory, Instructions, JobCurves, JobDetails,
    JobEvent, JobFilter, JobOverview, JobSearch, JobTail, MemoryFilter, MessageView, NewestJob, OrderCounts,
    OrderPlace, PartCounts, Placed, RecentUsage, ResultFilter, ReviewFilter, ReviewedSession, SessionBrief,
    SessionFilter, SessionRecord, SessionResult, SessionView, ShownFilter, ShownRead, ShownSession, StepView,
    StoppedJob, StoredRound, TradeFilter, UsageCost,
};
pub use reviews::ReviewWrite;
pub use search::query_words;
pub use sqlite::{FileSpace, upgrade as upgrade_file};
pub use store::{DatabaseTarget, Store};
pub use vectors::{StoredVector, VectorFor};
pub use verify::{ChainBreak, ChainLink, ChainReport, LinkKind, SessionChain, SessionHead};
pub use wake::CommitObserver;
