//! Summaries: the one or two sentences of a text that state what was done and why.

use super::{Draft, phrases};
use papertape_core::message::{Message, ModelRequest};
use papertape_core::prompt::lines::{SUMMARY_END, SUMMARY_TASK};

/// Maximum length of a summary in characters, unless its only sentence is longer.
const LONGEST: usize = 400;

/// Words that indicate an action, in lower case, separated by bars.
const ACTIONS: &str = "bought|sold|buy|sell|short|cover|hold|stay out|trim|close|reduce|refused|rejected|\
    买入|卖出|卖空|平仓|持有|加仓|减仓|不参与";

/// Words that indicate a reason, in lower case, separated by bars.
const REASONS: &str = "because|since|due to|trend|rsi|average|macd|overbought|oversold|above|below|earnings|risk|\
    因为|由于|趋势|均线|超买|超卖";

/// The requested summary; `None` when the request is for something else.
pub(super) fn draft(request: &ModelRequest) -> Option<Draft> {
    let text = subject(request)?;
    Some(Draft::text(summarize(&super::material(&text))))
}

/// The text to summarize: what follows the prompt, or the user's message when the prompt is in the
/// instructions.
fn subject(request: &ModelRequest) -> Option<String> {
    let user = request.messages.iter().rev().find_map(|message| match message {
        Message::User { content } => Some(content.as_str()),
        _ => None,
    });
    if let Some(rest) = user.and_then(|user| user.trim_start().strip_prefix(SUMMARY_TASK)) {
        // The prompt's own sentence ends with a colon at the end of a line, a blank line or, failing that,
        // any colon.
        let body = [":\n", "\n\n", ":"]
            .into_iter()
            .find_map(|end| rest.split_once(end).map(|(_, body)| body))
            .unwrap_or(rest);
        let body = body.trim_end();
        return Some(body.strip_suffix(SUMMARY_END).unwrap_or(body).to_owned());
    }
    let instructed =
        request.instructions.as_deref().is_some_and(|text| text.trim_start().starts_with(SUMMARY_TASK));
    user.filter(|_| instructed).map(str::to_owned)
}

pub(super) fn summarize(text: &str) -> String {
    let sentences = sentences(text);
    let mut ranked: Vec<(usize, usize)> =
        sentences.iter().enumerate().map(|(at, sentence)| (score(sentence), at)).collect();
    // Highest score first; ties by position.
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

/// Two points for an action, one for a reason, each counted once, and one more for both; zero with neither.
fn score(sentence: &str) -> usize {
    let lower = sentence.to_lowercase();
    let has = |words: &str| words.split('|').any(|word| lower.contains(word));
    let (acts, reasons) = (has(ACTIONS), has(REASONS));
    usize::from(acts) * 2 + usize::from(reasons) + usize::from(acts && reasons)
}

/// The text's sentences without list marks and labels. A period inside a number does not end a sentence.
fn sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    for line in text.lines().filter(|line| !phrases::is_label(line)) {
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
