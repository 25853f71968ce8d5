//! The rows that a running job writes, as data. The store decides where and how they are stored; database IDs
//! and write timestamps are not part of them.

mod head;
mod job;
mod memory;
mod rows;
mod write;

pub use head::{AgentHead, JobHead, OpenSessionHead};
pub use job::{
    Continuation, DayStatus, JobKind, JobRow, JobStatus, Lease, NewJob, NewModelDay, SessionId, SkippedDay,
    Supersession,
};
pub use memory::{
    Assessment, AssetNote, ClaimCheck, ClaimResult, ContextState, Decision, Deviation, EmbeddingRow,
    ErrorTag, MemoryKind, OpenPositionContextRow, RecalledMemoryRow, ReflectionRow, RoundMemoryRow,
    SummarySource,
};
pub use rows::{
    ActionTerms, CloseSession, DerivedRow, ExposureRow, HoldingRow, MessageRow, OrderRow, PositionRow,
    SnapshotRow, StartingPosition,
};
pub use write::{
    AgentState, AttemptEnd, Commit, Estimate, Intent, NewSession, OpenedSession, ReusedFrom, ReusedSession,
    SessionWithoutSummary, StepEnd, StoredText, TapeRow, UsageTotal, Write,
};

macro_rules! words {
    ($name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $name {
            /// The spelling in the record and the API.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    other => Err(format!("`{other}` is none of: {}", [$($word),+].join(", "))),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use words;
