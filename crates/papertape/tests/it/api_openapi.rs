//! The OpenAPI document, which clients and the web UI are generated from.

use crate::api_support::World;

/// Goal: the document changes only when somebody has reviewed the change.
#[test]
fn the_document_is_as_it_was_last_looked_at() {
    let mut document = papertape_api::openapi();
    document.info.version = "[version]".to_owned();
    insta::assert_json_snapshot!("openapi", document);
}

/// Goal: the server returns exactly that document.
#[tokio::test]
async fn the_document_is_served() {
    let world = World::empty().await;
    let served = world.good("/openapi.json").await;
    let document = serde_json::to_value(papertape_api::openapi()).expect("JSON");
    assert_eq!(served, document);
}

/// Goal: the guide names every route, and its examples are JSON.
#[test]
fn the_guide_names_every_route() {
    let guide = include_str!("../../../../docs/api.md");
    let document = serde_json::to_value(papertape_api::openapi()).expect("JSON");
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for method in methods.as_object().expect("methods").keys() {
            let route = format!("`{} {path}`", method.to_uppercase());
            assert!(guide.contains(&route), "docs/api.md does not name {route}");
        }
    }
    let examples = guide.split("```json\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    for example in examples {
        serde_json::from_str::<serde_json::Value>(example)
            .unwrap_or_else(|error| panic!("{error}: {example}"));
    }
}
