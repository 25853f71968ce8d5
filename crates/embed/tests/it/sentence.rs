//! The sentence model with a tiny one of the same layout, whose weights this file generates by a formula. The
//! expected vectors were computed from the same weights by the Flax BERT of `transformers` 4.53.

use papertape_embed::sentence::{ModelError, WordPiece};
use papertape_embed::vector::dot;
use papertape_embed::{SentenceModel, vector};
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use std::collections::BTreeMap;

const VOCABULARY: &str = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nx\nstop\ntoo\ntight\n##s\n##ed\ncafe\n,\n";
const CONFIG: &str = r#"{"hidden_size":8,"intermediate_size":16,"num_hidden_layers":2,"num_attention_heads":2,
    "vocab_size":12,"max_position_embeddings":16,"layer_norm_eps":1e-12,"hidden_act":"gelu"}"#;

/// Names and shapes, in the order in which the formula counts them.
fn shapes() -> Vec<(String, Vec<usize>)> {
    let mut all: Vec<(String, Vec<usize>)> = vec![
        ("embeddings.word_embeddings.weight".into(), vec![12, 8]),
        ("embeddings.position_embeddings.weight".into(), vec![16, 8]),
        ("embeddings.token_type_embeddings.weight".into(), vec![2, 8]),
        ("embeddings.LayerNorm.weight".into(), vec![8]),
        ("embeddings.LayerNorm.bias".into(), vec![8]),
    ];
    for n in 0..2 {
        let dense = [
            ("attention.self.query", 8, 8),
            ("attention.self.key", 8, 8),
            ("attention.self.value", 8, 8),
            ("attention.output.dense", 8, 8),
            ("intermediate.dense", 16, 8),
            ("output.dense", 8, 16),
        ];
        for (name, out, within) in dense {
            all.push((format!("encoder.layer.{n}.{name}.weight"), vec![out, within]));
            all.push((format!("encoder.layer.{n}.{name}.bias"), vec![out]));
        }
        for name in ["attention.output.LayerNorm", "output.LayerNorm"] {
            all.push((format!("encoder.layer.{n}.{name}.weight"), vec![8]));
            all.push((format!("encoder.layer.{n}.{name}.bias"), vec![8]));
        }
    }
    all
}

/// `((7919 i + 104729 n) mod 1000) / 1000 - 1/2` for number `i` of tensor `n`, counted from 1.
fn weights(change: impl Fn(&mut BTreeMap<String, (Vec<usize>, Vec<f32>)>)) -> Vec<u8> {
    let mut tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)> = (1_u64..)
        .zip(shapes())
        .map(|(n, (name, shape))| {
            let count = shape.iter().product::<usize>() as u64;
            let value = |i: u64| (((7919 * i + 104_729 * n) % 1000) as f64 / 1000.0 - 0.5) as f32;
            (name, (shape, (0..count).map(value).collect()))
        })
        .collect();
    change(&mut tensors);
    let bytes: BTreeMap<&String, Vec<u8>> =
        tensors.iter().map(|(name, (_, numbers))| (name, vector::to_bytes(numbers))).collect();
    let views = tensors.iter().map(|(name, (shape, _))| {
        let view = TensorView::new(Dtype::F32, shape.clone(), &bytes[name]).expect("the shape fits");
        (name.clone(), view)
    });
    safetensors::serialize(views, None).expect("tensors can be written")
}

fn model() -> SentenceModel {
    SentenceModel::new(CONFIG.as_bytes(), VOCABULARY, &weights(|_| {})).expect("the tiny model is whole")
}

/// Goal: tokens, layers, mean and length match another implementation with the same weights.
#[test]
fn vectors_are_those_of_another_implementation() {
    let model = model();
    for (text, tokens, expected) in [
        (
            "Stop too TIGHT",
            vec![2, 5, 6, 7, 3],
            [0.904_333, 0.075_878, -0.057_676, -0.204_548, -0.238_78, -0.258_35, 0.085_306, 0.014_832_f32],
        ),
        (
            "",
            vec![2, 3],
            [0.903_901, 0.080_195, -0.059_393, -0.203_091, -0.241_781, -0.255_629, 0.087_834, 0.015_494],
        ),
    ] {
        assert_eq!(model.tokens(text), tokens, "{text:?}");
        let vector = model.embed(text);
        assert!((dot(&vector, &vector) - 1.0).abs() < 1e-5);
        let most = vector.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(most < 2e-5, "{text:?}: {vector:?}");
    }
}

/// Goal: texts are split as in uncased BERT models: accents are stripped, punctuation and Han characters are
/// separate words, the longest piece wins, and a word that the vocabulary cannot spell is unknown as a whole.
#[test]
fn texts_are_cut_into_pieces() {
    let words = WordPiece::new(VOCABULARY).expect("has its special tokens");
    for (text, expected) in [
        ("stops,stopped", vec![5, 8, 11, 1]),
        ("STOPed Café cafe\u{301}", vec![5, 9, 10, 10]),
        ("x\u{0}\u{200b}x\tx\nx", vec![1, 4, 4]),
        ("x股x", vec![4, 1, 4]),
        ("  \u{3000} ", vec![]),
        (&"x".repeat(101), vec![1]),
    ] {
        let whole: Vec<u32> = [2].into_iter().chain(expected).chain([3]).collect();
        assert_eq!(words.encode(text, 256), whole, "{text:?}");
    }
    assert_eq!(words.encode("x x x x x x", 5), [2, 4, 4, 4, 3]);
    assert_eq!(words.encode("x", 0), [2, 3]);
}

/// Goal: a text longer than the model's positions is truncated, not rejected, and still has a unit vector.
#[test]
fn a_long_text_is_cut() {
    let model = model();
    let long = "stop ".repeat(100_000);
    assert_eq!(model.tokens(&long).len(), 16);
    assert_eq!(model.embed(&long), model.embed(&"stop ".repeat(14)));
}

/// Goal: files that do not belong together are rejected with the file and the reason.
#[test]
fn a_model_that_does_not_fit_is_refused() {
    let new =
        |config: &str, words: &str, bytes: &[u8]| SentenceModel::new(config.as_bytes(), words, bytes).err();
    let good = weights(|_| {});
    let cases = [
        (new("{}", VOCABULARY, &good), "config"),
        (new(&CONFIG.replace("gelu", "relu"), VOCABULARY, &good), "relu"),
        (new(&CONFIG.replace("_heads\":2", "_heads\":3"), VOCABULARY, &good), "3 heads"),
        (new(CONFIG, "a\nb\n", &good), "[UNK]"),
        (new(CONFIG, &format!("{VOCABULARY}more\n"), &good), "13 words"),
        (new(CONFIG, VOCABULARY, b"nonsense"), "cannot be read"),
        (new(CONFIG, VOCABULARY, &good[..good.len() - 4]), "cannot be read"),
        (
            new(CONFIG, VOCABULARY, &weights(|all| drop(all.remove("embeddings.LayerNorm.bias")))),
            "no `embeddings.LayerNorm.bias`",
        ),
        (
            new(
                CONFIG,
                VOCABULARY,
                &weights(|all| {
                    all.entry("embeddings.LayerNorm.bias".into())
                        .and_modify(|t| t.1[0] = f32::NAN)
                        .or_default()
                        .0 = vec![8]
                }),
            ),
            "a number",
        ),
    ];
    for (refused, words) in cases {
        let told = refused.as_ref().map(ModelError::to_string).unwrap_or_default();
        assert!(told.contains(words), "{words}: {told}");
    }
}
