//! Names, tags and notes of jobs through the router: who may change them, what is found by them, and what they change.

use crate::api_support::{Answer, MODELS, World, config, week};
use axum::body::Body;
use axum::http::Request;
use papertape_core::id::JobId;
use papertape_core::ports::Queue as _;
use papertape_protocol::access::Scope;
use papertape_service::access::{AccessToken, TokenHash, new_token};
use papertape_service::app::{Access, App};
use papertape_service::trigger::trigger;
use serde_json::{Value, json};

async fn patch(world: &World, job: &str, token: Option<&str>, body: &Value) -> Answer {
    let mut request = Request::patch(format!("/jobs/{job}/labels"))
        .header("host", "localhost")
        .header("content-type", "application/json");
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    world.send(request.body(Body::from(body.to_string())).expect("a request")).await
}

async fn found(world: &World, query: &str) -> Vec<String> {
    let page = world.good(&format!("/jobs?{query}")).await;
    let id = |job: &Value| job["job_id"].as_str().expect("an ID").to_owned();
    page["jobs"].as_array().expect("a list").iter().map(id).collect()
}

async fn export(app: &App, job: &JobId) -> Vec<u8> {
    let mut out = Vec::new();
    assert!(app.store.canonical_export(job, &mut out).await.expect("it exports"));
    out
}

/// Goal: a job is named, tagged and annotated, found by all of these and by its agents and dataset, sorted by its name;
/// and its chain, fingerprint and canonical export stay as they were. A secret does not reach the record.
#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_labeled_and_found() {
    let mut world = World::new().await;
    let other = trigger(&world.app, week()).await.expect("it is queued").job.to_string();
    let job = std::mem::take(&mut world.job);
    let id = JobId::new(&job);
    let (exported, row) =
        (export(&world.app, &id).await, world.app.store.get_job(&id).await.expect("it reads"));
    let secret = "sk-abcdefghijklmnopqrstuvwxyz0123456789ABCDEF";
    let body = json!({ "name": "Autumn 2012", "tags": ["paper", "b"], "note": format!("with {secret}\nsee the 8th") });
    let answer = patch(&world, &job, None, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert!(!answer.text.contains(secret), "{}", answer.text);
    let labels = &answer.json()["labels"];
    assert_eq!((&labels["name"], &labels["tags"]), (&json!("Autumn 2012"), &json!(["b", "paper"])));
    assert_eq!(world.good(&format!("/jobs/{job}")).await["job"]["labels"], *labels);
    assert_eq!(world.good("/jobs?tag=paper").await["jobs"][0]["labels"], *labels);

    let both = [other.clone(), job.clone()];
    let one = std::slice::from_ref(&job);
    for (query, expected) in [
        ("search=AUTUMN%20paper", one),
        ("search=8th", one),
        ("search=no%20such", &[]),
        ("tag=b&status=completed", one),
        ("status=queued", &both[..1]),
        ("sort=name", &[job.clone(), other.clone()]),
        ("sort=-name", &both),
        ("quality=degraded", &[]),
        ("kind=simulate&quality=ok", &both),
        ("from=2000-01-01&to=2001-01-01", &[]),
        ("dataset=nothing", &[]),
    ] {
        assert_eq!(found(&world, query).await, expected, "{query}");
    }
    assert_eq!(found(&world, &format!("model={}", MODELS[1])).await, both);
    let dataset = &world.good("/jobs").await["jobs"][0]["simulation"]["dataset"];
    for field in ["name", "hash"] {
        let uri = format!("dataset={}", dataset[field].as_str().expect("a text"));
        assert_eq!(found(&world, &uri).await, both, "{uri}");
    }

    let cleared = patch(&world, &job, None, &json!({ "name": null, "remove_tags": ["b"] })).await.json();
    assert_eq!((&cleared["labels"]["name"], &cleared["labels"]["tags"]), (&Value::Null, &json!(["paper"])));
    assert!(cleared["labels"]["note"].is_string(), "an absent field stays");
    assert_eq!(world.app.store.verify_chain(&id).await.expect("it verifies").broken, None);
    let after = world.app.store.get_job(&id).await.expect("it reads");
    assert_eq!(after.map(|row| row.fingerprint), row.map(|row| row.fingerprint));
    assert_eq!(export(&world.app, &id).await, exported);
}

/// Goal: invalid labels and parameters are a 400 that names the field, an unknown job is a 404, and only a token with
/// `operate` may write; its name is recorded.
#[tokio::test(flavor = "multi_thread")]
async fn labels_have_limits_and_need_a_scope() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut config = config(&dir);
    let (read, operate) = (new_token(), new_token());
    for (name, scope, token) in [("reader", Scope::Read, &read), ("desk", Scope::Operate, &operate)] {
        config.auth.tokens.push(AccessToken { name: name.to_owned(), scope, hash: TokenHash::of(token) });
    }
    let app = App::open(config, Access::Own, papertape::integrations()).await.expect("it opens");
    let job = trigger(&app, week()).await.expect("it is queued").job.to_string();
    let world = World { router: papertape_api::router(app.clone()), app, job, _dir: dir };
    let send = async |job: &str, token: &str, body: Value| {
        let answer = patch(&world, job, Some(token), &body).await;
        (answer.status.as_u16(), answer.json())
    };
    assert_eq!(send(&world.job, &read, json!({ "name": "x" })).await.0, 403);
    let (status, answer) = send(&world.job, &operate, json!({ "name": "x" })).await;
    assert_eq!((status, &answer["labels"]["updated_by"]), (200, &json!("desk")));
    assert_eq!(send("nothing", &operate, json!({ "name": "x" })).await.0, 404);
    let many: Vec<String> = (0..21).map(|n| n.to_string()).collect();
    for (body, field) in [
        (json!({ "name": "n".repeat(201) }), "name"),
        (json!({ "name": 5 }), "name"),
        (json!({ "tags": many }), "tags"),
        (json!({ "add_tags": ["t".repeat(41)] }), "add_tags"),
        (json!({ "note": "n".repeat(10_001) }), "note"),
        (json!({ "title": "x" }), "title"),
    ] {
        let (status, answer) = send(&world.job, &operate, body.clone()).await;
        let message = answer["message"].as_str().unwrap_or_default();
        assert!(status == 400 && message.starts_with(&format!("{field}: ")), "{body}: {status} {message}");
    }
    for (query, field) in [
        ("sort=cost", "sort"),
        ("sort=--name", "sort"),
        ("quality=good", "quality"),
        ("from=2012-13-01", "from"),
        ("search=a%00b", "search"),
        ("tag=%00", "tag"),
        ("sort=name&cursor=5b5d", "cursor"),
    ] {
        let request = Request::get(format!("/jobs?{query}"))
            .header("host", "localhost")
            .header("authorization", format!("Bearer {read}"));
        let answer = world.send(request.body(Body::empty()).expect("a request")).await;
        let message = answer.json()["message"].as_str().unwrap_or_default().to_owned();
        assert!(answer.status == 400 && message.starts_with(&format!("{field}: ")), "{query}: {message}");
    }
}
