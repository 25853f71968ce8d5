//! Full text search of transcripts. Both databases maintain an index, and both get their words from here:
//! tokenization does not depend on the database, and user input is never parsed as query syntax.
//!
//! A word is a run of letters and digits in lower case, at most 64 of them. In scripts without spaces between
//! words (Chinese, Japanese, Korean, Thai and its neighbors), every two adjacent characters are a word, and so is
//! the last character on its own: any part of such a text can be found, down to a single character. A text
//! matches if it contains all words of the query, in any order.

pub(crate) mod deferred_index;
mod tokenizer;

use crate::db::{Backend, Db};
use crate::error::{Result, StoreError};
use crate::texts::{self, BODY, Body, NewText};
use crate::value::{Value, params};
use papertape_core::record::StoredText;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokenizer::{IndexedWords, Word, query_tokens};

/// The words under which a text is indexed, separated by spaces.
pub(crate) fn words(text: &str) -> String {
    IndexedWords::of(text).joined()
}

/// Stores a text and indexes it immediately. Returns its ID.
pub(crate) async fn store_and_index(db: &mut dyn Db, text: StoredText) -> Result<i64, StoreError> {
    let (hash, words) = (text.hash, Arc::new(words(&text.body)));
    let new = BTreeMap::from([(hash, NewText::plain(text))]);
    if let Some(text_id) = texts::insert(db, &new).await?.remove(&hash) {
        add(db, text_id, &words).await?;
        return Ok(text_id);
    }
    let sql = "SELECT id FROM texts WHERE hash = $1";
    let gone = || StoreError::inconsistent("a text is gone");
    let text_id = db.row(sql, params![hash]).await?.ok_or_else(gone)?.get()?;
    index(db, text_id).await?;
    // If it is queued too, the queue has to find out that it is indexed.
    db.queued_text(text_id, None);
    Ok(text_id)
}

/// Indexes the text, unless it already is.
async fn index(db: &mut dyn Db, text_id: i64) -> Result<(), StoreError> {
    let known = match db.backend() {
        Backend::Sqlite => "SELECT rowid FROM text_search WHERE rowid = $1",
        Backend::Postgres => "SELECT text_id FROM text_search WHERE text_id = $1",
    };
    if db.row(known, params![text_id]).await?.is_some() {
        return Ok(());
    }
    let sql = format!("SELECT {BODY} FROM texts t WHERE t.id = $1");
    let Body(body) =
        db.first(&sql, params![text_id]).await?.ok_or_else(|| StoreError::inconsistent("a text is gone"))?;
    add(db, text_id, &Arc::new(words(&body))).await
}

/// Indexes a text that is not indexed yet under its words.
async fn add(db: &mut dyn Db, text_id: i64, words: &Arc<String>) -> Result<(), StoreError> {
    if words.is_empty() {
        return Ok(());
    }
    let sql = match db.backend() {
        Backend::Sqlite => "INSERT INTO text_search (rowid, words) VALUES ($1, $2)",
        Backend::Postgres => {
            "INSERT INTO text_search (text_id, words)
             VALUES ($1, array_to_tsvector(string_to_array(CAST($2 AS TEXT), ' '))) ON CONFLICT DO NOTHING"
        }
    };
    db.execute(sql, params![text_id, words]).await.map(drop)
}

/// Removes a text that is about to be deleted from SQLite's index. PostgreSQL's index needs no such step.
pub(crate) async fn forget(db: &mut dyn Db, text_id: i64, body: &str) -> Result<()> {
    db.execute("DELETE FROM texts_to_index WHERE text_id = $1", params![text_id]).await?;
    let known = db.row("SELECT rowid FROM text_search WHERE rowid = $1", params![text_id]).await?;
    if known.is_some() {
        // A contentless index must be given the values to delete.
        let sql = "INSERT INTO text_search (text_search, rowid, words) VALUES ('delete', $1, $2)";
        db.execute(sql, params![text_id, words(body)]).await?;
    }
    Ok(())
}

/// Thresholds for "rare": this many matching texts, or this fraction of all texts if that is fewer; below
/// `RARE_ANYWAY`, always.
const RARE: i64 = 20_000;
const RARE_OF: i64 = 50;
const RARE_ANYWAY: i64 = 2_000;
/// At least one match per this many texts is "everywhere".
const EVERYWHERE_OF: i64 = 10;

/// The words of a query, in lower case, as texts are searched for them. A word of one character of an unspaced script
/// stands for every word that begins with it.
#[must_use]
pub fn query_words(question: &str) -> Vec<String> {
    query_tokens(question).into_iter().map(|word| word.text).collect()
}

/// A search query.
#[derive(Debug)]
pub(crate) struct SearchQuery {
    backend: Backend,
    words: Value,
    frequency: Frequency,
    /// Matching texts that are not indexed yet.
    newest: Vec<i64>,
}

