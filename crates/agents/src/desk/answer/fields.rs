//! An answer's parts, found in whatever form it came, and put into the form that is read again.

use super::json::{self, Members};
use super::label::{self, Key, Weight};
use super::phrase::Term;
use super::statement::{self, Said};
use super::{Action, Rating, Unparseable, number};
use crate::config::Language;
use papertape_core::message::ResponseSchema;
use papertape_core::money::Price;
use rust_decimal::Decimal;
use serde_json::{Value, json};

/// The parts of one answer.
#[derive(Debug)]
pub(super) struct Fields {
    opinion: Key,
    /// What is said about the opinion, with how much it counts.
    said: Vec<(Weight, String)>,
    /// Opinions stated in prose.
    stated: Vec<(Weight, Term)>,
    /// The other parts; the first of a key counts.
    values: Vec<(Key, Value)>,
    /// The whole text, where it is no JSON.
    prose: Option<String>,
}

impl Fields {
    /// Finds the parts of the answer whose opinion has this key.
    pub(super) fn read(text: &str, opinion: Key) -> Result<Self, Unparseable> {
        let text = clean(text);
        let bare = json::without_fence(&text);
        if bare.is_empty() {
            return Err(Unparseable::new("the answer is empty"));
        }
        let mut fields =
            Self { opinion, said: Vec::new(), stated: Vec::new(), values: Vec::new(), prose: None };
        if bare.starts_with('{') {
            match json::whole(bare) {
                Ok(members) => {
                    fields.take(members)?;
                    return fields.with_opinion();
                }
                Err(error) if bare.ends_with('}') || json::inside(bare, true).is_empty() => {
                    return Err(Unparseable::new(format!("the JSON cannot be read: {error}")));
                }
                Err(_) => {}
            }
        }
        fields.take_labels(&text);
        let labelled = !fields.said.is_empty();
        for members in json::inside(&text, labelled) {
            fields.take(members)?;
        }
        if fields.said.is_empty() {
            fields.stated = statement::all(&text);
        }
        fields.prose = Some(text);
        fields.with_opinion()
    }

    fn with_opinion(self) -> Result<Self, Unparseable> {
        if self.said.is_empty() && self.stated.is_empty() {
            return Err(Unparseable::new(format!("the answer states no {}", self.opinion.name())));
        }
        Ok(self)
    }

    /// Takes an object's members. One that holds no opinion is passed over; an answer may be wrapped in
    /// another object.
    fn take(&mut self, Members(members): Members) -> Result<(), Unparseable> {
        let meaning = |name: &str| label::meaning(name, self.opinion);
        let holds = |(name, _): &(String, Value)| meaning(name).is_some_and(|(key, _)| key == self.opinion);
        if !members.iter().any(holds) {
            for (_, value) in &members {
                if let Value::Object(inner) = value {
                    let inner: Vec<(String, Value)> =
                        inner.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
                    if inner.iter().any(holds) {
                        return self.take(Members(inner));
                    }
                }
            }
            return Ok(());
        }
        let mut taken = Vec::new();
        for (name, value) in members {
            match meaning(&name) {
                Some((key, weight)) if key == self.opinion => {
                    let Value::String(text) = value else {
                        return Err(Unparseable::new(format!("`{name}` must be a text, not {value}")));
                    };
                    self.said.push((weight, text));
                }
                Some((key, _)) => taken.push((key, value)),
                None => {}
            }
        }
        self.values.extend(taken);
        Ok(())
    }

    /// Takes labelled lines, sections and table rows.
    fn take_labels(&mut self, text: &str) {
        let lines: Vec<&str> = text.lines().collect();
        let mut open: Option<(Key, Weight, Vec<String>)> = None;
        let mut at = 0;
        while at < lines.len() {
            let line = lines[at];
            if let Some(taken) = self.take_row(&lines[at..]) {
                self.put(open.take());
                at += taken;
                continue;
            }
            match label::line(line, self.opinion) {
                Some(found) => {
                    self.put(open.take());
                    open = Some((found.key, found.weight, vec![found.value.to_owned()]));
                }
                None => {
                    if let Some((_, _, value)) = &mut open {
                        let line = line
                            .strip_prefix('\\')
                            .filter(|_| is_structural(line, self.opinion))
                            .unwrap_or(line);
                        value.push(line.to_owned());
                    }
                }
            }
            at += 1;
        }
        self.put(open);
    }

    fn put(&mut self, open: Option<(Key, Weight, Vec<String>)>) {
        let Some((key, weight, lines)) = open else { return };
        let value = lines.join("\n").trim().to_owned();
        if key == self.opinion {
            if !value.is_empty() {
                self.said.push((weight, value));
            }
        } else {
            self.values.push((key, Value::String(value)));
        }
    }

