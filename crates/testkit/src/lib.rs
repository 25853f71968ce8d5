//! What tests share. Never a dependency of the product: only of `tests/` directories.

pub mod model_server;
