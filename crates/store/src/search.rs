//! Full-text search of what was said. Both databases keep an index of words, and both get the words
//! from here: what a word is does not depend on the database, and what a reader types is never a
//! query's syntax.
//!
//! A word is a run of letters and digits in lower case, at most 64 of them. Where a script puts no
//! spaces between words (Chinese, Japanese, Korean, Thai and its neighbours), every two neighbouring
//! characters are a word, and the last one alone: so any part of such a text is found, down to a
//! single character. A text matches if it has all words of the question, in any order.

use crate::db::{Backend, Db};
use crate::error::StoreError;
use crate::texts;
use crate::value::{Row, Value, params};
use std::collections::BTreeSet;

/// Longer words are cut, in texts and in questions alike.
const WORD_CHARS: usize = 64;
/// Only so many bytes of different words of one text are indexed: PostgreSQL's bound is a megabyte.
const TEXT_BYTES: usize = 400_000;
/// A question has no more words than this; the rest is not looked at.
const QUESTION_WORDS: usize = 32;

/// Makes the text findable, unless it is already.
pub(crate) async fn index(db: &mut dyn Db, text_id: i64) -> Result<(), StoreError> {
    let (known, add) = match db.backend() {
        Backend::Sqlite => (
            "SELECT rowid FROM text_search WHERE rowid = $1",
            "INSERT INTO text_search (rowid, words) VALUES ($1, $2)",
        ),
        Backend::Postgres => (
            "SELECT text_id FROM text_search WHERE text_id = $1",
            "INSERT INTO text_search (text_id, words)
             VALUES ($1, array_to_tsvector(string_to_array(CAST($2 AS TEXT), ' '))) ON CONFLICT DO NOTHING",
        ),
    };
    if db.row(known, params![text_id]).await?.is_some() {
        return Ok(());
    }
    let read = |mut row: Row| texts::decode(row.get()?, row.get()?);
    let body = db
        .row("SELECT body, encoding FROM texts WHERE id = $1", params![text_id])
        .await?
        .map_or_else(|| Err(StoreError::inconsistent("a text is gone")), read)?;
    let mut bytes = 0;
    let words: Vec<String> = words(&body, true)
        .into_iter()
        .map(|word| word.text)
        .take_while(|word| {
            bytes += word.len();
            bytes <= TEXT_BYTES
        })
        .collect();
    if !words.is_empty() {
        db.execute(add, params![text_id, words.join(" ")]).await?;
    }
    Ok(())
}

/// More matching texts than this are never gathered; up to this many it is done within milliseconds.
const FEW: i64 = 20_000;
/// Nor is more than this part of all texts: one of so many.
const FEW_OF: i64 = 50;

/// A question put to the index.
#[derive(Debug)]
pub(crate) struct Question {
    backend: Backend,
    words: Value,
    /// So few texts match that it is best to go from them to whatever holds them, and not the other
    /// way round.
    pub(crate) is_rare: bool,
}

impl Question {
    /// Reads a question and asks how often its words are. `None` where it has no word, and so matches
    /// nothing.
    pub(crate) async fn ask(db: &mut dyn Db, question: &str) -> Result<Option<Self>, StoreError> {
        let backend = db.backend();
        let Some(words) = rendered(backend, question) else {
            return Ok(None);
        };
        let is_rare = match backend {
            Backend::Sqlite => is_rare(db, &words).await?,
            // Its planner knows how often a word is.
            Backend::Postgres => false,
        };
        Ok(Some(Self { backend, words, is_rare }))
    }

    /// A condition that holds for the ids of the matching texts: SQL with one `?`, and its value.
    pub(crate) fn condition(&self, column: &str) -> (String, Value) {
        let sql = match self.backend {
            // Asked of one text after the other: the matching ones are not gathered.
            Backend::Sqlite if !self.is_rare => format!(
                "EXISTS (SELECT 1 FROM text_search
                 WHERE text_search.rowid = {column} AND text_search MATCH ?)"
            ),
            backend => listed(backend, column),
        };
        (sql, self.words.clone())
    }
}

/// Do few texts match?
async fn is_rare(db: &mut dyn Db, words: &Value) -> Result<bool, StoreError> {
    let sql = "SELECT count(*) FROM (SELECT 1 FROM text_search WHERE text_search MATCH $1 LIMIT $2)";
    let newest = "SELECT coalesce(max(id), 0) FROM texts";
    let all: i64 = db.row(newest, &[]).await?.map_or(Ok(0), |mut row| row.get())?;
    let most = (all / FEW_OF).clamp(FEW / 10, FEW);
    let found: i64 =
        db.row(sql, &[words.clone(), (most + 1).into()]).await?.map_or(Ok(0), |mut row| row.get())?;
    Ok(found <= most)
}

/// The question in the database's own form. `None` where it has no word.
fn rendered(backend: Backend, question: &str) -> Option<Value> {
    let words = asked(question);
    (!words.is_empty()).then(|| quoted(backend, &words))
}

/// The words of a question that are looked for.
fn asked(question: &str) -> Vec<Word> {
    words(question, false).into_iter().take(QUESTION_WORDS).collect()
}

