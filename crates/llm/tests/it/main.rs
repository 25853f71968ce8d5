//! The gateway against a scripted server over real HTTP.

mod answers;
mod cancel;
mod config;
mod embeddings;
mod faults;
mod forward;
mod forward_house;
mod hostile;
mod notes;
mod other_wires;
mod prices;
mod recorded;
mod requests;
mod secrets;
mod support;
