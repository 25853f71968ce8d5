//! Tests of the assistant.

mod confirm;
mod delta;
mod prompts;
mod protocol;
