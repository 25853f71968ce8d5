//! Measures how often the right reflection is among the first three, by embedding, by keyword and by both,
//! through the product's own search. Run with `PAPERTAPE_SENTENCE_MODEL=DIR cargo bench -p papertape --bench
//! memory_search`, where DIR is a data directory into which `papertape memory install-model` has installed the model.
//!
//! `reflections.json` contains 344 reflections. 44 were written by hand, each on its own topic, with a query
//! that paraphrases it. The other 300 were assembled from parts, and none of them answers a query.

use papertape_core::id::{ContentHash, JobId};
use papertape_core::ledger::Direction;
use papertape_core::money::{Money, Price, Quantity};
use papertape_core::ports::{Queue as _, RecordStore as _};
use papertape_core::record::{
    Assessment, Commit, DerivedRow, Deviation, ErrorTag, JobKind, NewJob, NewModelDay, NewSession,
    ReflectionRow, StepEnd, SummarySource, Write,
};
use papertape_core::tape::{ContentDoc, OutcomeKind, StepClass, StepPath};
use papertape_core::time::{Timestamp, parse_date};
use papertape_protocol::memory::ReembedBody;
use papertape_protocol::memory::{SearchBy, TradesQuery};
use papertape_service::app::App;
use papertape_service::config::{Config, EmbeddingsConfig};
use papertape_service::embeddings::house;
use papertape_service::view::{by_words, memory_reembed, memory_trades};
use papertape_store::{DatabaseTarget, Store, TradeFilter};
use serde::Deserialize;
use serde_json::json;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The target must be among this many results.
const FIRST: usize = 3;

#[derive(Deserialize)]
struct Entry {
    symbol: String,
    side: Direction,
    cause: String,
    summary: String,
    rules: Vec<String>,
    tags: Vec<ErrorTag>,
    /// A query that paraphrases this one.
    query: Option<String>,
}

fn main() {
    // A test runner lists the tests: there are none.
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let Ok(dir) = std::env::var("PAPERTAPE_SENTENCE_MODEL") else {
        println!("PAPERTAPE_SENTENCE_MODEL names no data directory with a model: nothing is measured");
        return;
    };
    tokio::runtime::Runtime::new().expect("starts").block_on(measure(PathBuf::from(dir)));
}

async fn measure(data_dir: PathBuf) {
    let entries: Vec<Entry> =
        serde_json::from_str(include_str!("reflections.json")).expect("the reflections are JSON");
    let record = tempfile::tempdir().expect("makes a directory");
    let store = Store::open(DatabaseTarget::Sqlite(record.path().join("bench.db"))).await.expect("opens");
    fill(&store, &entries).await;
    let model = format!("house::{}", house::NAME).parse().expect("is a name");
    let config =
        Config { data_dir, embeddings: EmbeddingsConfig { model: Some(model) }, ..Config::default() };
    let app = App::compose(config, store, papertape::integrations()).expect("composes");
    let begun = Instant::now();
    let made = memory_reembed(&app, &ReembedBody::default()).await.expect("embeds");
    let seconds = begun.elapsed().as_secs_f64();
    println!("{} reflections were embedded in {seconds:.1} s", made.embedded);

    let asked: Vec<(u64, &str)> =
        (1..).zip(&entries).filter_map(|(id, entry)| Some((id, entry.query.as_deref()?))).collect();
    let count = asked.len();
    let mut found = [("all words", 0), ("keyword", 0), ("semantic", 0), ("keyword+semantic", 0)];
    let (mut took, mut missed) = (Duration::ZERO, Vec::new());
    for (id, query) in asked {
        let begun = Instant::now();
        let both = search(&app, query, SearchBy::Both).await;
        took += begun.elapsed();
        let answers = [
            search(&app, query, SearchBy::Keyword).await,
            ranked_words(&app, query).await,
            search(&app, query, SearchBy::Semantic).await,
            both,
        ];
        for ((_, hits), answer) in found.iter_mut().zip(&answers) {
            *hits += usize::from(answer.iter().take(FIRST).any(|trade| *trade == id));
        }
        if !answers[3].iter().take(FIRST).any(|trade| *trade == id) {
            missed.push(query);
        }
    }
    for (name, hits) in found {
        println!("{name}: {hits} of {count}, hit rate at {FIRST} {:.3}", hits as f64 / count as f64);
    }
    println!("a search by both took {:.1} ms", took.as_secs_f64() * 1e3 / count as f64);
    println!("not among the first {FIRST} by both: {missed:#?}");
}

