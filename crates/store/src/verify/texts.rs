//! Texts against their hashes.

use crate::db::Db;
use crate::error::Result;
use crate::texts;
use papertape_core::id::ContentHash;
use papertape_core::json;
use papertape_core::tape::{inline, linked_documents, references};
use serde_json::Value;
use std::collections::BTreeSet;

/// Texts already checked against their hashes.
#[derive(Default)]
pub(super) struct Texts {
    sound: BTreeSet<ContentHash>,
}

impl Texts {
    /// Whether the text of this hash is unaltered, and everything that it references. Returns what is wrong.
    pub(super) async fn check(&mut self, db: &mut dyn Db, hash: ContentHash) -> Result<Option<String>> {
        let mut waiting = vec![hash];
        while let Some(hash) = waiting.pop() {
            if !self.sound.insert(hash) {
                continue;
            }
            let Some(body) = texts::fetch(db, &BTreeSet::from([hash])).await?.remove(&hash) else {
                return Ok(Some(format!("the text {hash} is missing")));
            };
            if ContentHash::of(body.as_bytes()) == hash {
                continue;
            }
            let edited = || Ok(Some(format!("the text {hash} was modified")));
            let Ok(stored) = serde_json::from_str::<Value>(&body) else {
                return edited();
            };
            let lifted = texts::fetch(db, &references(&stored).into_iter().collect()).await?;
            if let Some(other) = lifted.iter().find(|(hash, body)| ContentHash::of(body.as_bytes()) != **hash)
            {
                return Ok(Some(format!("the text {} was modified", other.0)));
            }
            let whole = inline(&stored, &|hash| lifted.get(&hash).cloned());
            let same = whole.is_ok_and(|whole| {
                ContentHash::of(format!("json\n{}", json::canonical(&whole)).as_bytes()) == hash
            });
            if !same {
                return edited();
            }
            waiting.extend(linked_documents(&stored));
        }
        Ok(None)
    }
}
