//! Integration tests of papertape-core, in one binary.

mod books_known;
mod books_phases;
mod books_properties;
mod books_rules;
mod books_support;
mod metric_oracle;
