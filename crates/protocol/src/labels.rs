//! Names, tags and notes of jobs.

use crate::deployment::Deployment;
use crate::fields::given;
use papertape_core::label::{JobLabels, LabelChanges};
use papertape_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A job's name, tags and note. Nothing that a job does or proves depends on them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Labels {
    /// Its name; `null`: none.
    pub name: Option<String>,
    /// Its tags, in order.
    pub tags: Vec<String>,
    /// Its note; `null`: none.
    pub note: Option<String>,
    /// When one of them last changed; `null`: never.
    pub updated_at: Option<Timestamp>,
    /// The name of the token that changed it last; `null` if no token was required.
    pub updated_by: Option<String>,
}

/// Changes to a job's labels. A field that is absent stays as it is.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "name": "Cautious desk, autumn", "add_tags": ["paper"], "note": "Lost in November: see the 8th" }))]
pub struct LabelsPatch {
    /// Its name; `null` or empty removes it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, max_length = 200)]
    pub name: Option<Option<String>>,
    /// All its tags, up to 20 of up to 40 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 20)]
    pub tags: Option<Vec<String>>,
    /// Tags to add, after `tags`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 20)]
    pub add_tags: Vec<String>,
    /// Tags to remove, after `add_tags`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove_tags: Vec<String>,
    /// Its note, up to 10,000 bytes; `null` or empty removes it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, max_length = 10_000)]
    pub note: Option<Option<String>>,
}

/// A job's labels after a change.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LabelsResponse {
    /// The job.
    pub job_id: String,
    /// Its labels.
    pub labels: Labels,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

impl From<JobLabels> for Labels {
    fn from(labels: JobLabels) -> Self {
        Self {
            name: labels.name,
            tags: labels.tags.into_iter().collect(),
            note: labels.note,
            updated_at: labels.updated_at,
            updated_by: labels.updated_by,
        }
    }
}

impl From<LabelsPatch> for LabelChanges {
    fn from(patch: LabelsPatch) -> Self {
        Self {
            name: patch.name.map(Option::unwrap_or_default),
            note: patch.note.map(Option::unwrap_or_default),
            tags: patch.tags,
            add_tags: patch.add_tags,
            remove_tags: patch.remove_tags,
        }
    }
}
