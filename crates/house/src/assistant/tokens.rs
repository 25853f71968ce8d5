//! A text as tokens: phrases of `phrases.txt`, and names of agents and symbols. What is neither is left over.

use papertape_core::prompt::lines::insert;
use regex::{Captures, Regex};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Values by slot, as they were written or as a phrase translates them.
pub(super) type Slots = BTreeMap<&'static str, Vec<String>>;
/// An agent or a symbol that a question lists, with its slot.
pub(super) type Name<'a> = (&'static str, &'a str);

/// A form: an action, the slots that can be said for it, with their marks, and its parameters.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) kind: &'static str,
    pub(super) name: &'static str,
    pub(super) slots: &'static str,
    pub(super) parameters: &'static str,
}

/// A part of a text. Its name is a form, `left`, or whatever a phrase with slots is called.
#[derive(Debug)]
pub(super) struct Token<'a> {
    pub(super) name: &'static str,
    pub(super) slots: Slots,
    pub(super) words: &'a str,
    at: usize,
}

static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let form = |(_, line): (&str, &'static str)| {
        let (said, parameters) = line.split_once(" |")?;
        let mut said = said.splitn(3, ' ');
        let (kind, name) = (said.next()?, said.next()?);
        Some(Form { kind, name, slots: said.next().unwrap_or_default(), parameters })
    };
    lines(|name| name == "=").filter_map(form).collect()
});
/// How a date is written; the groups are its parts.
pub(super) static DATES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    lines(|name| name == "date").filter_map(|(_, date)| pattern(&format!("^(?i:{date})$"))).collect()
});
static PHRASES: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    // A phrase may hold two dates, and a group stands once.
    let dates = DATES.iter().map(Regex::as_str).collect::<Vec<_>>().join("|").replace(['^', '$'], "");
    let dates = Regex::new(r"P<\w+>").map(|name| name.replace_all(&dates, ":").into_owned());
    let dates = format!("(?:{})", dates.unwrap_or_default());
    let whole = |phrase: &str| pattern(&format!("^(?i:{phrase}){{end}}").replace("{date}", &dates));
    let phrases = lines(|name| name != "date" && name.starts_with(char::is_alphabetic));
    phrases.filter_map(|(name, phrase)| Some((name, whole(phrase)?))).collect()
});

fn lines(is_it: fn(&str) -> bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = include_str!("phrases.txt").lines().filter_map(|line| line.split_once(' '));
    lines.filter(move |(name, _)| is_it(name))
}

/// A pattern with its `{parts}` from `phrases.txt` and the lines of prompts.
pub(super) fn pattern(text: &str) -> Option<Regex> {
    let parts = lines(|name| name.starts_with('{'));
    Regex::new(&insert(&parts.fold(text.to_owned(), |text, (part, is)| text.replace(part, is)))).ok()
}

pub(super) fn form(name: &str) -> Option<&'static Form> {
    FORMS.iter().find(|form| form.name == name)
}

/// A text's tokens without fillers. A name has its slot. Unknown words that follow each other are one.
pub(super) fn tokens<'a>(text: &'a str, names: &[Name<'_>]) -> Vec<Token<'a>> {
    let (mut found, mut rest) = (Vec::<Token<'a>>::new(), text.trim_start());
    while !rest.is_empty() {
        let next = Token { at: text.len() - rest.len(), ..token(rest, names) };
        let end = next.at + next.words.len();
        rest = text[end..].trim_start();
        match found.last_mut() {
            Some(last) if last.name == "left" && next.name == "left" => last.words = &text[last.at..end],
            _ if next.name == "filler" => {}
            _ => found.push(next),
        }
    }
    found
}

/// The token that a text begins with: a name, or the longest phrase.
fn token<'a>(rest: &'a str, names: &[Name<'_>]) -> Token<'a> {
    let mut longest = Token { name: "left", slots: Slots::new(), words: "", at: 0 };
    for (name, phrase) in PHRASES.iter() {
        let Some(found) = phrase.captures(rest) else { continue };
        let length = found.name("stop").map_or(found[0].len(), |stop| stop.start());
        if length > longest.words.len() {
            longest = Token { name, slots: slots(name, phrase, &found), words: &rest[..length], at: 0 };
        }
    }
    let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "-_:".contains(c));
    let is_named = |(_, name): &&Name<'_>| {
        rest.strip_prefix(name).is_some_and(is_end)
            || longest.name == "left" && name.eq_ignore_ascii_case(longest.words)
    };
    if let Some((slot, name)) = names.iter().filter(is_named).max_by_key(|(_, name)| name.len()) {
        let slots = Slots::from([(*slot, vec![(*name).to_owned()])]);
        longest = Token { name: "name", slots, words: &rest[..name.len()], at: 0 };
    }
    longest
}

/// What a phrase says of slots: `SLOT:VALUE` of one, and each named group of another. A `2` marks a second value.
fn slots(name: &'static str, phrase: &'static Regex, found: &Captures<'_>) -> Slots {
    let mut slots = Slots::new();
    if let Some((slot, value)) = name.split_once(':') {
        let mut text = String::new();
        found.expand(value, &mut text);
        slots.insert(slot, vec![text]);
    }
    for group in phrase.capture_names().flatten() {
        let text = found.name(group).map_or("", |text| text.as_str());
        let text = text.trim_matches(|c: char| c.is_whitespace() || "\"“”「」.。;；,，".contains(c));
        if !text.is_empty() {
            slots.entry(group.trim_end_matches('2')).or_default().push(text.to_owned());
        }
    }
    slots
}
