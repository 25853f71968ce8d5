//! The domain's rules, driven from the outside.

mod books_known;
mod books_phases;
mod books_properties;
mod books_rules;
mod books_support;
mod market_answers;
mod market_build;
mod market_calendar;
mod market_rows;
mod market_view;
mod metric_oracle;
mod redact_corpus;
mod redact_exact;
mod redact_properties;
mod redact_stream;
mod redact_value;
