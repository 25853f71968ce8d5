//! Where a session's actions and orders are on the tape.

use crate::db::Statement;
use crate::error::StoreError;
use crate::store::Store;
use crate::value::params;
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

impl Store {
    /// Returns where a session's actions and orders are on the tape.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn placed(&self, session: SessionId) -> Result<Placed, StoreError> {
        self.read(move |db| {
            async move {
                let mut placed = Placed::default();
                let sql = "SELECT p.action_id, s.path FROM positions p JOIN steps s ON s.id = p.step_id
                    WHERE p.session_id = $1";
                for mut row in db.query(sql, params![session]).await? {
                    placed.actions.insert(row.get()?, row.get()?);
                }
                // A pending order is recorded twice; the first row is where it was placed.
                let mut statement = Statement::new(
                    "SELECT o.order_id, t.id, t.date, s.path FROM trading_sessions here
                     JOIN trading_sessions t ON t.job_id = here.job_id AND t.model = here.model
                         AND t.date <= here.date
                     JOIN orders o ON o.session_id = t.id JOIN steps s ON s.id = o.step_id",
                );
                statement.add(
                    " WHERE here.id = ? AND o.order_id IN (SELECT order_id FROM orders WHERE session_id = ?)
                     ORDER BY o.id",
                    [session.into(), session.into()],
                );
                for mut row in statement.query(db).await? {
                    let id: String = row.get()?;
                    let place = OrderPlace { session: row.get()?, date: row.get()?, path: row.get()? };
                    placed.orders.entry(id).or_insert(place);
                }
                Ok(placed)
            }
            .boxed()
        })
        .await
    }

    /// The same agent's sessions in the same job on the previous and next trading days, with their dates.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn neighbours(&self, session: SessionId) -> Result<[Option<(SessionId, Date)>; 2], StoreError> {
        self.read(move |db| {
            async move {
                let mut found = [None, None];
                for (at, (sign, order)) in [("<", "DESC"), (">", "ASC")].into_iter().enumerate() {
                    let sql = format!(
                        "SELECT t.id, t.date FROM trading_sessions here JOIN trading_sessions t
                             ON t.job_id = here.job_id AND t.model = here.model AND t.date {sign} here.date
                         WHERE here.id = $1 ORDER BY t.date {order} LIMIT 1"
                    );
                    if let Some(mut row) = db.row(&sql, params![session]).await? {
                        found[at] = Some((row.get()?, row.get()?));
                    }
                }
                Ok(found)
            }
            .boxed()
        })
        .await
    }
}
