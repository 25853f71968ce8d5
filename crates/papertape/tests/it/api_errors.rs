//! Every error has the same shape, the right status, and names the field.

use crate::api_support::World;
use axum::body::Body;
use axum::http::{Method, Request};
use serde_json::{Value, json};
use std::fmt::Write as _;

struct Case {
    method: Method,
    uri: String,
    kind: Option<&'static str>,
    body: String,
}

fn get(uri: &str) -> Case {
    Case { method: Method::GET, uri: uri.to_owned(), kind: None, body: String::new() }
}

fn post(uri: &str, body: impl ToString) -> Case {
    Case { method: Method::POST, uri: uri.to_owned(), kind: Some("application/json"), body: body.to_string() }
}

fn trigger(change: &Value) -> Case {
    let mut body =
        json!({ "start_date": "2012-10-01", "end_date": "2012-10-02", "models": ["house::momentum"] });
    for (key, value) in change.as_object().into_iter().flatten() {
        body[key] = value.clone();
    }
    post("/simulate/trigger", body)
}

fn cases(job: &str) -> Vec<Case> {
    vec![
        // Missing items.
        get("/nowhere"),
        get("/docs/nowhere"),
        get("/jobs/none"),
        get("/jobs/%00"),
        get("/jobs/%ff"),
        get("/simulate/status/none"),
        get("/reasoning?job_id=none"),
        get("/reasoning?q=zzzzunsaid"),
        get("/results?date=1999-01-04"),
        get("/results?job_id=none"),
        get("/sessions/999999/steps"),
        get("/sessions/-1/exposures"),
        post("/simulate/none/cancel", ""),
        post("/simulate/none/resume", ""),
        post("/simulate/none/branch", json!({ "date": "2012-10-01" })),
        // Queries.
        get("/reasoning?date=2012-13-01"),
        get("/reasoning?date=2012-1-1"),
        get("/reasoning?date="),
        get("/reasoning?include_full_conversation=perhaps"),
        get("/reasoning?limit=0"),
        get("/reasoning?limit=201"),
        get("/reasoning?limit=-1"),
        get("/reasoning?limit=many"),
        get("/reasoning?cursor=zz"),
        get("/reasoning?cursor=5b5d"),
        get("/reasoning?job=x"),
        get("/reasoning?model=a&model=b"),
        get("/reasoning?model=%00"),
        get("/jobs?status=pending"),
        get("/jobs?limit=99999999999"),
        get("/results?date=2012-10-01&start_date=2012-10-01"),
        get("/results?start_date=2012-10-02&end_date=2012-10-01"),
        get("/results?reasoning=some"),
        get("/sessions/one/steps"),
        get("/sessions/99999999999999999999/steps"),
        // Bodies.
        Case { kind: None, ..trigger(&json!({})) },
        Case { kind: Some("text/plain"), ..trigger(&json!({})) },
        post("/simulate/trigger", ""),
        post("/simulate/trigger", "{"),
        post("/simulate/trigger", "[]"),
        post("/simulate/trigger", "{} {}"),
        post("/simulate/trigger", "{}"),
        post("/simulate/trigger", "\u{feff}{}"),
        trigger(&json!({ "what": 1 })),
        trigger(&json!({ "end_date": null })),
        trigger(&json!({ "end_date": "2012-02-30" })),
        trigger(&json!({ "end_date": 20121001 })),
        trigger(&json!({ "end_date": "2012-09-01" })),
        trigger(&json!({ "start_date": "2012-09-01T00:00:00" })),
        trigger(&json!({ "start_date": null })),
        trigger(&json!({ "start_date": "1990-01-01", "end_date": "1990-01-31" })),
        trigger(&json!({ "models": "house::momentum" })),
        trigger(&json!({ "models": ["house::momentum", "house::momentum"] })),
        trigger(&json!({ "models": ["momentum"] })),
        trigger(&json!({ "models": ["house::none"] })),
        trigger(&json!({ "models": ["openai::gpt-5"] })),
        trigger(&json!({ "models": vec!["house::momentum"; 65] })),
        trigger(&json!({ "agents": [{ "name": "", "model": "house::momentum" }] })),
        trigger(&json!({ "agents": [{ "name": "x", "model": "none" }] })),
        trigger(&json!({ "agents": [{ "name": "x", "model": "house::momentum", "kind": "team" }] })),
        trigger(&json!({ "agents": [{ "name": "x", "model": "house::momentum", "tools": ["none"] }] })),
        trigger(&json!({
            "agents": [{ "name": "x", "model": "house::momentum", "sampling": { "temperature": 2.5 } }]
        })),
        trigger(&json!({ "symbols": ["AAPL", "NONE"] })),
        trigger(&json!({ "dataset": "none" })),
        trigger(&json!({ "market": "none" })),
        trigger(&json!({ "initial_cash": 0 })),
        trigger(&json!({ "initial_cash": "1000" })),
        trigger(&json!({ "initial_cash": 1e300 })),
        trigger(&json!({ "seed": -1 })),
        trigger(&json!({ "seed": u64::MAX })),
        trigger(&json!({ "budget": { "job": { "tokens": 1.5 } } })),
        trigger(&json!({ "budget": { "job": [null, null] } })),
        trigger(&json!({ "budget": { "job": { "tokens": -5 } } })),
        trigger(&json!({ "budget": { "job": { "tokens": 0 } } })),
        trigger(&json!({ "budget": { "job": { "usd": -5 } } })),
        trigger(&json!({ "budget": { "summaries": { "usd": -0.01 } } })),
        trigger(&json!({ "agents": [["x", "solo", "house::momentum"]] })),
        trigger(&json!({ "masking": { "names": true } })),
        trigger(&json!({ "replace_existing": "yes" })),
        post(&format!("/simulate/{job}/branch"), json!({ "date": "2012-10-01" })),
        post(&format!("/simulate/{job}/branch"), json!({ "date": "2012-10-01", "agent": "none" })),
        post(&format!("/simulate/{job}/branch"), json!({ "date": "2013-10-01", "agent": "house::momentum" })),
        post(
            &format!("/simulate/{job}/branch"),
            json!({ "date": "2012-10-01", "agent": "house::momentum", "node": "no node" }),
        ),
        // States.
        post(&format!("/simulate/{job}/cancel"), ""),
        post(&format!("/simulate/{job}/resume"), ""),
        // Methods.
        post("/reasoning", "{}"),
        Case { method: Method::DELETE, ..get("/jobs") },
        Case { method: Method::PUT, ..get("/simulate/trigger") },
        get("/simulate/trigger"),
    ]
}

