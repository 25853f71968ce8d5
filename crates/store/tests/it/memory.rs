//! The trader's memory in the record, on both databases.

use crate::desk::{DAYS, at, claim, commit, date, dec, export, new_job};
use crate::places::{Place, on_both};
use papertape_core::id::{ContentHash, JobId};
use papertape_core::json::to_value;
use papertape_core::ledger::Direction;
use papertape_core::money::{Money, Price, Quantity};
use papertape_core::ports::{Queue as _, RecordStore as _};
use papertape_core::record::{
    Assessment, AssetNote, ClaimCheck, ClaimResult, ContextState, Decision, DerivedRow, Deviation, ErrorTag,
    Lease, MemoryKind, NewSession, OpenPositionContextRow, RecalledMemoryRow, ReflectionRow, RoundMemoryRow,
    SessionId, StepEnd, SummarySource, Write,
};
use papertape_core::tape::{ContentDoc, OutcomeKind, StepClass, StepPath};
use papertape_store::{ArchiveRow, MemoryFilter, PageRequest, Store, TradeFilter};
use serde_json::{Value, json};

on_both!(
    rounds_are_kept_read_and_pruned,
    a_context_holds_until_its_position_is_closed,
    reflections_are_found_by_words_and_figures,
    what_a_session_was_given_is_told_to_the_letter,
);

/// Rounds are listed newest first, page by page; a round pruned by a later one leaves memory and stays in the
/// chain.
async fn rounds_are_kept_read_and_pruned(place: Place) {
    let (store, job) = with_steps(&place, |n| {
        vec![DerivedRow::Round(Box::new(round(n, n.checked_sub(3).filter(|n| *n > 0))))]
    })
    .await;
    let filter = MemoryFilter { job: Some(job.clone()), agent: Some("momentum".into()) };
    let first = store.memory_rounds(&filter, &PageRequest::first(2)).await.expect("reads");
    assert_eq!(first.items.iter().map(|item| item.row.round_id).collect::<Vec<_>>(), [5, 4]);
    assert_eq!(first.items[0].row, round(5, Some(2)), "it comes back as it was");
    let cursor = first.next.expect("there is more");
    let rest = store.memory_rounds(&filter, &PageRequest::after(2, &cursor)).await.expect("reads");
    assert_eq!(rest.items.iter().map(|item| item.row.round_id).collect::<Vec<_>>(), [3]);
    assert_eq!((rest.next, place.number("SELECT count(*) FROM trader_round_memory").await), (None, 5));
    let other = MemoryFilter { agent: Some("nobody".into()), ..filter };
    assert!(store.memory_rounds(&other, &PageRequest::first(2)).await.expect("reads").items.is_empty());
    assert_eq!(store.verify_chain(&job).await.expect("verifies").broken, None);
    place.edit("UPDATE trader_round_memory SET summary = 'other' WHERE round_id = 1").await;
    let broken = store.verify_chain(&job).await.expect("verifies").broken.expect("it is found");
    assert!(broken.tables.contains(&"trader_round_memory"), "{broken}");
    assert!(export(&store, "job").await.contains("\"row\":\"round\""));
}

/// The newest row of a position is the current one; a closed position is no longer open.
async fn a_context_holds_until_its_position_is_closed(place: Place) {
    let row = |id: &str, state| DerivedRow::Context(Box::new(context(id, state)));
    let (store, job) = with_steps(&place, |n| match n {
        1 => vec![row("m-1", ContextState::Open), row("m-2", ContextState::Open)],
        2 => vec![row("m-1", ContextState::Converted)],
        3 => vec![row("m-2", ContextState::Closed)],
        _ => Vec::new(),
    })
    .await;
    let page = store.memory_open(&MemoryFilter::default(), &PageRequest::first(9)).await.expect("reads");
    let open: Vec<&OpenPositionContextRow> = page.items.iter().map(|item| &item.row).collect();
    assert_eq!(open, [&context("m-1", ContextState::Converted)]);
    assert_eq!(store.verify_chain(&job).await.expect("verifies").broken, None);
}

