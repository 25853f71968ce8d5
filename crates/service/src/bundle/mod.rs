//! Evidence bundles: one file with everything that a job's or an experiment's results rest on, and its verification
//! without a database and without a network.
//!
//! [`collect`] writes a bundle, [`Bundle`] reads one, [`verify`] verifies one. Only `collect` needs an
//! [`App`](crate::app::App). `docs/bundle.md` specifies the format.

pub mod archive;
mod collect;
pub mod document;
mod facts;
mod parts;
mod read;
mod report;
mod tape;
mod verify;

pub use collect::{BundleOptions, BundleTarget, collect};
pub use read::Bundle;
pub use report::{BundleReport, PartCheck, PartReport, ReportedJob};
pub use verify::verify;
