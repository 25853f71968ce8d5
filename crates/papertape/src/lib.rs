//! The product: the only place where concrete types meet. Config, API and command line.
//!
//! It may know every crate, and no other crate may know it. It must never decide anything about a session or
//! the books: it resolves requests, composes the parts and displays what the database contains.

pub mod access;
pub mod address;
pub mod ai_trader;
pub mod api;
pub mod app;
pub mod assistant;
pub mod backup;
pub mod cli;
pub mod config;
pub mod deletion;
pub mod doctor;
pub mod embeddings;
pub mod format;
pub mod mcp;
pub mod metrics;
pub mod otlp;
pub mod retention;
pub mod secrets;
mod states;
pub mod streams;
pub mod trigger;
pub mod view;
