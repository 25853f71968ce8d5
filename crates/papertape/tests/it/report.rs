//! Reports: one HTML page that says what the record says, in both languages, whatever models wrote.

use crate::api_support::{World, config, week};
use crate::cli_tool::{SHORT, Tool};
use papertape_agents::config::AgentConfig;
use papertape_core::id::AgentName;
use papertape_llm::{ProviderConfig, ProviderKind};
use papertape_service::app::{Access, App};
use papertape_service::trigger::Request as Simulation;
use papertape_testkit::model_server::{Call, ModelServer, Reply, ScriptedAnswer};
use serde_json::{Value, json};

const MAX_BYTES: usize = 1_000_000;

/// Nothing in a page loads or runs anything.
#[track_caller]
fn is_self_contained(page: &str) {
    assert!(page.len() <= MAX_BYTES, "{} bytes", page.len());
    let lower = page.to_lowercase();
    for foreign in [
        "<script",
        "<img",
        "<iframe",
        "<link",
        "<object",
        "<embed",
        "<form",
        "@import",
        "url(",
        "http:",
        "https:",
        "javascript:",
        " on",
    ] {
        let found = match foreign {
            // An attribute of an event, in a tag.
            " on" => lower
                .split('<')
                .skip(1)
                .any(|tag| tag.split('>').next().is_some_and(|tag| tag.contains(" on") && tag.contains('='))),
            text => lower.contains(text),
        };
        assert!(!found, "`{foreign}` in the page");
    }
    assert!(page.contains("http-equiv=\"Content-Security-Policy\" content=\"default-src &#39;none&#39;;"));
    // Every opened element is closed.
    for element in [
        "section", "table", "tr", "td", "th", "div", "svg", "span", "p", "ul", "ol", "li", "dl", "bdi",
        "details",
    ] {
        let opened =
            page.matches(&format!("<{element}>")).count() + page.matches(&format!("<{element} ")).count();
        assert_eq!(opened, page.matches(&format!("</{element}>")).count(), "{element}");
    }
}

