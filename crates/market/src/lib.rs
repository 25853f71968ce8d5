//! Datasets: the bundled one, those imported from files or downloaded, and a catalogue of those at hand.
//!
//! This crate knows file formats and how sources on the network answer; it must never know a model, a database or an agent. What a dataset
//! means, and who may know what of it when, is [`papertape_core::market`]'s.

mod bundled;
mod catalogue;
pub mod download;
mod error;
pub mod export;
pub mod import;
mod store;

pub use bundled::{BUNDLED_NAME, bundled};
pub use catalogue::{Catalogue, Entry, IndexEntry};
pub use error::MarketError;
pub use store::check_name;
