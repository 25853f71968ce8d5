//! The assistant: a conversation through which a user operates the desk, the actions that it can take, plans and
//! their execution.
//!
//! This crate knows only `core`. It must never know a clock, a database, a model's wire format, HTTP or how a
//! simulation is run: it reaches the outside through [`papertape_core::tape::Ctx`] and core's ports, and every
//! action is a step of the tape.

pub mod chat;
pub mod children;
pub mod confirm;
pub mod decompose;
pub mod delta;
mod doomed;
pub mod execute;
pub mod fault;
pub mod language;
pub mod parameters;
pub mod perform;
mod planned;
pub mod prompt;
pub mod protocol;
pub mod purse;
pub mod settings;
pub mod summary;
pub mod table;
pub mod talk;
mod told;
mod tree;
pub mod web;