/// How many texts match, which decides how to look them up on SQLite, whose planner does not know. Results do not
/// depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frequency {
    /// Few: start from the matches and look up the rows that reference them.
    Rare,
    /// More: scan those rows in their order, and check each against a list of matches.
    Often,
    /// So many that a list would be long and a scan soon finds the first ones: query the index for each row.
    Everywhere,
}

impl SearchQuery {
    /// Parses a query and estimates how frequent its words are. `None` if it has no words and so matches nothing.
    pub(crate) async fn parse(db: &mut dyn Db, question: &str) -> Result<Option<Self>> {
        let backend = db.backend();
        let tokens = query_tokens(question);
        if tokens.is_empty() {
            return Ok(None);
        }
        let newest = deferred_index::matching(db, &tokens).await?;
        let words = quoted(backend, &tokens);
        let frequency = match backend {
            Backend::Sqlite => frequency(db, &words).await?,
            // Its planner knows word frequencies.
            Backend::Postgres => Frequency::Often,
        };
        Ok(Some(Self { backend, words, frequency, newest }))
    }

    /// Whether to start from the matching texts.
    pub(crate) fn is_rare(&self) -> bool {
        self.frequency == Frequency::Rare
    }

    /// A condition on the IDs of the matching texts: SQL with one `?`, and its value.
    pub(crate) fn condition(&self, column: &str) -> (String, Value) {
        let newest = self.newest.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        let sql = match self.backend {
            Backend::Sqlite if self.frequency == Frequency::Everywhere => format!(
                "(EXISTS (SELECT 1 FROM text_search
                  WHERE text_search.rowid = {column} AND text_search MATCH ?) OR {column} IN ({newest}))"
            ),
            // In a single list, so that the planner can still start from it.
            Backend::Sqlite if !newest.is_empty() => format!(
                "{column} IN (SELECT rowid FROM text_search WHERE text_search MATCH ?
                 UNION ALL SELECT value FROM json_each('[{newest}]'))"
            ),
            backend => listed(backend, column),
        };
        (sql, self.words.clone())
    }
}

/// Counts the first matches, which come in ID order: the last ID shows how dense they are.
async fn frequency(db: &mut dyn Db, words: &Value) -> Result<Frequency> {
    let newest = "SELECT coalesce(max(id), 0) FROM texts";
    let all: i64 = db.first(newest, &[]).await?.unwrap_or_default();
    let rare = (all / RARE_OF).clamp(RARE_ANYWAY, RARE);
    let sql = "SELECT count(*), coalesce(max(rowid), 0) FROM
        (SELECT rowid FROM text_search WHERE text_search MATCH $1 LIMIT $2)";
    let found = db.first::<(i64, i64)>(sql, &[words.clone(), (rare + 1).into()]).await?;
    let (found, last) = found.unwrap_or_default();
    Ok(match found {
        found if found <= rare => Frequency::Rare,
        found if last / found < EVERYWHERE_OF => Frequency::Everywhere,
        _ => Frequency::Often,
    })
}

/// Words in the database's query syntax. They are only letters and digits, so they cannot end the quotes.
fn quoted(backend: Backend, words: &[Word]) -> Value {
    let (quote, prefix, and) = match backend {
        Backend::Sqlite => ('"', "*", " AND "),
        Backend::Postgres => ('\'', ":*", " & "),
    };
    let quoted =
        |word: &Word| format!("{quote}{}{quote}{}", word.text, if word.prefix { prefix } else { "" });
    Value::from(words.iter().map(quoted).collect::<Vec<_>>().join(and))
}

/// SQL with one `?` for the words: a condition on the IDs of the matching texts.
fn listed(backend: Backend, column: &str) -> String {
    match backend {
        Backend::Sqlite => format!("{column} IN (SELECT rowid FROM text_search WHERE text_search MATCH ?)"),
        Backend::Postgres => format!(
            "{column} IN (SELECT text_id FROM text_search
             WHERE words @@ CAST(CAST(? AS TEXT) AS tsquery))"
        ),
    }
}

/// A condition on the IDs of the matching texts: SQL with one `?`, and its value. `None` if the query has no
/// words and so matches nothing.
pub(crate) fn condition(backend: Backend, column: &str, question: &str) -> Option<(String, Value)> {
    let words = query_tokens(question);
    (!words.is_empty()).then(|| (listed(backend, column), quoted(backend, &words)))
}

/// One condition for each word of the query, in the form that [`condition`] has for all of them.
pub(crate) fn conditions(backend: Backend, column: &str, question: &str) -> Vec<(String, Value)> {
    let words = query_tokens(question);
    words.iter().map(|word| (listed(backend, column), quoted(backend, std::slice::from_ref(word)))).collect()
}
