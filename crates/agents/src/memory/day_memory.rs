//! The memory during one day: the events of the pre-phase, the recall for the trader, the events of the
//! session and the bar, and in the post phase the round and the reflections, all of it on the tape.

use super::embedding;
use super::facts::RoundFacts;
use super::lessons::Lesson;
use super::origin::{Origin, RecalledFrom};
use super::prompter::{MemoryPrompter, PromptResult};
use super::recall::{RecallContext, book_lines};
use super::reflect::{self, ReflectionInput};
use super::round_summary::{RoundSummary, SUMMARY_CHARS, cut, one_line};
use super::state::Memory;
use super::trades::{ClosedTrade, TradeEvent, follow_entry};
use crate::config::MemorySettings;
use crate::config::{AgentConfig, AgentKind, LlmKind};
use crate::day_input::DayInput;
use crate::recorded::RecordedReflection;
use papertape_core::broker::{Books, Journal};
use papertape_core::fence::{Author, fence};
use papertape_core::json::to_value;
use papertape_core::ledger::Account;
use papertape_core::market::{Listed, TradingDay};
use papertape_core::message::ModelName;
use papertape_core::money::Money;
use papertape_core::point_in_time::Unverified;
use papertape_core::record::{
    ContextState, DerivedRow, EmbeddingRow, ReflectionRow, RoundMemoryRow, SummarySource,
};
use papertape_core::tape::{Ctx, LocalStep, OutcomeKind, ScopeKey, SessionStop, StepClass};
use papertape_core::time::Timestamp;
use serde_json::{Value, json};

/// Maximum characters of a session's conclusions and of a thesis in a prompt.
const MAX_DECISION_CHARS: usize = 20_000;
const MAX_THESIS_CHARS: usize = 2_000;

/// How the trader's session ended, for its memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraderOutcome {
    /// Whether the trader answered at all.
    pub has_reply: bool,
    /// Whether its answer was a fallback or broke off.
    pub degraded: bool,
    /// Its decision and reasons in its own words: a solo agent's last answer, a desk's conclusions.
    pub decision: String,
}

/// The memory on one day.
pub struct DayMemory<'a> {
    prompter: MemoryPrompter<'a>,
    settings: MemorySettings,
    symbols: &'a Listed,
    day: TradingDay,
    memory: Memory,
    outcome: TraderOutcome,
    /// The origin of what this session writes.
    origin: Origin,
    entries_applied: usize,
    opened: Vec<String>,
    closings: Vec<ClosedTrade>,
    /// Context rows that wait for the next step.
    rows: Vec<DerivedRow>,
    had_loss: bool,
    embedding: Option<&'a ModelName>,
    /// Embeddings computed today for reflections of this job.
    vectors: Vec<EmbeddingRow>,
    /// The reflections of an imported day's log.
    reflections: &'a [RecordedReflection],
}

impl<'a> DayMemory<'a> {
    /// Opens the day with the existing memory. `agent`: as configured in the post phase, whose memories are
    /// written by its trader's model.
    #[must_use]
    pub fn new(input: &'a DayInput<'a>, agent: &'a AgentConfig, memory: Memory) -> Self {
        let recorded = input.recorded.filter(|_| agent.model.is_recorded());
        let model = match agent.kind {
            // Imported agents have no callable model.
            _ if recorded.is_some() => {
                recorded.map_or_else(|| agent.model.clone(), |recorded| recorded.writer.clone())
            }
            AgentKind::Solo | AgentKind::External => agent.model.clone(),
            AgentKind::Desk => agent.desk_config().model(agent, LlmKind::Quick).clone(),
        };
        let house_version = input.house_versions.get(&model).copied();
        Self {
            prompter: MemoryPrompter { agent, model, house_version, prompts: input.prompts },
            // An external agent remembers by itself, in its state.
            settings: match agent.kind {
                AgentKind::External => MemorySettings::off(),
                AgentKind::Solo | AgentKind::Desk => input.memory,
            },
            symbols: input.symbols,
            day: input.day,
            memory,
            outcome: TraderOutcome::default(),
            origin: Origin::here(input.day.date, None),
            entries_applied: 0,
            opened: Vec::new(),
            closings: Vec::new(),
            rows: Vec::new(),
            had_loss: false,
            embedding: input.embedding,
            vectors: Vec::new(),
            reflections: recorded.map_or(&[], |recorded| recorded.day.reflections.as_slice()),
        }
    }

    /// Called after the pre-phase: processes what filled, split and closed before the session. A position
    /// opened by an order of an earlier day gets that day's round as its thesis.
    ///
    /// # Errors
    /// A stop.
    pub async fn on_open(&mut self, pre: &mut Ctx, books: &Books) -> Result<(), SessionStop> {
        if self.settings.is_off() {
            return Ok(());
        }
        self.apply_journal(books.journal(), self.day.open);
        self.memory.after_loss |= std::mem::take(&mut self.had_loss);
        let newest = self.memory.rounds.last().map(|round| (**round).clone());
        if let Some(round) = newest {
            self.attach_thesis(&round);
            self.opened.clear();
        }
        self.record_rows(pre, None).await?;
        // Lessons carried over from another job, or that could not be embedded earlier.
        self.embed(pre).await
    }

