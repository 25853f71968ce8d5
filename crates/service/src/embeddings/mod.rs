//! Embedding models, built-in and remote, behind one call.

mod at_endpoint;
pub mod house;
mod index;
mod install;
mod tools;

pub use at_endpoint::WithSentenceModel;
pub use index::VectorIndex;
pub use install::install;
pub use tools::ExternalTools;

use papertape_core::message::{CallFailure, FailureKind, ModelName};
use papertape_core::ports::AttemptFailure;
use papertape_core::ports::ModelClient as _;
use papertape_embed::{SentenceModel, vector};
use papertape_llm::Gateway;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// All embedding models that can be named.
pub struct Embeddings {
    gateway: Arc<Gateway>,
    /// Where the built-in model is installed.
    dir: PathBuf,
    /// The model takes 90 MB: it is read on first use and stays in memory.
    house: OnceCell<Arc<SentenceModel>>,
}

impl Embeddings {
    /// Reads and calls nothing yet.
    #[must_use]
    pub fn new(gateway: Arc<Gateway>, dir: PathBuf) -> Self {
        Self { gateway, dir, house: OnceCell::new() }
    }

    /// Checks that the model is known and can be called. The error says what is missing and who must act.
    ///
    /// # Errors
    /// A model that is unknown or not installed, or a key that is not set.
    pub fn check(&self, model: &ModelName) -> Result<(), String> {
        if !model.is_house() {
            return self.gateway.check(model);
        }
        if model.model != house::NAME {
            return Err(format!(
                "`{model}` is not an embedding model; the local one is `house::{}`",
                house::NAME
            ));
        }
        house::is_installed(&self.dir)
    }

    /// The texts' unit vectors, in the order of the texts. One call is one attempt.
    ///
    /// # Errors
    /// As [`Self::check`]; the provider's; an installed model whose files were changed.
    pub async fn embed(
        &self,
        model: &ModelName,
        texts: Vec<String>,
    ) -> Result<Vec<Vec<f32>>, AttemptFailure> {
        let failed = |kind, message: String| AttemptFailure {
            failure: CallFailure { kind, message },
            retry_after: None,
            usage: None,
        };
        if !model.is_house() {
            let mut made = self.gateway.embed(model, texts).await?;
            for vector in &mut made {
                if !vector::normalize(vector) {
                    let message = "the provider's answer has a vector without a direction".to_owned();
                    return Err(failed(FailureKind::BadAnswer, message));
                }
            }
            return Ok(made);
        }
        self.check(model).map_err(|why| failed(FailureKind::BadRequest, why))?;
        let house = self.house.get_or_try_init(|| async {
            let dir = self.dir.clone();
            let read = tokio::task::spawn_blocking(move || house::read(&dir)).await;
            read.map_err(|error| error.to_string())?.map(Arc::new)
        });
        let house = Arc::clone(house.await.map_err(|why| failed(FailureKind::BadRequest, why))?);
        let work = move || texts.iter().map(|text| house.embed(text)).collect();
        let made = tokio::task::spawn_blocking(work).await;
        made.map_err(|error| failed(FailureKind::ToolError, error.to_string()))
    }
}
