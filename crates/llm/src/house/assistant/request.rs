//! A request read from tokens: forms with their slots. What fits into none is left over.

use super::days::Days;
use super::tokens::{Names, Token, form, tokens};
use papertape_core::time::Date;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Plan forms that name a plan by its number, or mean the conversation's.
const OF_PLAN: [&str; 5] = ["decompose_task", "execute_plan", "show_tasks", "delete_plan", "query_status"];
/// The form that may be requested several times.
const RUN: &str = "run_simulation";

/// A form with its slots.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Clause {
    /// Empty: slots alone.
    pub(super) form: &'static str,
    /// Texts and numbers that its phrase took.
    pub(super) given: Vec<String>,
    /// By slot, `days` aside. A desk of a model is `desk MODEL`.
    slots: BTreeMap<&'static str, Vec<String>>,
    pub(super) days: Option<Days>,
    /// The slot that was taken last.
    last: &'static str,
}

/// A request, whole or not.
#[derive(Clone, Debug, Default)]
pub(super) struct Request {
    pub(super) clauses: Vec<Clause>,
    /// Slots of a text without a form, with their words.
    slots: Clause,
    words: Vec<String>,
    /// What was not understood.
    pub(super) left: Vec<String>,
}

impl Clause {
    pub(super) fn of(form: &'static str, given: Vec<String>) -> Self {
        Self { form, given, ..Self::default() }
    }

    pub(super) fn slot(&self, name: &str) -> &[String] {
        self.slots.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Its days, where they have a year.
    pub(super) fn period(&self) -> Option<(Date, Date)> {
        self.days.as_ref()?.period(None)
    }

    /// The slots of its form, with their marks `!` and `~`.
    fn slots(&self) -> &'static [&'static str] {
        form(self.form).map(|form| form.slots.as_slice()).unwrap_or_default()
    }

    fn takes(&self, slot: &str) -> bool {
        self.slots().iter().any(|one| one.trim_end_matches(['!', '~']) == slot)
    }

    /// Takes a slot; `false`: it has no place here.
    fn put(&mut self, token: &Token<'_>) -> bool {
        let value = token.given.first().cloned().unwrap_or_default();
        let is_baseline = self.form == "compare_runs" && value == "house::buy_and_hold";
        let name = if is_baseline { "baseline" } else { token.name };
        // Only a backtest has several traders.
        let is_single = match name {
            "who" => self.form != RUN && !self.form.is_empty(),
            name => matches!(name, "cash" | "outcome"),
        };
        if !self.form.is_empty() && !self.takes(name) || is_single && self.slots.contains_key(name) {
            return false;
        }
        let last = std::mem::replace(&mut self.last, name);
        let is_model = |who: &String| who.contains("::") && !who.starts_with("desk ");
        match name {
            "days" if self.days.is_some() => return false,
            "days" => self.days.clone_from(&token.days),
            // The desk of a configured agent is its own.
            "desk" => {
                match self.slots.get_mut("who").and_then(|who| who.last_mut()).filter(|who| is_model(who)) {
                    Some(who) => *who = format!("desk {who}"),
                    None => return false,
                }
            }
            "who" if last == "desk_of" && !is_model(&value) => return false,
            name => {
                let value = if name == "who" && last == "desk_of" { format!("desk {value}") } else { value };
                let values = self.slots.entry(name).or_default();
                values.extend((!values.contains(&value)).then_some(value));
            }
        }
        true
    }

    /// Does a slot begin another backtest than this one?
    fn ends_with(&self, slot: &str) -> bool {
        let has = |name| self.slots.contains_key(name);
        let is_next = match slot {
            "who" | "desk_of" => {
                has("who") && self.last != "desk_of" && (has("symbols") || self.days.is_some())
            }
            _ => slot == "symbols" && has("symbols") && self.last == "days",
        };
        self.form == RUN && is_next
    }

