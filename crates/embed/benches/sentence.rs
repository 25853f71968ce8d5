//! The sentence model with its real weights: do its tokens and vectors match another implementation's, and how
//! long does it take? Run with `PAPERTAPE_SENTENCE_MODEL=DIR cargo bench -p papertape-embed --bench sentence`,
//! where `DIR` is the directory created by `papertape memory install-model`. `reference.json` names the source of
//! its vectors.

use papertape_embed::SentenceModel;
use papertape_embed::vector::{dot, normalize};
use serde::Deserialize;
use std::path::Path;
use std::time::Instant;

#[derive(Deserialize)]
struct Reference {
    source: String,
    texts: Vec<Expected>,
}

#[derive(Deserialize)]
struct Expected {
    text: String,
    tokens: Vec<u32>,
    vector: Vec<f32>,
}

fn main() {
    // A test runner lists the tests: there are none.
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let Ok(dir) = std::env::var("PAPERTAPE_SENTENCE_MODEL") else {
        println!("PAPERTAPE_SENTENCE_MODEL names no directory with a model: nothing is measured");
        return;
    };
    let read = |name: &str| std::fs::read(Path::new(&dir).join(name)).expect("the model is there");
    let begun = Instant::now();
    let words = String::from_utf8(read("vocab.txt")).expect("the vocabulary is text");
    let model = SentenceModel::new(&read("config.json"), &words, &read("model.safetensors"));
    let model = model.expect("the model is whole");
    println!("loaded in {:.2} s", begun.elapsed().as_secs_f64());

    let reference: Reference =
        serde_json::from_str(include_str!("reference.json")).expect("the reference is JSON");
    println!("reference: {}", reference.source);
    for expected in &reference.texts {
        let begun = Instant::now();
        let vector = model.embed(&expected.text);
        let took = begun.elapsed().as_secs_f64() * 1e3;
        let mut wanted = expected.vector.clone();
        assert!(normalize(&mut wanted), "the reference has a direction");
        let cosine = dot(&vector, &wanted);
        let tokens = model.tokens(&expected.text);
        println!("cosine {cosine:.6}, {} tokens in {took:.1} ms", tokens.len());
        assert_eq!(tokens, expected.tokens, "{:?}", expected.text);
        assert!(cosine >= 0.999, "{:?}", expected.text);
    }
    for tokens in [16, 64, 254] {
        let text = "stop ".repeat(tokens);
        let times = (0..5).map(|_| {
            let begun = Instant::now();
            std::hint::black_box(model.embed(&text));
            begun.elapsed().as_secs_f64() * 1e3
        });
        println!("{tokens} tokens: {:.1} ms at best of 5", times.fold(f64::INFINITY, f64::min));
    }
}
