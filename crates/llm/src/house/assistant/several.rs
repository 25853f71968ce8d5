//! Several backtests in one request: `momentum on IBM and contrarian on AAPL, October 2012`.
//!
//! A request is cut at the words that join its parts. A part begins a backtest of its own where what stands before
//! it is one already, and it names what only another one can have: a trader or the word for it, with symbols or
//! days; or symbols and days of its own. Everything else, as `momentum and contrarian on IBM and AAPL`, belongs to
//! one backtest. What a part does not say, its neighbours do.

use super::Question;
use super::ask::{Backtest, TRADERS, Who, configured, has, symbols, who};
use super::period::{Period, period};

/// What joins two parts; of two that fit, the longer one comes first.
const JOINTS: &[&str] = &[
    " and then ",
    " followed by ",
    " as well as ",
    " then ",
    " plus ",
    " and ",
    " & ",
    ". ",
    ",",
    ";",
    "\n",
    "然后",
    "接着",
    "并且",
    "以及",
    "还有",
    "，",
    "；",
    "。",
    "、",
    "和",
    "与",
    "并",
    "再",
    "及",
];

/// Words of parts that ask for something else.
const OTHERS: &[&str] = &[
    "compare",
    "versus",
    "why ",
    "search",
    "lesson",
    "result",
    "status",
    "audit",
    "tell me",
    "show",
    "比较",
    "对比",
    "为什么",
    "为何",
    "搜索",
    "查找",
    "教训",
    "反思",
    "结果",
    "状态",
    "审计",
    "查明",
];

/// A text of more pieces is no list of backtests.
const MOST_PIECES: usize = 100;

/// Words by which runs are wanted apart.
const APART: &[&str] = &["separately", "one after the other", "each on its own", "分别", "各自", "依次"];

/// Does a text, in small letters, name a backtest to be run?
pub(super) fn names_backtest(lower: &str) -> bool {
    has(
        lower,
        &["backtest", "back-test", "simulate", "run a simulation", "run the simulation", "回测", "模拟"],
    )
}

/// Words that ask for a run where a trader is named beside them.
pub(super) const VERBS: &[&str] = &["run ", "try ", "test ", "let ", "运行", "测试", "试试"];

/// The backtests that are asked for, where there are more than one.
pub(super) fn several(question: &Question<'_>) -> Vec<Backtest> {
    let mut parts: Vec<Part> = Vec::new();
    let mut is_other = false;
    let pieces = pieces(question.words);
    if pieces.len() > MOST_PIECES {
        return Vec::new();
    }
    for piece in pieces {
        let part = Part::read(piece, question.before);
        let begins = parts.last().is_none_or(|last| last.is_followed_by(&part));
        if part.asks_for_other() {
            is_other = true;
        } else if begins || is_other && part.is_run() {
            is_other = false;
            parts.push(part);
        } else if let Some(last) = parts.last_mut().filter(|_| !is_other) {
            *last = Part::read(&format!("{}, {piece}", last.words), question.before);
        }
    }
    // Only what stands before the first one can be none.
    if parts.first().is_some_and(|first| !first.is_run()) {
        parts.remove(0);
    }
    let found = match parts.len() {
        0 => Vec::new(),
        1 => apart(question),
        _ => whole(&parts, question.before),
    };
    if found.len() > 1 { found } else { Vec::new() }
}

/// A part of a request.
#[derive(Debug)]
struct Part {
    words: String,
    has_verb: bool,
    has_trader: bool,
    symbols: Vec<String>,
    /// Its days, where it says them with their year.
    period: Option<Period>,
}

impl Part {
    fn read(words: &str, before: &str) -> Self {
        // A trader's name may be at the very beginning.
        let lower = format!(" {} ", words.to_lowercase());
        let has_trader = has(&lower, TRADERS) || !configured(words, before).is_empty();
        Self {
            words: words.to_owned(),
            has_verb: names_backtest(&lower) || (has_trader && has(&lower, VERBS)),
            has_trader,
            symbols: symbols(words, before),
            period: period(words, None),
        }
    }

    fn asks_for_other(&self) -> bool {
        !self.has_verb && has(&format!("{} ", self.words.to_lowercase()), OTHERS)
    }

