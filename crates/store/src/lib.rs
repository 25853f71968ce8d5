//! The record on SQLite and PostgreSQL: the only crate that knows a database.
mod db;
mod error;
mod fence;
mod migrate;
mod postgres;
mod queue;
mod record;
mod search;
mod sqlite;
mod store;
mod texts;
mod value;

pub use error::StoreError;
pub use store::{Store, Target};
