//! Pages never drop or repeat a row, even while rows are added.

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

/// Goal: every list is complete and in the same order, whatever its page size.
#[tokio::test(flavor = "multi_thread")]
async fn pages_of_any_size_make_the_same_list() {
    let world = World::new().await;
    for _ in 0..3 {
        papertape_service::trigger::trigger(&world.app, week()).await.expect("it is queued");
    }
    let session = world.session().await;
    let lists = [
        ("/jobs".to_owned(), "jobs", "job_id", 4),
        ("/reasoning".to_owned(), "sessions", "session_id", 10),
        ("/reasoning?include_full_conversation=true".to_owned(), "sessions", "session_id", 10),
        (format!("/sessions/{session}/messages"), "messages", "message_index", 0),
        (format!("/sessions/{session}/messages?node=solo"), "messages", "message_index", 0),
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

/// Goal: rows that existed when the first page was read come exactly once, while a job adds sessions.
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

    // An empty page behind a cursor is a valid response, not a miss.
    let jobs = world.good("/jobs?limit=1").await;
    let cursor = jobs["next_cursor"].as_str().expect("there is another");
    assert_eq!(world.good(&format!("/jobs?status=failed&cursor={cursor}")).await["count"], 0);
    let sessions = world.good("/reasoning?limit=19").await;
    let cursor = sessions["next_cursor"].as_str().expect("one is left").to_owned();
    let page = world.good(&format!("/reasoning?date=2012-10-01&model=none&cursor={cursor}")).await;
    assert_eq!((page["count"].as_u64(), page["next_cursor"].is_null()), (Some(0), true));
}

/// Goal: a paged conversation equals the unpaged one, from its start or from a message on; the nodes' prompts
/// come once.
#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_comes_in_pages() {
    let world = World::new().await;
    let session = world.session().await;
    let head = world.good(&format!("/sessions/{session}")).await;
    let whole = world
        .good(&format!(
            "/reasoning?job_id={}&date={}&model={}&include_full_conversation=true",
            world.job,
            head["date"].as_str().expect("a day"),
            head["model"].as_str().expect("a name"),
        ))
        .await["sessions"][0]
        .clone();
    let said = whole["conversation"].as_array().expect("messages");
    assert!(said.len() > 4);
    let uri = format!("/sessions/{session}/messages");
    let first = world.good(&format!("{uri}?limit=3")).await;
    assert_eq!(first["instructions"], whole["instructions"]);
    assert_eq!((first["total"].as_u64(), first["count"].as_u64()), (Some(said.len() as u64), Some(3)));
    let cursor = first["next_cursor"].as_str().expect("there is more");
    let rest = world.good(&format!("{uri}?limit=1000&cursor={cursor}")).await;
    assert!(rest.get("instructions").is_none() && rest["next_cursor"].is_null());
    let pages = [&first, &rest].map(|page| page["messages"].as_array().cloned().unwrap_or_default());
    assert_eq!(&pages.concat(), said);
    let tail = world.good(&format!("{uri}?from={}", said.len() - 2)).await;
    assert_eq!(tail["messages"].as_array().map(Vec::as_slice), Some(&said[said.len() - 2..]));
    assert_eq!(world.good(&format!("{uri}?node=nobody")).await["total"], 0);
    for wrong in ["limit=1001", "limit=0", "from=-1", "cursor=x", &format!("from=1&cursor={cursor}")] {
        assert_eq!(world.get(&format!("{uri}?{wrong}")).await.status, 400, "{wrong}");
    }
    assert_eq!(world.get("/sessions/999999/messages").await.status, 404);
}

/// Goal: a job's status returns the requested model-days, but counts all.
#[tokio::test(flavor = "multi_thread")]
async fn a_status_tells_of_the_days_that_are_asked_for() {
    let world = World::new().await;
    let uri = format!("/simulate/status/{}", world.job);
    let whole = world.good(&uri).await;
    let days = |answer: &Value| answer["details"].as_array().cloned().unwrap_or_default();
    assert_eq!(days(&whole).len(), 10);
    let model = "house::momentum";
    let of_model = world.good(&format!("{uri}?model={model}")).await;
    assert_eq!(days(&of_model).len(), 5);
    let one = world.good(&format!("{uri}?model={model}&date=2012-10-03")).await;
    let wanted = |day: &&Value| day["model"] == model && day["date"] == "2012-10-03";
    assert_eq!(days(&one), days(&whole).iter().filter(wanted).cloned().collect::<Vec<_>>());
    assert_eq!((&one["progress"], &one["date_range"]), (&whole["progress"], &whole["date_range"]));
    assert!(days(&world.good(&format!("{uri}?model=nobody")).await).is_empty());
    assert_eq!(world.get(&format!("{uri}?date=2012-13-01")).await.status, 400);
}

/// Goal: bars come with the splits and dividends of their days, and with none of a later day. The known cases
/// are AAPL's splits of 2000 and 2005.
#[tokio::test(flavor = "multi_thread")]
async fn bars_come_with_what_happened_to_the_shares() {
    let world = World::empty().await;
    let uri = "/datasets/us-daily-2000-2013/bars?symbol=AAPL";
    let whole = world.good(uri).await;
    let splits = |answer: &Value| -> Vec<(String, f64)> {
        let actions = answer["actions"].as_array().expect("a list").iter();
        let splits = actions.filter(|action| action["kind"] == "split");
        splits
            .map(|split| {
                (
                    split["date"].as_str().unwrap_or_default().to_owned(),
                    split["ratio"].as_f64().unwrap_or(0.0),
                )
            })
            .collect()
    };
    let known = [("2000-06-21".to_owned(), 2.0), ("2005-02-28".to_owned(), 2.0)];
    assert_eq!(splits(&whole), known);
    let dividend = whole["actions"].as_array().and_then(|all| all.last()).expect("AAPL pays from 2012 on");
    assert_eq!(dividend["kind"], "dividend");
    assert!(
        dividend["amount"].as_f64().is_some_and(|amount| amount > 0.0) && dividend.get("ratio").is_none()
    );
    assert_eq!(splits(&world.good(&format!("{uri}&end_date=2005-02-25")).await), known[..1]);
    assert_eq!(splits(&world.good(&format!("{uri}&end_date=2005-02-28")).await), known);
    assert!(splits(&world.good(&format!("{uri}&start_date=2006-01-01")).await).is_empty());
    let first = world.good(&format!("{uri}&limit=1000")).await;
    let cursor = first["next_cursor"].as_str().expect("there is more");
    let second = world.good(&format!("{uri}&limit=1000&cursor={cursor}")).await;
    assert_eq!([splits(&first), splits(&second)].concat(), known, "each once");
}