/// Words in either language, instruments, sides, tags, results and instants all filter; nothing is returned
/// before it is known; pages neither repeat nor drop rows.
async fn reflections_are_found_by_words_and_figures(place: Place) {
    let (store, job) = with_steps(&place, |n| vec![DerivedRow::Reflection(Box::new(reflection(n)))]).await;
    let all = TradeFilter::default();
    let ids = async |filter: TradeFilter| -> Vec<u64> {
        let page = store.memory_trades(&filter, &PageRequest::first(9)).await.expect("reads");
        page.items.iter().map(|item| item.row.trade_id).collect()
    };
    assert_eq!(ids(all.clone()).await, [5, 4, 3, 2, 1], "the newest exit first");
    let page = store.memory_trades(&all, &PageRequest::first(1)).await.expect("reads");
    assert_eq!(page.items[0].row, reflection(5), "it comes back as it was");
    let query = |words: &str| TradeFilter { query: Some(words.to_owned()), ..all.clone() };
    assert_eq!(ids(query("BREAKOUT lesson2")).await, [2]);
    assert_eq!(ids(query("突破")).await.len(), 5);
    assert!(ids(query("?!")).await.is_empty());
    assert_eq!(ids(TradeFilter { symbol: Some("IBM".into()), ..all.clone() }).await, [4, 2]);
    assert_eq!(ids(TradeFilter { side: Some(Direction::Short), ..all.clone() }).await, [5]);
    assert_eq!(ids(TradeFilter { tag: Some(ErrorTag::Luck), ..all.clone() }).await, [3]);
    let bounds = TradeFilter { min_pnl: Some(dec("-15.5")), max_pnl: Some(dec("5.5")), ..all.clone() };
    assert_eq!(ids(bounds).await, [4, 3, 2]);
    let range = TradeFilter { from: Some(at(200)), before: Some(at(400)), ..all.clone() };
    assert_eq!(ids(range).await, [3, 2]);
    assert_eq!(ids(TradeFilter { known_by: Some(at(350)), ..all.clone() }).await, [2, 1]);

    let (mut seen, mut page) = (Vec::new(), PageRequest::first(2));
    loop {
        let found = store.memory_trades(&all, &page).await.expect("reads");
        seen.extend(found.items.iter().map(|item| item.row.trade_id));
        match found.next {
            Some(cursor) => page = PageRequest::after(2, &cursor),
            None => break,
        }
    }
    assert_eq!(seen, [5, 4, 3, 2, 1]);
    assert_eq!(store.verify_chain(&job).await.expect("verifies").broken, None);

    // Compacting is idempotent, replaces earlier archives, and keeps the originals.
    let archive = |body: Value| ArchiveRow {
        job: job.clone(),
        agent: "momentum".into(),
        length: "quarter".to_owned(),
        period: "2012-Q1".to_owned(),
        symbol: "AAPL".into(),
        body,
    };
    let here = || vec![(job.clone(), "momentum".into(), "quarter".to_owned())];
    let gone = ArchiveRow { symbol: "IBM".into(), ..archive(json!({ "trades": 9 })) };
    store.store_archives(here(), vec![archive(json!({ "trades": 1 })), gone]).await.expect("stores");
    let other = || vec![(job.clone(), "momentum".into(), "half-year".to_owned())];
    store.store_archives(other(), Vec::new()).await.expect("stores");
    for _ in 0..2 {
        store.store_archives(here(), vec![archive(json!({ "trades": 3 }))]).await.expect("stores");
    }
    let kept = store.memory_archives(&MemoryFilter::default(), &PageRequest::first(9)).await.expect("reads");
    assert_eq!(kept.items, [archive(json!({ "trades": 3 }))]);
    assert_eq!(ids(all).await.len(), 5);
}

/// IDs come from the rows, texts from the step's outcome, in the order in which they appeared in the prompt.
async fn what_a_session_was_given_is_told_to_the_letter(place: Place) {
    let given = |id: &str, kind| RecalledMemoryRow {
        kind,
        memory_id: id.to_owned(),
        job: (id == "7").then(|| JobId::new("before")),
        known_at: at(1),
    };
    let (store, job) = with_steps(&place, |n| {
        let lesson = DerivedRow::Given(given("7", MemoryKind::Trade));
        if n == 1 {
            vec![DerivedRow::Given(given("m-1", MemoryKind::OpenPositionContext)), lesson]
        } else {
            Vec::new()
        }
    })
    .await;
    let session = place.number("SELECT min(id) FROM trading_sessions").await;
    let told = store.session_memory(SessionId(session)).await.expect("reads");
    let [one] = &told[..] else { panic!("one step gave something: {told:?}") };
    assert_eq!((one.path.as_str(), one.text.as_str()), ("solo#1/memory#1", "the whole block of step 1"));
    let texts: Vec<(&str, &str)> =
        one.items.iter().map(|(row, text)| (row.memory_id.as_str(), text.as_str())).collect();
    assert_eq!(texts, [("m-1", "first"), ("7", LONG)]);
    assert_eq!(one.items[1].0.job, Some(JobId::new("before")));
    let used = store.lessons_given(&job, &"momentum".into()).await.expect("reads");
    assert_eq!(used, [("7".to_owned(), Some(JobId::new("before")))]);
}

/// Long enough to be stored as a text of its own.
const LONG: &str = "a lesson of more than ninety-six bytes, so that the record keeps it once and by its hash, \
                    wherever it stands in a document";

/// A job with one session of five reflections.
pub(crate) async fn with_reflections(place: &Place) -> (Store, Lease, SessionId) {
    session_of(place, |n| vec![DerivedRow::Reflection(Box::new(reflection(n)))]).await
}

/// A job with one session of five steps from which these rows are derived.
async fn with_steps(place: &Place, rows: impl Fn(u64) -> Vec<DerivedRow>) -> (Store, JobId) {
    let (store, lease, _) = session_of(place, rows).await;
    (store, lease.job)
}

