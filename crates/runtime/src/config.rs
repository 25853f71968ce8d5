//! A simulation's parameters: the `config` of its job.

use crate::budget::Budget;
use papertape_agents::config::{AgentConfig, MemorySettings};
use papertape_core::RULES_VERSION;
use papertape_core::broker::MarketProfile;
use papertape_core::id::{AgentName, ContentHash, JobId, Symbol};
use papertape_core::json::{self, to_value};
use papertape_core::market::Masking;
use papertape_core::message::{FORMAT_VERSION, ModelName};
use papertape_core::money::Money;
use papertape_core::record::JobRow;
use papertape_core::time::Date;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A simulation, fully resolved: nothing in it depends on when or where it is run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimulationConfig {
    /// The dataset, by name for people and by hash for programs.
    pub dataset: DatasetRef,
    /// First day.
    pub start_date: Date,
    /// Last day, included.
    pub end_date: Date,
    /// Tradable instruments; with a universe, all that were ever its members.
    pub symbols: BTreeSet<Symbol>,
    /// The index whose members of each day may be traded on that day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub universe: Option<String>,
    /// The traders.
    pub agents: Vec<AgentConfig>,
    /// The market rules.
    pub market: MarketProfile,
    /// Each agent's initial cash.
    pub initial_cash: Money,
    /// The source of all randomness in the job.
    pub seed: u64,
    /// Hash of the prompt set.
    pub prompts: ContentHash,
    /// Whether to write summaries.
    pub summaries: bool,
    /// The symbol or index that results are compared with. It changes nothing that an agent sees or does, so
    /// neither [`fingerprint`](Self::fingerprint) nor [`agent_hash`](Self::agent_hash) covers it: a completed day
    /// stays completed, whatever it is compared with. The job's anchor covers it, like all of its config.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<Symbol>,
    /// Which memories of the traders are enabled. None for jobs recorded before memory existed.
    #[serde(default = "MemorySettings::off", skip_serializing_if = "MemorySettings::is_off")]
    pub memory: MemorySettings,
    /// The job whose memory each agent starts with; its content is in the start states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_from: Option<JobId>,
    /// The embedding model that ranks lessons by meaning; if absent, they are ranked by keywords only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding: Option<ModelName>,
    /// Hash of each agent's start state document.
    pub starts: BTreeMap<AgentName, ContentHash>,
    /// The earlier jobs that agents continue.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub continues: BTreeMap<AgentName, Continuation>,
    /// What it was branched from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Branch>,
    /// The masked world that it runs in: dataset, days, symbols and market above are masked, and this is the way back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masking: Option<Box<MaskedRun>>,
    /// For an imported job: where its days were traded, and what was said and done there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// Its budget.
    #[serde(default)]
    pub budget: Budget,
}

/// The config of a job.
pub(crate) fn decode<T: DeserializeOwned>(job: &JobRow) -> Result<T, String> {
    serde_json::from_value(job.config.clone())
        .map_err(|error| format!("the job's config cannot be read: {error}"))
}

/// Days traded elsewhere: an agent whose model is `recorded::…` replays its log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Imported {
    /// The program that wrote the logs, such as `ai-trader`.
    pub format: String,
    /// Where they were read from, as given at import.
    pub source: String,
    /// For each agent, the document that lists its days' logs: an object that maps dates to the hashes of
    /// [`RecordedDay`](papertape_agents::recorded::RecordedDay) documents. A missing day has no log.
    pub logs: BTreeMap<AgentName, ContentHash>,
    /// The model that writes memories and summaries of these days.
    pub writer: ModelName,
}

/// What a masked job was requested as. Agents never see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaskedRun {
    /// The translation of the job's symbols and days.
    pub translation: Masking,
    /// The market with its real dates.
    pub market: MarketProfile,
    /// The real benchmark. Like the job's, it changes nothing that an agent sees or does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<Symbol>,
}

/// A dataset by name and hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatasetRef {
    /// Its name.
    pub name: String,
    /// Its content hash.
    pub hash: ContentHash,
}

