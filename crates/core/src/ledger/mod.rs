//! The ledger: what an account holds, and every event that can change it.
//!
//! An [`Account`] is a fold over its [`LedgerEvent`]s: who has the events can compute it again and
//! reaches the same account, field for field. The ledger knows what is *possible* (nobody sells
//! what is not held); what is *allowed* is the broker's affair.
//!
//! # How money is kept
//! * `cash` is the plain sum of what was paid and received. A loan is not a pocket of its own: who
//!   buys for 1,000 with 100 of his own has 900 less than nothing on that account, and so `cash`
//!   is negative only where the profile lends.
//! * The equity, the `portfolio_value` of every record, is `cash + sum(quantity x price)`, with
//!   quantities below zero for shorts. No loan has to be subtracted from it.
//! * Each position sets aside its own `margin`. What is left to open others with is
//!   `available = cash + sum(cost - margin)`: for a long position `cost - margin` is the loan, for
//!   a short one it is minus the proceeds and minus the margin.
//! * A position is lost when its loss reaches its margin, at the price `(cost - margin) / quantity`.
//!
//! Products are exact (28 digits). Only quotients and rates are rounded, half to even: money to 8
//! decimals, prices to 10, quantities to 8; what a rounding takes from one part it leaves in the
//! other, so that sums stay exact.

mod account;
mod action;
mod event;
pub(crate) mod exact;
mod position;
mod report;

pub use account::{Account, Insolvency, MarginCall};
pub use action::{CorporateAction, CorporateActionKind};
pub use event::{Fill, FillCause, LedgerEvent, OrderId, Side};
pub use position::{Lot, Position, PositionId};
pub use report::{Applied, Direction, LedgerError, Realised};
