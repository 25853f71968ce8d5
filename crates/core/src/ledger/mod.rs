//! The ledger: what an account holds, and every event that changes it.
//!
//! An [`Account`] is a fold over its [`LedgerEvent`]s: anyone with the events can recompute the same account,
//! field for field. The ledger enforces what is *possible* (you cannot sell what you do not hold); the broker
//! decides what is *allowed*.
//!
//! # How money is accounted for
//! * `cash` is the plain sum of everything paid and received. A loan has no separate account: buying for
//!   1,000 with 100 of own money leaves cash at -900, so `cash` is negative only if the profile lends.
//! * The equity, the `portfolio_value` of every record, is `cash + sum(quantity x price)`, with
//!   quantities below zero for shorts. No loan has to be subtracted from it.
//! * Each position sets aside its own `margin`. The amount left to open others is `available = cash +
//!   sum(cost - margin)`: for a long position `cost - margin` is the loan, for a short one it is minus the
//!   proceeds and minus the margin.
//! * A position is liquidated when its loss reaches its margin, at the price `(cost - margin) / quantity`.
//!
//! Products are exact (28 digits). Only quotients and rates are rounded, half to even: money to 8 decimals,
//! prices to 10, quantities to 8. When a rounding takes something from one part, the other part gets it, so
//! sums stay exact.

mod account;
mod action;
pub(crate) mod checked;
mod error;
mod event;
mod position;
mod report;

pub use account::{Account, Insolvency, MarginCall};
pub use action::{CorporateAction, CorporateActionKind};
pub use error::LedgerError;
pub use event::{Fill, FillCause, LedgerEvent, OrderId, Side};
pub use position::{Direction, Lot, Position, PositionId};
pub use report::{AppliedEvent, RealizedPnl};
