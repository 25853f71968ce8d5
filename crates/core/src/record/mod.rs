//! The rows that a running job writes, as data. The store decides where and how they are stored; database IDs
//! and write timestamps are not part of them.

pub mod chain;
mod experiment;
mod head;
mod job_record;
mod memory;
mod row_event;
mod rows;
mod write;

pub use crate::content::StoredText;
pub use crate::job::{
    Continuation, DayStatus, JobKind, JobRow, JobStatus, Lease, LeaseState, NewJob, NewModelDay, PartEnd,
    SessionId, SkippedDay, Supersession,
};
pub use experiment::{ExperimentJob, NewExperiment};
pub use head::{AgentHead, JobHead, OpenSessionHead};
pub use job_record::{ExpectedDay, JobRecord, NotExtended, SessionEnd};
pub use memory::{
    Assessment, AssetNote, ClaimCheck, ClaimResult, ContextState, Decision, Deviation, EmbeddingRow,
    ErrorTag, MemoryKind, OpenPositionContextRow, RecalledMemoryRow, ReflectionRow, RoundMemoryRow,
    SummarySource,
};
pub use row_event::RowError;
pub use rows::{
    ActionTerms, CloseSession, DerivedRow, ExposureRow, HoldingRow, MessageRow, OrderRow, PositionRow,
    SnapshotRow, StartingPosition,
};
pub use write::{
    AgentState, AttemptEnd, Commit, Estimate, Intent, NewSession, OpenCall, OpenedSession, ReusedFrom,
    ReusedSession, SessionWithoutSummary, StepEnd, TapeRow, UsageTotal, Write,
};