    /// Takes a table's row of label and value, or its head of labels with the row of values under it;
    /// gives how many lines that is.
    fn take_row(&mut self, lines: &[&str]) -> Option<usize> {
        let cells = label::cells(lines.first()?)?;
        let named: Vec<Option<(Key, Weight)>> =
            cells.iter().map(|cell| label::meaning(cell, self.opinion)).collect();
        if named.iter().flatten().count() >= 2 && lines.get(1).is_some_and(|line| label::is_rule(line)) {
            let values = lines.get(2).and_then(|line| label::cells(line)).unwrap_or_default();
            for (named, value) in named.into_iter().zip(values) {
                if let Some((key, weight)) = named {
                    self.put(Some((key, weight, vec![value.to_owned()])));
                }
            }
            return Some(3.min(lines.len()));
        }
        let (key, weight) = (*named.first()?)?;
        let value = *cells.get(1)?;
        self.put(Some((key, weight, vec![value.to_owned()])));
        Some(1)
    }

    /// The opinion as a rating.
    pub(super) fn rating(&self) -> Result<Rating, Unparseable> {
        self.resolve(|term| Some(term.rating), &Rating::ALL.map(Rating::as_str))
    }

    /// The opinion as an action.
    pub(super) fn action(&self) -> Result<Action, Unparseable> {
        self.resolve(|term| term.action, &Action::ALL.map(Action::as_str))
    }

    /// What counts most decides; where that contradicts itself, or is unclear, nothing does.
    fn resolve<T: Copy + PartialEq + std::fmt::Debug>(
        &self,
        read: impl Fn(Term) -> Option<T>,
        allowed: &[&str],
    ) -> Result<T, Unparseable> {
        let name = self.opinion.name();
        let mut wrong = None;
        for weight in [Weight::Final, Weight::Own, Weight::Other] {
            let mut opinions: Vec<T> = Vec::new();
            let said = self.said.iter().filter(|(of, _)| *of == weight);
            let said = said.map(|(_, value)| (shorten(value), read_value(value)));
            let stated = self.stated.iter().filter(|(of, _)| *of == weight);
            for (shown, said) in
                said.chain(stated.map(|(_, term)| (term.rating.to_string(), Said::One(*term))))
            {
                match said {
                    Said::Unclear(why) => return Err(Unparseable::new(format!("{name} `{shown}` {why}"))),
                    Said::Nothing => {
                        wrong.get_or_insert(shown);
                    }
                    Said::One(term) => match read(term) {
                        Some(opinion) if opinions.contains(&opinion) => {}
                        Some(opinion) => opinions.push(opinion),
                        None => {
                            wrong.get_or_insert(shown);
                        }
                    },
                }
            }
            match opinions.as_slice() {
                [] => {}
                [only] => return Ok(*only),
                several => {
                    let text = format!("the answer contradicts itself: {name} is {several:?}");
                    return Err(Unparseable::new(text));
                }
            }
        }
        let shown = wrong.unwrap_or_default();
        Err(Unparseable::new(format!("{name} `{shown}` is none of {}", allowed.join(", "))))
    }

    fn value(&self, key: Key) -> Option<&Value> {
        self.values.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// A text that has to be there. Prose that does not label it is it.
    pub(super) fn main_text(&self, key: Key) -> Result<String, Unparseable> {
        match (self.value(key), &self.prose) {
            (None, Some(prose)) => Ok(prose.clone()),
            _ => self.other_text(key),
        }
    }

    /// A text that has to be there in JSON, and may be absent in prose.
    pub(super) fn other_text(&self, key: Key) -> Result<String, Unparseable> {
        match (self.value(key), &self.prose) {
            (Some(Value::String(text)), _) => Ok(text.trim().to_owned()),
            // Steps as a list are as good as a text.
            (Some(Value::Array(items)), _) if items.iter().all(Value::is_string) => Ok(items
                .iter()
                .filter_map(Value::as_str)
                .map(|item| format!("- {item}"))
                .collect::<Vec<_>>()
                .join("\n")),
            (Some(other), None) => {
                Err(Unparseable::new(format!("`{}` must be a text, not {other}", key.name())))
            }
            (None, None) => Err(Unparseable::new(format!("`{}` is missing", key.name()))),
            (_, Some(_)) => Ok(String::new()),
        }
    }

    /// A text that may be absent. A number is taken as it is written.
    pub(super) fn optional_text(&self, key: Key) -> Result<Option<String>, Unparseable> {
        match self.value(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if number::is_none(text) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.trim().to_owned())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(other) => Err(Unparseable::new(format!("`{}` must be a text, not {other}", key.name()))),
        }
    }

    /// A price above zero, which may be absent.
    pub(super) fn price(&self, key: Key) -> Result<Option<Price>, Unparseable> {
        self.positive(key, |figure| figure.percent.then_some("a percentage, not a price"))
            .map(|value| value.map(Price))
    }

    /// A factor above zero, which may be absent: `2`, `2x`, `2倍`.
    pub(super) fn factor(&self, key: Key) -> Result<Option<Decimal>, Unparseable> {
        self.positive(key, |figure| figure.percent.then_some("a percentage, not a factor"))
    }

