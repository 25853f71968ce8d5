//! Where a session's actions and orders are on the tape.

use crate::error::Result;
use crate::store::Store;
use crate::value::{from_row, params};
use futures::FutureExt as _;
use papertape_core::record::SessionId;
use papertape_core::tape::StepPath;
use papertape_core::time::Date;
use std::collections::BTreeMap;

/// The steps of a session's actions and orders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// The steps of its actions, by action number. Imported actions have none.
    pub actions: BTreeMap<u64, StepPath>,
    /// Where each order in the session was placed, by order ID: in this session, or in an earlier one of the same
    /// agent and job.
    pub orders: BTreeMap<String, OrderPlace>,
}

/// Where an order was placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderPlace {
    /// The session.
    pub session: SessionId,
    /// Its trading day.
    pub date: Date,
    /// The step.
    pub path: StepPath,
}

from_row! { impl row => OrderPlace { session, date, path } }

impl Store {
    /// Returns where a session's actions and orders are on the tape.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn placed(&self, session: SessionId) -> Result<Placed> {
        self.read(move |db| {
            async move {
                let sql = "SELECT p.action_id, s.path FROM positions p JOIN steps s ON s.id = p.step_id
                    WHERE p.session_id = $1";
                let actions = db.all(sql, params![session]).await?.into_iter().collect();
                let sql = "SELECT 1 FROM orders WHERE session_id = $1 LIMIT 1";
                if db.row(sql, params![session]).await?.is_none() {
                    return Ok(Placed { actions, orders: BTreeMap::new() });
                }
                let sql = "SELECT o.order_id, t.id, t.date, s.path FROM trading_sessions here
                    JOIN trading_sessions t ON t.job_id = here.job_id AND t.model = here.model
                        AND t.date <= here.date
                    JOIN orders o ON o.session_id = t.id JOIN steps s ON s.id = o.step_id
                    WHERE here.id = $1 AND o.order_id IN (SELECT order_id FROM orders WHERE session_id = $1)
                    ORDER BY o.id";
                let mut orders = BTreeMap::new();
                // A pending order is recorded twice; the first row is where it was placed.
                for (id, place) in db.all(sql, params![session]).await? {
                    orders.entry(id).or_insert(place);
                }
                Ok(Placed { actions, orders })
            }
            .boxed()
        })
        .await
    }

    /// The same agent's sessions in the same job on the previous and next trading days, with their dates.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn neighbours(&self, session: SessionId) -> Result<[Option<(SessionId, Date)>; 2]> {
        self.read(move |db| {
            async move {
                let mut found = [None, None];
                for (at, (sign, order)) in [("<", "DESC"), (">", "ASC")].into_iter().enumerate() {
                    let sql = format!(
                        "SELECT t.id, t.date FROM trading_sessions here JOIN trading_sessions t
                             ON t.job_id = here.job_id AND t.model = here.model AND t.date {sign} here.date
                         WHERE here.id = $1 ORDER BY t.date {order} LIMIT 1"
                    );
                    found[at] = db.first(&sql, params![session]).await?;
                }
                Ok(found)
            }
            .boxed()
        })
        .await
    }
}