async fn search(app: &App, query: &str, by: SearchBy) -> Vec<u64> {
    let query = TradesQuery { query: Some(query.to_owned()), search: Some(by), ..TradesQuery::default() };
    let answer = memory_trades(app, query).await.expect("answers");
    assert_eq!(answer.search, by);
    answer.trades.iter().map(|trade| trade.trade_id).collect()
}

/// The keyword ranking that `both` fuses: any word counts.
async fn ranked_words(app: &App, query: &str) -> Vec<u64> {
    let filter = TradeFilter::default();
    let among = app.store.trade_ids(&filter).await.expect("reads");
    let postings = app.store.trade_ids_by_word(&filter, query).await.expect("reads");
    let best: Vec<i64> = by_words(&postings, &among).into_iter().take(FIRST).map(|(id, _)| id).collect();
    app.store.trades_by_id(&best).await.expect("reads").iter().map(|item| item.row.trade_id).collect()
}

async fn fill(store: &Store, entries: &[Entry]) {
    let date = parse_date("2012-01-03").expect("is a date");
    let day =
        NewModelDay { date, agent: "bench".into(), agent_hash: ContentHash::of(b"bench"), skipped: None };
    let job = NewJob {
        id: JobId::new("bench"),
        kind: JobKind::Simulate,
        config: json!({}),
        fingerprint: ContentHash::of(b"bench"),
        warnings: Vec::new(),
        days: vec![day],
        parent: None,
        plan: None,
        supersedes: Vec::new(),
        continues: Vec::new(),
        texts: Vec::new(),
        created_at: at(0),
    };
    store.enqueue(job).await.expect("queues");
    let claimed = store.claim("bench", Duration::from_secs(600), None).await.expect("claims");
    let (lease, _) = claimed.expect("there is a job");
    let new = NewSession { agent: "bench".into(), date, at: at(0) };
    let session = store.open_session(&lease, new).await.expect("opens").id;
    for (n, entry) in (1_u64..).zip(entries) {
        let doc = ContentDoc::of(&json!({ "n": n }));
        let mut writes: Vec<Write> = doc.texts.into_iter().map(Write::Text).collect();
        writes.push(Write::End(StepEnd {
            path: StepPath::new(format!("post#1/memory#{n}")),
            class: StepClass::Local,
            digest: ContentHash::of(&n.to_le_bytes()),
            request_ref: doc.hash,
            outcome_kind: OutcomeKind::Ok,
            outcome_ref: doc.hash,
            attempt: None,
            reused_from: None,
            implied: vec![DerivedRow::Reflection(Box::new(row(n, entry)))],
        }));
        let commit = Commit { lease: lease.clone(), session, at: at(0), detached: false, writes };
        store.commit(commit).await.expect("writes");
    }
}

fn row(n: u64, entry: &Entry) -> ReflectionRow {
    let seconds = i64::try_from(n).expect("is small");
    ReflectionRow {
        trade_id: n,
        position_id: format!("bench-{n}"),
        part: 1,
        position_closed: true,
        cause: entry.cause.clone(),
        symbol: entry.symbol.as_str().into(),
        side: entry.side,
        entry_time: at(0),
        exit_time: at(seconds),
        holding_days: 1,
        quantity: Quantity::from(1),
        entry_price: Price(1.into()),
        exit_price: Price(1.into()),
        pnl: Money(0.into()),
        return_pct: None,
        leverage: 1.into(),
        notional: Money(1.into()),
        summary: entry.summary.clone(),
        execution_deviation: Deviation::default(),
        hypothesis_check: Vec::new(),
        error_tags: entry.tags.clone(),
        value_assessment: Assessment::Medium,
        next_rules: entry.rules.clone(),
        thesis: None,
        source: SummarySource::Model,
        note: None,
        known_at: at(seconds),
    }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_325_600_000 + seconds).expect("is in range")
}
