//! Papertape's domain: what a market knew, what an agent may do, what the books say and how a
//! session is kept on the tape.
//!
//! This crate is pure. It must never know an async runtime, a database, HTTP, the clock, the
//! environment or a file: time and randomness are arguments, effects go through [`ports`] and
//! [`tape::Ctx`].

pub mod action;
pub mod broker;
pub mod budget;
pub mod chat;
mod digest;
pub mod fence;
pub mod id;
pub mod json;
pub mod ledger;
pub mod market;
pub mod message;
pub mod metric;
pub mod money;
pub mod page;
pub mod plan;
pub mod point_in_time;
pub mod ports;
pub mod prompt;
pub mod provenance;
pub mod record;
mod rules_version;
pub mod tape;
pub mod time;

pub use rules_version::{OLDER_RULES, RULES_VERSION};
