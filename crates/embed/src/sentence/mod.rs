//! A sentence model of the BERT family in process: tokens, layers, the mean over the tokens, length 1.
//!
//! This is what `sentence-transformers/all-MiniLM-L6-v2` is: six layers of BERT (Devlin et al., 2019) of
//! 384 numbers, the mean of the last layer's states over the tokens, normalised. The weights are a
//! `safetensors` file with the names that the model was published with.

mod bert;
mod wordpiece;

pub use wordpiece::WordPiece;

use crate::vector::normalise;
use bert::Bert;
use serde::Deserialize;

/// The most tokens of a text that are read, the two at its ends included: what the model was trained on.
pub const MOST_TOKENS: usize = 256;

/// The shape of a model, as its `config.json` says it.
#[derive(Clone, Debug, Deserialize)]
pub struct Config {
    /// Numbers in a vector.
    pub hidden_size: usize,
    /// Numbers between the two halves of a layer.
    pub intermediate_size: usize,
    /// Layers.
    pub num_hidden_layers: usize,
    /// Heads of attention in a layer.
    pub num_attention_heads: usize,
    /// Words of the vocabulary.
    pub vocab_size: usize,
    /// Places of a text.
    pub max_position_embeddings: usize,
    /// What is added to a variance before its root is taken.
    pub layer_norm_eps: f32,
    /// The function between the halves; only `gelu` is known.
    pub hidden_act: String,
}

/// Why a model cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The shape.
    #[error("the model's config {0}")]
    Config(String),
    /// The vocabulary.
    #[error("the model's vocabulary {0}")]
    Vocabulary(String),
    /// The weights.
    #[error("the model's weights {0}")]
    Weights(String),
}

/// A model that is ready.
pub struct SentenceModel {
    words: WordPiece,
    bert: Bert,
}

impl SentenceModel {
    /// From the contents of `config.json`, `vocab.txt` and `model.safetensors`.
    ///
    /// # Errors
    /// What does not fit, by the file.
    pub fn new(config: &[u8], vocabulary: &str, weights: &[u8]) -> Result<Self, ModelError> {
        let config: Config = serde_json::from_slice(config)
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
        self.words.encode(text, MOST_TOKENS.min(self.bert.places()))
    }

    /// The text's unit vector. An empty text has one too.
    #[must_use]
    pub fn embed(&self, text: &str) -> Vec<f32> {
        let mut mean = self.bert.mean_state(&self.tokens(text));
        // A mean without a direction stays as it is: zeros, near to nothing.
        let _ = normalise(&mut mean);
        mean
    }
}
