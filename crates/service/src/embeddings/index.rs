//! The vectors of all reflections in one block of memory, kept up to date with the database.

use papertape_embed::Matrix;
use papertape_embed::vector::from_bytes;
use papertape_store::{Store, StoreError};
use std::collections::HashMap;
use tokio::sync::Mutex;

/// Vectors read per page.
const PAGE: u32 = 4_096;

/// Vectors of one model at a time: the one requested last.
#[derive(Default)]
pub struct VectorIndex {
    vectors: Mutex<Option<ModelVectors>>,
}

struct ModelVectors {
    model: String,
    /// Created with the first vector, which sets the dimension.
    matrix: Option<Matrix>,
    /// Each reflection's newest row.
    rows: HashMap<i64, usize>,
    /// The number of vectors that are unreadable or whose dimension differs from the first one's.
    unusable: usize,
    last_id: i64,
}

/// The matches, and how many candidates could not be compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearest {
    /// IDs of reflections with their cosine similarity, nearest first.
    pub found: Vec<(i64, f32)>,
    /// How many candidates have no vector that the query can be compared with.
    pub without_vector: usize,
}

impl VectorIndex {
    /// The reflections among these that are nearest to the query.
    ///
    /// # Errors
    /// A database error.
    pub async fn nearest(
        &self,
        store: &Store,
        model: &str,
        (query, max_results): (&[f32], usize),
        candidates: &[i64],
    ) -> Result<Nearest, StoreError> {
        let mut vectors = self.vectors.lock().await;
        let vectors = match &mut *vectors {
            Some(vectors) if vectors.model == model => vectors,
            other => other.insert(ModelVectors::new(model)),
        };
        vectors.catch_up(store).await?;
        let Some(matrix) = vectors.matrix.as_ref().filter(|matrix| matrix.dimension() == query.len()) else {
            return Ok(Nearest { found: Vec::new(), without_vector: candidates.len() });
        };
        let rows: Vec<usize> = candidates.iter().filter_map(|id| vectors.rows.get(id).copied()).collect();
        let ids: HashMap<usize, i64> =
            candidates.iter().filter_map(|id| Some((*vectors.rows.get(id)?, *id))).collect();
        let without_vector = candidates.len() - rows.len();
        let hits = matrix.nearest_of(query, rows.into_iter(), max_results);
        let found = hits.iter().filter_map(|hit| Some((*ids.get(&hit.row)?, hit.score))).collect();
        Ok(Nearest { found, without_vector })
    }
}

impl ModelVectors {
    fn new(model: &str) -> Self {
        Self { model: model.to_owned(), matrix: None, rows: HashMap::new(), unusable: 0, last_id: 0 }
    }

    /// Reads new vectors. If the count still differs (a vector was deleted, or one with a smaller ID was
    /// committed after one with a greater ID), reads everything again.
    async fn catch_up(&mut self, store: &Store) -> Result<(), StoreError> {
        self.read(store).await?;
        if store.count_vectors(&self.model).await? != self.rows.len() + self.unusable {
            *self = Self::new(&self.model);
            self.read(store).await?;
        }
        Ok(())
    }

    async fn read(&mut self, store: &Store) -> Result<(), StoreError> {
        loop {
            let page = store.vectors_after(&self.model, self.last_id, PAGE).await?;
            let is_full = page.len() == PAGE as usize;
            for stored in page {
                self.last_id = stored.id;
                let Some(vector) = from_bytes(&stored.vector) else {
                    self.unusable += 1;
                    continue;
                };
                let matrix = self.matrix.get_or_insert_with(|| Matrix::new(vector.len()));
                match matrix.push(&vector) {
                    Some(row) => drop(self.rows.insert(stored.reflection, row)),
                    None => self.unusable += 1,
                }
            }
            if !is_full {
                return Ok(());
            }
        }
    }
}
