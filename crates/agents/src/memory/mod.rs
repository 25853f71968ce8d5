//! The trader's three memories: what its last rounds came to, why its open positions were opened, and
//! what closed trades have taught.
//!
//! [`Diary`] follows a day: it reads the ledger's events as they come, tells the trader its past through
//! [`recall`], and in the post phase writes the round and the reflections. What outlives the day is
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

pub use diary::{Diary, Spoken};
pub use meaning::EMBEDDINGS;
pub use origin::Origin;
pub(crate) use past::book_lines;
pub use past::{CONTEXT_CHARS, CONTEXTS_CHARS, Past, Reader, Recalled, Shown, past_context, recall};
pub use reflect::{REFLECTION_CHARS, of_log};
pub use settings::{LONGEST_WINDOW, MemoryMode, MemorySettings};
pub use state::Memory;
