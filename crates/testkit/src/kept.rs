//! What one session's commits leave: the record's semantics in memory, with strict checks of its rules.

use papertape_core::action::ActionEntry;
use papertape_core::chat::ChatWrite;
use papertape_core::id::ContentHash;
use papertape_core::json::to_value;
use papertape_core::plan::PlanWrite;
use papertape_core::record::{
    AttemptEnd, CloseSession, DerivedRow, EmbeddingRow, MessageRow, ReusedFrom, StepEnd, TapeRow, Write,
};
use papertape_core::tape::{OutcomeKind, StepClass, StepPath, StepState, expand_request, inline};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A session's rows, applied write by write.
#[derive(Clone, Debug, Default)]
pub struct StoredSnapshot {
    /// Texts by hash.
    pub texts: BTreeMap<ContentHash, String>,
    /// Steps in the order of their first commit.
    pub steps: Vec<KeptStep>,
    /// System prompts by node.
    pub instructions: BTreeMap<String, ContentHash>,
    /// Summaries by step; `None` for the session's own.
    pub summaries: BTreeMap<Option<StepPath>, Result<String, String>>,
    /// Rows of the action log.
    pub actions: Vec<ActionEntry>,
    /// Changes to plans.
    pub plans: Vec<PlanWrite>,
    /// Changes to conversations.
    pub chats: Vec<ChatWrite>,
    /// The session's close.
    pub closing: Option<CloseSession>,
    /// Embeddings of reflections.
    pub vectors: Vec<EmbeddingRow>,
    /// Number of transactions.
    pub commits: usize,
}

/// A stored step.
#[derive(Clone, Debug)]
pub struct KeptStep {
    /// Its path on the tape.
    pub path: StepPath,
    /// Its class.
    pub class: StepClass,
    /// Its digest.
    pub digest: ContentHash,
    /// Its request.
    pub request_ref: ContentHash,
    /// Its state.
    pub state: StepState,
    /// Its outcome.
    pub outcome_ref: Option<ContentHash>,
    /// The step from which it was copied.
    pub reused_from: Option<ReusedFrom>,
    /// Its attempts: number, and how each ended, if it has.
    pub attempts: BTreeMap<u32, Option<AttemptEnd>>,
    /// Rows derived from it.
    pub implied: Vec<DerivedRow>,
    /// The transaction, from 1, that first wrote it.
    pub commit: usize,
    /// The transaction that ended it.
    pub ended_in: Option<usize>,
}

impl StoredSnapshot {
    /// Applies one transaction.
    ///
    /// # Panics
    /// Panics on everything that a record must reject: a duplicate path, an end without its intent, a reference
    /// to a missing text, anything but summaries after the session's close.
    pub fn apply(&mut self, writes: Vec<Write>) {
        self.commits += 1;
        for write in writes {
            let summary = matches!(write, Write::Summary { .. } | Write::Text(_));
            assert!(self.closing.is_none() || summary, "{write:?} after the session's end");
            self.apply_one(write);
        }
        for step in self.steps.iter().filter(|step| step.commit == self.commits) {
            let lookup = |hash: ContentHash| self.texts.get(&hash).cloned();
            assert!(expand_request(step.request_ref, &lookup).is_ok(), "{}: its request is torn", step.path);
        }
        for step in self.steps.iter().filter(|step| step.ended_in == Some(self.commits)) {
            assert!(self.outcome(step).is_some() || step.outcome_ref.is_none(), "{}: torn", step.path);
            for message in messages_of(step) {
                assert!(self.texts.contains_key(&message.content), "{}: its message is torn", step.path);
            }
        }
    }

