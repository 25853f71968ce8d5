//! The assistant: a conversation through which a user operates the desk, the actions that it can take, plans and
//! their execution.
//!
//! This crate knows only `core`. It must never know a clock, a database, a model's wire format, HTTP or how a
//! simulation is run: it reaches the outside through [`papertape_core::tape::Ctx`] and core's ports, and every
//! action is a step of the tape.

mod action_results;
pub mod actions;
mod calls;
pub mod chat;
pub mod child_budget;
pub mod children;
pub mod confirm;
pub mod conversation;
pub mod decompose;
mod deletion_preview;
pub mod execute;
pub mod fault;
pub mod language;
pub mod parameters;
pub mod perform;
mod plan_snapshot;
pub mod prompt;
pub mod protocol;
pub mod settings;
pub mod stream_text;
pub mod summary;
mod tree;
pub mod web;
