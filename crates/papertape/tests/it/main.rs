//! The product as a whole, put together as the binary does it.

mod branch_jobs;
mod cli_config;
mod cli_dev;
mod cli_doctor;
mod cli_owner;
mod cli_pipe;
mod cli_run;
mod cli_signals;
mod cli_tool;
mod crash_child;
mod crash_points;
mod crash_random;
mod crash_support;
mod job_budgets;
mod job_calls;
mod job_leases;
mod job_states;
mod mcp_day;
mod mcp_http;
mod mcp_names;
mod mcp_stdio;
mod mcp_support;
mod replay_jobs;
