//! Recomputes the sessions' hash chains from the tape, and compares their rows with the books.

use super::super::document::{DayLine, LinkLine, SessionLine, TapeForm, TapeLine, TextLine};
use crate::view::is_full_research;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::json;
use papertape_core::record::chain::{anchor, detached_anchor, follow};
use papertape_core::record::{DerivedRow, JobHead, JobRecord, OrderRow, PositionRow};
use papertape_core::tape::linked_documents;
use papertape_core::time::Date;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The books of a day, for comparison with the rows of its session.
#[derive(Debug)]
pub(super) struct DayRows {
    pub(super) day: DayLine,
    pub(super) positions: Vec<PositionRow>,
    pub(super) orders: Vec<OrderRow>,
}

/// A walk over a job's tape.
#[derive(Debug)]
pub(super) struct Tape<'a> {
    job: &'a JobId,
    form: TapeForm,
    record: &'a JobRecord,
    days: &'a BTreeMap<(AgentName, Date), DayRows>,
    /// A session that was open when a head was published, with the link that it had reached.
    published: BTreeMap<(AgentName, Date), (u64, ContentHash)>,
    current: Option<Session>,
    seen: BTreeSet<(AgentName, Date)>,
    /// The texts that are referenced.
    pub(super) texts: BTreeSet<ContentHash>,
    /// Links whose hash is stated.
    pub(super) stated: u64,
    /// All links.
    pub(super) links: u64,
}

#[derive(Debug)]
struct Session {
    line: SessionLine,
    heads: [ContentHash; 2],
    links: [u64; 2],
    rows: Vec<DerivedRow>,
    has_close: bool,
}

