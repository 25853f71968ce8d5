//! `memory_probe`: a quiz about the prices of a dataset, as a job with one session. Each call is a step of its tape, so
//! a resumed probe repeats no call that has an outcome.

mod config;
mod run;

pub use config::{MemoryProbeConfig, MemoryProbeReport, controls_name, histories};
pub(crate) use run::run;
pub use run::{PROBE_AGENT, request_of};
