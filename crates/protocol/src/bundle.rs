//! Evidence bundles: what `GET /jobs/{job_id}/bundle` contains.

use crate::query::{flag, parsed};
use crate::vocabulary::words;
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::Object;
use utoipa::{IntoParams, ToSchema};

/// What a bundle contains besides the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct BundleQuery {
    /// How much of the tape: `none` (the default), `full` with all texts, or `redacted` with hashes in place of texts.
    #[serde(deserialize_with = "parsed")]
    #[param(schema_with = tape_form)]
    pub tape: Option<TapeForm>,
    /// `false`: without the audit, which re-runs every session four times.
    #[serde(deserialize_with = "flag")]
    #[param(value_type = Option<bool>)]
    pub audit: bool,
}

impl Default for BundleQuery {
    fn default() -> Self {
        Self { tape: None, audit: true }
    }
}

/// How much of the tape a bundle contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TapeForm {
    /// Nothing: only the heads of the sessions' chains.
    #[default]
    None,
    /// Everything, with all texts.
    Full,
    /// Every link, without any text: hashes in their place.
    Redacted,
}

fn tape_form() -> Object {
    words(&TapeForm::ALL.map(TapeForm::as_str))
}

papertape_core::words!(TapeForm, "form of the tape" { None = "none", Full = "full", Redacted = "redacted" });
