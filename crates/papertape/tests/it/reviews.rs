//! Scores and notes of sessions through the router and the command line: who may write them, where they are read, and
//! what they change.

use crate::api_support::{Answer, DAYS, MODELS, World, config, settled, week};
use crate::cli_tool::{SHORT, Tool};
use axum::body::Body;
use axum::http::Request;
use papertape_core::id::JobId;
use papertape_core::ports::Queue as _;
use papertape_protocol::access::Scope;
use papertape_service::access::{AccessToken, TokenHash, new_token};
use papertape_service::app::{Access, App};
use rustix::process::Signal;
use serde_json::{Value, json};

async fn patch(world: &World, session: &str, token: Option<&str>, body: &Value) -> Answer {
    let mut request = Request::patch(format!("/sessions/{session}/review"))
        .header("host", "localhost")
        .header("content-type", "application/json");
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    world.send(request.body(Body::from(body.to_string())).expect("a request")).await
}

/// What a review must leave as it is: the job's fingerprint, its head and its canonical export.
async fn proof(app: &App, job: &JobId) -> Value {
    let mut out = Vec::new();
    assert!(app.store.canonical_export(job, &mut out).await.expect("it exports"));
    assert_eq!(app.store.verify_chain(job).await.expect("it verifies").broken, None);
    let row = app.store.get_job(job).await.expect("it reads").expect("it is there");
    let head = app.store.job_head(job).await.expect("it reads");
    json!([row.fingerprint.to_hex(), format!("{head:?}"), String::from_utf8_lossy(&out)])
}

async fn session(world: &World, day: usize, model: &str) -> (String, Value) {
    let uri = format!("/reasoning?job_id={}&date={}&model={model}", world.job, DAYS[day]);
    let found = world.good(&uri).await["sessions"][0].clone();
    (found["session_id"].to_string(), found["review"].clone())
}

/// Goal: a reader scores and annotates sessions; every answer about them carries it; the list of a job's reviews is
/// filtered and paged; a secret does not reach the record; and nothing that is proved changes.
#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_reviewed_and_listed() {
    let world = World::new().await;
    let job = JobId::new(&world.job);
    let before = proof(&world.app, &job).await;
    let (first, empty) = session(&world, 0, MODELS[1]).await;
    assert_eq!(empty, json!({ "score": null, "note": null, "updated_at": null, "updated_by": null }));
    let secret = "sk-abcdefghijklmnopqrstuvwxyz0123456789ABCDEF";
    let body = json!({ "score": 2, "note": format!("sold too early, with {secret}\nsee the 3rd") });
    let answer = patch(&world, &first, None, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert!(!answer.text.contains(secret), "{}", answer.text);
    let review = answer.json()["review"].clone();
    assert_eq!(review["score"], 2);
    assert!(review["note"].as_str().is_some_and(|note| note.ends_with("\nsee the 3rd")), "{review}");
    assert_eq!(world.good(&format!("/sessions/{first}")).await["review"], review);
    assert_eq!(session(&world, 0, MODELS[1]).await.1, review);
    let (second, _) = session(&world, 0, MODELS[0]).await;
    let (third, _) = session(&world, 2, MODELS[1]).await;
    for (session, body) in [(&second, json!({ "score": 5 })), (&third, json!({ "note": "quiet day" }))] {
        assert_eq!(patch(&world, session, None, &body).await.status, 200);
    }

    let list = format!("/jobs/{job}/reviews");
    insta::assert_json_snapshot!("reviews", settled(world.good(&list).await));
    let found = async |query: &str| -> Vec<String> {
        let page = world.good(&format!("{list}?{query}")).await;
        page["reviews"].as_array().expect("a list").iter().map(|one| one["session_id"].to_string()).collect()
    };
    assert_eq!(found("min_score=3").await, std::slice::from_ref(&second));
    assert_eq!(found("min_score=1&max_score=2").await, std::slice::from_ref(&first));
    let page = world.good(&format!("{list}?limit=2")).await;
    let cursor = page["next_cursor"].as_str().expect("there is more");
    assert_eq!(found("limit=2").await, [second.clone(), first.clone()]);
    assert_eq!(found(&format!("limit=2&cursor={cursor}")).await, [third]);

    let cleared = patch(&world, &first, None, &json!({ "score": null })).await.json()["review"].clone();
    assert!(cleared["score"].is_null() && cleared["note"].is_string(), "an absent field stays: {cleared}");
    assert_eq!(proof(&world.app, &job).await, before);
}

