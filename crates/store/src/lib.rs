//! The record on SQLite and PostgreSQL: the only crate that knows a database.
//!
//! It implements the ports [`Record`](papertape_core::ports::Record) and
//! [`Queue`](papertape_core::ports::Queue), and answers readers. It takes no decision about a job: it
//! never runs, retries or plans anything, reads no config and no environment, and knows no model, no
//! market and no HTTP. Its clock is the database's, for leases alone; every other instant is given.
//!
//! # How it is made
//! - [`Store`] is the handle. It runs *work*, an async function of a `&mut dyn Db`, inside of a
//!   transaction. On SQLite that is the writer thread's, which makes many pieces of work durable at a
//!   time, or a reader's, where all futures are ready at once; on PostgreSQL a pooled connection's.
//! - SQL is written once, with `$n` parameters in any order. The few expressions that must differ ask
//!   `Db::backend`.
//! - Every transaction of a job begins with `fence.rs`.
//!
//! # To add a question
//! Write the answer's type and a method of [`Store`] in `read/`, with the statement beside them; read
//! columns in the order of the `SELECT` by `Row::get`; take a list's rows through `List::page`. Test it
//! in the story, which runs on both databases.
//!
//! # To change the schema
//! Add a numbered file to `migrations/sqlite` and `migrations/postgres` and an entry to `MIGRATIONS`.
//! Those that are there stay as they are.

mod action;
mod alone;
mod chats;
mod db;
mod delete;
mod dev;
mod error;
mod export;
mod fence;
mod follow;
mod head;
mod lineage;
mod logins;
mod migrate;
mod plans;
mod portable;
mod postgres;
mod queue;
mod read;
mod record;
mod search;
mod sqlite;
mod store;
mod texts;
mod value;
mod vectors;
mod verify;

pub use delete::{Deleted, Deletion};
pub use error::StoreError;
pub use follow::Follower;
pub use papertape_core::page::{Page, PageRequest};
pub use portable::{FileReport, PortableFiles, Projector};
pub use postgres::database_password;
pub use read::{
    AccountDay, AccountDays, AnalysisFilter, ArchiveRow, Close, ClosedDay, Counts, DailyValue, DayCounts,
    DayRow, DegradedDay, DegradedDays, ExposureView, Figures, GivenFilter, GivenMemory, Instructions,
    JobCurves, JobDetails, JobEvent, JobFilter, JobOverview, JobTail, MemoryFilter, MessageView, NewestJob,
    OrderCounts, OrderPlace, Placed, Remembered, ResultFilter, SessionBrief, SessionFilter, SessionResult,
    SessionView, ShownFilter, ShownRead, ShownSession, Shows, StepView, StoppedJob, Talk, TradeFilter, Used,
};
pub use store::{Store, Target};
pub use vectors::{StoredVector, VectorFor};
pub use verify::{Broken, ChainReport, SessionHead};
