//! Structured answers: what a role has to say, as a schema for the models that keep to one, and read
//! from whatever the others write.
//!
//! Reading never guesses. An answer without an opinion, or with several that contradict each other, is
//! [`Unparseable`] with the reason; it is never taken for a Hold.

mod fields;
mod json;
mod label;
mod number;
mod phrase;
mod portfolio_decision;
mod rating;
mod research_plan;
mod statement;
mod trader_proposal;

pub(crate) use number::figures;
pub use number::parse_number;
pub(crate) use phrase::{half_width, is_invisible};
pub use portfolio_decision::PortfolioDecision;
pub use rating::{Action, Rating};
pub use research_plan::ResearchPlan;
pub use trader_proposal::TraderProposal;

use crate::config::Language;
use papertape_core::message::ResponseSchema;

/// An answer that has a form.
pub trait Structured: Sized {
    /// The schema's name.
    const NAME: &'static str;

    /// The JSON schema of the answer: every property is required, one that may be absent is nullable,
    /// and there are no others.
    fn schema() -> ResponseSchema;

    /// Reads an answer: JSON (alone, in a code fence, with prose around it), labelled text in English
    /// or Chinese, or plain prose.
    ///
    /// # Errors
    /// No opinion, contradicting opinions, a value that is none of those allowed, a number that is no
    /// price.
    fn parse(text: &str) -> Result<Self, Unparseable>;

    /// The answer as text, in Markdown. Reading it gives the answer again, but for spaces around its
    /// texts and the kind of its line ends.
    fn render(&self, language: Language) -> String;
}

/// Why an answer could not be read, in a sentence that is told to the model when it may try again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Unparseable {
    /// The sentence.
    pub reason: String,
}

impl Unparseable {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}
