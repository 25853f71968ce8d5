//! A message as requests: each a form with its slots. What fits into none is left over.

use super::days::Days;
use super::tokens::{Form, Name, Slots, Token, form, tokens};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The form of a backtest.
pub(super) const RUN: &str = "run_simulation";
/// The form of a message that names none: it changes the one before it.
const FOLLOW_UP: &str = "follow_up";
/// Stands before the model of a desk.
const DESK: &str = "desk:";

/// A form with its slots.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) form: &'static Form,
    slots: Slots,
    /// The slot that was said last.
    last: &'static str,
}

/// What was read of a message.
#[derive(Clone, Debug, Default)]
pub(super) struct ParsedMessage {
    pub(super) requests: Vec<Request>,
    /// What was not understood, in the message's words.
    pub(super) left: Vec<String>,
}

impl Request {
    pub(super) fn of(form: &'static Form) -> Self {
        Self { form, slots: Slots::new(), last: "" }
    }

    fn takes(&self, slot: &str) -> bool {
        self.form.slots.split(' ').any(|one| one.trim_end_matches(['!', '~']) == slot)
    }

    pub(super) fn days(&self) -> Option<Days> {
        let year = self.slots.get("year").and_then(|year| year[0].parse().ok());
        Some(Days::read(self.slots.get("days")?)?.in_year(year))
    }

    /// Takes a slot; `false`: it has no place here, or was said before.
    fn put(&mut self, slot: &'static str, values: &[String]) -> bool {
        let is_valid = slot != "days" || Days::read(values).is_some();
        let is_next = self.last == slot && matches!(slot, "who" | "symbols" | "jobs");
        let fits = is_valid && self.takes(slot) && (is_next || !self.slots.contains_key(slot));
        if fits {
            self.last = slot;
            let said = self.slots.entry(slot).or_default();
            said.extend_from_slice(values);
            said.dedup();
        }
        fits
    }

    /// Takes a slot of a follow-up: had it a value? `None`: it has no place. A year completes days without one.
    fn replace(&mut self, slot: &'static str, values: &[String]) -> Option<bool> {
        let is_open = slot == "days" && self.days().is_some_and(|days| days.from.year.is_none());
        let year = values.first().map_or("", |year| year.trim_end_matches([' ', '年']));
        if is_open && year.parse::<i16>().is_ok() {
            self.slots.insert("year", vec![year.to_owned()]);
            return Some(false);
        }
        let before = self.slots.remove(slot);
        self.put(slot, values).then_some(before.is_some())
    }

    /// What is known of it: for the texts that repeat it, and for its action's parameters.
    pub(super) fn facts(&self) -> Value {
        let mut facts = json!(self.slots);
        facts["form"] = self.form.name.into();
        let who = self.slots.get("who").map_or(&[][..], Vec::as_slice);
        let short = |model: &str| format!("{}-desk", model.rsplit("::").next().unwrap_or(model));
        let desk = |model| json!({ "name": short(model), "kind": "desk", "model": model });
        facts["agents"] = who.iter().filter_map(|who| who.strip_prefix(DESK)).map(desk).collect();
        facts["models"] = who.iter().filter(|who| !who.starts_with(DESK)).cloned().collect();
        if let Some((first, last)) = self.days().and_then(|days| days.period()) {
            (facts["start_date"], facts["end_date"]) = (first.to_string().into(), last.to_string().into());
        }
        let cash = self.slots.get("cash").and_then(|cash| cash[0].replace(',', "").parse::<u64>().ok());
        facts["initial_cash"] = json!(cash);
        facts
    }
}

impl ParsedMessage {
    /// A message after an earlier one that it may change; `in_chat`: may it be about plans, and stop jobs?
    pub(super) fn read(text: &str, names: &[Name<'_>], in_chat: bool, earlier: Option<&Self>) -> Self {
        let is_allowed = |form: &Form| in_chat || form.kind == "tool_operation" && form.name != "cancel_job";
        let (mut read, mut before) = (Self::default(), Vec::new());
        for token in tokens(text, names) {
            let takes = |last: &Request| token.slots.keys().all(|slot| last.takes(slot));
            match form(token.name) {
                Some(form) if is_allowed(form) && !read.has(form.name) => {
                    read.requests.push(Request { slots: token.slots, ..Request::of(form) });
                    before.drain(..).for_each(|slot| read.put(&slot));
                }
                None if token.name != "left" && read.requests.last().is_some_and(takes) => read.put(&token),
                // It may stand before its form.
                None if token.name != "left" => before.push(token),
                _ => read.left.push(token.words.to_owned()),
            }
        }
        // Slots alone change the message before; courtesies alone are answered with help.
        if read.requests.is_empty() && (read.left.is_empty() || !before.is_empty()) {
            let implied = if before.is_empty() { "help" } else { FOLLOW_UP };
            read.requests.extend(form(implied).map(Request::of));
        }
        before.iter().for_each(|slot| read.put(slot));
        read.after(earlier, text)
    }

    fn put(&mut self, token: &Token<'_>) {
        let Some(last) = self.requests.last_mut() else { return };
        if !token.slots.iter().all(|(slot, values)| last.put(slot, values)) {
            self.left.push(token.words.to_owned());
        }
    }

    /// A follow-up is the earlier message with one slot replaced, and with what was missing there.
    fn after(self, earlier: Option<&Self>, text: &str) -> Self {
        let form = self.requests.first().map(|one| one.form.name);
        let (Some(earlier), Some(FOLLOW_UP)) = (earlier, form) else { return self };
        let (mut next, mut replaced) = (Self { left: self.left, ..earlier.clone() }, 0);
        for (slot, values) in self.requests[0].slots.iter().filter(|(slot, _)| **slot != "again") {
            let taker = next.requests.iter_mut().find(|one| one.takes(slot));
            replaced += taker.and_then(|one| one.replace(slot, values)).map_or(2, usize::from);
        }
        next.left.extend((replaced > 1).then(|| text.trim().to_owned()));
        next
    }

    pub(super) fn has(&self, form: &str) -> bool {
        self.requests.iter().any(|one| one.form.name == form)
    }

    /// What is not said and matters.
    pub(super) fn missing(&self) -> BTreeSet<&'static str> {
        let slots =
            self.requests.iter().flat_map(|one| one.form.slots.split(' ').map(move |slot| (one, slot)));
        let missing = slots.filter_map(|(one, slot)| match (slot.trim_end_matches('!'), one.days()) {
            ("days", Some(days)) if days.from.year.is_none() => Some("year"),
            ("days", Some(days)) => days.period().is_none().then_some("days"),
            (name, _) => (slot.ends_with('!') && !one.slots.contains_key(name)).then_some(name),
        });
        missing.collect()
    }

    /// Can it be done as it stands?
    pub(super) fn is_whole(&self) -> bool {
        self.left.is_empty() && self.missing().is_empty()
    }
}
