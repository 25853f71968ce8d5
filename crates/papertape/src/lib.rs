//! The product: the only place where concrete types meet. Config, API and command line.
//!
//! It may know every crate, and no other crate may know it.

pub mod app;
pub mod cli;
pub mod config;
pub mod mcp;
pub mod trigger;
