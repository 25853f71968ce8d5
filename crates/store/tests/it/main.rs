//! The record on both databases: what is told in `story` holds on either.

mod desk;
mod dev;
mod files;
mod group;
mod interrupted;
mod pages;
mod places;
mod search;
mod size;
mod story;