    /// Embeds the lessons that have no vector of the model; none is embedded twice. If the model fails, they
    /// are retried the next day, and found only by keywords until then.
    async fn embed(&mut self, ctx: &mut Ctx) -> Result<(), SessionStop> {
        let Some(model) = self.embedding.filter(|_| self.settings.mode.trades()) else { return Ok(()) };
        let options = self.prompter.agent.limits.call_options();
        let lessons = &mut self.memory.archive;
        self.vectors.extend(embedding::embed(ctx, model, options, lessons).await?);
        Ok(())
    }

    /// The recall context for the trader.
    #[must_use]
    pub fn reader<'r>(&'r self, account: &'r Account) -> RecallContext<'r> {
        RecallContext {
            memory: &self.memory,
            settings: self.settings,
            prompts: self.prompter.prompts,
            language: self.prompter.agent.language,
            instant: self.day.open,
            account,
            symbols: self.symbols,
            embedding: self.embedding.map(|model| (model, self.prompter.agent.limits.call_options())),
        }
    }

    /// Called after the session: records what its orders did, the trader's outcome, and the mark for
    /// everything it writes.
    pub fn on_session_end(&mut self, books: &Books, outcome: TraderOutcome, unverified: Option<Unverified>) {
        self.apply_journal(books.journal(), self.day.open);
        self.outcome = outcome;
        self.origin.unverified = unverified;
    }

    /// The post phase, after the close: the round, then a reflection on every closing in the ledger's order.
    /// Returns the memory for the next day.
    ///
    /// # Errors
    /// A stop. A failed model call is not a stop: the template is used, and the row is marked.
    pub async fn on_close(
        mut self,
        root: &Ctx,
        journal: &Journal,
        account: &Account,
    ) -> Result<(Memory, Vec<EmbeddingRow>), SessionStop> {
        if self.settings.is_off() {
            return Ok((self.memory, self.vectors));
        }
        self.apply_journal(journal, self.day.close);
        let mut ctx = root.child(ScopeKey::node("post"))?;
        let mut round = None;
        if self.outcome.has_reply {
            let row = self.round(&mut ctx, journal, account).await?;
            let written = RecalledFrom { origin: self.origin.clone(), row: row.clone() };
            self.attach_thesis(&written);
            self.memory.remember(written, self.settings.keep_rounds);
            round = Some(row);
        }
        self.record_rows(&mut ctx, round).await?;
        for reflection in self.reflections {
            let row = self.recorded_round(reflection);
            self.memory.remember(
                RecalledFrom { origin: self.origin.clone(), row: row.clone() },
                self.settings.keep_rounds,
            );
            self.record_rows(&mut ctx, Some(row)).await?;
        }
        if self.settings.mode.trades() {
            for (n, closing) in (1_u32..).zip(std::mem::take(&mut self.closings)) {
                let mut child = ctx.child(ScopeKey::Node("reflection".to_owned(), n))?;
                self.reflect(&mut child, &closing).await?;
            }
        }
        self.embed(&mut ctx).await?;
        self.memory.after_loss = self.had_loss || (self.memory.after_loss && !self.outcome.has_reply);
        Ok((self.memory, self.vectors))
    }

    /// Processes the journal's new entries.
    fn apply_journal(&mut self, journal: &Journal, at: Timestamp) {
        if self.settings.is_off() {
            return;
        }
        for entry in journal.entries.iter().skip(self.entries_applied) {
            match follow_entry(&mut self.memory.open, at, entry) {
                TradeEvent::Nothing => {}
                TradeEvent::Opened(id) => self.opened.push(id),
                TradeEvent::Converted(id) => {
                    if let Some(open) = self.memory.open.get(&id) {
                        let row = open.row(&id, ContextState::Converted, at);
                        self.rows.push(DerivedRow::Context(Box::new(row)));
                    }
                }
                TradeEvent::Vanished(id, open) => {
                    let row = open.row(&id, ContextState::Closed, at);
                    self.rows.push(DerivedRow::Context(Box::new(row)));
                }
                TradeEvent::Closed(closing) => {
                    self.had_loss |= closing.realized.pnl < Money::ZERO;
                    if closing.realized.position_closed && closing.open.summary.is_some() {
                        let id = closing.realized.position.as_str();
                        let row = closing.open.row(id, ContextState::Closed, self.day.close);
                        self.rows.push(DerivedRow::Context(Box::new(row)));
                    }
                    self.closings.push(*closing);
                }
            }
        }
        self.entries_applied = journal.entries.len();
    }

    /// Sets the round's summary as the thesis of the positions opened in it, including those already closed.
    /// The thesis becomes known with the round, not when the position was opened.
    fn attach_thesis(&mut self, round: &RecalledFrom<RoundMemoryRow>) {
        let at = round.row.known_at;
        for closing in &mut self.closings {
            let id = closing.realized.position.as_str();
            if self.opened.iter().any(|opened| opened == id)
                && closing.open.explain(round)
                && closing.realized.position_closed
            {
                let row = closing.open.row(id, ContextState::Closed, self.day.close);
                self.rows.push(DerivedRow::Context(Box::new(row)));
            }
        }
        for id in &self.opened {
            if let Some(open) = self.memory.open.get_mut(id)
                && open.explain(round)
            {
                self.rows.push(DerivedRow::Context(Box::new(open.row(id, ContextState::Open, at))));
            }
        }
    }

