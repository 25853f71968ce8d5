//! The trader's three memories: the summaries of its last rounds, the theses of its open positions, and the
//! lessons of closed trades.
//!
//! [`DayMemory`] covers a day: it processes the ledger's events as they come, presents the past to the trader
//! through [`recall`], and writes the round and the reflections in the post phase. What outlives the day is
//! [`Memory`], a part of the start state.

mod content_ref;
mod day_memory;
mod embedding;
mod facts;
mod lesson_index;
pub mod lessons;
mod origin;
pub mod periods;
mod prompter;
mod recall;
mod reflect;
pub mod round_summary;
mod state;
pub mod trades;

pub use day_memory::{DayMemory, TraderOutcome};
pub use embedding::EMBEDDINGS;
pub use origin::Origin;
pub(crate) use recall::book_lines;
pub use recall::{
    CONTEXT_CHARS, CONTEXTS_CHARS, RecallBlock, RecallContext, Recalled, RecalledItem, past_context, recall,
};
pub use reflect::{REFLECTION_CHARS, reflections_from_log};
pub(crate) use state::ARCHIVE_BLOCKS;
pub use state::Memory;
