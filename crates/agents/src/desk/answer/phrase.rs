//! Words that name an opinion, and whether they are denied.

use super::{Action, Rating};

/// A word for an opinion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) rating: Rating,
    /// The action that it names too; a rating such as `Overweight` names none.
    pub(super) action: Option<Action>,
    /// Common in other meanings (`reduce risk`): it counts at the start of a value alone.
    weak: bool,
}

/// A word for an opinion in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) term: Term,
    /// Its first byte, and the one after its last.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Is it denied?
    pub(super) denied: bool,
}

const fn term(rating: Rating, action: Option<Action>, weak: bool) -> Term {
    Term { rating, action, weak }
}

const BUY: Term = term(Rating::Buy, Some(Action::Buy), false);
const SELL: Term = term(Rating::Sell, Some(Action::Sell), false);
const HOLD: Term = term(Rating::Hold, Some(Action::Hold), false);
const OVER: Term = term(Rating::Overweight, None, false);
const UNDER: Term = term(Rating::Underweight, None, false);
const ADD: Term = term(Rating::Overweight, Some(Action::Buy), false);
const CUT: Term = term(Rating::Underweight, Some(Action::Sell), false);
const WEAK_ADD: Term = term(Rating::Overweight, Some(Action::Buy), true);
const WEAK_CUT: Term = term(Rating::Underweight, Some(Action::Sell), true);

const ENGLISH: [(&str, Term); 27] = [
    ("strong buy", BUY),
    ("buying", BUY),
    ("buy", BUY),
    ("overweight", OVER),
    ("over-weight", OVER),
    ("outperform", OVER),
    ("accumulating", ADD),
    ("accumulate", ADD),
    ("add", WEAK_ADD),
    ("market perform", HOLD),
    ("market-perform", HOLD),
    ("equal weight", HOLD),
    ("equal-weight", HOLD),
    ("holding", HOLD),
    ("hold", HOLD),
    ("neutral", term(Rating::Hold, Some(Action::Hold), true)),
    ("underweight", UNDER),
    ("under-weight", UNDER),
    ("underperform", UNDER),
    ("reduce", WEAK_CUT),
    ("reducing", WEAK_CUT),
    ("trimming", WEAK_CUT),
    ("trim", WEAK_CUT),
    ("strong sell", SELL),
    ("selling", SELL),
    ("sell", SELL),
    ("exit", term(Rating::Sell, Some(Action::Sell), true)),
];

const CHINESE: [(&str, Term); 26] = [
    ("强烈买入", BUY),
    ("强力买入", BUY),
    ("买入", BUY),
    ("买进", BUY),
    ("增持", ADD),
    ("加仓", ADD),
    ("超配", OVER),
    ("跑赢大市", OVER),
    ("跑赢大盘", OVER),
    ("强烈卖出", SELL),
    ("卖出", SELL),
    ("清仓", SELL),
    ("抛售", SELL),
    ("沽出", SELL),
    ("减持", CUT),
    ("减仓", CUT),
    ("低配", UNDER),
    ("跑输大市", UNDER),
    ("跑输大盘", UNDER),
    ("持有", HOLD),
    ("持仓不动", HOLD),
    ("按兵不动", HOLD),
    ("观望", HOLD),
    ("中性", HOLD),
    ("标配", HOLD),
    ("维持仓位", HOLD),
];

/// What makes a Chinese word another one when it follows it: the price, point or signal of a purchase.
const CHINESE_TAILS: [char; 14] =
    ['价', '点', '区', '信', '压', '盘', '者', '人', '方', '量', '期', '成', '机', '理'];

const ENGLISH_DENIALS: [&str; 30] = [
    "not",
    "never",
    "no",
    "nothing",
    "neither",
    "nor",
    "against",
    "avoid",
    "avoids",
    "avoiding",
    "without",
    "cannot",
    "rather than",
    "instead of",
    "refrain",
    "refrains",
    "hardly",
    "reject",
    "rejects",
    "rejecting",
    "rule out",
    "ruling out",
    "too early to",
    "premature to",
    "mistake",
    "wrong",
    "unwise",
    "imprudent",
    "foolish",
    "far from",
];

/// Denials behind a word: `selling would be a mistake`.
const ENGLISH_DENIALS_AFTER: [&str; 8] = [
    "would be a mistake",
    "is a mistake",
    "would be wrong",
    "is wrong",
    "would be premature",
    "is premature",
    "is not warranted",
    "makes no sense",
];

const CHINESE_DENIALS: [&str; 14] =
    ["不", "非", "没", "勿", "别", "避免", "反对", "无需", "无须", "拒绝", "未", "排除", "而不是", "谈不上"];