    /// Is it a backtest, with something left to its neighbours at the most?
    fn is_run(&self) -> bool {
        let says_what = !self.symbols.is_empty() || self.period.is_some() || self.names_month();
        (self.has_verb && (self.has_trader || says_what)) || (self.has_trader && says_what)
    }

    /// Does it name a month or a season, whose year stands elsewhere?
    fn names_month(&self) -> bool {
        self.period.is_none() && period(&self.words, Some(2000)).is_some()
    }

    /// Is the next part a backtest of its own?
    fn is_followed_by(&self, next: &Self) -> bool {
        let says_what = !self.symbols.is_empty() || self.period.is_some() || self.names_month();
        if !(self.is_run() && says_what) {
            return false;
        }
        if next.is_run() {
            return true;
        }
        // Another verb or trader is not named: symbols and days of its own are, or days that are no range with these.
        let (Some(own), Some(others)) = (self.period, next.period) else { return false };
        let is_new = !next.symbols.is_empty() && next.symbols != self.symbols && !self.symbols.is_empty();
        let is_day = |period: Period| period.from == period.to;
        let is_range = has(&format!(" {}", self.words.to_lowercase()), &[" between ", "介于"])
            || next.words.contains("之间")
            || is_day(own)
            || is_day(others)
            || own.to.tomorrow().is_ok_and(|after| after == others.from);
        is_new || (next.symbols.is_empty() && !is_range)
    }
}

/// The pieces between the joints.
fn pieces(words: &str) -> Vec<&str> {
    let lower = words.to_lowercase();
    if lower.len() != words.len() {
        // Some letter changed its length: places of one are none of the other.
        return vec![words];
    }
    let (mut found, mut from, mut at) = (Vec::new(), 0, 0);
    while at < lower.len() {
        let joint = JOINTS.iter().find(|joint| lower[at..].starts_with(**joint));
        match joint {
            Some(joint) => {
                found.push(words[from..at].trim());
                // A blank at the end may be one at the beginning of the next.
                let end = at + joint.trim_end().len();
                (from, at) = (end, end);
            }
            None => at += lower[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    found.push(words[from..].trim());
    found.retain(|piece| !piece.is_empty());
    found
}

/// The parts as backtests; none at all where one has no days.
fn whole(parts: &[Part], before: &str) -> Vec<Backtest> {
    let near = |at: usize| (0..at).rev().chain(at + 1..parts.len());
    let days: Vec<Option<Period>> = (0..parts.len())
        .map(|at| {
            let mut years = near(at).filter_map(|other| parts[other].period).map(|period| period.from.year());
            parts[at].period.or_else(|| period(&parts[at].words, years.next()))
        })
        .collect();
    let mut found: Vec<Backtest> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let Some(period) = days[at].or_else(|| near(at).find_map(|other| days[other])) else {
            return Vec::new();
        };
        let of_others = || near(at).map(|other| &parts[other].symbols).find(|symbols| !symbols.is_empty());
        let symbols = match part.symbols.is_empty() {
            true => of_others().cloned().unwrap_or_default(),
            false => part.symbols.clone(),
        };
        let who = match found.last().filter(|_| !part.has_trader) {
            Some(last) => last.who.clone(),
            None => who(&Question { words: &part.words, before }),
        };
        let backtest = Backtest { who, symbols, period };
        if !found.contains(&backtest) {
            found.push(backtest);
        }
    }
    found
}

/// One backtest that is wanted in several: by trader, else by symbol.
fn apart(question: &Question<'_>) -> Vec<Backtest> {
    if !has(&question.words.to_lowercase(), APART) {
        return Vec::new();
    }
    let Some(period) = period(question.words, None) else { return Vec::new() };
    let symbols = symbols(question.words, question.before);
    match who(question) {
        Who::Models(models) if models.len() > 1 => models
            .into_iter()
            .map(|model| Backtest { who: Who::Models(vec![model]), symbols: symbols.clone(), period })
            .collect(),
        who => symbols
            .into_iter()
            .map(|symbol| Backtest { who: who.clone(), symbols: vec![symbol], period })
            .collect(),
    }
}
