//! Shared test code: a manual clock, an in-memory record, a host and models that follow scripts, a model server,
//! and small datasets; and shared benchmark code.
//!
//! Used only from `tests/` and `benches/` directories. It must never be a dependency of the product.

mod assistant;
pub mod bench;
pub mod clock;
pub mod data;
pub mod external;
pub mod fault;
pub mod host;
pub mod kept;
pub mod markets;
pub mod model_server;
pub mod postgres;
pub mod record;
mod shared_budgets;
mod stored_chats;
