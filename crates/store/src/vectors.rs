//! Embeddings of reflections: stored with them, loaded in bulk for searching.
//!
//! The search itself does not run in the database: the searcher holds the vectors in memory and queries this
//! module for the reflections that pass the filters and for the rows of its hits.

use crate::db::{Db, Statement};
use crate::error::{Result, StoreError};
use crate::read::memory::{add_filter, add_owner};
use crate::read::{MemoryFilter, StoredRound, TradeFilter};
use crate::rows::memory::REFLECTION;
use crate::search;
use crate::store::Store;
use crate::value::{Value, columns, from_row, params};
use futures::FutureExt as _;
use papertape_core::id::{AgentName, JobId};
use papertape_core::record::{EmbeddingRow, ReflectionRow};
use std::collections::BTreeMap;

/// Number of rows per statement.
const GROUP: usize = 32;

/// A stored vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredVector {
    /// Its own ID; a vector that replaces another one has a greater ID.
    pub id: i64,
    /// The reflection's ID.
    pub reflection: i64,
    /// Little-endian 32-bit floats.
    pub vector: Vec<u8>,
}

/// A vector to store for a reflection of any job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorFor {
    /// The reflection's ID.
    pub reflection: i64,
    /// The model, `provider::model`.
    pub model: String,
    /// Little-endian 32-bit floats.
    pub vector: Vec<u8>,
}

from_row! { impl row => StoredVector { id, reflection, vector } }

impl Store {
    /// The number of the model's vectors.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn count_vectors(&self, model: &str) -> Result<usize> {
        let sql = "SELECT count(*) FROM reflection_vectors WHERE model = $1";
        Ok(self.first(sql, params![model]).await?.unwrap_or_default())
    }

    /// The model's vectors with IDs above `after`, by ID, at most `most` of them.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn vectors_after(&self, model: &str, after: i64, limit: u32) -> Result<Vec<StoredVector>> {
        let sql = "SELECT id, reflection_id, vector FROM reflection_vectors
            WHERE model = $1 AND id > $2 ORDER BY id LIMIT $3";
        self.all(sql, params![model, after, limit]).await
    }

    /// The IDs of the reflections that match the filter, ignoring its words; newest exit first.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn trade_ids(&self, filter: &TradeFilter) -> Result<Vec<i64>> {
        self.read_with(filter.clone(), |db, filter| ids(db, filter, None).boxed()).await
    }

    /// For each word of the query, the IDs of the matching reflections that contain it. Words without matches are
    /// present, with no IDs.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn trade_ids_by_word(&self, filter: &TradeFilter, question: &str) -> Result<Vec<Vec<i64>>> {
        self.read_with((filter.clone(), question.to_owned()), |db, (filter, question)| {
            async move {
                let mut found = Vec::new();
                for word in search::conditions(db.backend(), "text_id", question) {
                    found.push(ids(db, filter, Some(word)).await?);
                }
                Ok(found)
            }
            .boxed()
        })
        .await
    }

    /// The reflections with these IDs, in ID order; missing ones are left out.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn trades_by_id(&self, ids: &[i64]) -> Result<Vec<StoredRound<ReflectionRow>>> {
        self.read_with(ids.to_vec(), |db, ids| {
            async move {
                let mut found = BTreeMap::new();
                for group in ids.chunks(GROUP) {
                    let mut statement = Statement::new(format!(
                        "SELECT id, job_id, model, session_id, created_at, {REFLECTION}
                         FROM trade_reflections WHERE id IN ("
                    ));
                    // One statement for every group size: the last ID is repeated as padding.
                    let filled = (0..GROUP).map(|at| Value::from(group[at.min(group.len() - 1)]));
                    statement.add(&vec!["?"; GROUP].join(", "), filled).add(")", []);
                    for item in statement.all::<StoredRound<ReflectionRow>>(db).await? {
                        found.insert(item.id, item);
                    }
                }
                Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
            }
            .boxed()
        })
        .await
    }

    /// Reflections without a vector of the model, with IDs above `after`, at most `most` of them.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn trades_without_vector(
        &self,
        filter: &MemoryFilter,
        model: &str,
        after: i64,
        limit: u32,
    ) -> Result<Vec<StoredRound<ReflectionRow>>> {
        self.read_with((filter.clone(), model.to_owned()), move |db, (filter, model)| {
            async move {
                let mut statement = Statement::new(format!(
                    "SELECT id, job_id, model, session_id, created_at, {REFLECTION} FROM trade_reflections
                     WHERE 1 = 1"
                ));
                let without = " AND id > ? AND NOT EXISTS (SELECT 1 FROM reflection_vectors v
                    WHERE v.reflection_id = trade_reflections.id AND v.model = ?)";
                statement.add(without, [after.into(), Value::from(model)]);
                add_owner(&mut statement, filter);
                statement.add(" ORDER BY id LIMIT ?", [limit.into()]);
                statement.all(db).await
            }
            .boxed()
        })
        .await
    }

    /// Stores vectors; each replaces its reflection's previous one, of whichever model.
    ///
    /// # Errors
    /// Returns an error if a vector is invalid or the database fails; none of them is then stored.
    pub async fn store_vectors(&self, rows: Vec<VectorFor>) -> Result<()> {
        self.write_with(rows, |db, rows| {
            async move {
                for row in rows {
                    store_vector(db, row.reflection, &row.model, &row.vector).await?;
                }
                Ok(())
            }
            .boxed()
        })
        .await
    }
}

/// Stores the vector of a reflection of this job and agent.
pub(crate) async fn store_own(
    db: &mut dyn Db,
    (job, agent): (&JobId, &AgentName),
    row: &EmbeddingRow,
) -> Result<()> {
    let sql = "SELECT id FROM trade_reflections WHERE job_id = $1 AND model = $2 AND trade_id = $3";
    match db.first(sql, params![job, agent, row.trade_id]).await? {
        Some(reflection) => store_vector(db, reflection, &row.model, &row.vector).await,
        None => {
            let message = format!("{agent} has no reflection {} that a vector could be of", row.trade_id);
            Err(StoreError::inconsistent(message))
        }
    }
}

async fn store_vector(db: &mut dyn Db, reflection: i64, model: &str, vector: &Vec<u8>) -> Result<()> {
    if vector.is_empty() || !vector.len().is_multiple_of(4) {
        return Err(StoreError::inconsistent(format!("a vector of {} bytes", vector.len())));
    }
    db.execute("DELETE FROM reflection_vectors WHERE reflection_id = $1", params![reflection]).await?;
    let row = columns! { reflection_id: reflection, model, dimension: vector.len() / 4, vector };
    db.insert("reflection_vectors", row).await
}

async fn ids(db: &mut dyn Db, filter: &TradeFilter, word: Option<(String, Value)>) -> Result<Vec<i64>> {
    let mut statement = Statement::new("SELECT id FROM trade_reflections WHERE 1 = 1");
    add_filter(&mut statement, db.backend(), filter);
    if let Some((condition, word)) = word {
        statement.add(&format!(" AND {condition}"), [word]);
    }
    statement.add(" ORDER BY exit_time DESC, id DESC", []);
    statement.all(db).await
}