impl<'a> Tape<'a> {
    pub(super) fn new(
        (job, form): (&'a JobId, TapeForm),
        record: &'a JobRecord,
        days: &'a BTreeMap<(AgentName, Date), DayRows>,
        published: Option<&JobHead>,
    ) -> Self {
        let agents = published.into_iter().flat_map(|head| &head.agents);
        let open = agents.filter_map(|(agent, head)| Some((agent, head.open.as_ref()?)));
        Self {
            job,
            form,
            record,
            days,
            published: open
                .map(|(agent, open)| ((agent.clone(), open.date), (open.length, open.head)))
                .collect(),
            current: None,
            seen: BTreeSet::new(),
            texts: BTreeSet::new(),
            stated: 0,
            links: 0,
        }
    }

    pub(super) fn line(&mut self, line: TapeLine) -> Result<(), String> {
        match line {
            TapeLine::Session(session) => {
                self.end_session()?;
                let key = (session.agent.clone(), session.date);
                let heads = [anchor(self.job, &key.0, key.1), detached_anchor(self.job, &key.0, key.1)];
                self.check_published(&key, 0, heads[0])?;
                if !self.seen.insert(key) {
                    return Err(format!(
                        "the session of {} on {} is there twice",
                        session.agent, session.date
                    ));
                }
                self.current =
                    Some(Session { line: session, heads, links: [0; 2], rows: Vec::new(), has_close: false });
                Ok(())
            }
            TapeLine::Link(link) => self.link(&link),
        }
    }

    fn link(&mut self, link: &LinkLine) -> Result<(), String> {
        let Some(session) = &mut self.current else { return Err("it belongs to no session".to_owned()) };
        let chain = usize::from(link.summary);
        let (date, agent) = (session.line.date, session.line.agent.clone());
        let at = |why: &str| format!("{agent} on {date}: {why}");
        let head = match (link.hash, self.form) {
            (Some(hash), TapeForm::Redacted) if link.link.is_null() => {
                self.stated += 1;
                hash
            }
            (None, _) if !link.link.is_null() => follow(session.heads[chain], &link.link),
            _ => return Err(at("a link is neither whole nor redacted")),
        };
        session.heads[chain] = head;
        session.links[chain] += 1;
        self.links += 1;
        self.texts.extend(texts_of(&link.link));
        let implied = link.link.get("implied_hash");
        match &link.rows {
            Some(rows) => {
                if implied.and_then(Value::as_str) != Some(json::hash(rows).to_hex().as_str()) {
                    return Err(at("the rows of a step are not those of its link"));
                }
                let rows: Vec<DerivedRow> =
                    serde_json::from_value(rows.clone()).map_err(|error| at(&error.to_string()))?;
                self.texts.extend(rows.iter().filter_map(|row| match row {
                    DerivedRow::Message(message) => Some(message.content),
                    _ => None,
                }));
                session.rows.extend(rows);
            }
            None if implied.is_some() && self.form == TapeForm::Full => {
                return Err(at("the rows of a step are missing"));
            }
            None => {}
        }
        if link.link.get("close").is_some() && !link.summary {
            session.has_close = true;
            if let Some(found) = self.days.get(&(agent.clone(), date)) {
                close(&link.link, &found.day).map_err(|why| at(&why))?;
            }
        }
        let number = session.links[chain];
        if !link.summary {
            self.check_published(&(agent, date), number, head)?;
        }
        Ok(())
    }

    fn check_published(&self, key: &(AgentName, Date), number: u64, head: ContentHash) -> Result<(), String> {
        match self.published.get(key) {
            Some((length, published)) if *length == number && *published != head => {
                Err(format!("the session of {} on {} does not continue the published head", key.0, key.1))
            }
            _ => Ok(()),
        }
    }

    /// Ends the walk.
    pub(super) fn end(&mut self) -> Result<(), String> {
        self.end_session()?;
        let sessions = self.record.sessions.iter();
        let all = sessions.flat_map(|(agent, days)| days.keys().map(move |date| (agent.clone(), *date)));
        match all.collect::<BTreeSet<_>>().symmetric_difference(&self.seen).next() {
            Some((agent, date)) => {
                Err(format!("the session of {agent} on {date} is missing or not expected"))
            }
            None => Ok(()),
        }
    }

    fn end_session(&mut self) -> Result<(), String> {
        let Some(session) = self.current.take() else { return Ok(()) };
        let SessionLine { agent, date, .. } = &session.line;
        let at = |why: &str| format!("{agent} on {date}: {why}");
        let recorded = self.record.sessions.get(agent).and_then(|days| days.get(date));
        let recorded = recorded.ok_or_else(|| at("the session is not in heads.json"))?;
        let is_head = session.heads[0] == session.line.head && session.links[0] == session.line.links;
        let is_recorded =
            recorded.head == session.line.head && u64::try_from(recorded.length) == Ok(session.line.links);
        if !is_head || !is_recorded {
            return Err(at("its chain is not the one in heads.json"));
        }
        let summaries = (session.links[1] > 0).then_some(session.heads[1]);
        if session.links[1] != session.line.summaries_links
            || (summaries.is_some() && session.line.summaries_head != summaries)
        {
            return Err(at("the chain of its summaries was modified"));
        }
        if self.form == TapeForm::Full && recorded.is_closed != session.has_close {
            return Err(at("its close is missing"));
        }
        match self.days.get(&(agent.clone(), *date)) {
            Some(found) if found.day.job == *self.job => {
                rows(&session.rows, found, self.form).map_err(|why| at(&why))
            }
            _ => Ok(()),
        }
    }
}

/// The texts that a link references.
fn texts_of(link: &Value) -> Vec<ContentHash> {
    let fields = ["request_ref", "outcome_ref", "text"].map(|name| link.get(name));
    // The text of a summary is in the link itself.
    let is_summary = link.get("summary").is_some();
    let hashes = fields.into_iter().flatten().filter(|_| !is_summary).filter_map(Value::as_str);
    hashes.filter_map(ContentHash::from_hex).collect()
}

/// Compares a close with the day of the ledger.
fn close(link: &Value, day: &DayLine) -> Result<(), String> {
    let same = |name: &str, value: Value| -> Result<(), String> {
        match link.get(name) == Some(&value) {
            true => Ok(()),
            false => Err(format!("`{name}` of its close differs from the ledger")),
        }
    };
    same("close", json::to_value(&day.status))?;
    same("cash", json::to_value(&day.cash))?;
    same("portfolio_value", json::to_value(&day.portfolio_value))?;
    same("holdings", json::to_value(&day.holdings))?;
    same("starting", json::to_value(&day.starting))?;
    let metadata = link.get("metadata").cloned().unwrap_or_default();
    if (metadata["point_in_time"] == "verified") != day.point_in_time {
        return Err("whether it is point-in-time differs from the ledger".to_owned());
    }
    if is_full_research(Some(&metadata.to_string())) != day.full_research {
        return Err("the quality of its research differs from the ledger".to_owned());
    }
    Ok(())
}

/// Compares the rows of a session with the ledger. The redacted form has those of the steps of the books only.
fn rows(found: &[DerivedRow], expected: &DayRows, form: TapeForm) -> Result<(), String> {
    let (mut positions, mut orders, mut snapshots) = (Vec::new(), Vec::new(), Vec::new());
    for row in found {
        match row {
            DerivedRow::Position(row) => positions.push(text(row)),
            DerivedRow::Order(row) => orders.push(text(row)),
            DerivedRow::Snapshot(row) => snapshots.push(text(row)),
            _ => {}
        }
    }
    let texts = |rows: &[PositionRow]| rows.iter().map(text).collect::<Vec<_>>();
    compare("an action", positions, texts(&expected.positions), form)?;
    compare("an order", orders, expected.orders.iter().map(text).collect(), form)?;
    compare("a snapshot", snapshots, expected.day.snapshots.iter().map(text).collect(), TapeForm::Full)
}

fn text(row: &impl Serialize) -> String {
    json::canonical(&json::to_value(row))
}

fn compare(
    what: &str,
    mut found: Vec<String>,
    mut expected: Vec<String>,
    form: TapeForm,
) -> Result<(), String> {
    found.sort_unstable();
    expected.sort_unstable();
    let is_same = match form {
        TapeForm::Full => found == expected,
        TapeForm::None | TapeForm::Redacted => found.iter().all(|row| expected.binary_search(row).is_ok()),
    };
    if is_same { Ok(()) } else { Err(format!("{what} on the tape differs from the ledger")) }
}

/// Checks the texts against their hashes, and that they are those that the tape references.
#[derive(Debug, Default)]
pub(super) struct Texts {
    present: BTreeSet<ContentHash>,
    linked: BTreeSet<ContentHash>,
}

impl Texts {
    pub(super) fn line(&mut self, line: &TextLine) -> Result<(), String> {
        if ContentHash::of(line.text.as_bytes()) != line.hash {
            return Err(format!("the text {} was modified", line.hash));
        }
        if !self.present.insert(line.hash) {
            return Err(format!("the text {} is there twice", line.hash));
        }
        if let Some(Ok(document)) = line.text.strip_prefix("json\n").map(serde_json::from_str::<Value>) {
            self.linked.extend(linked_documents(&document));
        }
        Ok(())
    }

    pub(super) fn end(mut self, referenced: &BTreeSet<ContentHash>) -> Result<(), String> {
        self.linked.extend(referenced);
        match self.linked.symmetric_difference(&self.present).next() {
            Some(hash) if self.present.contains(hash) => Err(format!("nothing references the text {hash}")),
            Some(hash) => Err(format!("the text {hash} is missing")),
            None => Ok(()),
        }
    }
}