    fn apply_one(&mut self, write: Write) {
        let commit = self.commits;
        match write {
            Write::Text(text) => {
                let before = self.texts.insert(text.hash, text.body.clone());
                assert!(before.is_none_or(|before| before == text.body), "one hash, two texts");
            }
            Write::Intent(intent) => {
                assert!(self.step(intent.path.as_str()).is_none(), "{} twice", intent.path);
                self.steps.push(KeptStep {
                    path: intent.path,
                    class: StepClass::External,
                    digest: intent.digest,
                    request_ref: intent.request_ref,
                    state: StepState::Intent,
                    outcome_ref: None,
                    reused_from: None,
                    attempts: BTreeMap::from([(1, None)]),
                    implied: Vec::new(),
                    commit,
                    ended_in: None,
                });
            }
            Write::Attempt { path, ended, next } => {
                let step = self.step_mut(&path).expect("an attempt belongs to a step");
                step.attempts.insert(ended.number, Some(ended));
                if let Some(next) = next {
                    assert_eq!(step.state, StepState::Intent, "{path}: an attempt at what is over");
                    step.attempts.insert(next, None);
                }
            }
            Write::SendAgain { path, attempt } => {
                let step = self.step_mut(&path).expect("an attempt belongs to a step");
                assert_eq!(step.state, StepState::Intent, "{path}: an attempt at what is over");
                assert!(step.attempts.values().all(Option::is_some), "{path}: an attempt is under way");
                step.attempts.insert(attempt, None);
            }
            // The status of a model-day is not part of its session.
            Write::FailDay { .. } => {}
            Write::End(end) => self.end(end),
            Write::Abandoned { step, reused_from } => {
                assert!(self.step(step.path.as_str()).is_none(), "{} twice", step.path);
                self.steps.push(KeptStep {
                    path: step.path,
                    class: StepClass::External,
                    digest: step.digest,
                    request_ref: step.request_ref,
                    state: StepState::Abandoned,
                    outcome_ref: None,
                    reused_from: Some(reused_from),
                    attempts: BTreeMap::new(),
                    implied: Vec::new(),
                    commit,
                    ended_in: Some(commit),
                });
            }
            Write::CloseScope { scope } => {
                for step in &mut self.steps {
                    if step.state == StepState::Intent && step.path.is_within(&scope) {
                        step.state = StepState::Abandoned;
                    }
                }
            }
            Write::Instructions { node, hash } => {
                assert!(self.texts.contains_key(&hash), "instructions without their text");
                self.instructions.insert(node, hash);
            }
            Write::Summary { path, summary } => {
                self.summaries.insert(path, summary);
            }
            Write::Vector(row) => self.vectors.push(row),
            Write::Action(entry) => self.actions.push(*entry),
            Write::Plan(write) => self.plans.push(write.into_inner()),
            Write::Chat(write) => self.chats.push(write.into_inner()),
            Write::CloseSession(closing) => self.closing = Some(*closing),
        }
    }

    fn end(&mut self, end: StepEnd) {
        let commit = self.commits;
        match self.step_mut(&end.path) {
            Some(step) => {
                assert_eq!(step.class, StepClass::External, "{} twice", end.path);
                if let Some(attempt) = end.attempt {
                    step.attempts.insert(attempt.number, Some(attempt));
                }
                match step.state {
                    StepState::Intent => {
                        assert_eq!(step.digest, end.digest);
                        step.state = StepState::Done(end.outcome_kind);
                        step.outcome_ref = Some(end.outcome_ref);
                        step.implied = end.implied;
                        step.ended_in = Some(commit);
                    }
                    StepState::Abandoned => {}
                    StepState::Done(_) => panic!("{} ended twice", end.path),
                }
            }
            None => {
                let announced = end.class == StepClass::External && end.reused_from.is_none();
                assert!(!announced, "{} ended without its intent", end.path);
                self.steps.push(KeptStep {
                    path: end.path,
                    class: end.class,
                    digest: end.digest,
                    request_ref: end.request_ref,
                    state: StepState::Done(end.outcome_kind),
                    outcome_ref: Some(end.outcome_ref),
                    reused_from: end.reused_from,
                    attempts: BTreeMap::new(),
                    implied: end.implied,
                    commit,
                    ended_in: Some(commit),
                });
            }
        }
    }

    /// An empty record that shares this one's texts, as in one store.
    #[must_use]
    pub fn beside(&self) -> Self {
        Self { texts: self.texts.clone(), ..Self::default() }
    }

    /// The step at a path.
    #[must_use]
    pub fn step(&self, path: &str) -> Option<&KeptStep> {
        self.steps.iter().find(|step| step.path.as_str() == path)
    }

    fn step_mut(&mut self, path: &StepPath) -> Option<&mut KeptStep> {
        self.steps.iter_mut().find(|step| step.path == *path)
    }

    /// A step's outcome, with texts inlined; `None` if there is none, or a text is missing.
    #[must_use]
    pub fn outcome(&self, step: &KeptStep) -> Option<Value> {
        self.document(step.outcome_ref?)
    }

    /// A document or request by its hash, with texts inlined.
    #[must_use]
    pub fn document(&self, hash: ContentHash) -> Option<Value> {
        expand_request(hash, &|hash| self.texts.get(&hash).cloned()).ok()
    }

    /// The messages of the conversation, in the order of their steps' first commit: role and text.
    #[must_use]
    pub fn messages(&self) -> Vec<(String, String)> {
        let row =
            |message: &MessageRow| (message.role.as_str().to_owned(), self.texts[&message.content].clone());
        self.steps.iter().flat_map(messages_of).map(row).collect()
    }

