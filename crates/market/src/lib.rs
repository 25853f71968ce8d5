//! Datasets: the bundled one, those imported from files or downloaded, and a catalogue of the available ones.
//!
//! This crate knows file formats and the responses of network sources; it must never know a model, a database
//! or an agent. What a dataset means, and who may know what of it when, is up to [`papertape_core::market`].

mod bundled;
mod catalogue;
pub mod download;
mod error;
pub mod export;
pub mod import;
mod store;

pub use bundled::{BUNDLED_NAME, bundled};
pub use catalogue::{Catalogue, Entry, UniverseEntry};
pub use error::MarketError;
pub use store::check_name;
