//! Opinions stated in prose: by the writer, not by those whom it quotes; stated, not asked or supposed.

use super::label::Weight;
use super::phrase::{self, Found, Term, searchable};

/// What a value or a text says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// One opinion.
    One(Term),
    /// None, or only what it is not.
    Nothing,
    /// Several, or one under a condition: in words, for the reason.
    Unclear(&'static str),
}

/// Words with which a writer states its own opinion.
const CUES: [&str; 40] = [
    "recommend",
    "my decision",
    "our decision",
    "the decision",
    "decision is",
    "my rating",
    "our rating",
    "my verdict",
    "my call",
    "our call",
    "my stance",
    "our stance",
    "my view",
    "i rate",
    "we rate",
    "i would",
    "i'd",
    "i will",
    "i'll",
    "we should",
    "we will",
    "we must",
    "i suggest",
    "we suggest",
    "i propose",
    "we propose",
    "i advise",
    "we advise",
    "i conclude",
    "conclusion",
    "verdict",
    "i choose",
    "建议",
    "推荐",
    "结论",
    "决定",
    "评级为",
    "维持",
    "应",
    "主张",
];

/// Words with which something is said to be what it is.
const WEAK_CUES: [&str; 10] = [
    " is a ",
    " is an ",
    "it's a ",
    "remains a ",
    "remains an ",
    "stays a ",
    "rated ",
    "rating of ",
    "是",
    "给予",
];

/// Words of a last word.
const FINAL_CUES: [&str; 12] = [
    "final",
    "in conclusion",
    "conclusion",
    "verdict",
    "all things considered",
    "in summary",
    "to conclude",
    "最终",
    "综上",
    "结论",
    "总之",
    "最后决定",
];

/// Words of suppositions.
const CONDITIONS: [&str; 14] = [
    " if ",
    " unless ",
    " should it ",
    " should the ",
    " once ",
    " provided that ",
    " in case ",
    " were to ",
    "如果",
    "假如",
    "倘若",
    "一旦",
    "除非",
    "若",
];

/// Whose opinion it may be instead.
const OTHERS: [&str; 44] = [
    "goldman",
    "morgan",
    "jpmorgan",
    "citi",
    "ubs",
    "barclays",
    "analyst",
    "analysts",
    "wall street",
    "consensus",
    "bull",
    "bulls",
    "bear",
    "bears",
    "researcher",
    "broker",
    "brokers",
    "article",
    "headline",
    "headlines",
    "tweet",
    "post",
    "posts",
    "they",
    "he",
    "she",
    "some",
    "others",
    "reddit",
    "the market",
    "the street",
    "高盛",
    "摩根",
    "大摩",
    "花旗",
    "瑞银",
    "中金",
    "中信",
    "券商",
    "机构",
    "分析师",
    "多头",
    "空头",
    "他",
];

/// Words that report what another said.
const REPORTS: [&str; 18] = [
    "said",
    "says",
    "argues",
    "argued",
    "argue",
    "claims",
    "claimed",
    "claim",
    "wrote",
    "writes",
    "according to",
    "urges",
    "insists",
    "表示",
    "声称",
    "研报",
    "据",
    "报道",
];

const OWN_VOICE: [&str; 12] =
    ["i", "i'd", "i'll", "i'm", "we", "we'd", "my", "our", "我", "我们", "本人", "笔者"];

/// Speakers whose lines in a debate are not the writer's.
const SPEAKERS: [&str; 15] = [
    "bull",
    "bear",
    "aggressive",
    "conservative",
    "neutral",
    "analyst",
    "researcher",
    "consensus",
    "street",
    "user",
    "news",
    "多头",
    "空头",
    "看多",
    "看空",
];

