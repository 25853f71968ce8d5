//! The gateway against a scripted server over real HTTP, and the house models against hand-made
//! tools.

mod answers;
mod backoff;
mod cancel;
mod config;
mod embeddings;
mod faults;
mod hostile;
mod house_assistant;
mod house_corpus;
mod house_desk;
mod house_http;
mod house_roles;
mod house_solo;
mod house_summary;
mod notes;
mod other_wires;
mod prices;
mod recorded;
mod requests;
mod secrets;
mod support;