/// The text of a page.
fn text(page: &str) -> String {
    let mut text = String::new();
    for part in page.split_once("</style>").map_or(page, |(_, body)| body).split('<').skip(1) {
        text.push_str(part.split_once('>').map_or("", |(_, text)| text));
        text.push(' ');
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

async fn page(world: &World, uri: &str) -> String {
    let answer = world.get(uri).await;
    assert_eq!(answer.status, 200, "{uri}: {}", answer.text);
    assert_eq!(answer.headers["content-type"], "text/html; charset=utf-8");
    let policy = answer.headers["content-security-policy"].to_str().expect("a text");
    assert!(
        policy.starts_with("default-src 'none'; style-src 'unsafe-inline'") && !policy.contains("script"),
        "{policy}"
    );
    answer.text
}

// Goal: the page has the numbers of the API, says why others are missing, is the same for the same record, and exists in
// both languages; what has no report says so.
#[tokio::test(flavor = "multi_thread")]
async fn a_report_says_what_the_api_says() {
    let world = World::new().await;
    let uri = format!("/jobs/{}/report", world.job);
    let english = page(&world, &format!("{uri}?language=en")).await;
    is_self_contained(&english);
    assert_eq!(english, page(&world, &format!("{uri}?language=en")).await);
    let said = text(&english);
    let range = world.good(&format!("/results?job_id={}", world.job)).await;
    for result in range["results"].as_array().expect("results") {
        let total = result["period_metrics"]["total_return"].as_f64().expect("a return");
        let shown = format!("{:+.2}%", 100.0 * total).replace('-', "−");
        assert!(said.contains(&shown), "{shown}: {said}");
    }
    for expected in [
        "Backtest report",
        world.job.as_str(),
        "rules, not an LLM",
        "Too few days",
        "A verdict needs 60 shared days, 30 of them with a difference. There are 5 days",
        "Family of tests: all pairs of agents and baselines, 5 in all, adjusted together by Holm at 0.05",
        "under 60 days",
        "Every day has full research",
        "Orders fill at the open that the agent has seen.",
        "Frictionless: no fees",
        "Why it was opened",
        "Oct 1, 2012 – Oct 5, 2012, 5 days",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let chinese = page(&world, &format!("{uri}?language=zh")).await;
    is_self_contained(&chinese);
    let said = text(&chinese);
    for expected in
        ["回测报告", "天数不足", "买入持有", "月度收益", "最大回撤", "盈亏最大的决策", "2012年10月1日"]
    {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    for english in ["Backtest", "Too few", "Monthly", "verdict", "drawdown"] {
        assert!(!said.contains(english), "{english}: {said}");
    }
    assert_eq!(world.get(&format!("{uri}?language=fr")).await.status, 400);
    assert_eq!(world.get("/jobs/none/report").await.status, 404);
    assert_eq!(world.get("/experiments/none/report").await.status, 404);
}

/// On the first day it explains a purchase in hostile text and orders too much; on the second its provider fails; on the
/// third it sells.
fn answer(body: &Value) -> ScriptedAnswer {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let said = |role: &'static str| messages.iter().filter(move |message| message["role"] == role);
    // Later days mention earlier ones, in their memory.
    let is_day = |date: &str| {
        said("user").any(|message| message["content"].to_string().contains(&format!("today's ({date})")))
    };
    let call = |text: &str, name: &str, arguments: &Value| {
        let call = Call { id: "1".to_owned(), name: name.to_owned(), arguments: arguments.to_string() };
        ScriptedAnswer::reply(Reply { text: text.to_owned(), calls: vec![call], ..Reply::default() })
    };
    match said("tool").count() {
        _ if is_day("2012-10-02") => ScriptedAnswer::error(400, "no"),
        0 if is_day("2012-10-01") => {
            let hostile =
                "<script>alert(1)</script><img src=x onerror=alert(1)>\u{202e}txet\u{0007} مرحبا & ok ";
            call(
                &(hostile.to_owned() + &"<b>padding</b>".repeat(200_000)),
                "buy",
                &json!({ "symbol": "IBM", "quantity": 10 }),
            )
        }
        1 if is_day("2012-10-01") => call("", "buy", &json!({ "symbol": "AAPL", "quantity": 100_000 })),
        0 if is_day("2012-10-03") => call(
            "</blockquote><style>*{display:none}</style> I sell.",
            "sell",
            &json!({ "symbol": "IBM", "quantity": 10 }),
        ),
        _ => ScriptedAnswer::text("Done. <FINISH_SIGNAL>"),
    }
}

// Goal: text of a model never becomes markup, nor changes the direction of what is around it, and megabytes of it are cut
// with their length; rejected orders and failed days are shown with their reasons.
#[tokio::test(flavor = "multi_thread")]
async fn hostile_text_stays_text() {
    let server = ModelServer::answering(answer).await;
    let dir = tempfile::tempdir().expect("a directory");
    let mut config = config(&dir);
    let provider = ProviderConfig {
        kind: Some(ProviderKind::OpenaiCompatible),
        base_url: Some(server.url()),
        api_key_env: None,
        stream: false,
        ..ProviderConfig::default()
    };
    config.models.providers.insert("lab".to_owned(), provider);
    let app = App::open(config, Access::Own, papertape::integrations()).await.expect("it opens");
    let world = World { router: papertape_api::router(app.clone()), app, job: String::new(), _dir: dir };
    let job = world
        .run(Simulation {
            agents: vec![AgentConfig::solo(
                AgentName::new("<i>trader</i>"),
                "lab::one".parse().expect("a model"),
            )],
            models: Vec::new(),
            summaries: Some(false),
            ..week()
        })
        .await;
    let page = page(&world, &format!("/jobs/{job}/report?language=en")).await;
    is_self_contained(&page);
    for expected in [
        "&lt;i&gt;trader&lt;/i&gt;",
        "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;\\u{202e}txet\\u{7} مرحبا &amp; ok",
        "(cut; 2,800,",
        "&lt;/blockquote&gt;&lt;style&gt;",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    let said = text(&page);
    for expected in [
        "1 of 3 orders were rejected or expired.",
        "not enough cash",
        "failed",
        "bad_request",
        "cost unknown",
        "2012-10-02",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

// Goal: an experiment's report lists every trial with mean and spread, and compares as declared.
#[tokio::test(flavor = "multi_thread")]
async fn an_experiment_has_every_trial() {
    let world = World::empty().await;
    let body = json!({
        "simulation": {
            "start_date": "2012-10-01", "end_date": "2012-10-12", "models": ["house::momentum", "house::contrarian"],
            "symbols": ["IBM"], "summaries": false, "memory": "off", "initial_cash": 10_000
        },
        "windows": { "count": 2, "days": 3 }, "compare": "buy_and_hold"
    });
    let queued = world.post("/experiments", &body).await;
    assert_eq!(queued.status, 202, "{}", queued.text);
    let queued = queued.json();
    let id = queued["experiment_id"].as_str().expect("an id");
    let jobs = queued["jobs"].as_array().expect("jobs");
    world.work(jobs[0].as_str().expect("an id")).await;
    let uri = format!("/experiments/{id}/report?language=en");
    let interim = text(&page(&world, &uri).await);
    assert!(interim.contains("Interim: 1 of 2 planned jobs have completed."), "{interim}");
    world.work(jobs[1].as_str().expect("an id")).await;
    let page = page(&world, &uri).await;
    is_self_contained(&page);
    let said = text(&page);
    for expected in [
        "Experiment report",
        id,
        "Trials",
        "1: 2012-10-01 – 2012-10-03",
        "mean ± spread of 1",
        "Comparison as declared",
        "declared before the runs",
        "Means over the trials of each window.",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert!(!said.contains("Interim:"), "{said}");
}

// Goal: the command writes the file and reports it; without a file, the page goes to stdout.
#[test]
fn the_command_writes_a_file() {
    let tool = Tool::new();
    let job = tool.job(&SHORT);
    let done = tool.ok(&["report", "latest", "--output", "report.html"]);
    assert!(done.out.is_empty() && done.err.contains("written to report.html"), "{done:?}");
    let page = std::fs::read_to_string(tool.path("report.html")).expect("it is written");
    is_self_contained(&page);
    assert!(page.contains("<html lang=\"en\">") && page.contains(&job));
    assert_eq!(tool.ok(&["report", &job]).out, page);
    let json = tool.json(&["report", &job, "--output", "zh.html", "--language", "zh"]);
    assert_eq!(
        (&json["language"], json["bytes"].as_u64()),
        (&json!("zh"), std::fs::metadata(tool.path("zh.html")).ok().map(|file| file.len()))
    );
    tool.ends(&["report", "latest", "--language", "fr"], 2);
    tool.ends(&["report", "01999999"], 4);
}
