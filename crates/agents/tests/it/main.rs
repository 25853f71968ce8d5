//! An agent's day, driven from the outside: a scripted model in memory, small data, no database.

mod calculate;
mod conversation;
mod desk_graph;
mod desk_stage;
mod graph;
mod orders;
mod outside;
mod phases;
mod prompts;
mod stage;
mod tools;
