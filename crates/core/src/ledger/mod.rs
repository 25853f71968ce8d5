//! The ledger: an account is a fold over its events.

mod action;

pub use action::{CorporateAction, CorporateActionKind};