/// Goal: only a token with `operate` may write, and its name is recorded; invalid fields are a 400 that names them, an
/// unknown session or job is a 404.
#[tokio::test(flavor = "multi_thread")]
async fn reviews_have_limits_and_need_a_scope() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut config = config(&dir);
    let (read, operate) = (new_token(), new_token());
    for (name, scope, token) in [("reader", Scope::Read, &read), ("desk", Scope::Operate, &operate)] {
        config.auth.tokens.push(AccessToken { name: name.to_owned(), scope, hash: TokenHash::of(token) });
    }
    let app = App::open(config, Access::Own, papertape::integrations()).await.expect("it opens");
    let router = papertape_api::router(app.clone());
    let mut world = World { router, app, job: String::new(), _dir: dir };
    world.job = world.run(week()).await;
    let get = async |uri: &str| {
        let request = Request::get(uri)
            .header("host", "localhost")
            .header("authorization", format!("Bearer {read}"))
            .body(Body::empty());
        let answer = world.send(request.expect("a request")).await;
        (answer.status.as_u16(), answer.json())
    };
    let session =
        get(&format!("/reasoning?job_id={}&limit=1", world.job)).await.1["sessions"][0]["session_id"]
            .to_string();
    let send = async |session: &str, token: &str, body: &Value| {
        let answer = patch(&world, session, Some(token), body).await;
        (answer.status.as_u16(), answer.json())
    };
    let body = json!({ "score": 3, "note": "x" });
    assert_eq!(send(&session, &read, &body).await.0, 403);
    assert_eq!(get(&format!("/sessions/{session}")).await.1["review"]["score"], Value::Null);
    let (status, answer) = send(&session, &operate, &body).await;
    assert_eq!((status, &answer["review"]["updated_by"]), (200, &json!("desk")));
    assert_eq!(get(&format!("/sessions/{session}")).await.1["review"], answer["review"]);
    assert_eq!(send("999999", &operate, &body).await.0, 404);
    for (body, field) in [
        (json!({ "score": 0 }), "score"),
        (json!({ "score": 6 }), "score"),
        (json!({ "score": 300 }), "score"),
        (json!({ "score": 2.5 }), "score"),
        (json!({ "score": "good" }), "score"),
        (json!({ "note": "n".repeat(10_001) }), "note"),
        (json!({ "note": "\u{202e}x" }), "note"),
        (json!({ "stars": 3 }), "stars"),
    ] {
        let (status, answer) = send(&session, &operate, &body).await;
        let message = answer["message"].as_str().unwrap_or_default();
        assert!(status == 400 && message.starts_with(&format!("{field}: ")), "{body}: {status} {message}");
    }
    assert_eq!(get(&format!("/sessions/{session}")).await.1["review"], answer["review"]);
    let list = format!("/jobs/{}/reviews", world.job);
    for (query, field) in [
        ("min_score=0", "min_score"),
        ("max_score=9", "max_score"),
        ("min_score=x", "min_score"),
        ("limit=0", "limit"),
        ("cursor=5b5d", "cursor"),
    ] {
        let (status, answer) = get(&format!("{list}?{query}")).await;
        let message = answer["message"].as_str().unwrap_or_default();
        assert!(status == 400 && message.starts_with(&format!("{field}: ")), "{query}: {status} {message}");
    }
    assert_eq!(get("/jobs/none/reviews").await.0, 404);
    assert_eq!(get(&list).await.1["count"], 1);
}

