//! The record on both databases: everything in `story` holds on either.

mod accounts;
mod actions;
mod branch;
mod cancels;
mod chats;
mod crashes;
mod deletes;
mod desk;
mod dev;
mod files;
mod frozen;
mod group;
mod integrity;
mod interrupted;
mod logins;
mod memory;
mod pages;
mod places;
mod plans;
mod portable;
mod search;
mod shown;
mod size;
mod story;
mod tls;
mod vectors;