    fn positive(
        &self,
        key: Key,
        wrong: impl Fn(&number::Figure) -> Option<&'static str>,
    ) -> Result<Option<Decimal>, Unparseable> {
        let name = key.name();
        let text = match self.value(key) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) if number::is_none(text) => return Ok(None),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            Some(other) => return Err(Unparseable::new(format!("`{name}` must be a number, not {other}"))),
        };
        let figure = number::figure(text.lines().next().unwrap_or_default())
            .map_err(|error| Unparseable::new(format!("`{name}`: {error}")))?;
        if let Some(wrong) = wrong(&figure) {
            return Err(Unparseable::new(format!("`{name}`: `{}` is {wrong}", shorten(&text))));
        }
        if figure.value <= Decimal::ZERO {
            return Err(Unparseable::new(format!("`{name}` must be above zero, not {}", figure.value)));
        }
        Ok(Some(figure.value))
    }
}

/// Reads the value of an opinion: its first line, or what the rest states.
fn read_value(text: &str) -> Said {
    match statement::value(text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()) {
        Said::Nothing => {}
        said => return said,
    }
    let mut terms: Vec<Term> = Vec::new();
    for (_, term) in statement::all(text) {
        if !terms.contains(&term) {
            terms.push(term);
        }
    }
    match terms.as_slice() {
        [] => Said::Nothing,
        [only] => Said::One(*only),
        _ => Said::Unclear("names several"),
    }
}

fn shorten(text: &str) -> String {
    text.trim().chars().take(60).collect()
}

/// Line ends of one kind, no space around.
fn clean(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").trim().to_owned()
}

/// Would the line, without backslashes before it, be read as more than a part of a text?
fn is_structural(line: &str, opinion: Key) -> bool {
    let line = line.trim_start_matches('\\');
    let cell = |cell: &str| label::meaning(cell, opinion).is_some();
    label::line(line, opinion).is_some()
        || line.trim_start().starts_with(['{', '`'])
        || label::cells(line).is_some_and(|cells| cells.iter().copied().any(cell))
}

/// Puts an answer into text.
#[derive(Debug)]
pub(super) struct Renderer {
    language: Language,
    text: String,
    opinion: Option<Key>,
}

impl Renderer {
    pub(super) fn new(language: Language) -> Self {
        Self { language, text: String::new(), opinion: None }
    }

    /// The answer's opinion: its first line.
    pub(super) fn value(&mut self, key: Key, value: &str) {
        self.opinion.get_or_insert(key);
        self.line(key, value);
    }

    /// A text. A line of it that would be read as a label gets a backslash before it.
    pub(super) fn text(&mut self, key: Key, text: &str) {
        let text = clean(text);
        let opinion = self.opinion.unwrap_or(key);
        let mut lines = text.split('\n');
        let mut whole = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            whole.push('\n');
            if is_structural(line, opinion) {
                whole.push('\\');
            }
            whole.push_str(line);
        }
        self.line(key, &whole);
    }

    pub(super) fn optional(&mut self, key: Key, text: Option<&str>) {
        if let Some(text) = text {
            self.text(key, text);
        }
    }

    pub(super) fn price(&mut self, key: Key, price: Option<Price>) {
        self.number(key, price.map(|price| price.0));
    }

    pub(super) fn number(&mut self, key: Key, number: Option<Decimal>) {
        if let Some(number) = number {
            self.line(key, &number.normalize().to_string());
        }
    }

    /// The Trader's last line.
    pub(super) fn proposal(&mut self, action: Action) {
        let action = action.as_str().to_uppercase();
        self.text.push_str(&match self.language {
            Language::En => format!("FINAL TRANSACTION PROPOSAL: **{action}**\n"),
            Language::Zh => format!("最终交易建议：**{action}**\n"),
        });
    }

    fn line(&mut self, key: Key, value: &str) {
        let (label, colon) = match self.language {
            Language::En => (key.label(self.language), ": "),
            Language::Zh => (key.label(self.language), "："),
        };
        self.text.push_str(&format!("**{label}**{colon}{value}\n\n"));
    }

    pub(super) fn finish(self) -> String {
        self.text.trim_end().to_owned()
    }
}

/// A schema of an object with these properties, all of them required, and no others.
pub(super) fn properties(name: &str, properties: &[(&str, Value)]) -> ResponseSchema {
    let names: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
    let properties: serde_json::Map<String, Value> =
        properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": false,
    });
    ResponseSchema { name: name.to_owned(), schema }
}

pub(super) fn rating_schema(description: &str) -> Value {
    json!({ "type": "string", "enum": Rating::ALL.map(Rating::as_str), "description": description })
}

pub(super) fn action_schema(description: &str) -> Value {
    json!({ "type": "string", "enum": Action::ALL.map(Action::as_str), "description": description })
}

pub(super) fn text_schema(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

pub(super) fn text_or_null(description: &str) -> Value {
    json!({ "type": ["string", "null"], "description": description })
}

pub(super) fn price_schema(description: &str) -> Value {
    number_schema(description)
}

pub(super) fn number_schema(description: &str) -> Value {
    json!({ "type": ["number", "null"], "description": description })
}
