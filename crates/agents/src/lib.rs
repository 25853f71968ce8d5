//! The agents: what a trader is told, which tools it has, and how its day runs.
//!
//! This crate knows only `core`, `redact` and `embed`. It must never know a clock, a database, a model's wire format or
//! anything else outside: every effect goes through [`papertape_core::tape::Ctx`].

pub mod config;
pub mod day;
pub mod desk;
pub mod graph;
pub mod market_data;
pub mod memory;
mod notice;
pub mod prompt;
pub mod recorded;
pub mod rules;
pub mod solo;
mod stale;
pub mod summary;
pub mod tools;
pub mod universe;
