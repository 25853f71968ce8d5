//! Rejections: a code, a message and the deciding numbers.

use super::order::{Order, StopChange};
use crate::id::Symbol;
use crate::ledger::OrderId;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The rejected request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum OrderRequest {
    /// An order.
    Order(Order),
    /// A change of a stop or a target.
    StopChange(StopChange),
}

impl OrderRequest {
    /// The request's ID.
    #[must_use]
    pub fn id(&self) -> OrderId {
        match self {
            Self::Order(order) => order.id,
            Self::StopChange(change) => change.id,
        }
    }

    /// The instrument.
    #[must_use]
    pub fn symbol(&self) -> &Symbol {
        match self {
            Self::Order(order) => &order.symbol,
            Self::StopChange(change) => &change.symbol,
        }
    }
}

impl From<Order> for OrderRequest {
    fn from(order: Order) -> Self {
        Self::Order(order)
    }
}

impl From<StopChange> for OrderRequest {
    fn from(change: StopChange) -> Self {
        Self::StopChange(change)
    }
}

/// Why a request was rejected, in the order in which the rules are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RejectCode {
    /// The account is insolvent and trades no more.
    Insolvent,
    /// The symbol is not in the run's universe today, and the order would open or enlarge a position in it.
    NotInUniverse,
    /// The symbol is not one of the job's instruments.
    UnknownSymbol,
    /// The instrument has no bar today.
    NoBarToday,
    /// The amount is not a finite number above zero, or too large for the books.
    InvalidAmount,
    /// The market does not allow short positions.
    ShortingNotAllowed,
    /// A buy against a short position, or a short against a long one: a reversal closes first.
    OppositePosition,
    /// A buy at the highest price that the exchange allows today.
    LimitUp,
    /// A sale at the lowest price that the exchange allows today.
    LimitDown,
    /// The amount is not a multiple of the lot, or has more decimals than can be traded.
    LotSize,
    /// The order exceeds the limit on the instrument's daily volume.
    ParticipationCap,
    /// Shares bought today can only be closed on a later day.
    TPlusOne,
    /// Cash or margin is insufficient, fees included.
    InsufficientCash,
    /// The order closes more than is held.
    InsufficientShares,
    /// The leverage is outside the market's range, or not that of the open position.
    LeverageLimit,
    /// A leveraged position needs a stop.
    StopRequired,
    /// The stop is not on the losing side of the price.
    StopWrongSide,
    /// The target is not on the gaining side of the price.
    TargetWrongSide,
    /// The stop is further away than the leveraged loss allows.
    StopTooFar,
    /// A stop may be tightened, never loosened.
    StopLoosened,
    /// There is no open position whose stop could be moved.
    NoPosition,
    /// Neither a stop nor a target was given.
    NothingToChange,
    /// The run ended before the order could fill.
    Expired,
    /// A split left a pending order below the tradable minimum.
    SplitAway,
    /// The instrument left the market before the order could fill.
    Delisted,
}

crate::words!(RejectCode {
    Insolvent = "insolvent", NotInUniverse = "not_in_universe", UnknownSymbol = "unknown_symbol",
    NoBarToday = "no_bar_today", InvalidAmount = "invalid_amount",
    ShortingNotAllowed = "shorting_not_allowed", OppositePosition = "opposite_position",
    LimitUp = "limit_up", LimitDown = "limit_down", LotSize = "lot_size",
    ParticipationCap = "participation_cap", TPlusOne = "t_plus_one",
    InsufficientCash = "insufficient_cash", InsufficientShares = "insufficient_shares",
    LeverageLimit = "leverage_limit", StopRequired = "stop_required",
    StopWrongSide = "stop_wrong_side", TargetWrongSide = "target_wrong_side",
    StopTooFar = "stop_too_far", StopLoosened = "stop_loosened", NoPosition = "no_position",
    NothingToChange = "nothing_to_change", Expired = "expired", SplitAway = "split_away",
    Delisted = "delisted",
});

/// A rejection. It changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// The rejected request, unchanged.
    pub request: Box<OrderRequest>,
    /// The reason.
    pub code: RejectCode,
    /// The reason in a sentence with the numbers, for the agent.
    pub message: String,
    /// The deciding numbers, by name.
    pub numbers: BTreeMap<String, Decimal>,
}

impl Rejection {
    /// The rejection of a request whose amount is not a number; `message` quotes it (see
    /// [`super::parse_amount`]).
    #[must_use]
    pub fn unreadable_amount(request: impl Into<OrderRequest>, message: impl Into<String>) -> Self {
        RejectReason::new(RejectCode::InvalidAmount, message.into(), []).of(request)
    }

    /// The rejected order, if it was an order.
    #[must_use]
    pub fn order(&self) -> Option<&Order> {
        match &*self.request {
            OrderRequest::Order(order) => Some(order),
            OrderRequest::StopChange(_) => None,
        }
    }
}

/// A rejection without its request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RejectReason {
    pub(super) code: RejectCode,
    pub(super) message: String,
    pub(super) numbers: BTreeMap<String, Decimal>,
}

impl RejectReason {
    pub(super) fn new<const N: usize>(
        code: RejectCode,
        message: String,
        numbers: [(&str, Decimal); N],
    ) -> Self {
        let numbers = numbers.into_iter().map(|(name, number)| (name.to_owned(), number.normalize()));
        Self { code, message, numbers: numbers.collect() }
    }

    /// An insolvent account cannot trade.
    pub(super) fn insolvent(since: crate::ledger::Insolvency) -> Self {
        let message = format!(
            "The account has been insolvent since {}, {} below zero: nothing can be traded.",
            since.since, since.owed
        );
        Self::new(RejectCode::Insolvent, message, [("owed", since.owed.0), ("loss", since.loss.0)])
    }

    /// An amount that overflows the ledger cannot be traded.
    pub(super) fn too_large(_: crate::ledger::LedgerError) -> Self {
        let message = "The amount or the price is too large for the books.".to_owned();
        Self::new(RejectCode::InvalidAmount, message, [])
    }

    pub(super) fn of(self, request: impl Into<OrderRequest>) -> Rejection {
        let request = Box::new(request.into());
        Rejection { request, code: self.code, message: self.message, numbers: self.numbers }
    }
}
