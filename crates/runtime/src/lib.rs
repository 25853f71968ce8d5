//! Runs jobs: the host behind a session's context, budgets, retries, leases and workers; replay,
//! branch and audit.
//!
//! This crate knows `core`, the agents, the assistant, the statistics of a memory probe and an async runtime. It must never know a database, a
//! model's wire format, HTTP, or where the config comes from: it reaches all of these through core's ports.

pub mod actions;
pub mod assistant_job;
pub mod audit;
pub mod branch;
pub mod budget;
pub mod cancellation;
pub mod child_jobs;
pub mod clock;
pub mod config;
mod day;
mod delta_stream;
pub mod doors;
mod heartbeats;
mod host;
mod job_run;
pub mod job_runner;
pub mod jobs;
pub mod memory_probe;
pub mod overruns;
pub mod profile;
mod queue_wait;
pub mod replay;
pub mod retry;
pub mod services;
pub mod session_log;
mod shared_budgets;
pub mod simulate;
mod start_state;
mod summaries;
mod sync;
mod tape_reader;
pub mod worker;

pub use start_state::account_before;
pub use tape_reader::document;
