//! For tests: a clock driven by hand, a record in memory, a host and models that answer by script, and
//! small datasets.
//!
//! Used from `tests/` directories alone; nothing of the product may depend on it.

pub mod clock;
pub mod data;
pub mod host;
pub mod kept;
pub mod record;
