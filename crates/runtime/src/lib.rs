//! Runs jobs: the host behind a session's context, budgets, retries, leases and workers; replay and
//! branch.
//!
//! This crate knows `core`, the agents, the assistant and an async runtime. It must never know a database, a
//! model's wire format, HTTP, or where the config comes from: it reaches all of these through core's ports.

mod acting;
pub mod actions;
pub mod assist;
pub mod branch;
pub mod budget;
pub mod clock;
pub mod config;
mod day;
mod host;
mod load;
pub mod profile;
mod purse;
pub mod replay;
pub mod retry;
pub mod services;
pub mod simulate;
mod spoken;
pub mod stopping;
mod summarise;
mod waiting;
pub mod worker;

pub use load::document;
