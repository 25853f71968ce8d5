//! A request read from tokens: forms with their slots. What fits into none is left over.

use super::days::Days;
use super::tokens::{FORMS, Names, Token, tokens};
use papertape_core::time::Date;
use std::collections::BTreeMap;

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
    pub(super) slots: BTreeMap<&'static str, Vec<String>>,
    pub(super) days: Option<Days>,
    /// The slot that was taken last.
    pub(super) last: &'static str,
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
    pub(super) fn slot(&self, name: &str) -> &[String] {
        self.slots.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Its days, where they have a year.
    pub(super) fn period(&self) -> Option<(Date, Date)> {
        self.days.as_ref()?.period(None)
    }

    /// Does the form have this slot? With its mark, `!` or `~`.
    fn takes(&self, slot: &str) -> Option<&'static str> {
        let form = FORMS.iter().find(|form| form[1] == self.form)?;
        form[2..].iter().find(|one| one.trim_end_matches(['!', '~']) == slot).copied()
    }

    /// Takes a slot; `false`: it has no place here.
    fn put(&mut self, token: &Token<'_>) -> bool {
        let value = token.given.first().cloned().unwrap_or_default();
        let is_baseline = self.form == "compare_runs" && value == "house::buy_and_hold";
        let name = if is_baseline { "baseline" } else { token.name };
        if !self.form.is_empty() && self.takes(name).is_none() {
            return false;
        }
        let last = std::mem::replace(&mut self.last, name);
        let who = self.slots.entry("who").or_default();
        match name {
            "days" if self.days.is_some() => return false,
            "days" => self.days.clone_from(&token.days),
            // The desk of a configured agent is its own.
            "desk" => match who.last_mut().filter(|who| who.contains("::") && !who.starts_with("desk ")) {
                Some(who) => *who = format!("desk {who}"),
                None => return false,
            },
            // Only a backtest has several.
            "who" if self.form != RUN && !self.form.is_empty() && !who.is_empty() => return false,
            "who" if last == "desk_of" && !value.contains("::") => return false,
            "who" if last == "desk_of" => who.push(format!("desk {value}")),
            "cash" if self.slots.contains_key("cash") => return false,
            "won" if self.slots.contains_key("lost") => return false,
            "lost" if self.slots.contains_key("won") => return false,
            name => {
                let values = self.slots.entry(name).or_default();
                values.extend((!values.contains(&value)).then_some(value));
            }
        }
        self.slots.retain(|_, values| !values.is_empty());
        true
    }

    /// Does a slot begin another backtest than this one?
    fn ends_with(&self, slot: &str) -> bool {
        let (has_who, has_symbols) = (!self.slot("who").is_empty(), !self.slot("symbols").is_empty());
        self.form == RUN
            && match slot {
                "who" | "desk_of" => {
                    has_who && self.last != "desk_of" && (has_symbols || self.days.is_some())
                }
                "symbols" => has_symbols && self.last == "days",
                _ => false,
            }
    }

    /// What is not said and matters.
    fn missing(&self) -> impl Iterator<Item = &'static str> {
        let form = FORMS.iter().find(|form| form[1] == self.form);
        form.into_iter().flat_map(|form| &form[2..]).filter_map(|slot| match slot.trim_end_matches('!') {
            "days" if self.days.as_ref().is_some_and(|days| !days.has_year()) => Some("year"),
            "days" if self.days.as_ref().is_some_and(|days| days.period(None).is_none()) => Some("days"),
            "days" => (self.days.is_none() && slot.ends_with('!')).then_some("days"),
            "text" => self.given.last().is_none_or(String::is_empty).then_some("text"),
            name => (slot.ends_with('!') && self.slot(name).is_empty()).then_some(name),
        })
    }
}

