//! The Trader's answer.

use super::fields::Fields;
use super::label::FieldKey;
use super::render::{
    Renderer, action_schema, number_schema, price_schema, properties, text_or_null, text_schema,
};
use super::{Action, Structured, Unparseable};
use papertape_core::language::Language;
use papertape_core::message::ResponseSchema;
use papertape_core::money::Price;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// The Trader's proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraderProposal {
    /// The action.
    pub action: Action,
    /// The reasons.
    pub reasoning: String,
    /// The entry price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_price: Option<Price>,
    /// The stop price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_loss: Option<Price>,
    /// The target price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub take_profit: Option<Price>,
    /// Above zero; 1 means no leverage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leverage: Option<Decimal>,
    /// The size in words: see [`crate::desk::sizing::Size`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position_sizing: Option<String>,
}

impl Structured for TraderProposal {
    const NAME: &'static str = "trader_proposal";

    fn schema() -> ResponseSchema {
        properties(
            Self::NAME,
            &[
                ("action", action_schema("what to do")),
                ("reasoning", text_schema("why, in two to four sentences")),
                ("entry_price", price_schema("the price to open at, or null")),
                ("stop_loss", price_schema("the price to close at a loss, or null")),
                ("take_profit", price_schema("the price to close at a gain, or null")),
                ("leverage", number_schema("1 for none, or null")),
                (
                    "position_sizing",
                    text_or_null(
                        "the size, such as `5% of portfolio`, `10 shares`, `half position`, or null",
                    ),
                ),
            ],
        )
    }

    fn read(text: &str) -> Result<(Self, Vec<String>), Unparseable> {
        let mut fields = Fields::read(text, FieldKey::Action)?;
        let proposal = Self {
            action: fields.action()?,
            reasoning: fields.main_text(FieldKey::Reasoning),
            entry_price: fields.price(FieldKey::EntryPrice),
            stop_loss: fields.price(FieldKey::StopLoss),
            take_profit: fields.price(FieldKey::TakeProfit),
            leverage: fields.positive(FieldKey::Leverage),
            position_sizing: fields.size(FieldKey::PositionSizing),
        };
        Ok((proposal, fields.notes()))
    }

    fn render(&self, language: Language) -> String {
        let mut text = Renderer::new(language);
        text.value(FieldKey::Action, self.action.name(language));
        text.text(FieldKey::Reasoning, &self.reasoning);
        text.price(FieldKey::EntryPrice, self.entry_price);
        text.price(FieldKey::StopLoss, self.stop_loss);
        text.price(FieldKey::TakeProfit, self.take_profit);
        text.number(FieldKey::Leverage, self.leverage);
        text.optional(FieldKey::PositionSizing, self.position_sizing.as_deref());
        text.proposal(self.action);
        text.finish()
    }
}
