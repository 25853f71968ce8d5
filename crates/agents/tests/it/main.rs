//! An agent's day, tested from the outside: a scripted model in memory, small data, no database.

mod answers;
mod calculate;
mod conversation;
mod desk_crash;
mod desk_graph;
mod desk_guards;
mod desk_injections;
mod desk_stage;
mod fence;
mod graph;
mod injections;
mod listed;
mod memory_known;
mod memory_meaning;
mod memory_pure;
mod memory_story;
mod obedient;
mod orders;
mod outside;
mod phases;
mod prompts;
mod sizing;
mod stage;
mod tools;
mod universe;
