//! The texts of the million messages: generated from numbers, deterministic, with words of known frequency.

/// A word that some messages contain, and how frequent it is in the agents' own messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marked {
    /// The word; `lone` is followed by a number, and each such word occurs in one message.
    pub(crate) word: &'static str,
    /// It occurs in one message out of this many.
    pub(crate) one_of: u64,
    rest: u64,
}

/// The words, rarest first.
pub(crate) const MARKED: [Marked; 5] = [
    Marked { word: "lone", one_of: 10_000, rest: 17 },
    Marked { word: "scarce", one_of: 25_000, rest: 31 },
    Marked { word: "uncommon", one_of: 500, rest: 3 },
    Marked { word: "frequent", one_of: 5, rest: 1 },
    Marked { word: "always", one_of: 1, rest: 0 },
];

const SYLLABLES: [&str; 16] = [
    "mar", "ket", "vol", "ume", "ran", "ge", "mo", "men", "tum", "hed", "ge", "spre", "ad", "ti", "de", "ral",
];

/// A cheap pseudo-random sequence.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    /// One of about 4,000 words, low numbers far more often.
    fn word(&mut self) -> String {
        let spread = self.next(64) + 1;
        let number = self.next(spread * spread) as usize;
        [number % 16, number / 16 % 16, number / 256 % 16].map(|at| SYLLABLES[at]).concat()
    }
}

/// An agent's text in message number `k` overall.
pub(crate) fn thought(k: u64) -> String {
    let mut numbers = Numbers(k.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut text = format!("Thought {k}:");
    for _ in 0..40 {
        text.push(' ');
        text.push_str(&numbers.word());
    }
    for marked in MARKED.iter().filter(|marked| k % marked.one_of == marked.rest) {
        text.push(' ');
        text.push_str(marked.word);
        if marked.word == "lone" {
            text.push_str(&(k / marked.one_of).to_string());
        }
    }
    text.push('.');
    text
}

/// A tool's result.
pub(crate) fn reading(k: u64) -> String {
    let mut numbers = Numbers(k.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let bars: Vec<String> = (0..4)
        .map(|back| {
            let cents = 9_000 + numbers.next(9_000);
            let volume = 1_000_000 + numbers.next(90_000_000);
            format!(r#"{{"back":{back},"close":{}.{:02},"volume":{volume}}}"#, cents / 100, cents % 100)
        })
        .collect();
    format!(r#"{{"bars":[{}],"reading":{k}}}"#, bars.join(","))
}