    /// Records the round and the pending context rows in one step; no step when there is nothing to record.
    async fn record_rows(&mut self, ctx: &mut Ctx, round: Option<RoundMemoryRow>) -> Result<(), SessionStop> {
        let contexts = std::mem::take(&mut self.rows);
        let mut implied = Vec::new();
        implied.extend(round.map(|round| DerivedRow::Round(Box::new(round))));
        implied.extend(contexts.into_iter().filter(|_| self.settings.mode.open()));
        if implied.is_empty() {
            return Ok(());
        }
        enter(ctx, json!({ "settings": self.settings }), to_value(&implied), implied).await
    }

    async fn round(
        &self,
        ctx: &mut Ctx,
        journal: &Journal,
        account: &Account,
    ) -> Result<RoundMemoryRow, SessionStop> {
        let language = self.prompter.agent.language;
        let facts = RoundFacts::of(journal, account, self.symbols);
        let values = json!({
            "date": self.day.date,
            "decision": fence(Author::Earlier, "the session", &self.outcome.decision, MAX_DECISION_CHARS),
            "booked": book_lines(&facts.booked),
            "held": facts.held,
        });
        let read = |text: &str, _| RoundSummary::read(text, language).map_err(|problem| problem.to_string());
        let result = self.prompter.prompt(ctx, "round", values, read).await?;
        let (parts, source, note) = match result {
            PromptResult::Answered(parts, source) => (parts, source, None),
            PromptResult::Unusable { text, why } => {
                let parts = RoundSummary::filled(&text, &facts.parts(account, language), language);
                (parts, SummarySource::Template, Some(why))
            }
        };
        let round_id = self.memory.round_id + 1;
        let keep = u64::from(self.settings.keep_rounds);
        Ok(RoundMemoryRow {
            round_id,
            situation: facts.situation(&self.outcome.decision),
            summary: parts.write(language),
            source,
            note,
            assets: facts.assets,
            is_open_entry: facts.is_open_entry,
            degraded: self.outcome.degraded,
            known_at: self.day.close,
            prunes_through: round_id.checked_sub(keep).filter(|through| *through > 0),
        })
    }

    /// An imported reflection as a round: its text is in the conversation in full.
    fn recorded_round(&self, reflection: &RecordedReflection) -> RoundMemoryRow {
        let RecordedReflection { symbol, date, outcome, text } = reflection;
        let about = format!("{symbol} on {date}: {outcome}");
        RoundMemoryRow {
            round_id: self.memory.round_id + 1,
            summary: cut(&format!("{about}\n{}", one_line(text)), SUMMARY_CHARS),
            situation: about,
            source: SummarySource::Model,
            note: Some("a reflection of the imported memory log".to_owned()),
            assets: Vec::new(),
            is_open_entry: false,
            degraded: false,
            known_at: self.day.close,
            prunes_through: None,
        }
    }

    async fn reflect(&mut self, ctx: &mut Ctx, closing: &ClosedTrade) -> Result<(), SessionStop> {
        let id = closing.realized.position.as_str();
        let still_open = self.memory.open.get(id).and_then(|open| open.summary.as_deref());
        let thesis = closing.open.summary.as_deref().or(still_open);
        let input = ReflectionInput {
            trade_id: self.memory.trade_id + 1,
            thesis,
            known_at: self.day.close,
            language: self.prompter.agent.language,
        };
        let facts = reflect::from_facts(closing, &input, "");
        let values = json!({
            "facts": reflect::lines(&facts),
            "thesis": thesis.map(|thesis| fence(Author::Earlier, "thesis at entry", thesis, MAX_THESIS_CHARS)),
        });
        let read = |text: &str, source| reflect::with_answer(&facts, text, source);
        let row = match self.prompter.prompt(ctx, "reflection", values, read).await? {
            PromptResult::Answered(row, _) => row,
            PromptResult::Unusable { why, .. } => ReflectionRow { note: Some(why), ..facts.clone() },
        };
        self.memory.trade_id = row.trade_id;
        self.memory.archive.push(Lesson { origin: self.origin.clone(), ..Lesson::from(&row) });
        let outcome = to_value(&row);
        let arguments = json!({ "position": id, "part": closing.part });
        enter(ctx, arguments, outcome, vec![DerivedRow::Reflection(Box::new(row))]).await
    }
}

async fn enter(
    ctx: &mut Ctx,
    arguments: Value,
    outcome: Value,
    implied: Vec<DerivedRow>,
) -> Result<(), SessionStop> {
    let entry = LocalStep {
        kind: "memory",
        class: StepClass::Local,
        arguments,
        outcome,
        outcome_kind: OutcomeKind::Ok,
        message: None,
        implied,
    };
    ctx.record_local(entry).await.map(drop)
}