    /// What is not said and matters.
    fn missing(&self) -> impl Iterator<Item = &'static str> {
        self.slots().iter().filter_map(|slot| match (slot.trim_end_matches('!'), &self.days) {
            ("days", Some(days)) if days.year().is_none() => Some("year"),
            ("days", Some(days)) => days.period(None).is_none().then_some("days"),
            ("days", None) => slot.ends_with('!').then_some("days"),
            ("text", _) => self.given.last().is_none_or(String::is_empty).then_some("text"),
            (name, _) => (slot.ends_with('!') && !self.slots.contains_key(name)).then_some(name),
        })
    }

    /// What is known of it: for the texts that repeat it, and for its action's parameters.
    pub(super) fn facts(&self) -> Value {
        let text = self.given.last().map_or("", String::as_str);
        let (name, goal) = named(text);
        let (desks, models): (Vec<&String>, Vec<&String>) =
            self.slot("who").iter().partition(|who| who.starts_with("desk "));
        let desk = |who: &&String| {
            let model = who.trim_start_matches("desk ");
            let name = format!("{}-desk", model.rsplit("::").next().unwrap_or(model));
            json!({ "name": name, "kind": "desk", "model": model })
        };
        let model = self.slot("who").first().filter(|_| self.slot("who").len() == 1);
        let cash = self.slot("cash").first().and_then(|cash| cash.parse::<Decimal>().ok());
        let period = self.period();
        json!({
            "form": self.form, "given": self.given, "first": self.given.first(), "text": text, "name": name,
            "goal": goal, "task_id": self.number(0), "who": self.slot("who"), "model": model, "models": models,
            "agents": desks.iter().map(desk).collect::<Vec<_>>(), "symbols": self.slot("symbols"),
            "jobs": self.slot("jobs"), "latest": self.slot("latest"), "outcome": self.slot("outcome"),
            "initial_cash": cash.map(crate::house::number::write), "cash": self.slot("cash").first(),
            "start_date": period.map(|period| period.0.to_string()),
            "end_date": period.map(|period| period.1.to_string()),
            "words": self.days.as_ref().map(|days| &days.words),
        })
    }

    /// A number that its phrase took.
    pub(super) fn number(&self, at: usize) -> Option<i64> {
        self.given.get(at)?.parse().ok()
    }
}

impl Request {
    /// A text as it stands; `in_chat`: may it be about plans, and about other jobs?
    pub(super) fn read(text: &str, names: &Names<'_>, in_chat: bool) -> Self {
        let tokens = ranges(text, &tokens(text, names));
        let has_form = tokens.iter().any(|token| form(token.name).is_some());
        let (mut request, mut before, mut left) = (Self::default(), Vec::new(), None::<Range<usize>>);
        for token in tokens {
            let is_read = match (token.name, form(token.name)) {
                (name, Some(form)) => {
                    let is_twice = name != RUN && request.clauses.iter().any(|one| one.form == name);
                    let is_barred = !in_chat && (form.kind != "tool_operation" || name == "cancel_job");
                    if !is_twice && !is_barred {
                        request.clauses.push(Clause::of(name, token.given.clone()));
                        before.drain(..).for_each(|slot| request.put(&slot));
                    }
                    !is_twice && !is_barred
                }
                ("left", _) => false,
                ("and", _) => true,
                ("again", _) => !has_form,
                ("from" | "to", _) => !token.words.starts_with(char::is_alphanumeric),
                _ if !has_form => {
                    request.words.push(token.words.to_owned());
                    request.slots.put(&token)
                }
                (name, _) => {
                    // It may stand before its form.
                    let is_of = |last: &Clause| !matches!(name, "latest" | "jobs") || last.takes(name);
                    if request.clauses.last().is_some_and(is_of) {
                        request.put(&token);
                    } else {
                        before.push(token.clone());
                    }
                    true
                }
            };
            // Words that stand together are named together.
            let joined = left.clone().filter(|left| !is_read && text[left.end..token.at].trim().is_empty());
            let begin = joined.and_then(|left| request.left.pop().map(|_| left.start)).unwrap_or(token.at);
            let end = token.at + token.words.len();
            request.left.extend((!is_read).then(|| text[begin..end].to_owned()));
            left = (!is_read).then_some(begin..end);
        }
        request.left.extend(before.iter().map(|slot| slot.words.to_owned()));
        request.share();
        request
    }

    fn put(&mut self, token: &Token<'_>) {
        let Some(last) = self.clauses.last() else { return };
        if last.ends_with(token.name) {
            let mut next = Clause::of(RUN, Vec::new());
            if token.name == "symbols" {
                next.slots.insert("who", last.slot("who").to_vec());
            }
            self.clauses.push(next);
        }
        if !self.clauses.last_mut().is_some_and(|last| last.put(token)) {
            self.left.push(token.words.to_owned());
        }
    }

