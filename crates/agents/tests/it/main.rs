//! An agent's day, driven from the outside: a scripted model in memory, small data, no database.

mod calculate;
mod conversation;
mod memory_pure;
mod memory_story;
mod orders;
mod outside;
mod phases;
mod prompts;
mod stage;
mod tools;
