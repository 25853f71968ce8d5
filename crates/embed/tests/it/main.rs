//! Tests of vectors, search, fusion and the sentence model, as one binary.

mod search;
mod sentence;
mod vectors;
