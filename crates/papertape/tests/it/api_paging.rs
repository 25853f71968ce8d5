//! Pages never drop or repeat a row, also while rows are added.

use crate::api_support::{World, week};
use serde_json::Value;
use std::collections::BTreeSet;

/// Reads a list page by page; `meanwhile` runs after the first page.
async fn all(world: &World, uri: &str, list: &str, key: &str, limit: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let mut cursor = String::new();
    loop {
        let joint = if uri.contains('?') { '&' } else { '?' };
        let page = world.good(&format!("{uri}{joint}limit={limit}{cursor}")).await;
        let items = page[list].as_array().expect("a list");
        assert_eq!(page["count"], items.len(), "{uri}");
        assert!(items.len() <= limit, "{uri}");
        rows.extend(items.iter().map(|item| item[key].to_string()));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return rows,
        }
    }
}

/// Goal: every list comes whole and in the same order, whatever the size of its pages.
#[tokio::test(flavor = "multi_thread")]
async fn pages_of_any_size_make_the_same_list() {
    let world = World::new().await;
    for _ in 0..3 {
        papertape::trigger::trigger(&world.app, week()).await.expect("it is queued");
    }
    let session = world.session().await;
    let lists = [
        ("/jobs".to_owned(), "jobs", "job_id", 4),
        ("/reasoning".to_owned(), "sessions", "session_id", 10),
        ("/reasoning?include_full_conversation=true".to_owned(), "sessions", "session_id", 10),
        (format!("/sessions/{session}/steps"), "steps", "path", 0),
        (format!("/sessions/{session}/exposures"), "exposures", "path", 0),
    ];
    for (uri, list, key, count) in lists {
        let whole = all(&world, &uri, list, key, 200).await;
        assert!(count == 0 || whole.len() == count, "{uri}: {}", whole.len());
        assert!(whole.len() > 2, "{uri}: {whole:?}");
        for limit in [1, 3, whole.len()] {
            assert_eq!(all(&world, &uri, list, key, limit).await, whole, "{uri} by {limit}");
        }
        if key != "path" {
            assert_eq!(whole.iter().collect::<BTreeSet<_>>().len(), whole.len(), "{uri}");
        }
    }
}

/// Goal: what was there when the first page was read comes exactly once, while a job adds sessions.
#[tokio::test(flavor = "multi_thread")]
async fn rows_that_are_added_do_not_disturb() {
    let world = World::new().await;
    let first = world.good("/reasoning?limit=4").await;
    let cursor = first["next_cursor"].as_str().expect("there is more").to_owned();
    let mut again = week();
    again.replace_existing = true;
    world.run(again).await;
    let ids = |page: &Value| -> Vec<i64> {
        page["sessions"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|one| one["session_id"].as_i64())
            .collect()
    };
    let rest = world.good(&format!("/reasoning?limit=200&cursor={cursor}")).await;
    let together = [ids(&first), ids(&rest)].concat();
    assert_eq!(together.len(), 20, "ten of each job");
    assert_eq!(together.iter().collect::<BTreeSet<_>>().len(), 20);

    // An empty page that a cursor leads to is an answer, not a miss.
    let jobs = world.good("/jobs?limit=1").await;
    let cursor = jobs["next_cursor"].as_str().expect("there is another");
    assert_eq!(world.good(&format!("/jobs?status=failed&cursor={cursor}")).await["count"], 0);
    let sessions = world.good("/reasoning?limit=19").await;
    let cursor = sessions["next_cursor"].as_str().expect("one is left").to_owned();
    let page = world.good(&format!("/reasoning?date=2012-10-01&model=none&cursor={cursor}")).await;
    assert_eq!((page["count"].as_u64(), page["next_cursor"].is_null()), (Some(0), true));
}
