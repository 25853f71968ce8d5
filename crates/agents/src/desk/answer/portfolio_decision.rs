//! The Portfolio Manager's answer.

use super::fields::Fields;
use super::label::FieldKey;
use super::render::{Renderer, price_schema, properties, rating_schema, text_or_null, text_schema};
use super::{Rating, Structured, Unparseable};
use papertape_core::language::Language;
use papertape_core::message::ResponseSchema;
use papertape_core::money::Price;
use serde::{Deserialize, Serialize};

/// The desk's decision about a symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortfolioDecision {
    /// The direction and its strength.
    pub rating: Rating,
    /// A short summary.
    pub executive_summary: String,
    /// The reasons.
    pub investment_thesis: String,
    /// The expected price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_target: Option<Price>,
    /// The time horizon in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_horizon: Option<String>,
}

impl Structured for PortfolioDecision {
    const NAME: &'static str = "portfolio_decision";

    fn schema() -> ResponseSchema {
        properties(
            Self::NAME,
            &[
                ("rating", rating_schema("the final rating")),
                ("executive_summary", text_schema("the plan in two to four sentences")),
                ("investment_thesis", text_schema("the reasons, from the debates")),
                ("price_target", price_schema("the expected price, or null")),
                ("time_horizon", text_or_null("how long the plan holds, or null")),
            ],
        )
    }

    fn read(text: &str) -> Result<(Self, Vec<String>), Unparseable> {
        let mut fields = Fields::read(text, FieldKey::Rating)?;
        let decision = Self {
            rating: fields.rating()?,
            executive_summary: fields.main_text(FieldKey::ExecutiveSummary),
            investment_thesis: fields.text(FieldKey::InvestmentThesis),
            price_target: fields.price(FieldKey::PriceTarget),
            time_horizon: fields.optional_text(FieldKey::TimeHorizon),
        };
        Ok((decision, fields.notes()))
    }

    fn render(&self, language: Language) -> String {
        let mut text = Renderer::new(language);
        text.value(FieldKey::Rating, self.rating.name(language));
        text.text(FieldKey::ExecutiveSummary, &self.executive_summary);
        text.text(FieldKey::InvestmentThesis, &self.investment_thesis);
        text.price(FieldKey::PriceTarget, self.price_target);
        text.optional(FieldKey::TimeHorizon, self.time_horizon.as_deref());
        text.finish()
    }
}
