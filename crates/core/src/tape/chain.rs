//! The requests of one conversation, each stored as the previous one plus additions: N turns take O(N) bytes.

use crate::content::{ContentDoc, MissingBlob, StoredText, inline};
use crate::id::ContentHash;
use crate::json;
use crate::message::{ModelRequest, RequestHasher};
use serde_json::{Value, json};

/// The latest request of a conversation's chain.
#[derive(Clone, Debug)]
pub struct RequestChain {
    /// The latest request; the part that the next one repeats need not be hashed again.
    request: ModelRequest,
    head: ContentHash,
    digesting: Box<RequestHasher>,
    /// Hash of the latest link, the request's `request_ref`.
    pub at: ContentHash,
    /// The latest request's digest.
    pub digest: ContentHash,
}

impl RequestChain {
    /// Adds a request. It extends the previous one when both have the same head and it begins with the same
    /// messages; otherwise it starts a new chain. Returns the texts to store, without those of the previous
    /// requests.
    #[must_use]
    pub fn link(previous: Option<Self>, request: &ModelRequest) -> (Self, Vec<StoredText>) {
        let follows = previous.filter(|chain| {
            chain.request.has_head_of(request) && request.messages.starts_with(&chain.request.messages)
        });
        let previous = follows.as_ref().map(|chain| chain.at);
        let mut texts = Vec::new();
        let mut chain = follows.unwrap_or_else(|| {
            let head = ContentDoc::of(&request.head());
            texts.extend(head.texts);
            let digesting = Box::new(RequestHasher::new(request));
            let (at, digest) = (head.hash, digesting.digest());
            let request = ModelRequest { messages: Vec::new(), ..request.clone() };
            Self { request, head: head.hash, digesting, at, digest }
        });
        let mut added = Vec::new();
        for message in &request.messages[chain.request.messages.len()..] {
            let value = json::to_value(message);
            let (doc, json) = ContentDoc::with_json(&value);
            added.push(doc.hash);
            texts.extend(doc.texts);
            chain.digesting.add(message, value, &json);
            chain.request.messages.push(message.clone());
        }
        let link = ContentDoc::of(&json!({ "previous": previous, "head": chain.head, "added": added }));
        chain.at = link.hash;
        chain.digest = chain.digesting.digest();
        texts.extend(link.texts);
        (chain, texts)
    }
}

/// Restores a request as the JSON from [`ModelRequest::to_json`]. Documents that are not requests, such as a
/// local step's arguments, are returned unchanged.
///
/// # Errors
/// The first text that `lookup` does not find.
pub fn expand_request(
    at: ContentHash,
    lookup: &dyn Fn(ContentHash) -> Option<String>,
) -> Result<Value, MissingBlob> {
    let document = |hash: ContentHash| -> Result<Value, MissingBlob> {
        let body = lookup(hash).ok_or(MissingBlob(hash))?;
        let stored = serde_json::from_str(&body).map_err(|_| MissingBlob(hash))?;
        inline(&stored, lookup)
    };
    let hash_in = |value: &Value| value.as_str().and_then(ContentHash::from_hex);

    let newest = document(at)?;
    let is_link = newest.as_object().is_some_and(|map| {
        map.len() == 3 && ["previous", "head", "added"].iter().all(|key| map.contains_key(*key))
    });
    if !is_link {
        return Ok(newest);
    }
    let mut added: Vec<Vec<ContentHash>> = Vec::new();
    let mut link = newest.clone();
    loop {
        added.push(link["added"].as_array().into_iter().flatten().filter_map(hash_in).collect());
        match hash_in(&link["previous"]) {
            Some(previous) => link = document(previous)?,
            None => break,
        }
    }
    let head = hash_in(&newest["head"]).ok_or(MissingBlob(at))?;
    let mut whole = document(head)?;
    let messages = added.into_iter().rev().flatten().map(document).collect::<Result<Vec<Value>, _>>()?;
    whole["messages"] = Value::Array(messages);
    Ok(whole)
}