impl Request {
    /// A text as it stands; `in_chat`: may it be about plans, and about other jobs?
    pub(super) fn read(text: &str, names: &Names<'_>, in_chat: bool) -> Self {
        let tokens = ranges(text, &tokens(text, names));
        let form_of = |token: &Token<'_>| FORMS.iter().find(|form| form[1] == token.name);
        let has_form = tokens.iter().any(|token| form_of(token).is_some());
        let (mut request, mut before, mut end) = (Self::default(), Vec::new(), None);
        for token in tokens {
            let is_left = if let Some(form) = form_of(&token) {
                let twice = form[1] != RUN && request.clauses.iter().any(|one| one.form == form[1]);
                let barred = !in_chat && (form[0] != "tool_operation" || form[1] == "cancel_job");
                if !twice && !barred {
                    let given = token.given.clone();
                    request.clauses.push(Clause { form: form[1], given, ..Clause::default() });
                    before.drain(..).for_each(|slot| request.put(&slot));
                }
                twice || barred
            } else {
                match token.name {
                    "left" => true,
                    "again" => has_form,
                    "from" | "to" => token.words.starts_with(char::is_alphanumeric),
                    "and" => false,
                    _ if !has_form => {
                        request.words.push(token.words.to_owned());
                        !request.slots.put(&token)
                    }
                    // It may stand before its form.
                    name if request.clauses.last().is_none_or(|last| {
                        matches!(name, "latest" | "jobs") && last.takes(name).is_none()
                    }) =>
                    {
                        before.push(token.clone());
                        false
                    }
                    _ => {
                        request.put(&token);
                        false
                    }
                }
            };
            // Words that stand together are named together.
            let gap = end.map(|end: usize| &text[end..token.at]).filter(|gap| gap.trim().is_empty());
            match (is_left, gap, request.left.last_mut()) {
                (true, Some(gap), Some(last)) => *last = format!("{last}{gap}{}", token.words),
                (true, _, _) => request.left.push(token.words.to_owned()),
                _ => {}
            }
            end = is_left.then(|| token.at + token.words.len());
        }
        request.left.extend(before.iter().map(|slot| slot.words.to_owned()));
        request.share();
        request
    }

    fn put(&mut self, token: &Token<'_>) {
        let Some(last) = self.clauses.last() else { return };
        if last.ends_with(token.name) {
            let mut next = Clause { form: RUN, ..Clause::default() };
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
            let near: Vec<Clause> =
                self.clauses[..at].iter().rev().chain(&self.clauses[at + 1..]).cloned().collect();
            let own = &mut self.clauses[at];
            for other in near.iter().filter(|other| own.form == RUN && other.form == RUN) {
                for name in ["who", "symbols", "cash"] {
                    if own.slot(name).is_empty() && !other.slot(name).is_empty() {
                        own.slots.insert(name, other.slot(name).to_vec());
                    }
                }
                own.days =
                    own.days.as_ref().or(other.days.as_ref()).map(|days| days.with_year_of(&other.days));
            }
            let named = near.iter().find(|other| OF_PLAN.contains(&other.form) && !other.given.is_empty());
            if let Some(named) = named.filter(|_| OF_PLAN.contains(&own.form) && own.given.is_empty()) {
                own.given.clone_from(&named.given);
            }
        }
    }

    /// Is nothing said but courtesies?
    pub(super) fn is_empty(&self) -> bool {
        self.clauses.is_empty() && self.words.is_empty() && self.left.is_empty()
    }

    /// What it lacks to be done, without repeats.
    pub(super) fn missing(&self) -> Vec<&'static str> {
        let mut missing: Vec<&str> = self.clauses.iter().flat_map(Clause::missing).collect();
        missing.extend(self.clauses.is_empty().then_some("request"));
        missing.dedup();
        missing
    }

    /// This request after an earlier one. Where it has no form it is the earlier one with one slot replaced, and
    /// with what was missing.
    pub(super) fn after(mut self, earlier: Option<&Self>) -> Self {
        let Some(earlier) = earlier.filter(|_| self.clauses.is_empty() && !self.words.is_empty()) else {
            return self;
        };
        let mut next = earlier.clone();
        let has_run = next.clauses.iter().any(|one| one.form == RUN);
        let (mut taken, mut replaced) = (Vec::new(), Vec::new());
        for clause in next.clauses.iter_mut().filter(|one| !has_run || one.form == RUN) {
            for (name, values) in &self.slots.slots {
                if clause.takes(name).is_none() {
                    continue;
                }
                let old = clause.slots.insert(name, values.clone());
                taken.push(*name);
                replaced.extend(old.map(|_| *name));
            }
            if let Some(days) = self.slots.days.as_ref().filter(|_| clause.takes("days").is_some()) {
                let filled = clause.days.as_ref().and_then(|own| own.in_year(days));
                replaced.extend((filled.is_none() && clause.days.is_some()).then_some("days"));
                clause.days = filled.or_else(|| Some(days.with_year_of(&clause.days)));
                taken.push("days");
            }
        }
        replaced.sort_unstable();
        replaced.dedup();
        let is_taken = |name: &&str| taken.contains(name);
        let all = self.slots.slots.keys().all(is_taken) && self.slots.days.iter().all(|_| is_taken(&"days"));
        if !all || replaced.len() > 1 {
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
