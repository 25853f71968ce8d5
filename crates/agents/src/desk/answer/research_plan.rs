//! The Research Manager's answer.

use super::fields::Fields;
use super::label::FieldKey;
use super::render::{Renderer, properties, rating_schema, text_schema};
use super::{Rating, Structured, Unparseable};
use papertape_core::language::Language;
use papertape_core::message::ResponseSchema;
use serde::{Deserialize, Serialize};

/// The Research Manager's conclusion from the debate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResearchPlan {
    /// The direction.
    pub recommendation: Rating,
    /// The reasons.
    pub rationale: String,
    /// What the Trader should do about it.
    pub strategic_actions: String,
}

impl Structured for ResearchPlan {
    const NAME: &'static str = "research_plan";

    fn schema() -> ResponseSchema {
        properties(
            Self::NAME,
            &[
                ("recommendation", rating_schema("the view that the debate supports best")),
                ("rationale", text_schema("why, from the strongest points of both sides")),
                ("strategic_actions", text_schema("concrete steps for the trader")),
            ],
        )
    }

    fn read(text: &str) -> Result<(Self, Vec<String>), Unparseable> {
        let mut fields = Fields::read(text, FieldKey::Recommendation)?;
        let plan = Self {
            recommendation: fields.rating()?,
            rationale: fields.main_text(FieldKey::Rationale),
            strategic_actions: fields.text(FieldKey::StrategicActions),
        };
        Ok((plan, fields.notes()))
    }

    fn render(&self, language: Language) -> String {
        let mut text = Renderer::new(language);
        text.value(FieldKey::Recommendation, self.recommendation.name(language));
        text.text(FieldKey::Rationale, &self.rationale);
        text.text(FieldKey::StrategicActions, &self.strategic_actions);
        text.finish()
    }
}
