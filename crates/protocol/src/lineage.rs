//! The lineage of a fill: its order, the decision behind it, and what the agent saw before.

use crate::deployment::Deployment;
use crate::memory::RecalledItem;
use crate::query::action_number;
use papertape_core::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};

/// Which fill.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct LineageQuery {
    /// `action_id` of the fill.
    #[serde(deserialize_with = "action_number")]
    #[param(value_type = i64, minimum = 1)]
    pub action_id: u64,
}

/// What led to a fill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LineageResponse {
    /// The session of the fill.
    pub session_id: i64,
    /// The fill.
    pub action_id: u64,
    /// The instrument.
    pub symbol: String,
    /// The step that booked the fill; `null` for imported trades.
    pub path: Option<String>,
    /// The order; `null` for a fill without one: a stop, a target, a liquidation, a delisting. What follows is then
    /// empty.
    pub order: Option<LineageOrder>,
    /// The message with the decision; `null` if there is none.
    pub decision: Option<LineageMessage>,
    /// Of a desk: the last message of each node upstream of the decision, nearest first.
    pub contributing: Vec<LineageMessage>,
    /// Of a desk: how its orders in the instrument were cut.
    pub cuts: Vec<LineageCut>,
    /// The market data that the agent had read, by series: about the instrument, or about the whole market.
    pub exposures: Vec<LineageSeries>,
    /// The memories in the prompts.
    pub memories: Vec<LineageMemory>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// The order of a fill. All steps and messages of the lineage are of its session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LineageOrder {
    /// The order.
    pub order_id: String,
    /// The session that placed it: this one, or an earlier one.
    pub session_id: i64,
    /// Its trading day.
    pub date: Date,
    /// The step; `null` if none is recorded.
    pub path: Option<String>,
    /// The agent's reason; `null` without one.
    pub reason: Option<String>,
}

/// A message that led to an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LineageMessage {
    /// Its step.
    pub path: String,
    /// The node, without instrument and round.
    pub node: String,
    /// Its text.
    pub content: String,
}

/// An adjustment of a desk's orders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LineageCut {
    /// The instrument.
    pub symbol: String,
    /// The reason code.
    pub code: String,
    /// The reason in a sentence.
    pub message: String,
    /// The numbers behind it, by name: decimals as text.
    #[serde(default)]
    pub numbers: BTreeMap<String, String>,
}

/// The reads of a series.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LineageSeries {
    /// The series, such as `AAPL/bars`.
    pub series: String,
    /// How many reads.
    pub reads: usize,
    /// The number of rows of the largest read.
    pub rows: u64,
    /// Day of the earliest row; `null` where there is none.
    pub first_date: Option<Date>,
    /// Day of the latest row; `null` where there is none.
    pub last_date: Option<Date>,
    /// When the newest row became known.
    pub latest_known_at: Option<Timestamp>,
    /// The step of the first read.
    pub path: String,
}

/// A recalled memory with its step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LineageMemory {
    /// The step that recalled it.
    pub path: String,
    /// The memory.
    #[serde(flatten)]
    pub item: RecalledItem,
}
