//! A text as tokens: phrases of `phrases.txt`, names, dates, amounts and ids. What is none of them is left over.

use super::days::Days;
use regex::{Captures, Regex};
use rust_decimal::Decimal;
use std::sync::LazyLock;

/// A part of a text.
#[derive(Clone, Debug)]
pub(super) struct Token<'a> {
    /// A form, a slot, or `from`, `to`, `and`, `again`, `left`.
    pub(super) name: &'static str,
    /// A slot's value; what a form's phrase takes.
    pub(super) given: Vec<String>,
    pub(super) days: Option<Days>,
    pub(super) words: &'a str,
    pub(super) at: usize,
}

/// The agents and symbols that a question tells of: each with its slot.
pub(super) type Names<'a> = Vec<(&'static str, &'a str)>;

/// A form: an action, what is said for it, and what it is given.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) kind: &'static str,
    pub(super) name: &'static str,
    pub(super) slots: Vec<&'static str>,
    pub(super) parameters: Vec<&'static str>,
}

/// A text with more unknown words is read no further.
const MAX_LEFT: usize = 20;
static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let form = |(mark, line): (&str, &'static str)| {
        let (said, given) = line.split_once('|').filter(|_| mark == "=")?;
        let mut words = said.split_whitespace();
        let (kind, name) = (words.next()?, words.next()?);
        Some(Form { kind, name, slots: words.collect(), parameters: given.split_whitespace().collect() })
    };
    lines().filter_map(form).collect()
});
static PATTERNS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    let parts: Vec<_> = lines().filter(|(name, _)| name.starts_with('{')).collect();
    let pattern = |(name, pattern): (&'static str, &str)| {
        let whole =
            parts.iter().fold(format!("^(?i:{pattern}){{end}}"), |all, (part, is)| all.replace(part, is));
        Some((name, Regex::new(&whole).ok()?))
    };
    lines().filter(|(name, _)| name.starts_with(char::is_alphabetic)).filter_map(pattern).collect()
});

fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("phrases.txt").lines().filter_map(|line| line.split_once(' '))
}

pub(super) fn form(name: &str) -> Option<&'static Form> {
    FORMS.iter().find(|form| form.name == name)
}

/// A text's tokens, without fillers and what stands between them.
pub(super) fn tokens<'a>(text: &'a str, names: &Names<'_>) -> Vec<Token<'a>> {
    let (mut found, mut at, mut left) = (Vec::new(), 0, 0);
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() || ",.;:!?，。；：！？、“”\"'（）()「」".contains(first) {
            at += first.len_utf8();
            continue;
        }
        let mut token = Token { at, ..lexed(&text[at..], names) };
        left += usize::from(token.name == "left");
        if left > MAX_LEFT {
            token.words = &text[at..];
        }
        at += token.words.len();
        token.words = token.words.trim_end();
        found.extend((token.name != "filler").then_some(token));
    }
    found
}

/// The longest token that a text begins with.
fn lexed<'a>(rest: &'a str, names: &Names<'_>) -> Token<'a> {
    let token = |name, given, length: usize| Token { name, given, days: None, words: &rest[..length], at: 0 };
    let begins = |name: &str, in_capitals: bool| {
        let is_it = |head: &str| head == name || !in_capitals && head.eq_ignore_ascii_case(name);
        let joins = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
        rest.get(..name.len()).is_some_and(is_it) && !rest[name.len()..].starts_with(joins)
    };
    let named = |slot: &str, in_capitals: bool| {
        let fit = names.iter().filter(|(of, name)| *of == slot && begins(name, in_capitals));
        let (of, name) = fit.max_by_key(|(_, name)| name.len())?;
        Some(token(of, vec![(*name).to_owned()], name.len()))
    };
    if let Some(found) = named("who", false).or_else(|| named("symbols", true)) {
        return found;
    }
    let mut best: Option<Token<'_>> = None;
    for (name, pattern) in PATTERNS.iter() {
        let Some(found) = pattern.captures(rest) else { continue };
        let length = found.name("text").map_or(found[0].len(), |text| text.end());
        if best.as_ref().is_some_and(|best| best.words.len() >= length) {
            continue;
        }
        let part =
            |part: regex::Match<'_>| part.as_str().trim_matches(|c| " \"“”「」.。".contains(c)).to_owned();
        let mut next = token(name, found.iter().skip(1).flatten().map(part).collect(), length);
        if let Some((slot, value)) = name.split_once(':') {
            (next.name, next.given) = (slot, vec![value.to_owned()]);
        } else if *name == "cash" {
            let Some(cash) = amount(&found) else { continue };
            next.given = vec![cash.to_string()];
        } else if *name == "days" {
            next.days = Days::of(&found);
            // A day that no calendar has is no year.
            next.name = if next.days.is_some() { "days" } else { "left" };
        }
        best = Some(next);
    }
    // A symbol that nobody knows is one where it is written in capitals.
    let end = |is_part: fn(char) -> bool| rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let capitals = rest[..end(|c| c.is_ascii_uppercase() || ".-".contains(c))].trim_end_matches(['.', '-']);
    let is_symbol = (1..=7).contains(&capitals.len()) && begins(capitals, true);
    best.or_else(|| named("symbols", false)).unwrap_or_else(|| {
        if is_symbol {
            return token("symbols", vec![capitals.to_owned()], capitals.len());
        }
        let word = end(|c| c.is_ascii_alphanumeric() || "'’%-/_$&".contains(c));
        token("left", Vec::new(), word.max(rest.chars().next().map_or(0, char::len_utf8)))
    })
}

/// An amount of money; a bare number is none.
fn amount(found: &Captures<'_>) -> Option<Decimal> {
    let times: i64 = match found.name("u").map_or("", |unit| unit.as_str()).to_lowercase().as_str() {
        "k" | "thousand" | "千" => 1_000,
        "万" => 10_000,
        "m" | "million" | "百万" => 1_000_000,
        _ => 1,
    };
    let is_money = ["a", "b", "u", "c", "d"].iter().any(|part| found.name(part).is_some());
    let digits: Decimal = found["n"].replace(',', "").parse().ok().filter(|_| is_money)?;
    digits.checked_mul(times.into()).map(|cash| cash.normalize())
}
