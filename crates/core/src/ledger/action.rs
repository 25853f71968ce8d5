//! Corporate actions: what a company does to its shares and therefore to every holder's account.

use crate::id::Symbol;
use crate::money::Price;
use crate::time::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// One corporate action of one instrument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorporateAction {
    /// The instrument.
    pub symbol: Symbol,
    /// The first trading day whose open comes after the action.
    pub ex_date: Date,
    /// What happens.
    #[serde(flatten)]
    pub kind: CorporateActionKind,
}

/// What a corporate action does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CorporateActionKind {
    /// Shares are exchanged; the price is divided by the same ratio.
    Split {
        /// New shares for one old share: 2 for a 2:1 split, 0.1 for a 1:10 reverse split.
        ratio: Decimal,
    },
    /// Cash paid to holders of the share before the ex-date, and owed by those who were short.
    Dividend {
        /// Cash per share, in the share units of the ex-date.
        amount: Price,
    },
    /// The instrument leaves the market permanently: every position in it is settled, without a fee.
    Delisting {
        /// Cash per share; 0 when nothing is paid. Absent: the last known price.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pays: Option<Price>,
    },
}

impl CorporateAction {
    /// A split's new shares for one old; `None` for anything else.
    pub(crate) fn split_ratio(&self) -> Option<Decimal> {
        match self.kind {
            CorporateActionKind::Split { ratio } => Some(ratio),
            CorporateActionKind::Dividend { .. } | CorporateActionKind::Delisting { .. } => None,
        }
    }
}
