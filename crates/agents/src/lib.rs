//! The agents: their prompts, their tools, and how their day runs.
//!
//! This crate knows only `core`, `redact` and `embed`. It must never know a clock, a database, a model's wire format or
//! anything else outside: every effect goes through [`papertape_core::tape::Ctx`].

pub mod config;
pub mod day;
pub mod day_input;
pub mod desk;
pub mod external;
pub mod graph;
pub mod imported;
pub mod market_data;
pub mod memory;
pub mod nodes;
mod notice;
mod outcome;
pub mod prompt;
pub mod recorded;
mod roles;
pub mod rules;
pub mod solo;
mod stale;
pub mod summary;
pub mod tools;
pub mod universe;
