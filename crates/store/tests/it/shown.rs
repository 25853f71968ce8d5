//! From data to the sessions that saw them, on both databases.

use crate::desk::{DAYS, at, claim, commit, date, new_job};
use crate::places::{Place, on_both};
use papertape_core::id::{ContentHash, JobId};
use papertape_core::message::Role;
use papertape_core::ports::{Queue as _, RecordStore as _};
use papertape_core::record::{
    DerivedRow, ExposureRow, Lease, MemoryKind, MessageRow, NewSession, OrderRow, PositionRow,
    RecalledMemoryRow, SessionId, StepEnd, Write,
};
use papertape_core::tape::{ContentDoc, OutcomeKind, StepClass, StepPath, text};
use papertape_store::{GivenFilter, Page, PageRequest, ShownFilter, ShownSession, Store, StoreError};
use rust_decimal::Decimal;
use serde_json::json;
use std::sync::Arc;

on_both!(
    a_bar_leads_to_the_sessions_that_were_shown_it,
    a_memory_leads_to_the_sessions_that_were_given_it,
    a_fill_leads_to_where_its_order_was_given,
);

/// Goal: exactly those sessions are returned whose agent saw the bar, each once, newest first, on pages that
/// neither drop nor repeat one; reads only for bookkeeping do not count.
async fn a_bar_leads_to_the_sessions_that_were_shown_it(place: Place) {
    let (store, lease) = with_agents(&place, &["a", "b"]).await;
    let bars = |from: &str, to: &str, known: i64| exposure("AAPL/bars", (from, to), known);
    let one = open(&store, &lease, ("a", DAYS[0])).await;
    step(
        &store,
        &lease,
        one,
        ("solo#1/message#1", StepClass::Local),
        vec![said(Role::User), open_of(DAYS[0])],
    )
    .await;
    step(
        &store,
        &lease,
        one,
        ("solo#1/tool#1", StepClass::Local),
        vec![told("get_bars"), bars("2012-01-03", "2012-02-29", 5)],
    )
    .await;
    step(&store, &lease, one, ("close#1/book#1", StepClass::Order), vec![bars(DAYS[0], DAYS[0], 9)]).await;
    let two = open(&store, &lease, ("b", DAYS[0])).await;
    step(
        &store,
        &lease,
        two,
        ("AAPL/sizing#1/sizing#1", StepClass::Local),
        vec![bars("2012-01-03", "2012-02-29", 5)],
    )
    .await;
    let three = open(&store, &lease, ("a", DAYS[1])).await;
    step(
        &store,
        &lease,
        three,
        ("solo#1/tool#1", StepClass::Local),
        vec![told("get_bars"), bars("2012-02-01", DAYS[0], 20)],
    )
    .await;
    step(
        &store,
        &lease,
        three,
        ("solo#1/tool#2", StepClass::Local),
        vec![told("get_indicators"), bars("2000-03-01", DAYS[0], 20)],
    )
    .await;

    let ids = |page: Page<ShownSession>| page.items.iter().map(|item| item.session).collect::<Vec<_>>();
    let look =
        async |filter: &ShownFilter| store.shown_to(filter, &PageRequest::first(9)).await.expect("reads");
    let february = look(&wanted(&["AAPL/bars", "AAPL/open"], "2012-02-15")).await;
    let [last, first] = &february.items[..] else { panic!("two were shown it: {february:?}") };
    assert_eq!((last.session, last.date, last.agent.as_str()), (three, date(DAYS[1]), "a"));
    assert_eq!((first.session, first.job.as_str()), (one, "job"));
    let tools: Vec<Option<&str>> = last.reads.iter().map(|read| read.tool.as_deref()).collect();
    assert_eq!((tools, last.read_count), (vec![Some("get_bars"), Some("get_indicators")], 2));
    assert_eq!(first.reads[0].message_index, Some(1), "the tool's answer");
    assert_eq!(first.reads[0].known_at, Some(at(5)));
    assert_eq!(february.next, None);

    // The first day's own bar: its open on that day, all of it on the next; never what was read for marking at
    // the close.
    let own = look(&wanted(&["AAPL/bars", "AAPL/open"], DAYS[0])).await;
    assert_eq!(ids(own.clone()), [three, one]);
    assert_eq!(
        own.items[1].reads.iter().map(|read| read.path.as_str()).collect::<Vec<_>>(),
        ["solo#1/message#1"]
    );
    assert_eq!(ids(look(&wanted(&["AAPL/bars"], "2012-01-31")).await), [three, one]);
    assert_eq!(ids(look(&wanted(&["AAPL/bars"], "2001-01-02")).await), [three]);
    assert!(look(&wanted(&["IBM/bars"], "2012-02-15")).await.items.is_empty());
    let other = ShownFilter { dataset: ContentHash::of(b"another"), ..wanted(&["AAPL/bars"], "2012-02-15") };
    assert!(look(&other).await.items.is_empty());
    let of_b = ShownFilter { agent: Some("b".into()), ..wanted(&["AAPL/bars"], "2012-02-15") };
    assert!(look(&of_b).await.items.is_empty(), "its sizing read it, and told nobody");
    let of_job =
        |job: &str| ShownFilter { job: Some(JobId::new(job)), ..wanted(&["AAPL/bars"], "2012-02-15") };
    assert_eq!((ids(look(&of_job("job")).await).len(), ids(look(&of_job("none")).await).len()), (2, 0));
    let late = ShownFilter { known_from: Some(at(6)), ..wanted(&["AAPL/bars"], "2012-02-15") };
    assert_eq!(ids(look(&late).await), [three]);
    let early = ShownFilter { known_before: Some(at(6)), ..wanted(&["AAPL/bars"], "2012-02-15") };
    assert_eq!(ids(look(&early).await), [one]);

    let (mut seen, mut page) = (Vec::new(), PageRequest::first(1));
    loop {
        let found = store.shown_to(&wanted(&["AAPL/bars"], "2012-02-15"), &page).await.expect("reads");
        seen.extend(found.items.iter().map(|item| item.session));
        match found.next {
            Some(cursor) => page = PageRequest::after(1, &cursor),
            None => break,
        }
    }
    assert_eq!(seen, [three, one]);
    let sifted = ShownFilter {
        shows: Some(Arc::new(|row: &ExposureRow| row.first == Some(date("2012-01-03")))),
        ..wanted(&["AAPL/bars"], "2012-02-15")
    };
    assert_eq!(ids(look(&sifted).await), [one]);
    let bad = store.shown_to(&sifted, &PageRequest::after(1, "00")).await;
    assert!(matches!(bad, Err(StoreError::BadCursor)), "{bad:?}");
}

