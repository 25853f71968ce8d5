//! The layers: self-attention among the tokens of one text, then two dense layers, each followed by a residual
//! connection and a normalization (post-norm, as in the original BERT).

use super::{BertConfig, ModelError};
use ndarray::{Array1, Array2, ArrayView2, Axis, Slice};
use safetensors::{Dtype, SafeTensors};

/// A dense layer; `weight` has one row per output.
struct Dense {
    weight: Array2<f32>,
    bias: Array1<f32>,
}

/// Scale and shift of a layer normalization.
struct Norm {
    weight: Array1<f32>,
    bias: Array1<f32>,
    eps: f32,
}

struct Layer {
    query: Dense,
    key: Dense,
    value: Dense,
    attended: Dense,
    attended_norm: Norm,
    wide: Dense,
    narrow: Dense,
    narrow_norm: Norm,
}

/// The weights, ready for inference.
pub(super) struct Bert {
    words: Array2<f32>,
    /// Position embeddings plus the embedding of the first segment: there is only one text.
    places: Array2<f32>,
    norm: Norm,
    layers: Vec<Layer>,
    heads: usize,
}

impl Bert {
    pub(super) fn new(config: &BertConfig, weights: &[u8]) -> Result<Self, ModelError> {
        let BertConfig { hidden_size: size, intermediate_size: wide, num_attention_heads: heads, .. } =
            *config;
        let fault = |message: String| Err(ModelError::Config(message));
        if config.hidden_act != "gelu" {
            return fault(format!("asks for `{}`, and only `gelu` is known", config.hidden_act));
        }
        if size == 0 || heads == 0 || !size.is_multiple_of(heads) {
            return fault(format!("has {heads} heads for {size} numbers, which cannot be shared out"));
        }
        let read = SafeTensors::deserialize(weights);
        let read = read.map_err(|error| ModelError::Weights(format!("cannot be read: {error}")))?;
        let from = Source { read: &read, eps: config.layer_norm_eps };
        let mut places =
            from.table("embeddings.position_embeddings.weight", (config.max_position_embeddings, size))?;
        places += &from.table("embeddings.token_type_embeddings.weight", (2, size))?.row(0);
        let layer = |n: usize| {
            let at = |name: &str| format!("encoder.layer.{n}.{name}");
            Ok(Layer {
                query: from.dense(&at("attention.self.query"), (size, size))?,
                key: from.dense(&at("attention.self.key"), (size, size))?,
                value: from.dense(&at("attention.self.value"), (size, size))?,
                attended: from.dense(&at("attention.output.dense"), (size, size))?,
                attended_norm: from.norm(&at("attention.output.LayerNorm"), size)?,
                wide: from.dense(&at("intermediate.dense"), (wide, size))?,
                narrow: from.dense(&at("output.dense"), (size, wide))?,
                narrow_norm: from.norm(&at("output.LayerNorm"), size)?,
            })
        };
        Ok(Self {
            words: from.table("embeddings.word_embeddings.weight", (config.vocab_size, size))?,
            places,
            norm: from.norm("embeddings.LayerNorm", size)?,
            layers: (0..config.num_hidden_layers).map(layer).collect::<Result<_, ModelError>>()?,
            heads,
        })
    }

    pub(super) fn dimension(&self) -> usize {
        self.words.ncols()
    }

    pub(super) fn places(&self) -> usize {
        self.places.nrows()
    }

    /// The mean of the last layer's states. Ignores tokens beyond the last position and tokens outside the
    /// vocabulary.
    pub(super) fn mean_state(&self, tokens: &[u32]) -> Vec<f32> {
        let known = tokens.iter().filter_map(|token| usize::try_from(*token).ok());
        let known: Vec<usize> =
            known.filter(|token| *token < self.words.nrows()).take(self.places()).collect();
        let mut states = self.words.select(Axis(0), &known);
        states += &self.places.slice_axis(Axis(0), Slice::from(..known.len()));
        self.norm.apply(&mut states);
        for layer in &self.layers {
            states = layer.apply(states, self.heads);
        }
        states.mean_axis(Axis(0)).map_or_else(|| vec![0.0; self.dimension()], |mean| mean.to_vec())
    }
}

