//! Sentence embeddings: the sentence model in process, exact search over many vectors, and rank fusion.
//!
//! Everything here is a pure function of its arguments: weights are passed as bytes, and nothing touches a file,
//! network, database, clock or thread. It must never know what the sentences are about: no trade, no job, no
//! market.
//!
//! The workspace optimizes this crate in the dev profile too, because its loops are the product's hottest.

pub mod matrix;
pub mod reciprocal_rank_fusion;
pub mod sentence;
pub mod vector;

pub use matrix::{Hit, Matrix};
pub use sentence::{BertConfig, SentenceModel};
