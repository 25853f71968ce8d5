//! The opinion that an answer states: parsed, never guessed.
//!
//! An opinion is stated by a member of a JSON object, by a labeled line, or by a last sentence such as "My
//! final rating is Hold". Each statement must be a single rating, and all must agree. Anything that could be
//! a second opinion makes the answer unparseable: another rating after a label inside a line, in a sentence
//! of that form elsewhere, or in an unlabeled paragraph after the opinion. The model is then asked to state
//! its decision again.

use super::text::{half_width, shorten};
use super::{Rating, Unparseable, label};

/// The statements of opinion in an answer.
#[derive(Debug, Default)]
pub(super) struct Opinions {
    /// Each value that states an opinion, with its rating.
    stated: Vec<(String, Option<Rating>)>,
    /// Ratings that may revise the opinion.
    doubts: Vec<Rating>,
    /// Ratings in unlabeled paragraphs since the last stated opinion.
    after: Vec<Rating>,
}

impl Opinions {
    /// A value that states the opinion.
    pub(super) fn state(&mut self, value: &str) {
        self.stated.push((shorten(value), Rating::read(value)));
        self.after.clear();
    }

    /// A value that would state the opinion if it were not in the middle of a sentence.
    pub(super) fn cite(&mut self, value: &str) {
        self.doubts.extend(Rating::mentioned(value));
    }

    /// A line without a label.
    pub(super) fn plain(&mut self, line: &str) {
        self.after.extend(Rating::mentioned(line));
        self.after.sort_unstable();
        self.after.dedup();
    }

    /// Labels and sentences inside a line that name a rating. They do not state an opinion by themselves.
    pub(super) fn doubt(&mut self, line: &str) {
        for (is_final, value) in label::inline(line) {
            let named = Rating::mentioned(value);
            if is_final && named.is_empty() {
                self.stated.push((shorten(value), None));
            }
            self.doubts.extend(named);
        }
        for sentence in sentences(line) {
            self.doubts.extend(
                prose_opinion(sentence).map(|said| Rating::mentioned(&said.value)).unwrap_or_default(),
            );
        }
        self.doubts.sort_unstable();
        self.doubts.dedup();
    }

    /// The last sentence of an answer, which may state the opinion.
    pub(super) fn last(&mut self, line: &str) {
        if let Some(said) = sentences(line).next_back().and_then(prose_opinion)
            && said.is_whole
        {
            self.state(&said.value);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.stated.is_empty()
    }

    /// The one rating that all statements agree on.
    pub(super) fn rating(&self, name: &str, allowed: &str) -> Result<Rating, Unparseable> {
        if let Some((shown, _)) = self.stated.iter().find(|(_, rating)| rating.is_none()) {
            return Err(Unparseable::new(format!("{name} `{shown}` is not one of {allowed}")));
        }
        let mut named: Vec<Rating> = self.stated.iter().filter_map(|(_, rating)| *rating).collect();
        let stated = named.first().copied();
        let stated = stated.ok_or_else(|| Unparseable::new(format!("the answer states no {name}")))?;
        named.extend(self.doubts.iter().chain(&self.after));
        if let Some(other) = named.iter().find(|rating| **rating != stated) {
            let text = format!("the answer contradicts itself: {name} is {stated}, but {other} is named too");
            return Err(Unparseable::new(text));
        }
        Ok(stated)
    }
}

/// A sentence such as `My final rating for AAPL is Hold`.
struct Statement {
    /// The text after `is`.
    value: String,
    /// Whether it is the whole sentence.
    is_whole: bool,
}

const OWNERS: [&str; 3] = ["my ", "our ", "the final "];
const NOUNS: [&str; 3] = ["rating", "recommendation", "decision"];
const CHINESE_OWNERS: [&str; 4] = ["我们的", "我的", "本人的", "最终"];
const CHINESE_NOUNS: [&str; 6] = ["评级", "建议", "推荐", "决定", "决策", "操作建议"];
/// Maximum length of an object such as `for the shares of Apple`.
const MAX_OBJECT_CHARS: usize = 40;

fn prose_opinion(sentence: &str) -> Option<Statement> {
    let plain = half_width(sentence).to_lowercase().replace(['*', '_', '`'], "");
    let plain = plain.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '#'));
    let english = OWNERS.iter().flat_map(|owner| plain.match_indices(owner)).filter_map(|(at, owner)| {
        let free = !plain[..at].ends_with(|c: char| c.is_alphanumeric());
        free.then(|| english(&plain[at + owner.len()..]))?.map(|value| (at, value))
    });
    let chinese = CHINESE_OWNERS.iter().flat_map(|owner| plain.match_indices(owner));
    let chinese =
        chinese.filter_map(|(at, owner)| chinese_value(&plain[at + owner.len()..]).map(|value| (at, value)));
    let (at, value) = english.chain(chinese).min_by_key(|(at, _)| *at)?;
    Some(Statement { value: value.to_owned(), is_whole: at == 0 })
}

/// The text after `rating is`, preceded by `my`.
fn english(text: &str) -> Option<&str> {
    let text = text.strip_prefix("final ").unwrap_or(text);
    let rest = NOUNS.iter().find_map(|noun| text.strip_prefix(noun))?;
    let near = rest.char_indices().nth(MAX_OBJECT_CHARS).map_or(rest, |(at, _)| &rest[..at]);
    let at = near.find(" is ").or_else(|| near.find(" is:"))?;
    let between = &rest[..at];
    if !between.is_empty() && !between.starts_with(" for ") && !between.starts_with(" on ") {
        return None;
    }
    let value = rest[at + 4..].trim_start_matches([' ', ':']);
    let value = ["to ", "a ", "an "].iter().find_map(|word| value.strip_prefix(word)).unwrap_or(value);
    Some(value.trim())
}

fn chinese_value(text: &str) -> Option<&str> {
    let mut text = text.strip_prefix("最终").unwrap_or(text);
    text = ["投资", "交易"].iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text);
    let rest = CHINESE_NOUNS.iter().find_map(|noun| text.strip_prefix(noun))?;
    let value = ["是", "为"].iter().find_map(|word| rest.strip_prefix(word))?;
    Some(value.trim_start_matches([' ', ':']).trim())
}

/// The sentences of a line, without their periods.
fn sentences(line: &str) -> impl DoubleEndedIterator<Item = &str> {
    let stop = |c: char| matches!(c, '.' | '!' | '。' | '！' | ';' | '；');
    line.split(stop).map(str::trim).filter(|sentence| sentence.chars().any(char::is_alphanumeric))
}
