//! The conditions of a run, and the configuration of its agents.

use papertape_agents::config::AgentConfig;
use papertape_core::broker::MarketProfile;
use papertape_core::id::{AgentName, ContentHash, Symbol};
use papertape_core::json;
use papertape_core::time::Date;
use papertape_evidence::{Conditions, Mismatch};
use papertape_protocol::compare::pair::MismatchResponse;
use papertape_protocol::leaderboard::Board;
use papertape_runtime::config::SimulationConfig;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The number of hex digits in a board's ID.
const BOARD_ID_DIGITS: usize = 15;

/// The maximum number of symbols in a description.
const MAX_NAMED: usize = 8;

/// The fields of a market's rules that are costs. The participation cap is one of them: trading without costs has none.
const COSTS: [&str; 8] = [
    "fees",
    "slippage_bps",
    "slippage",
    "fee_schedule",
    "financing_bps_a_year",
    "annual_borrow_bps",
    "dividend_withholding_pct",
    "participation",
];

/// The conditions of a run, with their descriptions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ground {
    pub(super) conditions: Conditions,
    dataset: String,
    market: String,
    universe: String,
    costs: String,
    fill: String,
}

impl Ground {
    pub(super) fn of(config: &SimulationConfig, days: Option<(Date, Date)>) -> Self {
        // What a masked run was requested as: its mask is the only difference from the same run without one.
        let masking = config.translation();
        let market = config.masking.as_ref().map_or(&config.market, |run| &run.market);
        let (rules, costs) = split(market);
        let real = |symbol: &Symbol| masking.map_or(symbol, |masking| masking.real_symbol(symbol)).clone();
        let symbols: BTreeSet<Symbol> = config.symbols.iter().map(real).collect();
        let index = config.universe.as_ref().map(|index| real(&Symbol::new(index)).to_string());
        let dataset = masking.map_or((config.dataset.name.as_str(), config.dataset.hash), |masking| {
            (masking.source.as_str(), masking.source_hash)
        });
        let hash_of_universe = json::hash(&json!([index, symbols])).to_hex();
        let symbols: Vec<&str> = symbols.iter().map(Symbol::as_str).collect();
        let universe = match &index {
            Some(index) => index.clone(),
            None => {
                let more = symbols.len().saturating_sub(MAX_NAMED);
                let named = symbols.get(..MAX_NAMED).unwrap_or(&symbols).join(", ");
                if more > 0 { format!("{named} and {more} more") } else { named }
            }
        };
        let is_free = config.market.is_frictionless();
        let fill = json::canonical(&json::to_value(&config.market.fill_model)).replace('"', "");
        Self {
            conditions: Conditions {
                dataset: dataset.1.to_hex(),
                market: json::hash(&rules).to_hex(),
                universe: hash_of_universe,
                costs: json::hash(&costs).to_hex(),
                fill: fill.clone(),
                mask: masking.map_or("none", |masking| masking.kind.as_str()).to_owned(),
                days,
            },
            dataset: dataset.0.to_owned(),
            market: market.name.clone(),
            universe,
            costs: if is_free { "frictionless" } else { "with costs" }.to_owned(),
            fill,
        }
    }

    /// A board of runs under these conditions, without runs; `None` without days.
    pub(super) fn board(&self) -> Option<Board> {
        let of = &self.conditions;
        let (start_date, end_date) = of.days?;
        Some(Board {
            board_id: board_id(of),
            dataset: self.dataset.clone(),
            dataset_hash: of.dataset.clone(),
            market: self.market.clone(),
            market_hash: of.market.clone(),
            universe: self.universe.clone(),
            universe_hash: of.universe.clone(),
            costs: self.costs.clone(),
            costs_hash: of.costs.clone(),
            fill: self.fill.clone(),
            mask: Some(of.mask.clone()).filter(|mask| mask != "none"),
            start_date,
            end_date,
            runs: 0,
            configurations: 0,
            newest_run: None,
            models: Vec::new(),
            ranked: 0,
            tests: 0,
            omitted_configurations: 0,
            entries: None,
            notes: Vec::new(),
        })
    }

    /// The differences from another run, except what the experiment varies.
    pub(super) fn mismatches(
        &self,
        other: &Self,
        varied: &[Mismatch],
    ) -> (Vec<Mismatch>, Vec<MismatchResponse>) {
        let found = self.conditions.mismatches(&other.conditions, varied);
        let responses = found.iter().map(|which| self.describe(other, *which)).collect();
        (found, responses)
    }