/// Goal: every invalid request gets an error of the same shape, and the server never fails.
#[tokio::test(flavor = "multi_thread")]
async fn refusals_have_one_shape() {
    let world = World::new().await;
    let mut told = String::new();
    for case in cases(&world.job) {
        let mut request = Request::builder().method(&case.method).uri(&case.uri).header("host", "localhost");
        if let Some(kind) = case.kind {
            request = request.header("content-type", kind);
        }
        let answer = world.send(request.body(Body::from(case.body.clone())).expect("a request")).await;
        let line = format!("{} {} {}", case.method, case.uri, case.body).replace(&world.job, "[job]");
        let body = answer.json();
        let keys: Vec<&str> = body.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["error", "message"], "{line}: {}", answer.text);
        assert!(answer.status.is_client_error(), "{line}: {}", answer.status);
        assert_eq!(answer.headers["content-type"], "application/json", "{line}");
        let (code, message) = (body["error"].as_str().unwrap_or(""), body["message"].as_str().unwrap_or(""));
        let message = message.replace(&world.job, "[job]");
        let line: String = line.trim_end().chars().take(160).collect();
        let _ = writeln!(told, "{line}\n  {} {code}: {message}", answer.status.as_u16());
    }
    insta::assert_snapshot!("refusals", told);
}

/// Goal: a body cannot exceed its limit, whether or not its size is declared.
#[tokio::test]
async fn large_bodies_are_refused() {
    let world = World::empty().await;
    let limit = world.app.config.server.body_limit_bytes;
    let padded = format!("{}{{}}", " ".repeat(limit));
    let answer = world.post("/simulate/trigger", &json!({})).await;
    assert_eq!(answer.status, 400);
    for body in [Body::from(padded.clone()), Body::from_stream(futures_once(padded))] {
        let request = Request::post("/simulate/trigger").header("host", "localhost");
        let request = request.header("content-type", "application/json").body(body).expect("a request");
        let answer = world.send(request).await;
        assert_eq!(answer.status, 413, "{}", answer.text);
        assert_eq!(answer.json()["error"], "body_too_large");
    }
}

fn futures_once(text: String) -> impl futures::Stream<Item = Result<String, std::io::Error>> + Send {
    futures::stream::iter([Ok(text)])
}

/// Whether a parameter only accepts certain values: a number, a date, a flag or an item of a list.
fn is_bounded(document: &Value, schema: &Value) -> bool {
    if let Some(name) = schema["$ref"].as_str() {
        return is_bounded(document, document.pointer(name.trim_start_matches('#')).expect("is there"));
    }
    let parts = schema["oneOf"].as_array().into_iter().flatten();
    let kinds = schema["type"].as_array().cloned().unwrap_or_else(|| vec![schema["type"].clone()]);
    let is_text = kinds.iter().all(|kind| kind == "string" || kind == "null") && schema["format"].is_null();
    !schema["enum"].is_null()
        || (schema["oneOf"].is_null() && !is_text)
        || parts.filter(|part| part["type"] != "null").any(|part| is_bounded(document, part))
}

/// Goal: an invalid value of a query field is 400 on every route, and the message starts with the field.
#[tokio::test]
async fn a_value_that_cannot_be_is_refused_on_every_route() {
    let world = World::empty().await;
    let document = world.good("/openapi.json").await;
    let mut checked = 0;
    for (path, methods) in document["paths"].as_object().expect("paths") {
        let Some(parameters) = methods["get"]["parameters"].as_array() else { continue };
        let mut uri = path.clone();
        for parameter in parameters.iter().filter(|parameter| parameter["in"] == "path") {
            uri = uri.replace(&format!("{{{}}}", parameter["name"].as_str().expect("a name")), "1");
        }
        let of_query = parameters.iter().filter(|parameter| parameter["in"] == "query");
        for parameter in of_query.filter(|parameter| is_bounded(&document, &parameter["schema"])) {
            let name = parameter["name"].as_str().expect("a name");
            let answer = world.get(&format!("{uri}?{name}=zzz")).await;
            assert_eq!(answer.status, 400, "{uri}?{name}=zzz: {}", answer.text);
            let said = answer.json()["message"].as_str().expect("a message").to_owned();
            assert!(said.starts_with(&format!("{name}: ")), "{uri}?{name}=zzz: {said}");
            checked += 1;
        }
    }
    assert!(checked > 40, "{checked} fields");
    for (uri, name) in [
        ("/memory/trades?query=x&search=zzz", "search"),
        ("/profiles/compare?a=1&b=2&vary=zzz", "vary"),
        ("/datasets/us-daily-2000-2013/bars?symbol=AAPL&interval=zzz", "interval"),
    ] {
        let answer = world.get(uri).await;
        assert_eq!(answer.status, 400, "{uri}: {}", answer.text);
        assert!(answer.text.contains(&format!("{name}: ")), "{uri}: {}", answer.text);
    }
}
