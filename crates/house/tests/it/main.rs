//! The house models against hand-made tools, with the real prompts, and behind real HTTP.

mod assistant;
mod corpus;
mod day;
mod http;
mod roles;
mod solo;
mod summary;
mod support;
