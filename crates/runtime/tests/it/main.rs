//! Jobs, run on an in-memory record with a manual clock: no database, no network, no waiting.

mod actions;
mod branch;
mod budget;
mod budget_totals;
mod calls;
mod crashes;
mod desk;
mod external;
mod external_model;
mod history;
mod jobs;
mod profile_ab;
mod profile_job;
mod profile_read;
mod profile_record;
mod retry;
mod session_log;
mod stage;
