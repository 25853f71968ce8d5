//! Sentences as vectors: the sentence model in process, exact search over many vectors, and the fusion of
//! rankings.
//!
//! Everything here is a pure function of its arguments: weights come as bytes, and no file, network,
//! database, clock or thread is touched. It must never know what the sentences are about: no trade, no
//! job, no market.
//!
//! The workspace optimises this crate in the dev profile too, for its loops are the product's hottest.

pub mod fuse;
pub mod matrix;
pub mod sentence;
pub mod vector;

pub use matrix::{Hit, Matrix};
pub use sentence::{Config, SentenceModel};