/// Words with a denial's letters that deny nothing.
const HARMLESS: [&str; 20] = [
    "not only",
    "not hesitate",
    "no doubt",
    "without hesitation",
    "without doubt",
    "nothing but",
    "no question",
    "不断",
    "不仅",
    "不但",
    "不过",
    "不得不",
    "毫不犹豫",
    "非常",
    "不错",
    "无疑",
    "不妨",
    "特别",
    "不变",
    "分别",
];

/// The text with full-width letters, digits and signs made half-width, curly quotes straight, and
/// invisible characters left out.
pub(crate) fn half_width(text: &str) -> String {
    let narrow = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{3000}' | '\u{a0}' | '\u{2009}' | '\u{202f}' => ' ',
        '’' | '‘' => '\'',
        '“' | '”' | '「' | '」' => '"',
        '−' | '‐' | '‑' => '-',
        other => other,
    };
    text.chars().filter(|c| !is_invisible(*c)).map(narrow).collect()
}

/// Is the character one that shows nothing, or turns the direction of what follows?
pub(crate) const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{e0000}'..='\u{e01ef}')
}

/// The form in which texts are searched: half-width, lower case, without marks of emphasis.
pub(super) fn searchable(text: &str) -> String {
    let plain = half_width(text).to_lowercase();
    let plain = plain.replace("n't", " not").replace("can not", "cannot").replace(['*', '`', '_', '~'], "");
    plain.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The opinion words of a searchable text in order. Denials are looked for from `from` on; a word
/// joined to a denied one by `or`, `nor`, `或` is denied with it.
pub(super) fn find(text: &str, from: usize) -> Vec<Found> {
    let mut all = words(text);
    all.retain(|found| found.start >= from);
    let mut scope = from;
    let mut denied_before = false;
    for found in &mut all {
        let between = &text[scope..found.start];
        let joined =
            matches!(between.trim(), "or" | "nor" | "or to" | "nor to" | "/" | "或" | "或者" | "也不" | "、");
        found.denied = denies(between) || (joined && denied_before) || denied_after(&text[found.end..]);
        denied_before = found.denied;
        scope = found.end;
    }
    all
}

/// The opinion that a whole value names: `Overweight`, `"**Strong Buy**"`; with text around it none.
pub(super) fn exact(value: &str) -> Option<Term> {
    let text = searchable(value);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c.is_ascii_punctuation() || c == '。');
    ENGLISH.iter().chain(&CHINESE).find(|(word, _)| *word == text).map(|(_, term)| *term)
}

fn words(text: &str) -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    for (word, term) in ENGLISH {
        for (start, _) in text.match_indices(word) {
            let end = start + word.len();
            if stands_alone(text, start, end) && (!term.weak || starts_value(text, start)) {
                all.push(Found { term, start, end, denied: false });
            }
        }
    }
    for (word, term) in CHINESE {
        for (start, _) in text.match_indices(word) {
            let end = start + word.len();
            if !text[end..].starts_with(CHINESE_TAILS) {
                all.push(Found { term, start, end, denied: false });
            }
        }
    }
    // Of words inside of each other the longer one stands.
    all.sort_by_key(|found| (found.start, usize::MAX - found.end));
    let mut reached = 0;
    all.retain(|found| {
        let stands = found.start >= reached;
        if stands {
            reached = found.end;
        }
        stands
    });
    all
}

/// Is it a word of its own, and not a part of `sell-off` or `buyback`?
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let part = |c: char| c.is_alphanumeric() && c.is_ascii() || c == '-' || c == '\'';
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    let tail = [" pressure", " signal", " side", " volume", " orders", " order ", " zone", " wall"];
    !before.is_some_and(part)
        && !after.is_some_and(part)
        && !tail.iter().any(|tail| text[end..].starts_with(tail))
}

fn starts_value(text: &str, start: usize) -> bool {
    text[..start].chars().all(|c| !c.is_alphanumeric())
}

fn denies(text: &str) -> bool {
    let mut text = text.to_owned();
    for harmless in HARMLESS {
        text = text.replace(harmless, " ");
    }
    let padded = format!(" {} ", text.replace(|c: char| !c.is_alphanumeric(), " "));
    ENGLISH_DENIALS.iter().any(|word| padded.contains(&format!(" {word} ")))
        || CHINESE_DENIALS.iter().any(|word| text.contains(word))
}

fn denied_after(text: &str) -> bool {
    let text = text.trim_start();
    let text = text.strip_prefix("now").or_else(|| text.strip_prefix("here")).unwrap_or(text).trim_start();
    ENGLISH_DENIALS_AFTER.iter().any(|words| text.starts_with(words))
        || ["是错误", "并不", "不合适", "为时过早", "不可取"].iter().any(|words| text.starts_with(words))
}
