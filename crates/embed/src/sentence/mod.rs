//! An in-process sentence model of the BERT family: tokens, layers, mean over the tokens, normalization to length
//! 1.
//!
//! This is `sentence-transformers/all-MiniLM-L6-v2`: six BERT layers (Devlin et al., 2019) of 384 numbers, the
//! mean of the last layer's states over the tokens, normalized. The weights are a `safetensors` file with the
//! published tensor names.

mod bert;
mod wordpiece;

pub use wordpiece::WordPiece;

use crate::vector::normalize;
use bert::Bert;
use serde::Deserialize;

/// Max tokens per text, including the two special ones: the length used in training.
pub const MAX_TOKENS: usize = 256;

/// The shape of a model, as in its `config.json`.
#[derive(Clone, Debug, Deserialize)]
pub struct BertConfig {
    /// Numbers in a vector.
    pub hidden_size: usize,
    /// Width of a layer's intermediate part.
    pub intermediate_size: usize,
    /// Number of layers.
    pub num_hidden_layers: usize,
    /// Attention heads per layer.
    pub num_attention_heads: usize,
    /// Size of the vocabulary.
    pub vocab_size: usize,
    /// Number of position embeddings.
    pub max_position_embeddings: usize,
    /// Added to a variance before its square root is taken.
    pub layer_norm_eps: f32,
    /// Activation function of the intermediate part; only `gelu` is supported.
    pub hidden_act: String,
}

/// Why a model cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Invalid shape.
    #[error("the model's config {0}")]
    Config(String),
    /// Invalid vocabulary.
    #[error("the model's vocabulary {0}")]
    Vocabulary(String),
    /// Invalid weights.
    #[error("the model's weights {0}")]
    Weights(String),
}

/// A loaded model.
pub struct SentenceModel {
    words: WordPiece,
    bert: Bert,
}

impl SentenceModel {
    /// Loads the contents of `config.json`, `vocab.txt` and `model.safetensors`.
    ///
    /// # Errors
    /// Returns an error that names the file that does not fit.
    pub fn new(config: &[u8], vocabulary: &str, weights: &[u8]) -> Result<Self, ModelError> {
        let config: BertConfig = serde_json::from_slice(config)
            .map_err(|error| ModelError::Config(format!("cannot be read: {error}")))?;
        let words = WordPiece::new(vocabulary)?;
        if words.len() != config.vocab_size {
            let message = format!("has {} words, not {}", words.len(), config.vocab_size);
            return Err(ModelError::Vocabulary(message));
        }
        let bert = Bert::new(&config, weights)?;
        Ok(Self { words, bert })
    }

    /// Numbers in a vector.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.bert.dimension()
    }

    /// The tokens of a text, as the model reads them.
    #[must_use]
    pub fn tokens(&self, text: &str) -> Vec<u32> {
        self.words.encode(text, MAX_TOKENS.min(self.bert.places()))
    }

    /// The text's unit vector. An empty text has one too.
    #[must_use]
    pub fn embed(&self, text: &str) -> Vec<f32> {
        let mut mean = self.bert.mean_state(&self.tokens(text));
        // A mean without a direction is left as it is: zeros, similar to nothing.
        let _ = normalize(&mut mean);
        mean
    }
}
