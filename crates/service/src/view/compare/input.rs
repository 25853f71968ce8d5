//! Everything that a comparison's figures and verdicts are computed from, as a document. An evidence bundle contains
//! it, so that anyone can compute them again.

use super::conditions::{Ground, Settings, agent_of, is_deterministic};
use super::items::{Item, Kind, span_of};
use super::judge::{Family, judge};
use super::select::Varied;
use super::{MAX_POINTS, any_better, declared, family_response, figures, notes};
use crate::error::ServiceError;
use papertape_core::id::{AgentName, JobId};
use papertape_core::time::Date;
use papertape_evidence::METHOD_VERSION;
use papertape_protocol::compare::{CompareResponse, MAX_ITEMS};
use papertape_protocol::deployment::Deployment;
use papertape_runtime::config::SimulationConfig;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The inputs of a comparison.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ComparisonInput {
    pub(super) items: Vec<Item>,
    /// The position of the item that all others are compared with; absent: all pairs.
    pub(super) against: Option<usize>,
    /// What the experiment varies.
    pub(super) vary: Vec<String>,
    /// `target_points` of the response.
    pub(super) target_points: f64,
    /// By item: the daily Sharpe ratios of the configurations that ran on its days.
    pub(super) tried: Vec<Vec<f64>>,
}

/// A run that a comparison uses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ComparedRun<'a> {
    pub(crate) job: &'a JobId,
    pub(crate) agent: &'a AgentName,
    /// The value before the first day.
    pub(crate) initial: f64,
    /// The values at the closes.
    pub(crate) values: &'a [(Date, f64)],
    /// Days without full research.
    pub(crate) fallback: &'a BTreeSet<Date>,
    /// The days of its window.
    pub(crate) planned: usize,
    pub(crate) is_interim: bool,
    pub(crate) dataset: &'a str,
    pub(crate) trading_days_per_year: f64,
}

impl ComparisonInput {
    /// Computes the response, without random baselines and without the steps of a branch.
    ///
    /// # Errors
    /// Inputs that no comparison has.
    pub(crate) fn compute(&self, deployment: Deployment) -> Result<CompareResponse, ServiceError> {
        self.check().map_err(|why| ServiceError::Conflict(format!("the comparison's inputs: {why}")))?;
        let names = self.vary.join(",");
        let varied = Varied::parse((!names.is_empty()).then_some(names.as_str()))?;
        let family = self.against.map_or(Family::AllPairs, Family::Against);
        let items = &self.items;
        let (pairs, ranks) = judge(items, family, &varied, self.target_points / 100.0);
        let figures = |(at, item): (usize, &Item)| {
            let rank = ranks.as_ref().and_then(|ranks| ranks.get(at)).copied();
            figures::figures(item, rank, &self.tried[at])
        };
        Ok(CompareResponse {
            method_version: METHOD_VERSION,
            family: family_response(items, family, pairs.len(), declared(items)),
            vary: varied.names.clone(),
            target_points: self.target_points,
            items: items.iter().enumerate().map(figures).collect(),
            any_better: any_better(items, family, &pairs),
            pairs,
            random: Vec::new(),
            branch: None,
            notes: notes(items, &varied),
            deployment,
        })
    }

    /// The runs of agents.
    pub(crate) fn runs(&self) -> Vec<ComparedRun<'_>> {
        let mut runs = Vec::new();
        for item in self.items.iter().filter(|item| item.kind == Kind::Agent) {
            for trial in &item.trials {
                let window = item.windows.iter().find(|window| window.number == trial.input.window);
                let (Some(job), Some(agent)) = (&trial.input.job, &item.agent) else { continue };
                runs.push(ComparedRun {
                    job,
                    agent,
                    initial: trial.input.initial,
                    values: &trial.input.values,
                    fallback: &trial.input.fallback,
                    planned: window.map_or(0, |window| window.days),
                    is_interim: item.interim.is_some(),
                    dataset: &item.ground.conditions.dataset,
                    trading_days_per_year: item.trading_days_per_year,
                });
            }
        }
        runs
    }

    /// Compares the conditions and settings of the items with the configs of their jobs. `has_prompts`: whether the
    /// configs contain the instructions of agents.
    ///
    /// # Errors
    /// The first item that differs.
    pub(crate) fn check_conditions(
        &self,
        configs: &BTreeMap<&JobId, &SimulationConfig>,
        has_prompts: bool,
    ) -> Result<(), String> {
        let reference = self.items.first().map(|item| &item.ground);
        for item in &self.items {
            let jobs = item.jobs();
            let Some(config) = jobs.first().and_then(|job| configs.get(job)) else {
                match item.kind != Kind::Agent && Some(&item.ground) == reference {
                    true => continue,
                    false => return Err(format!("{}: its conditions are not those of the agents", item.id)),
                }
            };
            let agent = item.agent.as_ref().and_then(|agent| agent_of(config, agent));
            let agent = agent.ok_or_else(|| format!("{}: the config has no such agent", item.id))?;
            let settings = Settings::of(config, agent);
            let is_llm = !agent.is_rule_based();
            let is_same = item.ground == Ground::of(config, span_of(&item.windows))
                && item.settings.as_ref().is_some_and(|stated| stated.is_same(&settings, has_prompts))
                && item.is_deterministic == is_deterministic(agent)
                && item.is_llm == Some(is_llm);
            if !is_same {
                return Err(format!("{}: its conditions are not those of the config", item.id));
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), &'static str> {
        let is_sound = |item: &Item| {
            let numbers: BTreeSet<u32> = item.windows.iter().map(|window| window.number).collect();
            numbers.len() == item.windows.len()
                && item.trials.iter().all(|trial| numbers.contains(&trial.input.window))
                && item.trading_days_per_year.is_finite()
                && item.trading_days_per_year > 0.0
        };
        if self.items.len() > MAX_ITEMS || self.tried.len() != self.items.len() {
            return Err("wrong number of items");
        }
        if self.against.is_some_and(|at| at >= self.items.len()) {
            return Err("the item that all are compared with is missing");
        }
        if !(self.target_points > 0.0 && self.target_points <= MAX_POINTS) {
            return Err("the target is out of range");
        }
        if !self.items.iter().all(is_sound) {
            return Err("an item's trials are not those of its windows");
        }
        Ok(())
    }
}