/// The day of an earlier job after which an agent continues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Continuation {
    /// The job.
    pub job: JobId,
    /// The last day taken over from it.
    pub date: Date,
}

/// Where a job branched off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Branch {
    /// The parent.
    pub job: JobId,
    /// The day in which the cut lies.
    pub date: Date,
    /// The cut within the day: a node (`solo#1`) or a step (`solo#1/model#3`). Nothing at or after it
    /// is reused.
    pub at: String,
    /// The agent from the cut on; before it, the job's own `agents` entry applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentConfig>,
    /// What the parent, if it is a branch itself, had changed up to the cut, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Change>,
}

/// A change of an agent at the cut of an earlier branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The day in which the cut lies.
    pub date: Date,
    /// The node of the cut.
    pub at: String,
    /// The agent from there on.
    pub agent: AgentConfig,
}

impl SimulationConfig {
    /// Hash of everything that determines the outcome: excludes budget, deadlines and retries.
    #[must_use]
    pub fn fingerprint(&self) -> ContentHash {
        let mut whole = to_value(self);
        if let Some(map) = whole.as_object_mut() {
            map.remove("budget");
            map.remove("benchmark");
        }
        if let Some(masking) = whole.get_mut("masking").and_then(Value::as_object_mut) {
            masking.remove("benchmark");
        }
        if let Some(imported) = whole.get_mut("imported").and_then(Value::as_object_mut) {
            // The same logs count as the same wherever they are.
            imported.remove("source");
        }
        whole["agents"] = json!(self.agents.iter().map(AgentConfig::fingerprint).collect::<Vec<_>>());
        whole["branch"] = self.branch_doc();
        whole["format"] = json!([FORMAT_VERSION, papertape_redact::VERSION, RULES_VERSION]);
        json::hash(&whole)
    }

    /// Hash of everything that determines one agent's days: the same agent with the same inputs from the same
    /// state. `start` is the state before its first day, whichever job that was in.
    #[must_use]
    pub fn agent_hash(&self, agent: &AgentConfig, start: ContentHash) -> ContentHash {
        let mut whole = json!({
            "agent": agent.fingerprint(),
            "dataset": self.dataset.hash,
            "symbols": self.symbols,
            "seed": self.seed,
            "prompts": self.prompts,
            "start": start,
            "branch": self.branch_doc(),
            // A day completed under other rules does not count as completed.
            "format": [FORMAT_VERSION, papertape_redact::VERSION, RULES_VERSION],
        });
        if let Some(universe) = &self.universe {
            whole["universe"] = json!(universe);
        }
        if !self.memory.is_off() {
            whole["memory"] = to_value(&self.memory);
        }
        if let Some(model) = &self.embedding {
            whole["embedding"] = json!(model);
        }
        if let Some(imported) = self.imported.as_ref().filter(|_| agent.model.is_recorded()) {
            whole["imported"] = json!([imported.logs.get(&agent.name), imported.writer]);
        }
        json::hash(&whole)
    }

    /// The day after which an agent continues in this job; `None` if it starts with the job's first day.
    #[must_use]
    pub fn done_until(&self, agent: &AgentName) -> Option<Date> {
        self.continues.get(agent).map(|continues| continues.date)
    }

    /// The translation to real names and days; `None` if the job is not masked.
    #[must_use]
    pub fn translation(&self) -> Option<&Masking> {
        self.masking.as_ref().map(|masked| &masked.translation)
    }

    fn branch_doc(&self) -> Value {
        let change = |change: &Change| json!([change.date, change.at, change.agent.fingerprint()]);
        let doc = |branch: &Branch| {
            json!({
                "job": branch.job,
                "date": branch.date,
                "at": branch.at,
                "agent": branch.agent.as_ref().map(AgentConfig::fingerprint),
                "earlier": branch.earlier.iter().map(change).collect::<Vec<_>>(),
            })
        };
        self.branch.as_ref().map_or(Value::Null, doc)
    }
}