    fn describe(&self, other: &Self, which: Mismatch) -> MismatchResponse {
        let (a, b) = (&self.conditions, &other.conditions);
        // A hash where both have the same name.
        let named = |what: &str, (a, b): (&str, &str), (of_a, of_b): (&str, &str)| {
            let short = |text: &str, hash: &str| format!("{text} ({})", hash.get(..8).unwrap_or(hash));
            let (a, b) = if a == b { (short(a, of_a), short(b, of_b)) } else { (a.to_owned(), b.to_owned()) };
            MismatchResponse { what: what.to_owned(), a, b }
        };
        match which {
            Mismatch::Dataset => named("dataset", (&self.dataset, &other.dataset), (&a.dataset, &b.dataset)),
            Mismatch::Market => named("market", (&self.market, &other.market), (&a.market, &b.market)),
            Mismatch::Universe => {
                named("universe", (&self.universe, &other.universe), (&a.universe, &b.universe))
            }
            Mismatch::Costs => named("costs", (&self.costs, &other.costs), (&a.costs, &b.costs)),
            Mismatch::Fill => named("fill", (&self.fill, &other.fill), (&a.fill, &b.fill)),
            Mismatch::Mask => named("mask", (&a.mask, &b.mask), (&a.mask, &b.mask)),
            Mismatch::Days => {
                let span = |days: Option<(Date, Date)>| {
                    days.map_or_else(|| "none".to_owned(), |(first, last)| format!("{first} to {last}"))
                };
                named("days", (&span(a.days), &span(b.days)), ("", ""))
            }
        }
    }
}

/// Starts with a letter, so that no address takes it for a number.
fn board_id(conditions: &Conditions) -> String {
    let hash = json::hash(&json::to_value(conditions)).to_hex();
    format!("b{}", hash.get(..BOARD_ID_DIGITS).unwrap_or(&hash))
}

/// A market's rules without costs and fill, and its costs.
fn split(market: &MarketProfile) -> (Value, Value) {
    let mut rules = json::to_value(market);
    let mut costs = Map::new();
    if let Some(fields) = rules.as_object_mut() {
        fields.remove("fill_model");
        for name in COSTS {
            if let Some(value) = fields.remove(name) {
                costs.insert(name.to_owned(), value);
            }
        }
    }
    (rules, Value::Object(costs))
}

/// How an agent is configured, in the parts that an experiment can vary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    model: String,
    /// Hash of its prompts, instructions and language.
    prompts: ContentHash,
    /// Hash of everything else.
    rest: ContentHash,
}

/// An agent of a job. An agent of a branch has its changes applied.
pub(super) fn agent_of<'a>(config: &'a SimulationConfig, agent: &AgentName) -> Option<&'a AgentConfig> {
    let changed = config.branch.as_ref().and_then(|branch| branch.agent.as_ref());
    let changed = changed.filter(|changed| changed.name == *agent);
    changed.or_else(|| config.agents.iter().find(|other| other.name == *agent))
}

/// Whether every trial of an agent is the same: its models are rule-based, and it uses no external tools.
pub(super) fn is_deterministic(agent: &AgentConfig) -> bool {
    agent.tools.is_empty() && agent.is_rule_based()
}

impl Settings {
    pub(super) fn of(config: &SimulationConfig, agent: &AgentConfig) -> Self {
        let models: Vec<String> = agent.models().iter().map(ToString::to_string).collect();
        let mut rest = json::to_value(agent);
        for path in [&["name"][..], &["model"], &["instructions"], &["language"], &["sampling", "seed"]] {
            remove(&mut rest, path);
        }
        for name in ["quick_think_llm", "deep_think_llm"] {
            remove(&mut rest, &["desk", name]);
        }
        Self {
            model: models.join(", "),
            prompts: json::hash(&json!([config.prompts, agent.instructions, agent.language])),
            rest: json::hash(&json!([
                rest,
                json::to_value(&config.memory),
                config.embedding,
                config.initial_cash
            ])),
        }
    }

    /// The differences from another agent, except what the experiment varies.
    pub(super) fn mismatches(&self, other: &Self, (model, prompt): (bool, bool)) -> Vec<MismatchResponse> {
        let hash = |value: &ContentHash| value.to_hex().chars().take(8).collect::<String>();
        let mut found = Vec::new();
        let mut add = |what: &str, a: String, b: String| {
            found.push(MismatchResponse { what: what.to_owned(), a, b });
        };
        if !model && self.model != other.model {
            add("model", self.model.clone(), other.model.clone());
        }
        if !prompt && self.prompts != other.prompts {
            add("prompts", hash(&self.prompts), hash(&other.prompts));
        }
        if self.rest != other.rest {
            add("settings", hash(&self.rest), hash(&other.rest));
        }
        found
    }

    /// Whether they are the same, except that the prompts of one of them may not be known.
    pub(super) fn is_same(&self, other: &Self, has_prompts: bool) -> bool {
        self.model == other.model
            && self.rest == other.rest
            && (!has_prompts || self.prompts == other.prompts)
    }

    /// Its models, house models included.
    pub(super) fn models(&self) -> Vec<String> {
        self.model.split(", ").map(str::to_owned).collect()
    }

    /// Identifies the configuration and what it ran on, whatever its seed and its days.
    pub(super) fn fingerprint(&self, ground: &Ground) -> String {
        let Conditions { dataset, market, universe, costs, fill, mask, days: _ } = &ground.conditions;
        let on = [dataset, market, universe, costs, fill, mask];
        json::hash(&json!([self.model, self.prompts, self.rest, on])).to_hex()
    }
}

fn remove(value: &mut Value, path: &[&str]) {
    match path {
        [] => {}
        [last] => drop(value.as_object_mut().map(|fields| fields.remove(*last))),
        [first, rest @ ..] => {
            if let Some(inner) = value.get_mut(*first) {
                remove(inner, rest);
            }
        }
    }
}
