//! What a simulation is to do: the `config` of its job.

use crate::budget::Budget;
use papertape_agents::config::AgentConfig;
use papertape_agents::memory::MemorySettings;
use papertape_core::RULES_VERSION;
use papertape_core::broker::MarketProfile;
use papertape_core::id::{AgentName, ContentHash, JobId, Symbol};
use papertape_core::json::{self, to_value};
use papertape_core::message::{FORMAT_VERSION, ModelName};
use papertape_core::money::Money;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A simulation, fully resolved: nothing in it depends on when or where it is run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimulationConfig {
    /// The dataset, by name for people and by hash for the machine.
    pub dataset: DatasetRef,
    /// First day.
    pub start_date: Date,
    /// Last day, included.
    pub end_date: Date,
    /// What may be traded.
    pub symbols: BTreeSet<Symbol>,
    /// Who trades.
    pub agents: Vec<AgentConfig>,
    /// The market's rules.
    pub market: MarketProfile,
    /// What each agent starts with.
    pub initial_cash: Money,
    /// All randomness of the job comes from it.
    pub seed: u64,
    /// Hash of the prompts that it was made with.
    pub prompts: ContentHash,
    /// Write summaries?
    pub summaries: bool,
    /// The symbol or index that results are compared with. It changes nothing that an agent sees or does, so
    /// neither [`fingerprint`](Self::fingerprint) nor [`agent_hash`](Self::agent_hash) has it: days that were done
    /// are done, whatever they are compared with. The job's anchor has it, as all of its config.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<Symbol>,
    /// What of the traders' memory is on. A job of before there was one has none.
    #[serde(default = "MemorySettings::off", skip_serializing_if = "MemorySettings::is_off")]
    pub memory: MemorySettings,
    /// The job whose memory each agent starts with; its content is in the start states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_from: Option<JobId>,
    /// The model that says which lessons mean what a trader is about; by words alone where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding: Option<ModelName>,
    /// Hash of each agent's start state, a document of the record.
    pub starts: BTreeMap<AgentName, ContentHash>,
    /// Which earlier jobs agents go on from.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub continues: BTreeMap<AgentName, Continues>,
    /// What it branched from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Branch>,
    /// Where its days were traded, and what was said and done there, of a job that is imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// What it may use.
    #[serde(default)]
    pub budget: Budget,
}

/// Days that were traded elsewhere: an agent whose model is `recorded::…` says and does what its log says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Imported {
    /// What wrote the logs, as `ai-trader`.
    pub format: String,
    /// Where they were read from, as the one who imported them wrote it.
    pub source: String,
    /// Of each agent the document that names its days' logs: an object of dates and the hashes of
    /// [`RecordedDay`](papertape_agents::recorded::RecordedDay)s, documents of the record. A day that is not
    /// there has no log.
    pub logs: BTreeMap<AgentName, ContentHash>,
    /// Who writes memories and summaries of these days.
    pub writer: ModelName,
}

/// A dataset by name and hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatasetRef {
    /// Its name.
    pub name: String,
    /// Its content hash.
    pub hash: ContentHash,
}

/// The day of an earlier job after which an agent goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Continues {
    /// The job.
    pub job: JobId,
    /// The last day that counts of it.
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
    /// The agent from the cut on; before it, the job's own `agents` entry holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentConfig>,
    /// What the parent, a branch itself, had changed up to the cut, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Change>,
}

/// An agent that was changed at a cut of an earlier branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The day in which the cut lies.
    pub date: Date,
    /// The node at which it was made.
    pub at: String,
    /// The agent from there on.
    pub agent: AgentConfig,
}

impl SimulationConfig {
    /// Hash of everything that decides the outcome: not the budget, the benchmark, deadlines and retries.
    #[must_use]
    pub fn fingerprint(&self) -> ContentHash {
        let mut whole = to_value(self);
        if let Some(map) = whole.as_object_mut() {
            map.remove("budget");
            map.remove("benchmark");
        }
        if let Some(imported) = whole.get_mut("imported").and_then(Value::as_object_mut) {
            // The same logs are the same wherever they lie.
            imported.remove("source");
        }
        whole["agents"] = json!(self.agents.iter().map(AgentConfig::fingerprint).collect::<Vec<_>>());
        whole["branch"] = self.branch_doc();
        whole["format"] = json!([FORMAT_VERSION, papertape_core::redact::VERSION, RULES_VERSION]);
        json::hash(&whole)
    }

    /// Hash of everything that decides one agent's days: the same agent, asked the same, from the
    /// same state. `start` is the state before its first day, whichever job that was in.
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
            // A day that is done under other rules is not done.
            "format": [FORMAT_VERSION, papertape_core::redact::VERSION, RULES_VERSION],
        });
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

    /// The day after which an agent goes on in this job; `None` where it begins with its first.
    #[must_use]
    pub fn done_until(&self, agent: &AgentName) -> Option<Date> {
        self.continues.get(agent).map(|continues| continues.date)
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
