//! The product as its users meet it.

mod cli_config;
mod cli_dev;
mod cli_doctor;
mod cli_owner;
mod cli_pipe;
mod cli_run;
mod cli_signals;
mod cli_tool;