/// Goal: a memory leads to the prompts that contained it, of its own job and of a job that took it over, and not
/// to a memory of the same name of another job or agent.
async fn a_memory_leads_to_the_sessions_that_were_given_it(place: Place) {
    let (store, lease) = with_agents(&place, &["a", "b"]).await;
    let given = |id: &str, job: Option<&str>| {
        DerivedRow::Given(RecalledMemoryRow {
            kind: MemoryKind::Trade,
            memory_id: id.to_owned(),
            job: job.map(JobId::new),
            known_at: at(1),
        })
    };
    let one = open(&store, &lease, ("a", DAYS[0])).await;
    step(
        &store,
        &lease,
        one,
        ("solo#1/memory#1", StepClass::Local),
        vec![given("7", None), given("8", Some("before"))],
    )
    .await;
    step(&store, &lease, one, ("solo#1/message#1", StepClass::Local), vec![said(Role::User)]).await;
    let two = open(&store, &lease, ("b", DAYS[0])).await;
    step(&store, &lease, two, ("solo#1/memory#1", StepClass::Local), vec![given("7", None)]).await;

    let look = async |id: &str, job: &str, agent: &str| {
        let filter = GivenFilter {
            kind: MemoryKind::Trade,
            memory_id: id.to_owned(),
            job: JobId::new(job),
            agent: agent.into(),
        };
        store.given_to(&filter, &PageRequest::first(9)).await.expect("reads").items
    };
    let found = look("7", "job", "a").await;
    let [session] = &found[..] else { panic!("one was given it: {found:?}") };
    assert_eq!((session.session, session.read_count), (one, 1));
    let read = &session.reads[0];
    assert_eq!((read.path.as_str(), read.message_index), ("solo#1/memory#1", Some(0)), "in its prompt");
    assert_eq!(read.known_at, Some(at(1)));
    assert_eq!(look("8", "before", "a").await[0].session, one);
    assert!(look("8", "job", "a").await.is_empty(), "it is the other job's");
    assert_eq!(look("7", "job", "b").await[0].session, two);
    assert!(look("9", "job", "a").await.is_empty());
}

