//! The trader's three memories: the summaries of its last rounds, the theses of its open positions, and the
//! lessons of closed trades.
//!
//! [`DayMemory`] covers a day: it processes the ledger's events as they come, presents the past to the trader
//! through [`recall`], and writes the round and the reflections in the post phase. What outlives the day is
//! [`Memory`], a part of the start state.

mod ask;
mod diary;
mod facts;
pub mod lessons;
mod meaning;
mod origin;
pub mod parts;
mod past;
pub mod periods;
mod reflect;
mod settings;
mod state;
pub mod trades;

pub use diary::{DayMemory, TraderOutcome};
pub use meaning::EMBEDDINGS;
pub use origin::Origin;
pub(crate) use past::book_lines;
pub use past::{
    CONTEXT_CHARS, CONTEXTS_CHARS, RecallBlock, RecallContext, Recalled, RecalledItem, past_context, recall,
};
pub use reflect::{REFLECTION_CHARS, of_log};
pub use settings::{LONGEST_WINDOW, MemoryMode, MemorySettings};
pub use state::Memory;
