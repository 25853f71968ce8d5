//! Content, stored once by its hash. What SQL clients read stays plain: messages, and the words of reflections.
//! Everything else is compressed, by whoever hands it over, so that the writer does not have to.

mod pack;
pub(crate) mod upgrade;

use crate::db::{Backend, Db, Statement};
use crate::error::{Result, StoreError};
use crate::value::{Array, FromRow, Row, Value, params};
use papertape_core::id::ContentHash;
use papertape_core::record::StoredText;
use papertape_core::tape::{inline, references};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Number of texts per statement.
const GROUP: usize = 32;

/// Texts to be stored, by hash.
pub(crate) type NewTexts = BTreeMap<ContentHash, NewText>;

/// Values of the column `encoding`.
const PLAIN: i64 = 0;
/// A JSON string, because the text holds a NUL.
const ESCAPED: i64 = 1;
/// Compressed with dictionary 1, in the column `packed`: see [`pack`].
const PACKED: i64 = 2;

/// A text in its stored form.
#[derive(Clone, Debug)]
pub(crate) struct NewText {
    /// Empty if it is packed.
    body: Arc<String>,
    encoding: i64,
    packed: Option<Arc<Vec<u8>>>,
    /// The words under which it is found; `None` if it is not a message.
    pub(crate) words: Option<Arc<String>>,
}

impl NewText {
    /// A text that SQL clients read.
    pub(crate) fn plain(text: StoredText) -> Self {
        let (body, encoding) = encode(text.body);
        Self { body: Arc::new(body), encoding, packed: None, words: None }
    }

    /// A message's text.
    pub(crate) fn with_words(text: StoredText, words: String) -> Self {
        Self { words: Some(Arc::new(words)), ..Self::plain(text) }
    }

    /// Any other text.
    pub(crate) fn packed(text: StoredText) -> Self {
        match pack::pack(&text.body) {
            Some(packed) => {
                Self { body: Arc::default(), encoding: PACKED, packed: Some(Arc::new(packed)), words: None }
            }
            None => Self::plain(text),
        }
    }
}

/// SQL: the columns of the table `t` that [`Body`] reads.
pub(crate) const BODY: &str = "t.body, t.encoding, t.packed";

/// A text as it was before it was encoded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Body(pub(crate) String);

impl FromRow for Body {
    fn from_row(row: &mut Row) -> Result<Self> {
        decode(row.get()?, row.get()?, row.get()?).map(Self)
    }
}

/// Adds the text if it is missing.
pub(crate) async fn insert_one(db: &mut dyn Db, text: StoredText) -> Result<(), StoreError> {
    let texts = BTreeMap::from([(text.hash, NewText::packed(text))]);
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
        let packed = missing.iter().map(|(_, text)| text.packed.clone()).collect();
        let sql = "INSERT INTO texts (hash, body, encoding, packed)
            SELECT * FROM unnest(CAST($1 AS BYTEA[]), CAST($2 AS TEXT[]), CAST($3 AS BIGINT[]),
                CAST($4 AS BYTEA[]))
            ON CONFLICT (hash) DO NOTHING RETURNING hash, id";
        let values = params![
            Array::Hashes(hashes),
            Array::Texts(bodies),
            Array::Numbers(encodings),
            Array::Blobs(packed)
        ];
        for mut row in db.query(sql, values).await? {
            added.insert(row.get()?, row.get()?);
        }
        return Ok(added);
    }
    let sql = "INSERT INTO texts (hash, body, encoding, packed) VALUES ($1, $2, $3, $4)
        ON CONFLICT (hash) DO NOTHING RETURNING id";
    for (hash, text) in missing {
        let values = params![hash, &text.body, text.encoding, text.packed.as_ref()];
        if let Some(id) = db.insert_id(sql, values).await? {
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

    /// The ID of a message's text, and its words if this transaction added it.
    pub(crate) async fn find(
        &mut self,
        db: &mut dyn Db,
        hash: ContentHash,
    ) -> Result<Option<(i64, Option<&'a Arc<String>>)>, StoreError> {
        if let Some(id) = self.added.get(&hash) {
            return Ok(Some((*id, self.new.get(&hash).and_then(|text| text.words.as_ref()))));
        }
        let sql = "SELECT id, encoding FROM texts WHERE hash = $1";
        let Some((id, encoding)) = db.first::<(i64, i64)>(sql, params![hash]).await? else { return Ok(None) };
        if encoding == PACKED {
            make_plain(db, id).await?;
        }
        Ok(Some((id, None)))
    }
}

/// Unpacks a text that has become a message's.
async fn make_plain(db: &mut dyn Db, id: i64) -> Result<()> {
    let sql = format!("SELECT {BODY} FROM texts t WHERE t.id = $1");
    let Some(Body(body)) = db.first(&sql, params![id]).await? else { return Ok(()) };
    let (body, encoding) = encode(body);
    let sql = "UPDATE texts SET body = $1, encoding = $2, packed = NULL WHERE id = $3";
    db.execute(sql, params![body, encoding, id]).await.map(drop)
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
        let mut statement = Statement::new(format!("SELECT t.hash, {BODY} FROM texts t WHERE t.hash IN ("));
        statement.add(&vec!["?"; GROUP].join(", "), filled).add(")", []);
        found
            .extend(statement.all::<(_, Body)>(db).await?.into_iter().map(|(hash, Body(body))| (hash, body)));
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
    if body.contains('\0') { (serde_json::Value::from(body).to_string(), ESCAPED) } else { (body, PLAIN) }
}

/// Like [`Body`], of a row that may have no text.
pub(crate) struct BodyIfAny(pub(crate) Option<String>);

impl FromRow for BodyIfAny {
    fn from_row(row: &mut Row) -> Result<Self> {
        let (body, encoding, packed): (Option<String>, Option<i64>, Option<Vec<u8>>) = row.get()?;
        body.zip(encoding).map(|(body, encoding)| decode(body, encoding, packed)).transpose().map(Self)
    }
}

fn decode(body: String, encoding: i64, packed: Option<Vec<u8>>) -> Result<String> {
    match (encoding, packed) {
        (PLAIN, None) => Ok(body),
        (ESCAPED, None) => serde_json::from_str(&body)
            .map_err(|error| StoreError::inconsistent(format!("an encoded text cannot be read: {error}"))),
        (PACKED, Some(packed)) if body.is_empty() => pack::unpack(&packed),
        (PLAIN..=PACKED, _) => Err(StoreError::inconsistent("a text is stored in two forms, or in none")),
        (other, _) => Err(StoreError::inconsistent(format!("a text has the unknown encoding {other}"))),
    }
}