/// Goal: a pending order leads back to the session that placed it; a session knows its neighbors.
async fn a_fill_leads_to_where_its_order_was_given(place: Place) {
    let (store, lease) = with_agents(&place, &["a", "b"]).await;
    let one = open(&store, &lease, ("a", DAYS[0])).await;
    step(&store, &lease, one, ("solo#1/order#1", StepClass::Order), vec![order("1", "pending")]).await;
    let beside = open(&store, &lease, ("b", DAYS[0])).await;
    step(&store, &lease, beside, ("solo#1/order#1", StepClass::Order), vec![order("1", "filled")]).await;
    let two = open(&store, &lease, ("a", DAYS[1])).await;
    step(&store, &lease, two, ("pre#1/book#1", StepClass::Order), vec![fill(1), order("1", "filled")]).await;

    let placed = store.placed(two).await.expect("reads");
    assert_eq!(placed.actions[&1].as_str(), "pre#1/book#1");
    let order = &placed.orders["1"];
    assert_eq!((order.session, order.date, order.path.as_str()), (one, date(DAYS[0]), "solo#1/order#1"));
    assert_eq!(store.placed(beside).await.expect("reads").orders["1"].session, beside);
    let [before, after] = store.neighbours(two).await.expect("reads");
    assert_eq!((before, after), (Some((one, date(DAYS[0]))), None));
    assert_eq!(store.neighbours(one).await.expect("reads"), [None, Some((two, date(DAYS[1])))]);
}

fn dataset() -> ContentHash {
    ContentHash::of(b"the dataset")
}

fn wanted(series: &[&str], day: &str) -> ShownFilter {
    ShownFilter {
        dataset: dataset(),
        series: series.iter().map(|&series| series.to_owned()).collect(),
        from: date(day),
        to: date(day),
        known_from: None,
        known_before: None,
        job: None,
        agent: None,
        shows: None,
    }
}

fn exposure(series: &str, (from, to): (&str, &str), known: i64) -> DerivedRow {
    DerivedRow::Exposure(ExposureRow {
        dataset: dataset(),
        series: series.to_owned(),
        first: Some(date(from)),
        last: Some(date(to)),
        rows: 30,
        latest_known_at: Some(at(known)),
    })
}

fn open_of(day: &str) -> DerivedRow {
    exposure("AAPL/open", (day, day), 7)
}

fn said(role: Role) -> DerivedRow {
    let content = text("Please analyze.").hash;
    DerivedRow::Message(MessageRow { role, content, tool_name: None, tool_input: None })
}

fn told(tool: &str) -> DerivedRow {
    let (content, tool_input) = (text("Please analyze.").hash, Some(json!({})));
    DerivedRow::Message(MessageRow {
        role: Role::Tool,
        content,
        tool_name: Some(tool.to_owned()),
        tool_input,
    })
}

fn order(id: &str, status: &str) -> DerivedRow {
    DerivedRow::Order(Box::new(OrderRow {
        order_id: id.to_owned(),
        symbol: "AAPL".into(),
        side: "buy".to_owned(),
        quantity: papertape_core::money::Quantity(Decimal::ONE),
        status: status.to_owned(),
        code: None,
        message: None,
        numbers: None,
        price: None,
        fee: None,
        slippage: None,
        realized_pnl: None,
        stop: None,
        target: None,
        leverage: None,
    }))
}

fn fill(action_id: u64) -> DerivedRow {
    DerivedRow::Position(PositionRow {
        action_id,
        action_type: "buy".to_owned(),
        symbol: Some("AAPL".into()),
        amount: papertape_core::money::Quantity(Decimal::ONE),
        price: Some(papertape_core::money::Price(Decimal::TEN)),
        cash: Decimal::TEN.into(),
        portfolio_value: Decimal::TEN.into(),
        ..PositionRow::default()
    })
}

async fn with_agents(place: &Place, agents: &[&str]) -> (Store, Lease) {
    let store = place.store().await;
    store.enqueue(new_job("job", agents, 0)).await.expect("queues");
    let lease = claim(&store, "job").await;
    (store, lease)
}

async fn open(store: &Store, lease: &Lease, (agent, day): (&str, &str)) -> SessionId {
    let new = NewSession { agent: agent.into(), date: date(day), at: at(0) };
    store.open_session(lease, new).await.expect("opens").id
}

async fn step(
    store: &Store,
    lease: &Lease,
    session: SessionId,
    (path, class): (&str, StepClass),
    implied: Vec<DerivedRow>,
) {
    let doc = ContentDoc::of(&json!({ "path": path }));
    let (request_ref, outcome_ref) = (doc.hash, doc.hash);
    let mut writes: Vec<Write> = doc.texts.into_iter().map(Write::Text).collect();
    writes.push(Write::Text(text("Please analyze.")));
    writes.push(Write::End(StepEnd {
        path: StepPath::new(path),
        class,
        digest: ContentHash::of(path.as_bytes()),
        request_ref,
        outcome_kind: OutcomeKind::Ok,
        outcome_ref,
        attempt: None,
        reused_from: None,
        implied,
    }));
    store.commit(commit(lease, session, writes)).await.expect("writes");
}