    /// The rows derived from steps, in order.
    #[must_use]
    pub fn implied(&self) -> Vec<&DerivedRow> {
        self.steps.iter().flat_map(|step| &step.implied).collect()
    }

    /// The tape for a re-run, outcomes as stored.
    #[must_use]
    pub fn stored_rows(&self) -> Vec<TapeRow> {
        let row = |step: &KeptStep| TapeRow {
            path: step.path.clone(),
            class: step.class,
            digest: step.digest,
            request_ref: Some(step.request_ref),
            state: step.state,
            outcome: step
                .outcome_ref
                .filter(|_| matches!(step.class, StepClass::External | StepClass::Guard))
                .and_then(|hash| serde_json::from_str(self.texts.get(&hash)?).ok()),
            outcome_ref: step.outcome_ref,
            attempts: step.attempts.keys().next_back().copied().unwrap_or_default(),
            hash: None,
            interrupted: {
                let ended = step.attempts.values().flatten();
                let cut = ended.filter(|end| end.error.as_deref() == Some("interrupted")).count();
                u32::try_from(cut).unwrap_or(u32::MAX)
            },
            has_ended: step.state == StepState::Intent && step.attempts.values().all(Option::is_some),
            implied: step.implied.clone(),
        };
        self.steps.iter().map(row).collect()
    }

    /// The tape for a re-run, outcomes inlined.
    ///
    /// # Panics
    /// Panics if a text is missing.
    #[must_use]
    pub fn rows(&self) -> Vec<TapeRow> {
        let mut rows = self.stored_rows();
        for row in &mut rows {
            let whole = |stored: &Value| inline(stored, &|hash| self.texts.get(&hash).cloned());
            row.outcome = row.outcome.as_ref().map(|stored| whole(stored).expect("every text is kept"));
        }
        rows
    }

    /// Everything that two equal runs have in common, by path: no attempts, no order of arrival.
    #[must_use]
    pub fn canonical(&self) -> Value {
        let step = |step: &KeptStep| {
            let value = json!({
                "class": step.class,
                "digest": step.digest,
                "request": self.document(step.request_ref),
                "state": step.state.to_string(),
                "outcome": self.outcome(step),
                "implied": step.implied,
            });
            (step.path.clone(), value)
        };
        let steps: BTreeMap<StepPath, Value> = self.steps.iter().map(step).collect();
        let steps: Vec<Value> = steps.into_iter().map(|(path, step)| json!([path, step])).collect();
        json!({
            "steps": steps,
            "instructions": self.instructions,
            "closing": self.closing.as_ref().map(|closing| json!({
                "status": closing.status,
                "error": closing.error,
                "metadata": closing.metadata,
                "state": closing.state.hash,
                "holdings": closing.holdings,
                "cash": closing.cash,
                "portfolio_value": closing.portfolio_value,
            })),
        })
    }

    /// Steps that were started and have not ended.
    #[must_use]
    pub fn open(&self) -> Vec<StepPath> {
        let open = self.steps.iter().filter(|step| step.state == StepState::Intent);
        open.map(|step| step.path.clone()).collect()
    }

    /// Number of attempts marked as interrupted.
    #[must_use]
    pub fn interrupted(&self) -> usize {
        let attempts = self.steps.iter().flat_map(|step| step.attempts.values()).flatten();
        attempts.filter(|attempt| attempt.error.as_deref() == Some("interrupted")).count()
    }

    /// The state of a step, such as `done(ok)`; `absent` if there is none.
    #[must_use]
    pub fn state(&self, path: &str) -> String {
        self.step(path).map_or_else(|| "absent".to_owned(), |step| step.state.to_string())
    }

    /// Everything stored, as one text: for checking what must not be in it.
    #[must_use]
    pub fn dump(&self) -> String {
        let attempts: Vec<_> = self.steps.iter().map(|step| format!("{:?}", step.attempts)).collect();
        let implied: Vec<Value> = self.implied().into_iter().map(to_value).collect();
        format!("{:?}\n{attempts:?}\n{implied:?}\n{:?}", self.texts, self.summaries)
    }

    /// Whether a step's outcome is of this kind.
    #[must_use]
    pub fn is_done(&self, path: &str, kind: OutcomeKind) -> bool {
        self.step(path).is_some_and(|step| step.state == StepState::Done(kind))
    }
}

fn messages_of(step: &KeptStep) -> impl Iterator<Item = &MessageRow> {
    step.implied.iter().filter_map(|row| match row {
        DerivedRow::Message(message) => Some(message),
        _ => None,
    })
}
