//! The broker: the rules for orders, their fills, and a day's effect on the books.
//!
//! Pure code: prices and days in, entries for the record out. An unchecked order cannot be filled: [`submit`]
//! takes only an [`Approved`] order, and only [`approve`] creates one. It can be used once, for the version
//! of the account that it was checked against.
//!
//! # A day
//! [`pre`] (corporate actions, margin calls, pending orders, gaps at the open), then the session's orders
//! through [`approve`] and [`submit`], then [`bar`] (stops, targets and liquidations inside the bar), then
//! [`close`]. Each changes the [`Books`] completely or, on an error, not at all.
//!
//! # Costs
//! * Fill price = reference price x (1 + s) where shares are taken (buy, cover), x (1 - s) where they are
//!   given (sell, short), with s = [`MarketProfile::slippage_of`] / 10,000, rounded half to even to 10
//!   decimals: slippage is always against the trader. A target is a limit and fills without slippage; a stop,
//!   a liquidation and a covered margin call slip as fills of the kind `forced`.
//! * Fee of a fill = [`MarketProfile::fee`]: max(`fees.minimum`, fill price x quantity x `fees.bps` / 10,000),
//!   rounded half to even to 8 decimals, and the fees of `fee_schedule` that are in force on the fill's day.
//! * Financing at the close = units held x the charge per unit, rounded likewise; the charge per unit =
//!   financed amount x the annual rate / 10,000 x nights / 365 / units held, rounded to 16 decimals; the rate
//!   is `annual_financing_bps`, and for a short position `annual_borrow_bps`, if set; the financed amount is
//!   the loan of a long position (`cost - margin`) and the market value of a short one; nights are the
//!   calendar nights until the next trading day.
//! * With isolated margin ([`MarketProfile::has_isolated_margin`]), a position is closed no worse than at the
//!   price at which its margin is lost, and the closing fee is at most what is left of it.
//!
//! # Insolvency
//! A portfolio value of zero or below, at the opens or at the closes, is recorded as an insolvency and is
//! final: every later order is rejected, and open positions are closed at the next open.

mod approve;
mod bar;
mod books;
mod close;
mod conditions;
mod delisting;
mod financing;
mod insolvency;
mod margin;
mod market_checks;
mod order;
mod pre;
mod profile;
mod reject;
mod stops;
mod submit;
mod terms;

pub use crate::ledger::{Insolvency, OrderId, Side};
pub use approve::{Approved, approve, approve_stops, check_stop_and_leverage};
pub use bar::{Ohlc, bar};
pub use books::{ActionType, Books, Journal, LedgerEntry, PendingOrder, PhaseResult};
pub use close::{DayEnd, PositionSnapshot, close, daily_return_pct};
pub use conditions::{Conditions, KnownVolume, PriceBand};
pub use margin::{OpeningNeeds, affordable, initial_margin_requirement};
pub use order::{Order, Quote, QuoteState, StopChange, parse_amount};
pub use pre::{expire, pre};
pub use profile::{
    Board, BoardLot, CostModel, FeeBand, FeeBasis, FeeCategory, FeeInput, FeePart, FeeRounding, FeeSchedule,
    FeeSide, Fees, FillModel, FillTiming, InstrumentClass, LotRule, MarketProfile, Participation, PriceLimit,
    RoundingMode, SlippageRule,
};
pub use reject::{OrderRequest, RejectCode, Rejection};
pub use stops::MAX_LEVERAGED_LOSS;
pub use submit::{Submission, SubmitError, approve_largest, change_stops, submit};
