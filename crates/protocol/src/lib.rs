//! What goes over the wire: requests, responses, stream events, query parameters and errors, as serde and
//! schema types. The API serializes them, and the CLI and the generated clients read the same definitions.
//!
//! It must never know HTTP, a database, the terminal or how a response is filled: only what it looks like.

pub mod access;
pub mod actions;
pub mod agent;
pub mod audit;
pub mod bars;
pub mod bundle;
pub mod chat;
pub mod compare;
pub mod compare_traces;
pub mod curves;
pub mod cutoff;
pub mod datasets;
pub mod deployment;
pub mod desk;
pub mod doctor;
pub mod doors;
pub mod error;
pub mod experiments;
pub mod exposures;
pub mod facts;
pub mod fields;
pub mod head;
pub mod health;
pub mod job_result;
pub mod jobs;
pub mod labels;
pub mod leaderboard;
pub mod lineage;
pub mod live;
pub mod masking;
pub mod memory;
pub mod number;
pub mod options;
pub mod plans;
pub mod probes;
pub mod progress;
pub mod quality;
pub mod query;
pub mod reasoning;
pub mod report;
pub mod results;
pub mod reviews;
pub mod sessions;
pub mod simulate;
pub mod stream;
pub mod usage;
pub mod vocabulary;