impl Layer {
    fn apply(&self, states: Array2<f32>, heads: usize) -> Array2<f32> {
        let mut attended = self.attended.apply(self.attention(&states, heads).view());
        attended += &states;
        self.attended_norm.apply(&mut attended);
        let mut wide = self.wide.apply(attended.view());
        wide.mapv_inplace(gelu);
        let mut narrow = self.narrow.apply(wide.view());
        narrow += &attended;
        self.narrow_norm.apply(&mut narrow);
        narrow
    }

    /// `softmax(Q K^T / sqrt(d)) V`, one head after the other.
    fn attention(&self, states: &Array2<f32>, heads: usize) -> Array2<f32> {
        let (query, key, value) =
            (self.query.apply(states.view()), self.key.apply(states.view()), self.value.apply(states.view()));
        let width = states.ncols() / heads;
        let scale = 1.0 / (width as f32).sqrt();
        let mut out = Array2::zeros(states.raw_dim());
        for head in 0..heads {
            let columns = Slice::from(head * width..(head + 1) * width);
            let mut scores = query.slice_axis(Axis(1), columns).dot(&key.slice_axis(Axis(1), columns).t());
            for mut row in scores.rows_mut() {
                row *= scale;
                let max = row.fold(f32::NEG_INFINITY, |max, score| max.max(*score));
                row.mapv_inplace(|score| (score - max).exp());
                let sum = row.sum();
                row /= sum;
            }
            let attended = scores.dot(&value.slice_axis(Axis(1), columns));
            out.slice_axis_mut(Axis(1), columns).assign(&attended);
        }
        out
    }
}

impl Dense {
    fn apply(&self, states: ArrayView2<'_, f32>) -> Array2<f32> {
        states.dot(&self.weight.t()) + &self.bias
    }
}

impl Norm {
    /// Normalizes each row to mean 0 and variance 1 (divided by the count), then scales and shifts it.
    fn apply(&self, states: &mut Array2<f32>) {
        for mut row in states.rows_mut() {
            let count = row.len() as f32;
            let mean = row.sum() / count;
            let variance = row.fold(0.0, |sum, value| sum + (value - mean) * (value - mean)) / count;
            let scale = 1.0 / (variance + self.eps).sqrt();
            ndarray::Zip::from(&mut row)
                .and(&self.weight)
                .and(&self.bias)
                .for_each(|value, weight, bias| *value = (*value - mean) * scale * weight + bias);
        }
    }
}

/// `x / 2 (1 + erf(x / sqrt 2))`, the exact form.
fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + libm::erff(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// Tensors by name.
struct Source<'a> {
    read: &'a SafeTensors<'a>,
    eps: f32,
}

impl Source<'_> {
    fn numbers(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        let fault = |message: String| Err(ModelError::Weights(message));
        let Ok(tensor) = self.read.tensor(name) else {
            return fault(format!("have no `{name}`"));
        };
        if tensor.dtype() != Dtype::F32 {
            return fault(format!("have a `{name}` that is not of 32-bit floats"));
        }
        if tensor.shape() != shape {
            return fault(format!("have a `{name}` of {:?}, not {shape:?}", tensor.shape()));
        }
        let numbers = crate::vector::from_bytes(tensor.data()).unwrap_or_default();
        if numbers.iter().any(|number| !number.is_finite()) {
            return fault(format!("have a number in `{name}` that is none"));
        }
        Ok(numbers)
    }

    fn table(&self, name: &str, (rows, columns): (usize, usize)) -> Result<Array2<f32>, ModelError> {
        let numbers = self.numbers(name, &[rows, columns])?;
        Array2::from_shape_vec((rows, columns), numbers)
            .map_err(|error| ModelError::Weights(format!("have a `{name}` that is cut: {error}")))
    }

    fn list(&self, name: &str, len: usize) -> Result<Array1<f32>, ModelError> {
        Ok(Array1::from_vec(self.numbers(name, &[len])?))
    }

    fn dense(&self, name: &str, (out, within): (usize, usize)) -> Result<Dense, ModelError> {
        Ok(Dense {
            weight: self.table(&format!("{name}.weight"), (out, within))?,
            bias: self.list(&format!("{name}.bias"), out)?,
        })
    }

    fn norm(&self, name: &str, len: usize) -> Result<Norm, ModelError> {
        Ok(Norm {
            weight: self.list(&format!("{name}.weight"), len)?,
            bias: self.list(&format!("{name}.bias"), len)?,
            eps: self.eps,
        })
    }
}
