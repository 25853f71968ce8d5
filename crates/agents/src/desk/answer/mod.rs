//! Structured answers: a schema for models that support one, and lenient parsing for the others.
//!
//! Parsing never guesses. An answer without an opinion, or with two different ones, is [`Unparseable`] with
//! the reason; it never counts as a Hold. The format is lenient in exchange, and an optional field that
//! cannot be parsed is left out with a note.

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

use papertape_core::language::Language;
use papertape_core::message::ResponseSchema;

/// A structured answer.
pub trait Structured: Sized {
    /// The schema's name.
    const NAME: &'static str;

    /// The JSON Schema of the answer: every property is required, optional ones are nullable, and no others
    /// are allowed.
    fn schema() -> ResponseSchema;

    /// Parses an answer: JSON (alone, in a code block, among words), labeled lines in English or Chinese, or
    /// a last sentence that states the opinion. Also returns what was left out, with the reasons.
    ///
    /// # Errors
    /// No opinion, two different ones, or one that is not allowed.
    fn read(text: &str) -> Result<(Self, Vec<String>), Unparseable>;

    /// The answer without the notes from [`Self::read`].
    ///
    /// # Errors
    /// Like [`Self::read`].
    fn parse(text: &str) -> Result<Self, Unparseable> {
        Self::read(text).map(|(answer, _)| answer)
    }

    /// The answer as Markdown. Parsing it never gives a different opinion.
    fn render(&self, language: Language) -> String;
}

/// Why an answer could not be parsed: a sentence that the model sees when it may try again.
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
