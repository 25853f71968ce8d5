//! The words that names, texts for users and documents do not use. `docs/glossary.md` has the ones that they do.
//!
//! Checked are the identifiers of Rust and TypeScript sources, their string literals with more than one word, the doc
//! comments that become API descriptions and command-line help, and the Markdown documents, prompts included. Test code is
//! not checked.

use super::{hold, repo};
use regex::{Regex, RegexBuilder, RegexSet};
use std::collections::BTreeSet;

/// The maximum number of patterns. A longer list bans single words, and then bans good sentences.
const MAX_PATTERNS: usize = 60;

/// A banned identifier: a pattern of the whole identifier, and what to use instead.
type BannedName = (&'static str, &'static str);

const NAMES: &[BannedName] = &[
    (r"(?i)(most|least|longest|widest)_[a-z]\w*", "max_*, min_*"),
    (r"[A-Z]\w*Answers?", "*Response"),
    (r"\w*Refus(al|ed)\w*", "*Rejection, RejectReason, *Error"),
    (r"(?i)\w+_a_(year|day)", "annual_*, trading_days_per_year"),
    (
        r"(?i)\w*(annualis|realis|authoris|summaris|recognis|serialis|normalis|initialis)\w*",
        "American spelling",
    ),
    (r"(?i)purse[rs]?", "child budget, allocation"),
    (r"(?i)stopper", "cancel source, cancel token"),
    (r"(?i)doorkeeper", "authenticator"),
    (r"Kept\w*|kept_\w+", "Stored*"),
    (r"(?i)(was_)?heard|hears", "on_*, has_reply"),
    (r"(?i)talks?", "conversation"),
    (r"Ask(ed|er)\w*", "*Request"),
    (r"Told\w*|is_told|told_\w+", "*Result, Delivery, reported"),
    (r"(?i)shelf|shelves", "cache, folder"),
    (r"(?i)(\w+_)?patience", "timeout, deadline"),
    (r"Implied\w*", "DerivedRow"),
    (r"(?i)riders?", "deferred writes"),
    (r"Outside[A-Z]\w*", "External*"),
    (r"(?i)stands_\w+|nobody_\w+", "the state or condition itself"),
    (r"(?i)take_up|taken_over|let_go|goe?s?_on", "resume, import, release, continue"),
    (r"(?i)(once|one)_more", "again, increment"),
    (r"in_words|in_pieces|inPieces|joblog\w*", "description, pages, jobLog"),
    (r"Fault|Wish|Seat|Duty|Diary|Wash|Joint|Shown", "a name that says of what"),
];

