//! Why an operation of the product failed.

use papertape_core::plan::{PlanError, PlanId};
use papertape_core::ports::RecordError;
use papertape_core::record::SessionId;
use papertape_market::MarketError;
use papertape_store::StoreError;

/// Why a request is rejected, or what failed.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The request is invalid.
    #[error("{field}: {message}")]
    Invalid {
        /// The invalid field.
        field: &'static str,
        /// Why.
        message: String,
    },
    /// There is no job with this ID.
    #[error("there is no job {0}")]
    UnknownJob(String),
    /// There is no such item.
    #[error("{0}")]
    NotFound(String),
    /// The state of what the request names does not allow it, or not yet.
    #[error("{0}")]
    Conflict(String),
    /// The database, a file or the program itself failed.
    #[error(transparent)]
    Internal(#[from] anyhow::Error),
}

impl ServiceError {
    pub(crate) fn invalid(field: &'static str, message: impl Into<String>) -> Self {
        Self::Invalid { field, message: message.into() }
    }

    pub(crate) fn no_session(session: SessionId) -> Self {
        Self::NotFound(format!("there is no session {session}"))
    }

    pub(crate) fn no_plan(plan: PlanId) -> Self {
        Self::NotFound(format!("there is no plan {plan}"))
    }

    pub(crate) fn no_conversation(id: &str) -> Self {
        Self::NotFound(format!("there is no conversation {}", id.escape_default()))
    }

    /// For a dataset that the field names.
    pub(crate) fn of_dataset(field: &'static str, error: MarketError) -> Self {
        match error {
            MarketError::NotFound { .. } => Self::NotFound(error.to_string()),
            MarketError::Ambiguous { .. } => Self::invalid(field, error.to_string()),
            other => Self::Internal(other.into()),
        }
    }
}

impl From<StoreError> for ServiceError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::BadCursor => Self::invalid("cursor", error.to_string()),
            other => Self::Internal(other.into()),
        }
    }
}

impl From<RecordError> for ServiceError {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::BadCursor => Self::invalid("cursor", error.to_string()),
            RecordError::Refused(refusal) => refusal.into(),
            RecordError::Busy(_) | RecordError::Superseded { .. } => Self::Conflict(error.to_string()),
            other => Self::Internal(other.into()),
        }
    }
}

impl From<PlanError> for ServiceError {
    fn from(error: PlanError) -> Self {
        let message = error.to_string();
        let field = match error {
            PlanError::NoPlan(_) | PlanError::NoTask(_) => return Self::NotFound(message),
            PlanError::TooManyTasks | PlanError::Busy(_) => return Self::Conflict(message),
            PlanError::NoParent(_) | PlanError::BelowItself | PlanError::TooDeep => "parent_id",
            PlanError::NoDependency(_) | PlanError::Cycle(_) => "dependencies",
            PlanError::Empty(field) | PlanError::Control { field, .. } | PlanError::TooLong { field, .. } => {
                field
            }
        };
        Self::invalid(field, message)
    }
}
