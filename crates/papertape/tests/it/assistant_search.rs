//! Web search through each of the services, in its own format.

use crate::assistant_support::{Desk, Searched, actions, searching};
use papertape_service::config::SearchService;
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use serde_json::{Value, json};

/// A variable that every process has: a key of some length.
const KEY: &str = "PATH";

async fn search(service: SearchService, answer: Value, with_key: bool) -> (Value, Searched) {
    let web = Searched::answering(answer).await;
    let desk = Desk::new(|config| {
        config.web_search.service = Some(service);
        config.web_search.base_url = Some(web.url.clone());
        config.web_search.api_key_env = with_key.then(|| KEY.to_owned());
    })
    .await;
    let answer = desk.say(None, "search the web for apple earnings").await;
    desk.stop().await;
    (answer, web)
}

fn header<'a>(asked: &'a crate::assistant_support::WaitingRequest, name: &str) -> Option<&'a str> {
    asked.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// Goal: each service gets requests as it documents them, its response is read, and no key appears in the output.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_service_is_asked_in_its_own_form() {
    let key = std::env::var(KEY).expect("a variable");
    let results =
        json!({ "results": [{ "title": "Found", "url": "https://a.example/", "content": "It rose." }] });
    let found = |answer: &Value| {
        assert_eq!(actions(answer), [("web_search".to_owned(), Some(true))], "{answer:#}");
        let content = answer["content"].as_str().expect("words");
        assert!(content.contains("- Found") && !content.contains(&key), "{content}");
    };

    let (answer, web) = search(SearchService::Searxng, results.clone(), false).await;
    found(&answer);
    let asked = &web.asked()[0];
    assert_eq!((&*asked.method, &*asked.uri), ("GET", "/search?q=apple+earnings&format=json"));
    assert_eq!(header(asked, "authorization"), None);

    let (answer, web) = search(SearchService::Tavily, results, true).await;
    found(&answer);
    let asked = &web.asked()[0];
    assert_eq!((&*asked.method, &*asked.uri), ("POST", "/search"));
    assert_eq!(header(asked, "authorization"), Some(&*format!("Bearer {key}")));
    let body: Value = serde_json::from_str(&asked.body).expect("JSON");
    assert_eq!(body, json!({ "query": "apple earnings", "max_results": 5 }));

    let brave = json!({ "web": { "results": [{ "title": "Found", "url": "https://a.example/", "description": "It rose." }] } });
    let (answer, web) = search(SearchService::Brave, brave, true).await;
    found(&answer);
    let asked = &web.asked()[0];
    assert_eq!((&*asked.method, &*asked.uri), ("GET", "/res/v1/web/search?q=apple+earnings&count=5"));
    assert_eq!(header(asked, "x-subscription-token"), Some(&*key));
}

/// Goal: without a service, without its key, and with a response in another format, the user gets a clear message.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_searched_is_told() {
    let desk = Desk::new(|_| {}).await;
    let answer = desk.say(None, "search the web for apple").await;
    let content = answer["content"].as_str().expect("words");
    assert!(content.contains("no web search is configured: set web_search.service"), "{content}");
    desk.stop().await;

    let desk = Desk::new(|config| {
        config.web_search.service = Some(SearchService::Brave);
        config.web_search.api_key_env = Some("PAPERTAPE_TEST_NO_SUCH_KEY".to_owned());
    })
    .await;
    let answer = desk.say(None, "search the web for apple").await;
    let content = answer["content"].as_str().expect("words");
    assert!(content.contains("set the environment variable PAPERTAPE_TEST_NO_SUCH_KEY"), "{content}");
    desk.stop().await;

    let (answer, _web) = search(SearchService::Searxng, json!({ "html": "" }), false).await;
    let content = answer["content"].as_str().expect("words");
    assert!(content.contains("answer has no results"), "{content}");
}

/// Goal: a response above a limit is not parsed, and the limit is named.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_over_a_bound_is_told() {
    let nested = (0..70).fold(json!(0), |inner, _| json!([inner]));
    let large = json!({ "results": [], "more": "a".repeat(5 << 20) });
    let wide = json!({ "results": [], "more": vec![0; 200_000] });
    for (answer, bound) in [
        (json!({ "results": nested }), "JSON nested deeper than 64 levels"),
        (large, "a body of more than 4 MiB"),
        (wide, "more than 100000 JSON values"),
    ] {
        let (answer, _web) = search(SearchService::Searxng, answer, false).await;
        let content = answer["content"].as_str().expect("words");
        assert!(content.contains(bound), "{bound}: {content}");
    }
}

/// Goal: a secret at the point where a page's text is truncated does not reach the model in half.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_at_the_cut_is_not_cut_in_half() {
    let secret = "sk-Q7vT2mXb9LkR4wZc8NpY3sHd6FgJ1aEu5";
    let long = |chars: usize| format!("{} {secret} and more", "x".repeat(chars));
    let page = json!({ "title": long(490), "url": "https://a.example/", "content": long(990) });
    let web = Searched::answering(json!({ "results": [page] })).await;
    let search = json!([{ "kind": "tool_operation", "name": "web_search", "parameters": { "query": "a" } }]);
    let said =
        |actions: Value| json!({ "llm_reply": { "message": "I look." }, "actions": actions }).to_string();
    let script = [search, json!([])].map(|actions| ScriptedAnswer::text(said(actions)));
    let server = ModelServer::scripted(script).await;
    let desk = Desk::scripted(&server, |config| searching(config, &web.url)).await;
    let answer = desk.say(None, "Look.").await;
    assert_eq!(actions(&answer), [("web_search".to_owned(), Some(true))], "{answer:#}");
    let told = server.requests()[1].body["messages"].to_string();
    assert!(told.contains("xxxx") && !told.contains("sk-Q7"), "{told}");
    desk.stop().await;
}
