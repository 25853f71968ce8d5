//! A text as tokens: phrases of `phrases.txt`, names, dates, amounts and ids. What is none of them is left over.

use super::days::Days;
use regex::Regex;
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

/// The agents and symbols that a question tells of.
pub(super) struct Names<'a> {
    pub(super) agents: Vec<&'a str>,
    pub(super) symbols: Vec<&'a str>,
}

/// A text with more unknown words is read no further.
const MAX_LEFT: usize = 20;
/// The lines of `phrases.txt` that define forms: kind, name and slots.
pub(super) static FORMS: LazyLock<Vec<Vec<&str>>> = LazyLock::new(|| {
    let lines = include_str!("phrases.txt").lines();
    lines.filter_map(|line| line.strip_prefix("= ")).map(|line| line.split(' ').collect()).collect()
});
static PATTERNS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    let plan = r"(?:(?:the|this|that|my) )?plan(?: of this conversation)?(?: ?#?(\d+))?";
    let lines = include_str!("phrases.txt").lines().filter(|line| !line.starts_with(['#', '=', '>']));
    let pattern = |(name, pattern): (&'static str, &str)| {
        let pattern = pattern.replace("{plan}", plan);
        let pattern = pattern.replace("{计划}", r"(?:这个|该|本对话的)?计划(?:\s*#?(\d+))?");
        let pattern = pattern.replace("{year}", r"(?:,? ?(?:of )?(?P<y>(?:19|20)\d\d))");
        // It ends in the middle of no Latin word.
        Some((name, Regex::new(&format!(r"^(?i:{pattern})(?-u:\b{{end-half}}|\b)")).ok()?))
    };
    lines.filter_map(|line| line.split_once(' ')).filter_map(pattern).collect()
});
static ENDS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    let lines =
        include_str!("phrases.txt").lines().filter_map(|line| line.strip_prefix("> ")?.split_once(' '));
    lines.filter_map(|(name, end)| Some((name, Regex::new(end).ok()?))).collect()
});

/// A text's tokens, without fillers and what stands between them.
pub(super) fn tokens<'a>(text: &'a str, names: &Names<'_>) -> Vec<Token<'a>> {
    let (mut found, mut at, mut left) = (Vec::new(), 0, 0);
    let is_word = |c: char| c.is_ascii_alphanumeric() || "'’%-/_$&".contains(c);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() || ",.;:!?，。；：！？、“”\"'（）()「」".contains(first) {
            at += first.len_utf8();
            continue;
        }
        let (name, given, days, mut length) = lexed(rest, names).unwrap_or_else(|| {
            let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
            ("left", Vec::new(), None, end.max(first.len_utf8()))
        });
        left += usize::from(name == "left");
        if left > MAX_LEFT {
            length = rest.len();
        }
        if name != "filler" {
            found.push(Token { name, given, days, words: rest[..length].trim(), at });
        }
        at += length;
    }
    found
}

type Lexed = (&'static str, Vec<String>, Option<Days>, usize);

/// The longest token that a text begins with.
fn lexed(rest: &str, names: &Names<'_>) -> Option<Lexed> {
    let begins = |name: &str, in_capitals: bool| {
        let is_it = |head: &str| head == name || !in_capitals && head.eq_ignore_ascii_case(name);
        let joins = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
        rest.get(..name.len()).is_some_and(is_it) && !rest[name.len()..].starts_with(joins)
    };
    let longest = |of: &'static str, names: &[&str], in_capitals: bool| -> Option<Lexed> {
        let found = names.iter().filter(|name| begins(name, in_capitals)).max_by_key(|name| name.len())?;
        Some((of, vec![(*found).to_owned()], None, found.len()))
    };
    let named = longest("who", &names.agents, false).or_else(|| longest("symbols", &names.symbols, true));
    if named.is_some() {
        return named;
    }
    let mut best: Option<Lexed> = None;
    for (name, pattern) in PATTERNS.iter() {
        let known = best.as_ref().map_or(0, |best| best.3);
        let Some(found) = pattern.captures(rest).filter(|found| found[0].len() > known) else { continue };
        let length = found[0].len();
        let given = |part: regex::Match<'_>| part.as_str().trim().to_owned();
        let lexed = match name.split_once(':') {
            Some((of, value)) => Some((of, vec![value.to_owned()], None, length)),
            None if *name == "cash" => {
                amount(&found).map(|cash| ("cash", vec![cash.to_string()], None, length))
            }
            // A day that no calendar has is no year.
            None if *name == "days" => match Days::of(&found) {
                Some(days) => Some(("days", Vec::new(), Some(days), length)),
                None => Some(("left", Vec::new(), None, length)),
            },
            None => Some((*name, found.iter().skip(1).flatten().map(given).collect(), None, length)),
        };
        best = lexed.or(best);
    }
    if let Some((name, given, _, length)) = &mut best
        && let Some((_, ends)) = ENDS.iter().find(|(of, _)| of == name)
    {
        let end = ends.find(&rest[*length..]).map_or(rest.len(), |end| *length + end.start());
        given.push(rest[*length..end].trim_matches([' ', '"', '“', '”', '「', '」', '.', '。']).to_owned());
        *length = end;
    }
    // A symbol that nobody knows is one where it is written in capitals.
    let is_part = |c: char| c.is_ascii_uppercase() || matches!(c, '.' | '-');
    let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let capitals = rest[..end].trim_end_matches(['.', '-']);
    best.or_else(|| longest("symbols", &names.symbols, false)).or_else(|| {
        let is_symbol = (1..=7).contains(&capitals.len()) && begins(capitals, true);
        is_symbol.then(|| ("symbols", vec![capitals.to_owned()], None, capitals.len()))
    })
}

/// An amount of money; a bare number is none.
fn amount(found: &regex::Captures<'_>) -> Option<Decimal> {
    ["a", "b", "u", "c", "d"].iter().find_map(|part| found.name(part))?;
    let times = match found.name("u").map_or("", |unit| unit.as_str()).to_lowercase().as_str() {
        "k" | "thousand" | "千" => 1_000,
        "万" => 10_000,
        "m" | "million" | "百万" => 1_000_000,
        _ => 1,
    };
    let digits: Decimal = found["n"].replace(',', "").parse().ok()?;
    digits.checked_mul(Decimal::from(times)).map(|cash| cash.normalize())
}
