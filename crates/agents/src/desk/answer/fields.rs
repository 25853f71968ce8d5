//! The parts of an answer, in whatever format it came.

use super::json::{self, Json, JsonFields};
use super::label::{self, FieldKey};
use super::opinion::Opinions;
use super::text::{clean, shorten};
use super::{Action, Rating, Unparseable, number};
use papertape_core::fence::is_blank;
use papertape_core::money::Price;
use rust_decimal::Decimal;

/// The parts of one answer.
#[derive(Debug)]
pub(super) struct Fields {
    opinion: FieldKey,
    opinions: Opinions,
    /// The other parts; the first value of a key counts.
    values: Vec<(FieldKey, Json)>,
    /// The text outside every object.
    prose: String,
    /// What could not be parsed and was left out.
    notes: Vec<String>,
}

/// A labeled text while its lines are being read.
struct Section<'a> {
    key: FieldKey,
    lines: Vec<&'a str>,
}

impl Fields {
    /// Finds the parts of an answer whose opinion has this key.
    pub(super) fn read(text: &str, opinion: FieldKey) -> Result<Self, Unparseable> {
        let text = clean(text);
        let bare = json::without_block(&text);
        if is_blank(bare) {
            return Err(Unparseable::new("the answer is empty"));
        }
        let unreadable = || Unparseable::new("the JSON cannot be parsed");
        if bare.starts_with('{') && json::object(bare).is_none() {
            return Err(unreadable());
        }
        let found = json::find(bare).ok_or_else(unreadable)?;
        let (opinions, values) = (Opinions::default(), Vec::new());
        let mut fields = Self { opinion, opinions, values, prose: String::new(), notes: Vec::new() };
        let mut objects = found.objects.into_iter();
        for text in &found.texts {
            fields.take_labels(text);
            if let Some(members) = objects.next() {
                fields.take(members, begins_answer(text))?;
            }
        }
        if let Some(line) = found.texts.last().and_then(|text| text.lines().rfind(|line| !is_blank(line)))
            && !is_quoted(line)
            && label::line(line, opinion).is_none_or(|found| found.key != opinion)
        {
            fields.opinions.last(line);
        }
        fields.prose = found.texts.join("\n").trim().to_owned();
        if fields.opinions.is_empty() {
            return Err(Unparseable::new(format!("the answer states no {}", opinion.name())));
        }
        Ok(fields)
    }