async fn session_of(place: &Place, rows: impl Fn(u64) -> Vec<DerivedRow>) -> (Store, Lease, SessionId) {
    let store = place.store().await;
    store.enqueue(new_job("job", &["momentum"], 0)).await.expect("queues");
    let lease = claim(&store, "job").await;
    let new = NewSession { agent: "momentum".into(), date: date(DAYS[0]), at: at(0) };
    let session = store.open_session(&lease, new).await.expect("opens").id;
    for n in 1..=5_u64 {
        let request = ContentDoc::of(&json!({ "n": n }));
        let shown = json!([{ "text": "first" }, { "text": LONG }]);
        let outcome =
            ContentDoc::of(&json!({ "text": format!("the whole block of step {n}"), "shown": shown }));
        let (request_ref, outcome_ref) = (request.hash, outcome.hash);
        let mut writes: Vec<Write> =
            request.texts.into_iter().chain(outcome.texts).map(Write::Text).collect();
        writes.push(Write::End(StepEnd {
            path: StepPath::new(format!("solo#1/memory#{n}")),
            class: StepClass::Local,
            digest: ContentHash::of(&n.to_le_bytes()),
            request_ref,
            outcome_kind: OutcomeKind::Ok,
            outcome_ref,
            attempt: None,
            reused_from: None,
            implied: rows(n),
        }));
        store.commit(commit(&lease, session, writes)).await.expect("writes");
    }
    (store, lease, session)
}

pub(crate) fn round(n: u64, prunes_through: Option<u64>) -> RoundMemoryRow {
    RoundMemoryRow {
        round_id: n,
        situation: "momentum; AAPL long 10 at 100".to_owned(),
        summary: "[Conclusion] hold".to_owned(),
        source: SummarySource::Repaired,
        note: Some("missing: Risk".to_owned()),
        assets: vec![AssetNote {
            symbol: "AAPL".into(),
            decision: Decision::Hold,
            entry_price: Some(Price(dec("542.4400"))),
            stop_loss: None,
            take_profit: Some(Price(dec("600"))),
            leverage: Some(dec("1")),
            position_id: Some("momentum-1".to_owned()),
        }],
        is_open_entry: n == 1,
        degraded: n == 2,
        known_at: at(100 * n as i64),
        prunes_through,
    }
}

pub(crate) fn context(id: &str, state: ContextState) -> OpenPositionContextRow {
    OpenPositionContextRow {
        position_id: id.to_owned(),
        symbol: "AAPL".into(),
        side: Direction::Long,
        state,
        round_id: Some(1),
        summary: "[Conclusion] cheap".to_owned(),
        opened_at: at(5),
        entry_price: Price(dec("0.0000000001")),
        quantity: Quantity(dec("10.50")),
        stop_loss: Some(Price(dec("90"))),
        take_profit: None,
        leverage: dec("2.0"),
        split_ratio: dec("1"),
        known_at: at(6),
    }
}

pub(crate) fn reflection(n: u64) -> ReflectionRow {
    let hundreds = 100 * n as i64;
    ReflectionRow {
        trade_id: n,
        position_id: format!("momentum-{n}"),
        part: 1,
        position_closed: true,
        cause: "stop".to_owned(),
        symbol: if n.is_multiple_of(2) { "IBM" } else { "AAPL" }.into(),
        side: if n == 5 { Direction::Short } else { Direction::Long },
        entry_time: at(0),
        exit_time: at(hundreds),
        holding_days: 3,
        quantity: Quantity::from(10),
        entry_price: Price(dec("10")),
        exit_price: Price(dec("9.00")),
        pnl: Money(dec("25.5") - dec("10") * rust_decimal::Decimal::from(n)),
        return_pct: (n != 1).then(|| dec("-1.2300")),
        leverage: dec("1"),
        notional: Money(dec("100")),
        summary: format!("a false breakout, lesson{n}"),
        execution_deviation: Deviation {
            planned_entry: Some(Price(dec("10.0"))),
            comment: "as planned".to_owned(),
            ..Deviation::default()
        },
        hypothesis_check: vec![ClaimCheck { claim: "it rises".to_owned(), result: ClaimResult::Failed }],
        error_tags: if n == 3 { vec![ErrorTag::EntryTiming, ErrorTag::Luck] } else { Vec::new() },
        value_assessment: Assessment::Medium,
        next_rules: vec!["wait".to_owned()],
        thesis: Some("[结论] 突破买入".to_owned()),
        source: SummarySource::Model,
        note: None,
        known_at: at(hundreds + 90),
    }
}

#[test]
fn rows_read_like_their_json() {
    // Goal: a row is hashed by its JSON; renaming a key would break old chains.
    let value = to_value(&DerivedRow::Reflection(Box::new(reflection(3))));
    assert_eq!(value["row"], json!("reflection"));
    assert_eq!(value["error_tags"], json!(["entry_timing", "luck"]));
    assert!(value.get("note").is_none());
}
