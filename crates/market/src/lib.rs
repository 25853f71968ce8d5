//! Datasets: the bundled one, those imported from files or downloaded, and a catalogue of the available ones.
//!
//! This crate knows file formats and the responses of network sources; it must never know a model, a database
//! or an agent. What a dataset means, and who may know what of it when, is up to [`papertape_core::market`].

mod bundled;
mod catalogue;
mod dataset_dir;
pub mod download;
mod entry;
mod error;
pub mod export;
pub mod import;
mod input;
mod mask;
mod vendors;

pub use bundled::{BUNDLED_NAME, bundled};
pub use catalogue::Catalogue;
pub use dataset_dir::check_name;
pub use entry::{Entry, MaskedEntry, UniverseEntry};
pub use error::MarketError;
pub use mask::{MaskedDataset, TextMask, mask, text_mask};