/// A banned phrase: a case-insensitive pattern, what is not meant by it, and what to use instead.
type BannedPhrase = (&'static str, &'static str, &'static str);

const PHRASES: &[BannedPhrase] = &[
    (
        r"\b(is|are) no [a-z`]",
        r"\bthere (is|are) no|^\s*are no|\bno (longer|worse|more|better)\b",
        "is not a",
    ),
    (r"\bof before\b", "", "previous"),
    (r"(%|percent|bps|days|times|dollars|USD|\d) a (year|share|day|week|month)\b", "", "per year, per share"),
    (r"\b(go|goes|went|gone|going) on\b", "", "continue, resume"),
    (
        r"\b(take|takes|took|taken) (up|over|back|in)\b",
        r"\btakes? up to\b|\btakes? over\b",
        "resume, import, revoke",
    ),
    (r"\bonce more\b", "", "again"),
    (r"\bat hand\b", "", "available"),
    (r"\b(come|comes|came) to\b", "", "reach"),
    (r"\b(is|are|was|were|not) heard\b|\bhears of\b", "", "receive, see"),
    (r"\bstands? (twice|beside|in for|between|equally|at|alone|there|in)\b", "", "is, appears"),
    (r"\bunder way\b", "", "in progress, current"),
    (r"\b(asks|calls|stands) nobody\b|\bnobody (is|can|could|knows)\b", "", "the thing that is not possible"),
    (r"\bthere (is|are) no [^;]*; there (is|are)\b", "", "unknown …; expected one of …"),
    (
        r"\b(reads?|reading|models?|bars?|symbols?|days|index(es)?|it|them|words|this|these|those) alone\b",
        "",
        "only",
    ),
    (r"\bbeside\b", "", "alongside, next to"),
    (r"\brefus(e|ed|es|al|als|ing)\b", r"\bconnection refused\b", "reject, deny"),
    (r"\b(is|are|was|were) told\b|\btells? (whether|how|what|who|it)\b", "", "report, return, notify"),
    (r"\b(is|was|were|are|be) asked\b|\basked (for|otherwise|too)\b", "", "request"),
    (r"\blooks? whether\b|\blooked at\b|\blooks? found\b", "", "check"),
    (r"\bpurses?\b|\bdoorkeepers?\b", "", "child budget, authenticator"),
    (r"\bwhat (it |they |that |this |trading )?(came|comes|become|became) (of|to)\b", "", "result"),
    (r"\bhow-manieth\b", "", "1-based number"),
    (r"\b(spoke|spoken|traded) elsewhere\b", "", "imported"),
    (
        r"\b(annualis|realis|recognis|summaris|normalis|authoris|labell|behaviour|colour|favour)\w*",
        "",
        "American spelling",
    ),
    (r"\banew\b", "", "again, re…"),
    (r"\b(has|have) not come\b", "", "did not arrive"),
    (r"\bwhoever\b", "", "anyone who"),
    (r"\b(broke|breaks|broken|break) off\b", "", "fail, disconnect"),
    (r"\bat work\b", "", "running"),
    (r"\bwithin the day\b", r"\bwithin the day's\b", "intraday"),
    (r"\boutside tools?\b", "", "external tool"),
    (r"\bwhat was (said|told|asked|shown|given)\b", "", "messages, requests, data read"),
];

/// What may stay: a pattern of the path, a pattern of the name or text, and the reason.
type Allowance = (&'static str, &'static str, &'static str);

const ALLOWED: &[Allowance] = &[
    ("", r"^unrealised_pnl$", "a key of the API and a column of the database that other tools read"),
    ("^crates/store/", r"realised_pnl", "columns of the database"),
    ("", r"^Unauthorised$|^BadAnswer$|^EmptyAnswer$", "variants named as the stored reasons of failed calls"),
    ("^web/src/shared/i18n/", "^unauthorised$", "the stored reason of a failed call, as a key of its text"),
    ("", "^RuleRefused$", "a variant named as the stored error tag `rule_refused`"),
    ("", "^ConnectionRefused$", "a variant of std::io::ErrorKind"),
    (
        "^crates/(core/src/broker/profile|protocol/src/results)/",
        "^Duty$",
        "a stamp duty, as exchanges call it",
    ),
    ("^crates/protocol/src/", "`refused`", "a stored outcome and a stored action"),
    (
        "^crates/papertape/src/import/mod.rs",
        "point_in_time = unverified",
        "a warning that is stored with a job",
    ),
    ("", "^Refused$", "a variant named as the stored outcome `refused`"),
    ("^crates/house/src/summary", r"^bought\|", "words that models write"),
    ("^crates/core/src/tape/stop", r" ", "reasons that are stored with a job"),
    ("^crates/llm/src/(failure|reply)", r" ", "failures of model calls, which are stored as steps"),
    ("^crates/embed/src/vector", r" ", "failures of embedding calls, which are stored as steps"),
    (
        r"^crates/runtime/src/(budget|action_attempts|host|child_budgets)",
        r" ",
        "reasons that are stored with a step",
    ),
    (r"^crates/\w+/src/trigger/", r"point_in_time = unverified", "a warning that is stored with a job"),
    (
        r"^crates/\w+/src/trigger/",
        r"^the dataset \{\} has days from|each symbol enters",
        "a warning that is stored with a job",
    ),
    (
        r"^crates/\w+/src/trigger/",
        r"RULES_VERSION|^initial_cash is not used",
        "a warning that is stored with a job",
    ),
    ("^docs/", r"“", "a quotation of what a user says to the assistant, or of its answer"),
];

/// What a part of a source file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Code,
    Text,
    DocComment,
}

/// A part of a source file, with the line on which it starts.
type Part = (usize, Kind, String);

/// Splits a Rust or TypeScript source into code, string literals and doc comments. Other comments are dropped.
fn split(source: &str, is_rust: bool) -> Vec<Part> {
    let raw = Regex::new(r#"^b?r(#*)""#).expect("the pattern is well formed");
    let character =
        Regex::new(r"^'(\\u\{[0-9a-fA-F]+\}|\\x..|\\.|[^\\'])'").expect("the pattern is well formed");
    let mut parts: Vec<Part> = Vec::new();
    let (mut rest, mut line) = (source, 1);
    while let Some(first) = rest.chars().next() {
        let after_name = matches!(parts.last(), Some((_, Kind::Code, code)) if code.ends_with(is_name));
        let starts_raw = is_rust && matches!(first, 'b' | 'r') && !after_name;
        let (length, part) = if rest.starts_with("//") {
            let end = rest.find('\n').unwrap_or(rest.len());
            let is_doc = rest.starts_with("///") || rest.starts_with("//!");
            (end, (is_rust && is_doc).then(|| (Kind::DocComment, rest[3..end].to_owned())))
        } else if rest.starts_with("/*") {
            (rest.find("*/").map_or(rest.len(), |end| end + 2), None)
        } else if let Some(found) = starts_raw.then(|| raw.captures(rest)).flatten() {
            let (open, close) = (found[0].len(), format!("\"{}", &found[1]));
            let end = rest[open..].find(&close).map_or(rest.len(), |end| open + end);
            ((end + close.len()).min(rest.len()), Some((Kind::Text, rest[open..end].to_owned())))
        } else if is_rust && first == '\'' && character.is_match(rest) {
            (character.find(rest).map_or(1, |found| found.end()), None)
        } else if first == '"' || (!is_rust && matches!(first, '\'' | '`')) {
            let end = closing(rest, first);
            (end + 1, Some((Kind::Text, unbroken(&rest[1..end]))))
        } else {
            (first.len_utf8(), Some((Kind::Code, first.to_string())))
        };
        match (part, parts.last_mut()) {
            (Some((Kind::Code, text)), Some((at, Kind::Code, code))) if *at == line => code.push_str(&text),
            (Some((kind, text)), _) => parts.push((line, kind, text)),
            (None, _) => {}
        }
        let length = length.min(rest.len());
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    parts
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where the string literal that the text starts with ends.
fn closing(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if !escaped && c == quote {
            return at;
        }
        escaped = !escaped && c == '\\';
    }
    text.len().saturating_sub(1)
}

/// A string literal without its line continuations.
fn unbroken(text: &str) -> String {
    let lines = text.split("\\\n").enumerate();
    lines.map(|(n, line)| if n == 0 { line } else { line.trim_start() }).collect()
}

/// The names in a piece of code.
fn names(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c| !is_name(c)).filter(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

/// The source without its unit tests, which are at the end of a file.
fn without_tests(source: &str) -> &str {
    let tests = ["#[cfg(test)]\nmod ", "#[cfg(test)]\n#[expect"];
    tests.iter().filter_map(|start| source.find(start)).min().map_or(source, |end| &source[..end])
}

/// Whether the doc comments of a file become API descriptions or command-line help.
fn is_published(path: &str) -> bool {
    let folders = ["/src/api/", "/src/view/", "/src/cli/", "crates/api/", "crates/cli/", "crates/protocol/"];
    folders.iter().any(|folder| path.contains(folder))
}

/// A compiled phrase: its pattern, what is not meant, and what to use instead.
struct Phrase {
    banned: Regex,
    unless: Option<Regex>,
    instead: &'static str,
}

struct Language {
    names: RegexSet,
    phrases: Vec<Phrase>,
    allowed: Vec<(Regex, Regex)>,
}

impl Language {
    fn new() -> Self {
        let compile = |pattern: &str| Regex::new(pattern).expect("the pattern is well formed");
        let loose = |pattern: &str| {
            let built = RegexBuilder::new(pattern).case_insensitive(true).build();
            built.expect("the pattern is well formed")
        };
        let names = NAMES.iter().map(|(pattern, _)| format!("^(?:{pattern})$"));
        let phrase = |(pattern, unless, instead): &BannedPhrase| Phrase {
            banned: loose(pattern),
            unless: (!unless.is_empty()).then(|| loose(unless)),
            instead,
        };
        Self {
            names: RegexSet::new(names).expect("the patterns are well formed"),
            phrases: PHRASES.iter().map(phrase).collect(),
            allowed: ALLOWED.iter().map(|(path, text, _)| (compile(path), compile(text))).collect(),
        }
    }

    fn is_allowed(&self, path: &str, text: &str) -> bool {
        self.allowed.iter().any(|(paths, texts)| paths.is_match(path) && texts.is_match(text))
    }

    /// What a banned name should be instead.
    fn name(&self, name: &str) -> Option<&'static str> {
        self.names.matches(name).iter().next().map(|index| NAMES[index].1)
    }

    /// The banned phrase in a text, and what to use instead.
    fn phrase(&self, text: &str) -> Option<(String, &'static str)> {
        self.phrases.iter().find_map(|phrase| {
            let found = phrase.banned.find(text)?;
            let Some(unless) = &phrase.unless else {
                return Some((found.as_str().to_owned(), phrase.instead));
            };
            let rest = unless.replace_all(text, "…");
            phrase.banned.find(&rest).map(|found| (found.as_str().to_owned(), phrase.instead))
        })
    }

    /// The findings of a source file: its names, its texts, and its doc comments where they are published.
    fn in_source(&self, file: &repo::TextFile) -> Vec<String> {
        let is_rust = file.path.ends_with(".rs");
        let source = if is_rust { without_tests(&file.text) } else { file.text.as_str() };
        let mut findings = Vec::new();
        for (line, kind, text) in split(source, is_rust) {
            let place = format!("{}:{line}", file.path);
            match kind {
                Kind::Code => {
                    let names: BTreeSet<&str> = names(&text).collect();
                    let banned = names.into_iter().filter_map(|name| Some((name, self.name(name)?)));
                    let banned = banned.filter(|(name, _)| !self.is_allowed(&file.path, name));
                    findings.extend(banned.map(|(name, instead)| format!("{place}: {name} → {instead}")));
                }
                Kind::DocComment if !is_published(&file.path) => {}
                Kind::Text if !text.trim().contains(' ') => {}
                Kind::Text | Kind::DocComment => findings.extend(self.in_text(&file.path, &place, &text)),
            }
        }
        findings
    }

    /// The findings of a document: its lines without code.
    fn in_document(&self, file: &repo::TextFile) -> Vec<String> {
        let code = Regex::new("`[^`]*`").expect("the pattern is well formed");
        let mut is_fenced = false;
        let mut findings = Vec::new();
        for (index, line) in file.text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                is_fenced = !is_fenced;
            } else if !is_fenced {
                let place = format!("{}:{}", file.path, index + 1);
                findings.extend(self.in_text(&file.path, &place, &code.replace_all(line, "``")));
            }
        }
        findings
    }

    fn in_text(&self, path: &str, place: &str, text: &str) -> Option<String> {
        let (banned, instead) = self.phrase(text).filter(|_| !self.is_allowed(path, text))?;
        Some(format!("{place}: “{banned}” → {instead}: {}", text.trim()))
    }
}

/// Whether a file is a source of the product: not a test, not generated, not a tool for tests.
fn is_source(file: &repo::TextFile) -> bool {
    let path = file.path.as_str();
    let is_rust =
        path.starts_with("crates/") && path.contains("/src/") && path.ends_with(".rs") && !file.is_test();
    let is_web = path.starts_with("web/src/") && (path.ends_with(".ts") || path.ends_with(".tsx"));
    let is_other = path.starts_with("crates/testkit/") || path.contains(".test.") || path.ends_with(".d.ts");
    (is_rust || is_web) && !path.ends_with("_tests.rs") && !is_other
}

/// Whether a file is a document for people or a prompt. The change log quotes old names.
fn is_document(file: &repo::TextFile) -> bool {
    let path = file.path.as_str();
    path.ends_with(".md") && path != "CHANGELOG.md"
}

// Goal: readers find the field's own words in names, messages, API descriptions, help texts and documents.
#[test]
fn names_and_texts_use_the_fields_own_words() {
    let language = Language::new();
    let files = repo::texts();
    let sources = files.iter().filter(|file| is_source(file)).flat_map(|file| language.in_source(file));
    let documents = files.iter().filter(|file| is_document(file)).flat_map(|file| language.in_document(file));
    let findings: Vec<_> = sources.chain(documents).collect();
    hold("use the term of docs/glossary.md (or allow it here, with the reason):", &findings);
}

// Goal: the list bans phrases and names, and every pattern of it finds what it is for.
#[test]
fn the_patterns_bite() {
    assert!(NAMES.len() + PHRASES.len() <= MAX_PATTERNS, "{}", NAMES.len() + PHRASES.len());
    let language = Language::new();
    let names = "most_rows RunAnswer Refusal days_a_year realised_pnl purse stopper doorkeeper KeptStep was_heard talk \
                 Asked Told shelf patience ImpliedRow riders OutsideTools stands_in go_on one_more in_pieces Fault";
    let texts = "a text is no number|a profile of before|2 bps a year|the run goes on|take up the work|try once more|the \
                 datasets at hand|it comes to 3|it was heard|it stands twice|the step under way|it asks nobody|there is \
                 no market `x`; there are: y|by words alone|runs beside it|the order was refused|it is told|what was \
                 asked for|looks whether|the purse is empty|what became of it|the how-manieth|it spoke elsewhere|the \
                 annualised return|made anew|it has not come|whoever reads|it broke off|it is at work|bars within the \
                 day|outside tools|what was said";
    for (index, (banned, _)) in NAMES.iter().enumerate() {
        let finds = |name: &str| language.names.matches(name).matched(index);
        assert!(names.split_whitespace().any(finds), "{banned} finds nothing");
    }
    for Phrase { banned, unless, .. } in &language.phrases {
        let meant = |text: &str| unless.as_ref().is_none_or(|unless| !unless.is_match(text));
        assert!(texts.split('|').any(|text| banned.is_match(text) && meant(text)), "{banned} finds nothing");
    }
    for name in ["max_rows", "RunResponse", "cn_a_share", "resume", "mistalk", "Default", "asked_at"] {
        assert_eq!(language.name(name), None, "{name}");
    }
    for text in [
        "there is no job 5",
        "it is no longer available",
        "connection refused",
        "up to 5 per day",
        "runs again",
    ] {
        assert_eq!(language.phrase(text), None, "{text}");
    }
}

// Goal: names are read from code, and texts from literals; comments and characters are neither.
#[test]
fn a_source_is_split_into_code_texts_and_doc_comments() {
    let rust = "/// A doc.\nfn a<'x>(b: &'x str) { // no\n  c(\"d \\\" e \\\n     f\", r#\"g \"h\"#, '\"', 'i'); /* no */ }";
    let parts = split(rust, true);
    let texts: Vec<_> =
        parts.iter().filter(|part| part.1 == Kind::Text).map(|part| part.2.as_str()).collect();
    assert_eq!(texts, ["d \\\" e f", "g \"h"]);
    assert_eq!(parts[0], (1, Kind::DocComment, " A doc.".to_owned()));
    let code: String = parts.iter().filter(|part| part.1 == Kind::Code).map(|part| part.2.as_str()).collect();
    assert_eq!(names(&code).collect::<Vec<_>>(), ["fn", "a", "x", "b", "x", "str", "c"]);
    let web = split("const a = `b ${c}` + 'd' // no\n", false);
    let texts: Vec<_> = web.iter().filter(|part| part.1 == Kind::Text).map(|part| part.2.as_str()).collect();
    assert_eq!(texts, ["b ${c}", "d"]);
}
