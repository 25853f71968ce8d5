//! How the research of a day came about.

use crate::results::point_in_time::PointInTimeReason;
use papertape_core::id::Symbol;
use papertape_core::provenance::{DataQuality, Degradation, Research, SampleQuality};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The provenance of a day's research.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Provenance {
    /// `verified`: the agent saw nothing but the market view, and so did every session whose account or memory
    /// it continues; `unverified`: one of them could see more.
    pub point_in_time: Option<String>,
    /// Why it is `unverified`; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub point_in_time_reason: Option<PointInTimeReason>,
    /// `state` is `ok`, `research_degraded`, `node_degraded`, `no_decision` or `failed`; `reason_codes` says why;
    /// `sources_missing` names unavailable sources, which are not degradations.
    #[schema(value_type = Option<Object>)]
    pub data_quality: Option<DataQuality>,
    /// `full_research` or `degraded_research`.
    #[schema(value_type = Option<String>)]
    pub sample_quality: Option<SampleQuality>,
    /// The six fields of the research debate, rolled up over all instruments; `null` where nothing was
    /// debated.
    #[schema(value_type = Option<Object>)]
    pub research: Option<Research>,
    /// The six fields of each instrument.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = Object)]
    pub by_symbol: BTreeMap<Symbol, Research>,
    /// Failed nodes, in the order of the graph.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    pub degradations: Vec<Degradation>,
}