/// The opinion that a value names: `Overweight`, `Strong Buy, for three reasons`, `from Hold to Buy`.
pub(super) fn value(value: &str) -> Said {
    if let Some(term) = phrase::exact(value) {
        return Said::One(term);
    }
    let text = searchable(&without_asides(value));
    let text = changed_to(&text);
    let found = phrase::find(text, 0);
    let named = distinct(&found);
    if named.len() > 1 && is_list(text, &found) {
        return Said::Unclear("names several");
    }
    let breaks = [';', ',', '.', '。', '；', '，', '—', '–', '\n'];
    let segment = text
        .split_inclusive(breaks)
        .flat_map(|part| part.split(" - "))
        .flat_map(|part| part.split(" because "))
        .find(|part| !distinct(&phrase::find(part, 0)).is_empty());
    let Some(segment) = segment else { return Said::Nothing };
    if is_conditional(segment) {
        return Said::Unclear("is conditional");
    }
    match distinct(&phrase::find(segment, 0)).as_slice() {
        [only] => Said::One(*only),
        _ => Said::Unclear("names several"),
    }
}

/// Every opinion that the writer of a text states.
pub(super) fn all(text: &str) -> Vec<(Weight, Term)> {
    if let Some(term) = phrase::exact(text) {
        return vec![(Weight::Own, term)];
    }
    let mut stated = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('>') && !is_spoken(line)) {
        for sentence in sentences(line) {
            let plain = without_quotes(&searchable(sentence));
            if plain.trim_end().ends_with('?') || is_conditional(&plain) {
                continue;
            }
            // `I would not sell, but buy`: a clause goes on with the voice of the one before.
            let mut goes_on = false;
            for part in clauses(&plain) {
                let opinion = clause(part).or_else(|| continued(part).filter(|_| goes_on));
                goes_on = opinion.is_none() && !is_anothers(part) && cue(part, &CUES).is_some();
                stated.extend(opinion);
            }
        }
    }
    stated
}

/// The opinion of one clause, if it states one.
fn clause(text: &str) -> Option<(Weight, Term)> {
    let weight = |usual| if contains_any(text, &FINAL_CUES) { Weight::Final } else { usual };
    if let Some(term) = phrase::exact(text) {
        return Some((weight(Weight::Other), term));
    }
    if is_anothers(text) {
        return None;
    }
    if let Some(term) = cued(text, &CUES) {
        return Some((weight(Weight::Own), term));
    }
    cued(text, &WEAK_CUES).map(|term| (weight(Weight::Other), term))
}

/// The first opinion of a clause that needs no cue of its own.
fn continued(text: &str) -> Option<(Weight, Term)> {
    if is_anothers(text) {
        return None;
    }
    phrase::find(text, 0).into_iter().find(|found| !found.denied).map(|found| (Weight::Own, found.term))
}

fn cue(text: &str, cues: &[&str]) -> Option<usize> {
    cues.iter().filter_map(|cue| position(text, cue)).min()
}

/// The first opinion after a cue that is not denied; where none follows, one before it.
fn cued(text: &str, cues: &[&str]) -> Option<Term> {
    let at = cue(text, cues)?;
    let from = words_before(text, at);
    let after = phrase::find(text, from).into_iter().find(|found| !found.denied);
    let any = || phrase::find(text, 0).into_iter().find(|found| !found.denied && found.end <= at);
    after.or_else(any).map(|found| found.term)
}

/// Where a cue begins a word.
fn position(text: &str, cue: &str) -> Option<usize> {
    let starts = |at: &usize| {
        let before = text[..*at].chars().next_back();
        cue.starts_with(' ') || !before.is_some_and(|c| c.is_ascii_alphanumeric())
    };
    text.match_indices(cue).map(|(at, _)| at).find(starts)
}

/// The place three words, or four Chinese characters, before: where a denial of the cue may stand.
fn words_before(text: &str, at: usize) -> usize {
    let mut left = 4;
    let mut spaces = 0;
    for (place, c) in text[..at].char_indices().rev() {
        if !c.is_ascii() {
            if c == '，' || c == '、' {
                return place + c.len_utf8();
            }
            left -= 1;
        } else if c == ' ' {
            spaces += 1;
        } else if c == ',' {
            return place + 1;
        }
        if left == 0 || spaces > 3 {
            return place;
        }
    }
    0
}

fn distinct(found: &[Found]) -> Vec<Term> {
    let mut terms: Vec<Term> = Vec::new();
    for found in found.iter().filter(|found| !found.denied) {
        if !terms.iter().any(|term| term.rating == found.term.rating) {
            terms.push(found.term);
        }
    }
    terms
}

