//! Text of the length that real models write: sentences about a market, put together from parts by a number.

const SUBJECTS: [&str; 16] = [
    "The close",
    "The average of twenty days",
    "Turnover in the morning",
    "The gap at the open",
    "The relative strength of the sector",
    "Momentum over the quarter",
    "The spread between bid and ask",
    "The average true range",
    "The upper Bollinger band",
    "Demand from index funds",
    "The guidance of the last report",
    "The margin of the hardware business",
    "The volume-weighted price",
    "The reaction to the last earnings call",
    "The number of shares sold short",
    "The consensus for the next year",
];

const VERBS: [&str; 12] = [
    "has held above",
    "remains close to",
    "has drifted below",
    "confirms",
    "contradicts",
    "has not yet tested",
    "has moved away from",
    "fits",
    "explains most of the change in",
    "leaves little room to",
    "says nothing about",
    "was measured against",
];

const OBJECTS: [&str; 16] = [
    "the range of the past six weeks",
    "the level of the previous report",
    "the trend of its peers",
    "the thesis of the research plan",
    "the stop that the trader proposed",
    "the valuation at the start of the year",
    "the price that the bears expect",
    "the high of last autumn",
    "what the market pays for slower growth",
    "the risk limit of the account",
    "the average of fifty days",
    "the earlier signal of the MACD line",
    "the seasonal pattern of the holiday quarter",
    "a position of ordinary size",
    "the cash that the account has left",
    "the case for waiting another week",
];

const ENDINGS: [&str; 12] = [
    "while volume fell by {n} percent",
    "after {n} quiet sessions",
    "which leaves {n} dollars to the next resistance",
    "although the range widened to {n} basis points",
    "and the last {n} closes do not change that",
    "so the size should stay under {n} percent of equity",
    "even if the next report misses by {n} cents",
    "because {n} of the analysts had expected it",
    "with a beta that is still near one and {n} days of data",
    "unless the open trades through {n} first",
    "as it did {n} weeks ago",
    "and a stop {n} ticks lower would not have been reached",
];

/// A cheap pseudo-random sequence.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % below
    }

    fn sentence(&mut self) -> String {
        let (subject, verb) = (SUBJECTS[self.next(SUBJECTS.len())], VERBS[self.next(VERBS.len())]);
        let (object, ending) = (OBJECTS[self.next(OBJECTS.len())], ENDINGS[self.next(ENDINGS.len())]);
        let number = (1 + self.next(97)).to_string();
        format!("{subject} {verb} {object}, {}.", ending.replace("{n}", &number))
    }
}

/// The text with sentences added after its first one until it has this many bytes. They contain nothing that JSON
/// escapes, so the text may be JSON with a sentence in it. The same seed gives the same sentences.
#[must_use]
pub fn lengthen(text: &str, seed: u64, bytes: usize) -> String {
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut added = String::new();
    while text.len() + added.len() < bytes {
        added.push(' ');
        added.push_str(&numbers.sentence());
    }
    match text.split_once(". ") {
        Some((first, rest)) => format!("{first}.{added} {rest}"),
        None => format!("{text}{added}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text has the requested length, up to a sentence, and differs by seed only.
    #[test]
    fn a_text_is_lengthened_after_its_first_sentence() {
        let long = |seed| lengthen(r#"{"reason":"It rises. We buy."}"#, seed, 3_000);
        assert!((3_000..3_200).contains(&long(1).len()), "{}", long(1).len());
        assert_eq!(long(1), long(1));
        assert_ne!(long(1), long(2));
        let value: serde_json::Value = serde_json::from_str(&long(1)).expect("is JSON");
        let reason = value["reason"].as_str().expect("a text");
        assert!(reason.starts_with("It rises. ") && reason.ends_with(". We buy."), "{reason}");
        assert!(lengthen("One.", 1, 100).starts_with("One. "));
        assert_eq!(lengthen("Long enough.", 1, 5), "Long enough.");
    }
}