/// Words in the database's own form. They are letters and digits alone, so that quotes cannot end early.
fn quoted(backend: Backend, words: &[Word]) -> Value {
    let (quote, prefix, and) = match backend {
        Backend::Sqlite => ('"', "*", " AND "),
        Backend::Postgres => ('\'', ":*", " & "),
    };
    let quoted =
        |word: &Word| format!("{quote}{}{quote}{}", word.text, if word.prefix { prefix } else { "" });
    Value::Text(words.iter().map(quoted).collect::<Vec<_>>().join(and))
}

/// SQL with one `?` for the words, which holds for the ids of the matching texts.
fn listed(backend: Backend, column: &str) -> String {
    match backend {
        Backend::Sqlite => format!("{column} IN (SELECT rowid FROM text_search WHERE text_search MATCH ?)"),
        Backend::Postgres => format!(
            "{column} IN (SELECT text_id FROM text_search
             WHERE words @@ CAST(CAST(? AS TEXT) AS tsquery))"
        ),
    }
}

/// A condition that holds for the ids of the matching texts: SQL with one `?`, and its value. `None`
/// where the question has no word, and so matches nothing.
pub(crate) fn condition(backend: Backend, column: &str, question: &str) -> Option<(String, Value)> {
    rendered(backend, question).map(|words| (listed(backend, column), words))
}

/// A condition for each word of the question by itself, as [`condition`] has one for all of them.
pub(crate) fn conditions(backend: Backend, column: &str, question: &str) -> Vec<(String, Value)> {
    let words = asked(question);
    words.iter().map(|word| (listed(backend, column), quoted(backend, std::slice::from_ref(word)))).collect()
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Word {
    text: String,
    /// Only the word's beginning is known: a single character that may be followed by another.
    prefix: bool,
}

/// The words of a text that is to be found (`indexed`), or of a question.
fn words(text: &str, indexed: bool) -> BTreeSet<Word> {
    let mut words = BTreeSet::new();
    let mut plain = String::new();
    let mut run: Vec<char> = Vec::new();
    for c in text.chars().chain(std::iter::once(' ')) {
        let is_unspaced = is_unspaced(c);
        if is_unspaced || !c.is_alphanumeric() {
            add_plain(&mut plain, &mut words);
        }
        if !is_unspaced {
            add_run(&mut run, indexed, &mut words);
        }
        if is_unspaced {
            run.push(c);
        } else if c.is_alphanumeric() {
            plain.extend(c.to_lowercase());
        }
    }
    words
}

fn add_plain(plain: &mut String, words: &mut BTreeSet<Word>) {
    if !plain.is_empty() {
        words.insert(Word { text: plain.chars().take(WORD_CHARS).collect(), prefix: false });
        plain.clear();
    }
}

fn add_run(run: &mut Vec<char>, indexed: bool, words: &mut BTreeSet<Word>) {
    words.extend(run.windows(2).map(|pair| Word { text: pair.iter().collect(), prefix: false }));
    if let Some(last) = run.last().filter(|_| indexed || run.len() == 1) {
        words.insert(Word { text: last.to_string(), prefix: !indexed });
    }
    run.clear();
}

/// Scripts whose words have no spaces between them, or mean something in parts.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0e00..=0x0eff      // Thai, Lao
        | 0x1000..=0x109f    // Burmese
        | 0x1100..=0x11ff    // Hangul parts
        | 0x1780..=0x17ff    // Khmer
        | 0x3005..=0x3007
        | 0x3040..=0x30ff    // Hiragana, Katakana
        | 0x3130..=0x318f
        | 0x31f0..=0x31ff
        | 0x3400..=0x4dbf    // Han
        | 0x4e00..=0x9fff
        | 0xac00..=0xd7af    // Hangul
        | 0xf900..=0xfaff
        | 0xff66..=0xff9f
        | 0x20000..=0x3ffff)
        && c != '\u{30fb}'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, indexed: bool, expected: &[&str]) {
        let found: Vec<String> = words(text, indexed)
            .into_iter()
            .map(|word| word.text + if word.prefix { "*" } else { "" })
            .collect();
        assert_eq!(found, expected, "of {text:?}");
    }

    #[test]
    fn words_are_letters_and_digits_in_lower_case() {
        check("Buy 10 AAPL, because -- \"Momentum\"!", true, &["10", "aapl", "because", "buy", "momentum"]);
        check("NOT (a OR b*) ^col:x \"", false, &["a", "b", "col", "not", "or", "x"]);
        check("'; --", false, &[]);
    }

    #[test]
    fn scripts_without_spaces_are_found_by_any_part() {
        check("贵州茅台", true, &["台", "州茅", "茅台", "贵州"]);
        check("茅台", false, &["茅台"]);
        check("茅", false, &["茅*"]);
        check("买入AAPL股", true, &["aapl", "买入", "入", "股"]);
    }

    #[test]
    fn a_question_of_no_words_matches_nothing() {
        assert!(rendered(Backend::Sqlite, "?!").is_none());
    }
}
