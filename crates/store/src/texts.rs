//! Content, stored once by its hash.

use crate::db::{Db, Statement};
use crate::error::{Result, StoreError};
use crate::value::{Value, params};
use papertape_core::id::ContentHash;
use papertape_core::record::StoredText;
use papertape_core::tape::{inline, references};
use std::collections::{BTreeMap, BTreeSet};

/// Number of texts per statement.
const GROUP: usize = 32;

/// Adds the texts that are missing, in hash order, so that two jobs that add the same ones at the same time wait
/// for each other instead of deadlocking.
pub(crate) async fn insert(db: &mut dyn Db, texts: impl Iterator<Item = &StoredText>) -> Result<()> {
    let sorted: BTreeMap<ContentHash, &str> = texts.map(|text| (text.hash, text.body.as_str())).collect();
    for (hash, body) in sorted {
        let (body, encoding) = encode(body);
        db.execute(
            "INSERT INTO texts (hash, body, encoding) VALUES ($1, $2, $3) ON CONFLICT (hash) DO NOTHING",
            params![hash, body, encoding],
        )
        .await?;
    }
    Ok(())
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
fn encode(body: &str) -> (String, i64) {
    if body.contains('\0') { (serde_json::Value::from(body).to_string(), 1) } else { (body.to_owned(), 0) }
}

pub(crate) fn decode(body: String, encoding: i64) -> Result<String> {
    match encoding {
        0 => Ok(body),
        1 => serde_json::from_str(&body)
            .map_err(|error| StoreError::inconsistent(format!("an encoded text cannot be read: {error}"))),
        other => Err(StoreError::inconsistent(format!("a text has the unknown encoding {other}"))),
    }
}
