//! Everything that can be asked of the product: starting and stopping jobs, reading the record, importing,
//! exporting, cleaning up, checking the installation, and the configuration behind all of it.
//!
//! The API, the command line and the integrations are built on it. It must never know HTTP routes, a terminal,
//! or a system that only an integration speaks to; what it needs of those comes as [`integrations`].

pub mod access;
pub mod address;
pub mod app;
pub mod assistant;
pub mod backup;
pub mod board_cache;
pub mod bundle;
pub mod command;
mod compose;
pub mod config;
mod counterfactual;
pub mod deletion;
mod deltas;
pub mod doctor;
pub mod doors;
pub mod embeddings;
mod error;
pub mod experiments;
pub mod format;
pub mod html;
pub mod integrations;
pub mod labels;
pub mod leaderboard_site;
pub mod probes;
pub mod record_tools;
pub mod report;
pub mod result_cache;
mod resumable;
pub mod retention;
pub mod reviews;
pub mod secrets;
mod states;
pub mod streams;
pub mod tables;
pub mod trigger;
pub mod view;

pub use error::ServiceError;