    /// What one of several backtests, or plan forms, leaves out, its neighbors say.
    fn share(&mut self) {
        for at in 0..self.clauses.len() {
            let (before, rest) = self.clauses.split_at_mut(at);
            let Some((own, after)) = rest.split_first_mut() else { continue };
            for other in before.iter().rev().chain(&*after) {
                if own.form == RUN && other.form == RUN {
                    for name in ["who", "symbols", "cash"] {
                        if let Some(values) = other.slots.get(name) {
                            own.slots.entry(name).or_insert_with(|| values.clone());
                        }
                    }
                    let year = other.days.as_ref().and_then(Days::year);
                    let days = own.days.as_ref().or(other.days.as_ref());
                    own.days = days.map(|days| days.with_year(year, &days.words));
                } else if OF_PLAN.contains(&own.form) && OF_PLAN.contains(&other.form) && own.given.is_empty()
                {
                    own.given.clone_from(&other.given);
                }
            }
        }
    }

    /// Is nothing said but courtesies?
    pub(super) fn is_empty(&self) -> bool {
        self.clauses.is_empty() && self.words.is_empty() && self.left.is_empty()
    }

    pub(super) fn has(&self, forms: &[&str]) -> bool {
        self.clauses.iter().any(|one| forms.contains(&one.form))
    }

    /// What it lacks to be done, without repeats.
    pub(super) fn missing(&self) -> Vec<&'static str> {
        let mut missing: Vec<&str> = self.clauses.iter().flat_map(Clause::missing).collect();
        missing.extend(self.clauses.is_empty().then_some("request"));
        missing.dedup();
        missing
    }

    /// Can it be done as it stands?
    pub(super) fn is_whole(&self) -> bool {
        self.left.is_empty() && self.missing().is_empty()
    }

    /// This request after an earlier one. Where it has no form it is the earlier one with one slot replaced, and
    /// with what was missing.
    pub(super) fn after(mut self, earlier: Option<&Self>) -> Self {
        let Some(earlier) = earlier.filter(|_| self.clauses.is_empty() && !self.words.is_empty()) else {
            return self;
        };
        let mut next = earlier.clone();
        let has_run = next.has(&[RUN]);
        let (mut taken, mut replaced) = (BTreeSet::new(), BTreeSet::new());
        for clause in next.clauses.iter_mut().filter(|one| !has_run || one.form == RUN) {
            for (name, values) in &self.slots.slots {
                if !clause.takes(name) {
                    continue;
                }
                taken.insert(*name);
                replaced.extend(clause.slots.insert(name, values.clone()).map(|_| *name));
            }
            if let Some(days) = self.slots.days.as_ref().filter(|_| clause.takes("days")) {
                let filled = clause.days.as_ref().and_then(|own| own.in_year(days));
                taken.insert("days");
                replaced.extend((filled.is_none() && clause.days.is_some()).then_some("days"));
                let year = clause.days.as_ref().and_then(Days::year);
                clause.days = filled.or_else(|| Some(days.with_year(year, &days.words)));
            }
        }
        let all = self.slots.slots.len() + usize::from(self.slots.days.is_some());
        if taken.len() < all || replaced.len() > 1 {
            self.left.append(&mut self.words);
        }
        next.left = self.left;
        next
    }
}

/// Two dates that are a range as one.
fn ranges<'a>(text: &'a str, tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(token) = tokens.get(at) {
        let begins = usize::from(token.name == "from");
        let range = tokens.get(at + begins..at + begins + 3).and_then(|range| {
            let (from, to) = (range[0].days.as_ref()?, range[2].days.as_ref()?);
            let is_range =
                range[1].name == "to" || range[1].name == "and" && (begins == 1 || from.are_followed_by(to));
            let words = &text[range[0].at..range[2].at + range[2].words.len()];
            is_range.then(|| Token { days: Some(from.until(to, words)), words, ..range[0].clone() })
        });
        at += if range.is_some() { begins + 3 } else { 1 };
        found.push(range.unwrap_or_else(|| token.clone()));
    }
    found
}

/// `NAME: GOAL`, or a goal whose first words are the name.
fn named(text: &str) -> (String, &str) {
    const NAME_CHARS: usize = 60;
    let (name, goal) = match text.split_once([':', '：']) {
        // `::` stands in a model's name.
        Some((name, goal)) if !goal.starts_with(':') => (name, goal.trim()),
        _ => (text, text),
    };
    let name = name.trim_matches(|c| " \"“”「」".contains(c));
    let Some((end, _)) = name.char_indices().nth(NAME_CHARS) else { return (name.to_owned(), goal) };
    // Chinese has no spaces between its words.
    let at = name[..end].rfind([' ', ',', '，', '、']).filter(|at| *at >= end / 2).unwrap_or(end);
    (name[..at].trim_end_matches([',', '，', '、', ' ']).to_owned(), goal)
}
