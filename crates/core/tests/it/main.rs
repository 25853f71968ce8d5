//! Integration tests of the domain crate: one binary, a module a subject.

mod redact_corpus;
mod redact_exact;
mod redact_properties;
mod redact_stream;
mod redact_value;