    /// Takes an object's members, or those of the only object that it wraps. An object without an opinion is
    /// skipped; one in the middle of a sentence (`the format is {…}`) is cited.
    fn take(&mut self, mut members: JsonFields, is_answer: bool) -> Result<(), Unparseable> {
        loop {
            let is_opinion = |name: &str| label::meaning(name, self.opinion) == Some(self.opinion);
            let holds =
                |(name, value): &(String, Json)| is_opinion(name) && !matches!(value, Json::Object(_));
            if members.iter().any(holds) {
                break;
            }
            let wraps = |(name, _): &(String, Json)| members.len() == 1 || is_opinion(name);
            let Some(at) = members.iter().position(wraps) else { return Ok(()) };
            match members.swap_remove(at).1 {
                Json::Object(inner) => members = inner,
                _ => return Ok(()),
            }
        }
        for (name, value) in members {
            match label::meaning(&name, self.opinion) {
                Some(key) if key == self.opinion => match value {
                    Json::Text(text) if is_answer => self.opinions.state(&text),
                    other if !is_answer => self.opinions.cite(&other.to_string()),
                    other => {
                        return Err(Unparseable::new(format!(
                            "`{name}` must be a string, not {}",
                            shorten(&other.to_string())
                        )));
                    }
                },
                Some(key) if is_answer => self.values.push((key, value)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes labeled lines, sections and tables, and records every line that could revise them.
    fn take_labels(&mut self, text: &str) {
        let lines: Vec<&str> = text.lines().collect();
        let mut open: Option<Section<'_>> = None;
        // Whether the paragraph belongs to a label, and whether the label still expects its first line.
        let (mut covered, mut waits) = (false, false);
        let mut at = 0;
        while at < lines.len() {
            let line = lines[at];
            at += 1;
            if is_quoted(line) {
                open.iter_mut().for_each(|section| section.lines.push(line));
                continue;
            }
            if let Some((values, taken)) = label::table(&lines[at - 1..], self.opinion) {
                self.close(open.take());
                for (key, value) in values {
                    self.put(key, value);
                }
                at += taken - 1;
                (covered, waits) = (true, false);
                continue;
            }
            match label::line(line, self.opinion) {
                Some(found) if found.key == self.opinion => {
                    self.close(open.take());
                    let mut value = found.value;
                    if value.is_empty()
                        && let Some(next) = (at..lines.len()).find(|next| !is_blank(lines[*next]))
                        && !begins_part(lines[next], self.opinion)
                    {
                        (value, at) = (lines[next], next + 1);
                    }
                    if !value.is_empty() {
                        self.opinions.state(value);
                    }
                    (covered, waits) = (false, false);
                }
                Some(found) => {
                    self.close(open.take());
                    self.opinions.doubt(found.value);
                    open = Some(Section { key: found.key, lines: vec![found.value] });
                    (covered, waits) = (true, found.value.is_empty());
                }
                None => {
                    if is_blank(line) {
                        covered &= waits;
                    } else {
                        self.opinions.doubt(line);
                        if !covered {
                            self.opinions.plain(line);
                        }
                        waits = false;
                    }
                    if let Some(section) = &mut open {
                        section.lines.push(line.strip_prefix('\\').unwrap_or(line));
                    }
                }
            }
        }
        self.close(open);
    }

    fn close(&mut self, section: Option<Section<'_>>) {
        if let Some(Section { key, lines }) = section {
            self.values.push((key, Json::Text(lines.join("\n").trim().to_owned())));
        }
    }

    fn put(&mut self, key: FieldKey, value: String) {
        if key == self.opinion {
            self.opinions.state(&value);
        } else {
            self.values.push((key, Json::Text(value)));
        }
    }

    /// The opinion as a rating.
    pub(super) fn rating(&self) -> Result<Rating, Unparseable> {
        self.opinions.rating(self.opinion.name(), &Rating::ALL.map(Rating::as_str).join(", "))
    }

    /// The opinion as an action.
    pub(super) fn action(&self) -> Result<Action, Unparseable> {
        let allowed = Action::ALL.map(Action::as_str).join(", ");
        let name = self.opinion.name();
        let rating = self.opinions.rating(name, &allowed)?;
        Action::named(rating)
            .ok_or_else(|| Unparseable::new(format!("{name} `{rating}` is not one of {allowed}")))
    }

    /// What was left out, with the reasons.
    pub(super) fn notes(self) -> Vec<String> {
        self.notes
    }

    fn value(&self, key: FieldKey) -> Option<Json> {
        self.values.iter().find(|(known, _)| *known == key).map(|(_, value)| value.clone())
    }

    fn drop_value(&mut self, key: FieldKey, why: &str) {
        self.notes.push(format!("`{}` was left out: {why}", key.name()));
    }

    /// The text of an answer that labels none.
    pub(super) fn main_text(&mut self, key: FieldKey) -> String {
        if self.value(key).is_none() && !self.prose.is_empty() { self.prose.clone() } else { self.text(key) }
    }

    /// A text; empty when it is missing.
    pub(super) fn text(&mut self, key: FieldKey) -> String {
        let item = |item: &Json| match item {
            Json::Text(text) | Json::Word(text) => Some(format!("- {}", text.trim())),
            _ => None,
        };
        let read = match self.value(key) {
            None | Some(Json::Null) => return String::new(),
            Some(Json::Text(text) | Json::Word(text)) => Some(text.trim().to_owned()),
            // A list of steps is accepted as a text.
            Some(Json::List(items)) => {
                items.iter().map(item).collect::<Option<Vec<_>>>().map(|items| items.join("\n"))
            }
            Some(Json::Object(_)) => None,
        };
        read.unwrap_or_else(|| {
            self.drop_value(key, "it is not a string");
            String::new()
        })
    }

    /// An optional text on one line.
    pub(super) fn optional_text(&mut self, key: FieldKey) -> Option<String> {
        match self.value(key)? {
            Json::Null => None,
            Json::Text(text) | Json::Word(text) => {
                Some(first_line(&text).to_owned()).filter(|text| !number::is_none(text))
            }
            Json::List(_) | Json::Object(_) => {
                self.drop_value(key, "it is not a string");
                None
            }
        }
    }

    /// A size as written, parseable or not: an unparseable size must not look absent.
    pub(super) fn size(&self, key: FieldKey) -> Option<String> {
        match self.value(key)? {
            Json::Null => None,
            other => Some(first_line(&other.to_string()).to_owned()).filter(|text| !number::is_none(text)),
        }
    }

    /// An optional price above zero.
    pub(super) fn price(&mut self, key: FieldKey) -> Option<Price> {
        self.positive(key).map(Price)
    }

    /// An optional number above zero: `2`, `$180.50`, `2x`, `2倍`.
    pub(super) fn positive(&mut self, key: FieldKey) -> Option<Decimal> {
        let read = match self.value(key)? {
            Json::Null => return None,
            Json::Text(text) if number::is_none(&text) => return None,
            Json::Text(text) | Json::Word(text) => number::figure(first_line(&text)),
            Json::List(_) | Json::Object(_) => Err(Unparseable::new("it is not a number")),
        };
        match read {
            Ok(figure) if figure.percent => self.drop_value(key, "it is a percentage"),
            Ok(figure) if figure.value > Decimal::ZERO => return Some(figure.value),
            Ok(figure) => self.drop_value(key, &format!("{} is not above zero", figure.value)),
            Err(why) => self.drop_value(key, &why.reason),
        }
        None
    }
}

/// Whether an object after this text begins its line, ignoring a list's bracket, a code block's mark or a
/// tag.
fn begins_answer(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default().trim();
    line.trim_end_matches(['[', '`', '-', '*', ' ']).is_empty()
        || line.starts_with("```")
        || line.ends_with('>')
}

/// Whether the line is a quotation, whose author is unknown.
fn is_quoted(line: &str) -> bool {
    line.trim_start().starts_with('>')
}

/// Whether a separate part begins here, so that it is not the value of the label above.
fn begins_part(line: &str, opinion: FieldKey) -> bool {
    let bare = line.trim_start();
    is_quoted(line)
        || bare.starts_with(['#', '|'])
        || bare.starts_with("```")
        || label::line(line, opinion).is_some()
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default().trim()
}
