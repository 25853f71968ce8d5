//! Redaction: what is removed, what is left, and what holds for any text.

mod corpus;
mod exact;
mod plain;
mod properties;
mod stream;
mod value;
