//! From a row of `positions` back to the event of the ledger that it records: the books can be recomputed from the rows.

use super::PositionRow;
use crate::ledger::{Account, Fill, FillCause, LedgerError, LedgerEvent, OrderId, Position, Side, checked};
use crate::money::Money;
use crate::time::Date;

/// Why a row records no event of the account that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// An unknown action.
    #[error("unknown action `{0}`")]
    UnknownAction(String),
    /// The row has no value in this field. Records of rules version 1 have no terms.
    #[error("the row has no {0}")]
    Missing(&'static str),
    /// The quantity in the row is not the quantity held.
    #[error("the row is for another quantity than is held")]
    OtherQuantity,
    /// The event is impossible.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl PositionRow {
    /// The event that this row records in an account that has reached it; `None` for `no_trade`. `pays_fractions`: whether
    /// the market pays out fractions of a share after a split.
    ///
    /// # Errors
    /// A row that cannot follow in this account.
    pub fn event(
        &self,
        day: Date,
        account: &Account,
        pays_fractions: bool,
    ) -> Result<Option<LedgerEvent>, RowError> {
        let action = self.action_type.as_str();
        if action == "no_trade" {
            return Ok(None);
        }
        let symbol = self.symbol.clone().ok_or(RowError::Missing("symbol"))?;
        let price = self.price.ok_or(RowError::Missing("price"))?;
        let held = || -> Result<&Position, RowError> {
            Ok(account.position(&symbol).ok_or_else(|| LedgerError::NoPosition { symbol: symbol.clone() })?)
        };
        let held_as_stated = || -> Result<&Position, RowError> {
            let position = held()?;
            if position.quantity == self.amount { Ok(position) } else { Err(RowError::OtherQuantity) }
        };
        Ok(Some(match action {
            "split" => {
                let ratio = self.terms.ratio.ok_or(RowError::Missing("ratio"))?;
                LedgerEvent::Split { day, symbol, ratio, price, whole_shares: pays_fractions }
            }
            "dividend" => {
                held_as_stated()?;
                LedgerEvent::Dividend { day, symbol, amount: price }
            }
            "financing" => {
                let charge = checked::value(price, held_as_stated()?.quantity.abs())?;
                let amount = Money(checked::round(charge.0, checked::MONEY_DP));
                LedgerEvent::Financing { day, symbol, amount, nights: self.terms.nights, unit: Some(price) }
            }
            _ => {
                let (cause, side) = match action {
                    "buy" => (FillCause::Order, Side::Buy),
                    "sell" => (FillCause::Order, Side::Sell),
                    "short" => (FillCause::Order, Side::Short),
                    "cover" => (FillCause::Order, Side::Cover),
                    "stop" => (FillCause::Stop, held()?.closing_side()),
                    "target" => (FillCause::Target, held()?.closing_side()),
                    "liquidation" => (FillCause::Liquidation, held()?.closing_side()),
                    "delisting" => (FillCause::Delisting, held()?.closing_side()),
                    other => return Err(RowError::UnknownAction(other.to_owned())),
                };
                // A closing fill's row has the stop and the target that the position had.
                let opens = side.opens();
                LedgerEvent::Fill(Fill {
                    day,
                    order: self.terms.order_id.as_ref().and_then(|id| id.parse().ok()).map(OrderId),
                    cause,
                    symbol,
                    side,
                    quantity: self.amount,
                    price,
                    fee: self.terms.fee.ok_or(RowError::Missing("fee"))?,
                    slippage: self.terms.slippage.ok_or(RowError::Missing("slippage"))?,
                    leverage: self.terms.leverage.ok_or(RowError::Missing("leverage"))?,
                    stop: self.terms.stop.filter(|_| opens),
                    target: self.terms.target.filter(|_| opens),
                })
            }
        }))
    }
}