/// Is the text nothing but opinions and what joins them, as in `BUY/HOLD/SELL`?
fn is_list(text: &str, found: &[Found]) -> bool {
    let mut rest = text.to_owned();
    for found in found.iter().rev() {
        rest.replace_range(found.start..found.end, " ");
    }
    rest.split(|c: char| !c.is_alphanumeric())
        .all(|word| matches!(word, "" | "or" | "and" | "to" | "或" | "和" | "one" | "of"))
}

/// What follows `from Hold to` or an arrow.
fn changed_to(text: &str) -> &str {
    for arrow in ["→", "->", "=>", "上调至", "下调至", "调整为", "上调为", "下调为"] {
        if let Some((_, to)) = text.rsplit_once(arrow) {
            return to;
        }
    }
    let changed = text.split_once("from ").and_then(|(_, rest)| rest.split_once(" to "));
    match changed {
        Some((from, to)) if from.split(' ').count() <= 3 && !phrase::find(from, 0).is_empty() => to,
        _ => text,
    }
}

/// The text without what stands in brackets.
fn without_asides(text: &str) -> String {
    let mut depth = 0_usize;
    text.chars()
        .filter(|c| {
            match c {
                '(' | '（' | '[' | '【' => depth += 1,
                ')' | '）' | ']' | '】' => {
                    depth = depth.saturating_sub(1);
                    return false;
                }
                _ => {}
            }
            depth == 0
        })
        .collect()
}

/// The text without quotations of more than three words.
fn without_quotes(text: &str) -> String {
    let mut out = String::new();
    for (at, part) in text.split('"').enumerate() {
        let short = part.split(' ').count() <= 3 && part.chars().count() <= 24;
        if at % 2 == 0 || short {
            out.push_str(part);
        }
    }
    out
}

fn is_conditional(text: &str) -> bool {
    let padded = format!(" {text} ");
    contains_any(&padded, &CONDITIONS) || text.trim_start().starts_with("when ")
}

/// Is the line one of another speaker in a debate?
fn is_spoken(line: &str) -> bool {
    let Some((name, _)) = line.split_once([':', '：']) else { return false };
    let name = searchable(name);
    name.split(' ').count() <= 4 && name.chars().count() <= 40 && contains_words(&name, &SPEAKERS)
}

/// Is the clause about what others think, without the writer in it, or a report of what they said?
fn is_anothers(text: &str) -> bool {
    let own = OWN_VOICE.iter().filter_map(|word| word_at(text, word)).min();
    let report = REPORTS.iter().filter_map(|word| word_at(text, word)).min();
    match (own, report) {
        (Some(own), Some(report)) => report < own,
        (Some(_), None) => false,
        (None, Some(_)) => true,
        (None, None) => contains_words(text, &OTHERS),
    }
}

fn contains_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

fn contains_words(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| word_at(text, word).is_some())
}

/// Where the word stands as a word; a Chinese one may stand anywhere.
fn word_at(text: &str, word: &str) -> Option<usize> {
    let part = |c: char| c.is_ascii_alphanumeric();
    text.match_indices(word).map(|(at, _)| at).find(|at| {
        !word.is_ascii()
            || (!text[..*at].chars().next_back().is_some_and(part)
                && !text[at + word.len()..].chars().next().is_some_and(part))
    })
}

fn clauses(sentence: &str) -> Vec<&str> {
    let mut parts = vec![sentence];
    for joint in [" but ", " however", " whereas ", "但是", "但", "然而", "而是", "相反"] {
        parts = parts.into_iter().flat_map(|part| part.split(joint)).collect();
    }
    parts
}

/// The line's sentences, each with its mark. A full stop inside of a number ends none.
fn sentences(line: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut from = 0;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let full = matches!(c, '。' | '！' | '？' | ';' | '；' | '!' | '?');
        let stop = c == '.' && chars.peek().is_none_or(|(_, next)| !next.is_alphanumeric());
        if full || stop {
            let end = at + c.len_utf8();
            sentences.push(&line[from..end]);
            from = end;
        }
    }
    sentences.push(&line[from..]);
    sentences.retain(|sentence| !sentence.trim().is_empty());
    sentences
}
