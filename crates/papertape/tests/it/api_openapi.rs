//! The OpenAPI document, which clients and the web UI are generated from.

use crate::api_support::World;

/// Goal: the document changes only where somebody has looked at the change.
#[test]
fn the_document_is_as_it_was_last_looked_at() {
    let mut document = papertape::api::openapi();
    document.info.version = "[version]".to_owned();
    insta::assert_json_snapshot!("openapi", document);
}

/// Goal: what is served is that document.
#[tokio::test]
async fn the_document_is_served() {
    let world = World::empty().await;
    let served = world.good("/openapi.json").await;
    let document = serde_json::to_value(papertape::api::openapi()).expect("JSON");
    assert_eq!(served, document);
}