/// Goal: the command line writes a review by job, day and agent, itself and through a server, lists reviews as text,
/// JSON and CSV, and reports what is missing.
#[test]
fn sessions_are_reviewed_on_the_command_line() {
    let tool = Tool::new();
    let job = tool.job(&SHORT);
    let of_day = |day: &'static str| ["review", "latest", "--date", day];
    let with = |day: &'static str, rest: &[&'static str]| -> Vec<&'static str> {
        of_day(day).into_iter().chain(rest.iter().copied()).collect()
    };
    assert!(tool.ok(&["review", "latest"]).err.contains("no reviews"));
    let written = tool.json(&with("2012-10-02", &["--score", "4", "--note", "held, \"calmly\""]));
    assert_eq!(
        (&written["review"]["score"], &written["review"]["note"]),
        (&json!(4), &json!("held, \"calmly\""))
    );
    let shown = tool.ok(&["reasoning", &job, "--date", "2012-10-02", "--brief"]).out;
    assert!(shown.contains("score: 4 of 5") && shown.contains("note: held"), "{shown}");

    let mut serving = tool.start(&["serve"]);
    assert!(serving.first_line().contains("listening on"));
    tool.ok(&with("2012-10-01", &["--agent", "house::momentum", "--score", "1"]));
    tool.ok(&with("2012-10-03", &["--score", "2", "--note", "=1+1"]));
    tool.ok(&with("2012-10-03", &["--score", "none"]));
    serving.signal(Signal::TERM);
    assert_eq!(serving.end().code, 0);

    let listed = tool.json(&["review", &job]);
    let rows = listed["reviews"].as_array().expect("a list");
    let scores: Vec<&Value> = rows.iter().map(|row| &row["review"]["score"]).collect();
    assert_eq!(scores, [&json!(1), &json!(4), &Value::Null]);
    assert_eq!(tool.json(&["review", &job, "--min-score", "2"])["reviews"].as_array().map(Vec::len), Some(1));
    let csv = tool.ok(&["review", &job, "--csv"]).out;
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "job_id,session_id,date,agent,status,score,note,updated_at,updated_by");
    assert!(lines[2].contains(",2012-10-02,house::momentum,completed,4,\"held, \"\"calmly\"\"\","), "{csv}");
    assert!(lines[3].contains(",completed,,'=1+1,"), "{csv}");
    tool.ok(&["review", &job, "--csv", "--output", "reviews.csv"]);
    assert_eq!(std::fs::read_to_string(tool.path("reviews.csv")).expect("it is written"), csv);
    assert!(tool.ok(&["review", &job]).out.contains("held, \"calmly\""));

    assert!(tool.ends(&of_day("2012-10-02"), 2).err.contains("nothing to change"));
    assert!(tool.ends(&with("2012-10-09", &["--score", "3"]), 4).err.contains("no session on 2012-10-09"));
    assert!(tool.ends(&with("2012-10-02", &["--score", "7"]), 2).err.contains("from 1 to 5"));
    assert_eq!(tool.ends(&["review", "no-such-job"], 4).code, 4);
}

/// Goal: of a day with several agents, the command line asks for one.
#[test]
fn several_sessions_of_a_day_need_a_name() {
    let tool = Tool::new();
    let args: Vec<&str> = SHORT.iter().copied().chain(["--model", "house::contrarian"]).collect();
    tool.ok(&args);
    let several = tool.ends(&["review", "latest", "--date", "2012-10-02", "--score", "3"], 2);
    assert!(several.err.contains("--agent house::"), "{several:#?}");
    let of = ["review", "latest", "--date", "2012-10-02", "--agent", "house::contrarian", "--score", "3"];
    assert_eq!(tool.json(&of)["review"]["score"], 3);
}
