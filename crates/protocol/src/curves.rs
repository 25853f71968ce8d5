//! The curves of a run: portfolio value and status of each agent on each day.

use crate::deployment::Deployment;
use crate::masking::MaskedResponse;
use crate::number::Number;
use crate::results::range::DoneBefore;
use papertape_core::record::DayStatus;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The curves of a job's agents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CurvesResponse {
    /// The job.
    pub job_id: String,
    /// Whether its cancellation was requested.
    pub cancel_requested: bool,
    /// Its trading days, oldest first: the lists of each agent have one entry per day.
    pub dates: Vec<Date>,
    /// Its agents, in the order of the job.
    pub agents: Vec<AgentCurve>,
    /// The mark of a masked job; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masked: Option<MaskedResponse>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// One agent, day by day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgentCurve {
    /// The agent.
    pub model: String,
    /// `false`: a rule-based house model, not a language model.
    pub is_llm: Option<bool>,
    /// The portfolio value before the first day that is closed; `null` while none is.
    pub starting_portfolio_value: Option<Number>,
    /// Days that earlier jobs ran, oldest first.
    pub done_before: Vec<DoneBefore>,
    /// Cash and holdings at each close; `null` where the day is not closed.
    pub portfolio_values: Vec<Option<Number>>,
    /// The status of each day; `null` where the agent has no such day.
    #[schema(value_type = Vec<Option<String>>)]
    pub statuses: Vec<Option<DayStatus>>,
    /// Whether it was a day of full research; `null` where the day is not closed.
    pub full_research: Vec<Option<bool>>,
}
