//! Summaries: the one or two sentences of a text that say what was done and why.

use super::{Draft, words};
use papertape_core::message::{Message, ModelRequest};

/// How a request for a summary begins.
const PROMPT: &str = "Summarize the following trading decision in 1-2 sentences";

/// A summary is at most this many characters long, unless its one sentence is longer.
const LONGEST: usize = 400;

/// Words that name an action, in lower case.
const ACTIONS: [&str; 20] = [
    "bought",
    "sold",
    "buy",
    "sell",
    "short",
    "cover",
    "hold",
    "stay out",
    "trim",
    "close",
    "reduce",
    "refused",
    "买入",
    "卖出",
    "卖空",
    "平仓",
    "持有",
    "加仓",
    "减仓",
    "不参与",
];

/// Words that name a reason, in lower case.
const REASONS: [&str; 19] = [
    "because",
    "since",
    "due to",
    "trend",
    "rsi",
    "average",
    "macd",
    "overbought",
    "oversold",
    "above",
    "below",
    "earnings",
    "risk",
    "因为",
    "由于",
    "趋势",
    "均线",
    "超买",
    "超卖",
];

/// The summary that is asked for; `None` where none is.
pub(super) fn draft(request: &ModelRequest) -> Option<Draft> {
    let text = subject(request)?;
    Some(Draft::text(summarise(&super::material(&text))))
}

/// The text to be summarised: what follows the prompt, or the user's message where the prompt is the
/// instructions.
fn subject(request: &ModelRequest) -> Option<String> {
    let user = request.messages.iter().rev().find_map(|message| match message {
        Message::User { content } => Some(content.as_str()),
        _ => None,
    });
    if let Some(rest) = user.and_then(|user| user.trim_start().strip_prefix(PROMPT)) {
        // The rest of the prompt's own sentence ends with a colon at the end of a line, a blank line
        // or, at worst, a colon.
        let body = [":\n", "\n\n", ":"]
            .into_iter()
            .find_map(|end| rest.split_once(end).map(|(_, body)| body))
            .unwrap_or(rest);
        let body = body.trim_end();
        return Some(body.strip_suffix("Summary:").unwrap_or(body).to_owned());
    }
    let instructed =
        request.instructions.as_deref().is_some_and(|text| text.trim_start().starts_with(PROMPT));
    user.filter(|_| instructed).map(str::to_owned)
}

pub(super) fn summarise(text: &str) -> String {
    let sentences = sentences(text);
    let mut ranked: Vec<(usize, usize)> =
        sentences.iter().enumerate().map(|(at, sentence)| (score(sentence), at)).collect();
    // The highest first; among equals the earlier.
    ranked.sort_by_key(|&(score, at)| (usize::MAX - score, at));
    let mut best: Vec<usize> =
        ranked.iter().filter(|(score, _)| *score > 0).map(|&(_, at)| at).take(2).collect();
    if best.is_empty() {
        best.extend((!sentences.is_empty()).then_some(0));
    }
    if best.iter().map(|&at| sentences[at].chars().count()).sum::<usize>() > LONGEST {
        best.truncate(1);
    }
    best.sort_unstable();
    if best.is_empty() {
        return "No decision was stated.".to_owned();
    }
    best.iter().map(|&at| sentences[at].as_str()).collect::<Vec<_>>().join(" ")
}

/// Two for an action, one for a reason, each at most once, one more for both; nothing without either.
fn score(sentence: &str) -> usize {
    let lower = sentence.to_lowercase();
    let acts = ACTIONS.iter().any(|word| lower.contains(word));
    let reasons = REASONS.iter().any(|word| lower.contains(word));
    usize::from(acts) * 2 + usize::from(reasons) + usize::from(acts && reasons)
}

/// The text's sentences without list marks and labels. A full stop inside of a number ends none.
fn sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    for line in text.lines().filter(|line| !words::is_label(line)) {
        let line = line.trim().trim_start_matches(['-', '*', '#', '>', '•']).trim();
        let mut sentence = String::new();
        let mut rest = line.chars().peekable();
        while let Some(c) = rest.next() {
            sentence.push(c);
            let full = matches!(c, '。' | '！' | '？');
            let stop = matches!(c, '.' | '!' | '?') && rest.peek().is_none_or(|next| next.is_whitespace());
            if full || stop {
                sentences.push(std::mem::take(&mut sentence).trim().to_owned());
            }
        }
        sentences.push(sentence.trim().to_owned());
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}
