//! Structured answers: what a role has to say, as a schema for the models that keep to one, and read
//! from whatever the others write.
//!
//! Reading never guesses. An answer without an opinion, or with two that differ, is [`Unparseable`] with
//! the reason; it is never taken for a Hold. The form is lenient in exchange, and an optional field that
//! cannot be read is left out and noted.

mod fields;
mod json;
mod label;
mod number;
mod opinion;
mod portfolio_decision;
mod rating;
mod render;
mod research_plan;
mod text;
mod trader_proposal;

pub use number::parse_number;
pub(crate) use number::{Figure, figures};
pub use portfolio_decision::PortfolioDecision;
pub use rating::{Action, Rating};
pub use research_plan::ResearchPlan;
pub(crate) use text::half_width;
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

    /// Reads an answer: JSON (alone, in a code block, among words), labeled lines in English or Chinese, or
    /// a last sentence that states the opinion. Beside it stands what was left out, and why.
    ///
    /// # Errors
    /// No opinion, two that differ, or one that is none of those allowed.
    fn read(text: &str) -> Result<(Self, Vec<String>), Unparseable>;

    /// The answer without the notes of [`Self::read`].
    ///
    /// # Errors
    /// As [`Self::read`].
    fn parse(text: &str) -> Result<Self, Unparseable> {
        Self::read(text).map(|(answer, _)| answer)
    }

    /// The answer as text, in Markdown. Reading it gives no other opinion.
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
