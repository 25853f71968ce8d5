//! What tests share: a clock driven by hand, a record in memory, a host and models that answer by script,
//! a model server, and small datasets; and what benchmarks measure with.
//!
//! Used from `tests/` and `benches/` directories alone. It must never be a dependency of the product.

mod assistant;
pub mod bench;
pub mod clock;
pub mod data;
pub mod fault;
pub mod host;
pub mod kept;
pub mod markets;
pub mod model_server;
pub mod postgres;
pub mod record;
