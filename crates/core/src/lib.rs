//! Papertape's domain: market data as it was known at an instant, the rules of trading, the ledger, and the
//! tape that records sessions.
//!
//! This crate is pure. It must never depend on an async runtime, a database, HTTP, the clock, the environment
//! or files: time and randomness are arguments, effects go through [`ports`] and [`tape::Ctx`].

pub mod action;
pub mod broker;
pub mod budget;
pub mod chat;
pub mod content;
pub mod external;
pub mod fence;
pub mod id;
pub mod job;
pub mod job_list;
pub mod json;
pub mod label;
pub mod language;
pub mod ledger;
pub mod market;
pub mod message;
pub mod metric;
pub mod money;
pub mod page;
pub mod part;
pub mod plan;
pub mod point_in_time;
pub mod ports;
pub mod prepared;
pub mod prompt;
pub mod provenance;
pub mod record;
pub mod review;
mod rules_version;
pub mod step;
pub mod tape;
pub mod time;
mod words;

pub use rules_version::{OLDER_RULES, RULES_VERSION};
