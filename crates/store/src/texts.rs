//! Content, stored once by its hash.

use crate::db::{Backend, Db, Statement};
use crate::error::{Result, StoreError};
use crate::value::{Array, Value, params};
use papertape_core::id::ContentHash;
use papertape_core::record::StoredText;
use papertape_core::tape::{inline, references};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Number of texts per statement.
const GROUP: usize = 32;

/// Texts to be stored, by hash.
pub(crate) type NewTexts = BTreeMap<ContentHash, NewText>;

/// A text in its stored form.
#[derive(Clone, Debug)]
pub(crate) struct NewText {
    body: Arc<String>,
    encoding: i64,
    /// The words under which it is found; `None` if it is not a message.
    pub(crate) words: Option<Arc<String>>,
}

impl NewText {
    pub(crate) fn of(text: StoredText) -> Self {
        let (body, encoding) = encode(text.body);
        Self { body: Arc::new(body), encoding, words: None }
    }

    /// Like [`Self::of`], for a message's text.
    pub(crate) fn with_words(text: StoredText, words: String) -> Self {
        Self { words: Some(Arc::new(words)), ..Self::of(text) }
    }
}

/// Adds the text if it is missing.
pub(crate) async fn insert_one(db: &mut dyn Db, text: StoredText) -> Result<(), StoreError> {
    let texts = BTreeMap::from([(text.hash, NewText::of(text))]);
    insert(db, &texts).await.map(drop)
}

/// Adds the texts that are missing, in hash order, so that two jobs that add the same ones at the same time wait
/// for each other instead of deadlocking. Returns the IDs of the added ones.
pub(crate) async fn insert(
    db: &mut dyn Db,
    texts: &NewTexts,
) -> Result<BTreeMap<ContentHash, i64>, StoreError> {
    let mut added = BTreeMap::new();
    let mut missing = Vec::new();
    for (hash, text) in texts {
        match db.stored_text(*hash) {
            Some(Some(id)) => drop(added.insert(*hash, id)),
            Some(None) => {}
            None => missing.push((*hash, text)),
        }
    }
    if db.backend() == Backend::Postgres && missing.len() > 1 {
        let hashes = missing.iter().map(|(hash, _)| *hash).collect();
        let bodies = missing.iter().map(|(_, text)| Arc::clone(&text.body)).collect();
        let encodings = missing.iter().map(|(_, text)| text.encoding).collect();
        let sql = "INSERT INTO texts (hash, body, encoding)
            SELECT * FROM unnest(CAST($1 AS BYTEA[]), CAST($2 AS TEXT[]), CAST($3 AS BIGINT[]))
            ON CONFLICT (hash) DO NOTHING RETURNING hash, id";
        let values = params![Array::Hashes(hashes), Array::Texts(bodies), Array::Numbers(encodings)];
        for mut row in db.query(sql, values).await? {
            added.insert(row.get()?, row.get()?);
        }
        return Ok(added);
    }
    let sql = "INSERT INTO texts (hash, body, encoding) VALUES ($1, $2, $3)
        ON CONFLICT (hash) DO NOTHING RETURNING id";
    for (hash, text) in missing {
        if let Some(id) = db.insert_id(sql, params![hash, &text.body, text.encoding]).await? {
            added.insert(hash, id);
        }
    }
    Ok(added)
}

/// IDs of texts, for the rows that refer to them.
#[derive(Debug)]
pub(crate) struct TextIds<'a> {
    new: &'a NewTexts,
    /// The new ones that were not there before.
    added: BTreeMap<ContentHash, i64>,
}

impl<'a> TextIds<'a> {
    pub(crate) fn new(new: &'a NewTexts, added: BTreeMap<ContentHash, i64>) -> Self {
        Self { new, added }
    }

    /// A text's ID, and its words if this transaction added it.
    pub(crate) async fn find(
        &mut self,
        db: &mut dyn Db,
        hash: ContentHash,
    ) -> Result<Option<(i64, Option<&'a Arc<String>>)>, StoreError> {
        if let Some(id) = self.added.get(&hash) {
            return Ok(Some((*id, self.new.get(&hash).and_then(|text| text.words.as_ref()))));
        }
        let row = db.row("SELECT id FROM texts WHERE hash = $1", params![hash]).await?;
        row.map(|mut row| Ok((row.get()?, None))).transpose()
    }
}

/// The texts of these hashes; missing ones are left out.
pub(crate) async fn fetch(
    db: &mut dyn Db,
    hashes: &BTreeSet<ContentHash>,
) -> Result<BTreeMap<ContentHash, String>> {
    let hashes: Vec<ContentHash> = hashes.iter().copied().collect();
    let mut found = BTreeMap::new();
    for group in hashes.chunks(GROUP) {
        // One statement for every group size: the last hash is repeated as padding.
        let filled = (0..GROUP).map(|at| Value::from(group[at.min(group.len() - 1)]));
        let mut statement = Statement::new("SELECT hash, body, encoding FROM texts WHERE hash IN (");
        statement.add(&vec!["?"; GROUP].join(", "), filled).add(")", []);
        for (hash, body, encoding) in statement.all::<(_, String, i64)>(db).await? {
            found.insert(hash, decode(body, encoding)?);
        }
    }
    Ok(found)
}

/// A document as stored, with its long strings extracted. `None` if it does not exist.
pub(crate) async fn stored(db: &mut dyn Db, hash: ContentHash) -> Result<Option<serde_json::Value>> {
    let body = fetch(db, &BTreeSet::from([hash])).await?.remove(&hash);
    body.map(|body| parse(hash, &body)).transpose()
}

/// Stored documents with long strings inlined; missing ones are left out.
pub(crate) async fn documents(
    db: &mut dyn Db,
    hashes: &BTreeSet<ContentHash>,
) -> Result<BTreeMap<ContentHash, serde_json::Value>> {
    let mut stored = BTreeMap::new();
    let mut lifted = BTreeSet::new();
    for (hash, body) in fetch(db, hashes).await? {
        let document = parse(hash, &body)?;
        // A text stored under its own hash is plain; any other is a document whose long strings were extracted.
        let is_plain = ContentHash::of(body.as_bytes()) == hash;
        if !is_plain {
            lifted.extend(references(&document));
        }
        stored.insert(hash, (document, is_plain));
    }
    let lifted = fetch(db, &lifted).await?;
    let lookup = |hash| lifted.get(&hash).cloned();
    stored
        .into_iter()
        .map(|(hash, (document, is_plain))| {
            if is_plain {
                return Ok((hash, document));
            }
            let whole = inline(&document, &lookup)
                .map_err(|missing| StoreError::inconsistent(missing.to_string()))?;
            Ok((hash, whole))
        })
        .collect()
}

fn parse(hash: ContentHash, body: &str) -> Result<serde_json::Value> {
    serde_json::from_str(body)
        .map_err(|error| StoreError::inconsistent(format!("the document {hash} is not JSON: {error}")))
}

/// PostgreSQL text cannot hold a NUL; such a text is stored as a JSON string, on both databases.
fn encode(body: String) -> (String, i64) {
    if body.contains('\0') { (serde_json::Value::from(body).to_string(), 1) } else { (body, 0) }
}

pub(crate) fn decode(body: String, encoding: i64) -> Result<String> {
    match encoding {
        0 => Ok(body),
        1 => serde_json::from_str(&body)
            .map_err(|error| StoreError::inconsistent(format!("an encoded text cannot be read: {error}"))),
        other => Err(StoreError::inconsistent(format!("a text has the unknown encoding {other}"))),
    }
}
