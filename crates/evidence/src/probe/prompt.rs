//! The text of a question, in three wordings.

use super::reply::read_choice;
use super::{Question, QuizItem};
use crate::quiz::{QuizKind, QuizResponse};
use crate::random::{Random, Seed};

/// The number of wordings of a question. The choice of most of them counts.
pub const PARAPHRASES: usize = 3;

/// A question as sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuizPrompt {
    /// The text, with lettered choices.
    pub text: String,
    /// The choice behind each letter, by its position in the item's choices.
    order: Vec<u8>,
    /// The texts of the choices, by letter.
    choices: Vec<String>,
}

impl QuizPrompt {
    /// Reads a response to this prompt. One that names no choice, or several, is declined.
    #[must_use]
    pub fn read(&self, reply: &str) -> QuizResponse {
        let letter = read_choice(reply, &self.choices);
        letter
            .and_then(|letter| self.order.get(letter))
            .map_or(QuizResponse::Declined, |choice| QuizResponse::Choice(*choice))
    }
}

impl QuizItem {
    /// One of its [`PARAPHRASES`] wordings, from 0. Each has the choices in its own order.
    #[must_use]
    pub fn prompt(&self, paraphrase: usize) -> QuizPrompt {
        let mut random = Random::new(Seed::derive(&[], &[&self.key], &format!("order {paraphrase}")));
        let shuffled = random.permutation(self.choices.len());
        let choices: Vec<String> = shuffled.iter().map(|at| self.choices[*at].clone()).collect();
        let order = shuffled.into_iter().filter_map(|at| u8::try_from(at).ok()).collect();
        let lines =
            (b'A'..).zip(&choices).map(|(letter, choice)| format!("{}) {choice}", char::from(letter)));
        let text = format!(
            "{}\n\n{}\n\nReply with one letter only.",
            self.question.text(self.kind, paraphrase % PARAPHRASES),
            lines.collect::<Vec<_>>().join("\n")
        );
        QuizPrompt { text, order, choices }
    }
}

impl QuizKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Direction, Self::Level, Self::Date, Self::Company];

    /// Its name in records, options and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Direction => "direction",
            Self::Level => "level",
            Self::Date => "date",
            Self::Company => "company",
        }
    }
}

impl Question {
    fn text(&self, kind: QuizKind, paraphrase: usize) -> String {
        let company = self.company.as_deref().unwrap_or("a company whose name is hidden");
        let month = self.month.as_deref().unwrap_or("a month that is hidden");
        let points: Vec<String> = self.chart.iter().map(|value| format!("{value:.1}")).collect();
        let chart = points.join(", ");
        match (kind, paraphrase) {
            (QuizKind::Direction, 0) => format!(
                "Weekly closes of {company} up to the start of {month}, oldest first, indexed so that the last one is 100:\n\
                 {chart}\n\nWas the closing price at the end of {month} higher or lower than at the start of that month?"
            ),
            (QuizKind::Direction, 1) => format!(
                "Before {month}, {company} had these weekly closes (an index, 100 at the end): {chart}.\n\nHow did the share \
                 price end {month}, compared with the last of these closes?"
            ),
            (QuizKind::Direction, _) => format!(
                "Consider {company} in {month}. The index of its weekly closes before that month was {chart}.\n\nOver {month}, \
                 where did the share price go?"
            ),
            (QuizKind::Level, 0) => format!(
                "What was the closing price of {company} on the last trading day of {month}, as quoted on that day?"
            ),
            (QuizKind::Level, 1) => format!(
                "At which of these prices did one share of {company} close at the end of {month}? Prices are as quoted then, \
                 not adjusted for later splits or dividends."
            ),
            (QuizKind::Level, _) => {
                format!("Which of these is the price of a share of {company} at the final close of {month}?")
            }
            (QuizKind::Date, 0) => format!(
                "Weekly closes of {company} over three months, oldest first, indexed so that the last one is 100:\n{chart}\n\n\
                 In which month does this chart end?"
            ),
            (QuizKind::Date, 1) => format!(
                "This is a chart of {company} with its dates removed (weekly closes, 100 at the end): {chart}.\n\nWhich month \
                 are its last closes from?"
            ),
            (QuizKind::Date, _) => format!(
                "Identify the period. The shares of {company} had these weekly closes, as an index: {chart}.\n\nWhat is the \
                 last month of the period?"
            ),
            (QuizKind::Company, 0) => format!(
                "Weekly closes of one company over the three months that end with {month}, oldest first, indexed so that the \
                 last one is 100:\n{chart}\n\nWhich company is it?"
            ),
            (QuizKind::Company, 1) => format!(
                "This chart ends in {month}, and the company's name is removed (weekly closes, 100 at the end): {chart}.\n\n\
                 Whose shares does it show?"
            ),
            (QuizKind::Company, _) => format!(
                "Identify the company. Up to the end of {month}, its shares had these weekly closes, as an index: {chart}.\n\n\
                 Which one is it?"
            ),
        }
    }
}
