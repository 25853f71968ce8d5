//! Summaries consist of the text's own sentences.

use crate::support::request;
use papertape_core::message::{ModelRequest, ToolChoice};
use papertape_house as house;

const PROMPT: &str = "Summarize the following trading decision in 1-2 sentences, focusing on the key \
                      reasoning and actions taken:";

fn summary(request: &ModelRequest) -> String {
    let mut request = request.clone();
    request.model = "house::momentum".parse().unwrap();
    let reply = house::answer(&request).unwrap().reply;
    assert!(reply.tool_calls.is_empty());
    reply.text
}

fn of(text: &str) -> String {
    summary(&request(&format!("{PROMPT}\n\n{text}\n\nSummary:")))
}

#[test]
fn the_sentences_with_actions_and_reasons_are_chosen() {
    let text = "Good morning. Markets were calm today. I bought 12 AAPL at 542.10 because the trend is up. \
                The weather is nice. I sold all IBM, since RSI 71.5 is above 70. That is all.";
    assert_eq!(
        of(text),
        "I bought 12 AAPL at 542.10 because the trend is up. I sold all IBM, since RSI 71.5 is above 70."
    );
}

/// A house model's own text, without its label and its signal.
#[test]
fn an_account_is_summarised_without_its_label() {
    let text = "My day 2013-01-03:\n- AAPL: I bought 98 at 100; the trend is up (RSI 61).\n- IBM: I stay out.\n\
                Cash left: 200.\n<FINISH_SIGNAL>\n(house::momentum is a rule-based stand-in, not a language model.)";
    assert_eq!(of(text), "AAPL: I bought 98 at 100; the trend is up (RSI 61). IBM: I stay out.");
}

#[test]
fn chinese_is_summarised_in_its_own_words() {
    assert_eq!(
        of("今天市场平静。买入 AAPL 98 股，因为趋势向上。天气很好。卖出 IBM。"),
        "买入 AAPL 98 股，因为趋势向上。 卖出 IBM。"
    );
}

#[test]
fn a_text_without_decisions_gives_its_first_sentence_and_none_says_so() {
    assert_eq!(of("Nothing much. Really."), "Nothing much.");
    assert_eq!(of(""), "No decision was stated.");
}

/// The prompt may be in the instructions, with only the text in the message; and it needs no blank line.
#[test]
fn the_prompt_may_stand_elsewhere() {
    let mut instructed = request("Calm day. I hold MSFT because it rises.");
    instructed.instructions = Some(PROMPT.to_owned());
    assert_eq!(
        summary(&instructed),
        "I hold MSFT because it rises. Calm day.".split(". ").next().unwrap().to_owned() + "."
    );
    assert_eq!(
        summary(&request("Summarize the following trading decision in 1-2 sentences: I hold MSFT.")),
        "I hold MSFT."
    );
}

/// A request for a summary is not a trading day, even if the text mentions symbols and tools are offered.
#[test]
fn a_summary_is_never_a_trading_day() {
    let mut request = request(&format!("{PROMPT}\n\nSymbols: AAPL, IBM\nI bought AAPL."));
    request.tools = crate::day::tools();
    request.tool_choice = ToolChoice::Required;
    assert_eq!(summary(&request), "I bought AAPL.");
}

/// Two long sentences are one too many.
#[test]
fn a_summary_stays_short() {
    let long = format!("I bought AAPL because {}.", "it rose and rose ".repeat(12).trim());
    assert_eq!(of(&format!("{long} {}", long.replace("AAPL", "IBM"))), long);
}
