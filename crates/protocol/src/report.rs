//! Reports.

use serde::Deserialize;
use utoipa::IntoParams;

/// How a report is written.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ReportQuery {
    /// `en` or `zh`.
    #[param(schema_with = crate::vocabulary::language)]
    pub language: Option<String>,
}
