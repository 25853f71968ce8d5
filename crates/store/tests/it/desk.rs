//! A small session that uses every feature of the tape, run by core's own `Ctx` over the store, and a host that
//! can be interrupted at any transaction.

use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::message::{Message, ModelReply, ModelRequest, Sampling, ToolChoice, Usage};
use papertape_core::money::{Money, Price, Quantity};
use papertape_core::ports::{
    BoxFuture, ExternalCall, ExternalReply, Queue as _, RecordError, RecordStore as _,
};
use papertape_core::record::{
    AttemptEnd, CloseSession, Commit, DayStatus, DerivedRow, ExposureRow, HoldingRow, JobKind, JobStatus,
    Lease, NewJob, NewModelDay, NewSession, OrderRow, PositionRow, ReusedSession, SessionId, SnapshotRow,
    StartingPosition, TapeRow, Write,
};
use papertape_core::tape::{
    Branch, CallOptions, CallOutcome, ContentDoc, Ctx, GuardOutcome, GuardedBranch, Host, LocalStep,
    OutcomeKind, ScopeKey, SessionRun, SessionStop, StepClass, StepPath, Tape, ToolInvocation,
    expand_request, inline, references, text,
};
use papertape_core::time::{Date, Timestamp, from_micros};
use papertape_redact::Redactor;
use papertape_store::Store;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;

pub(crate) const DAYS: [&str; 2] = ["2012-03-01", "2012-03-02"];

pub(crate) fn date(text: &str) -> Date {
    papertape_core::time::parse_date(text).expect("is a date")
}

pub(crate) fn at(micros: i64) -> Timestamp {
    from_micros(1_330_000_000_000_000 + micros).expect("is in range")
}

pub(crate) fn dec(text: &str) -> Decimal {
    Decimal::from_str_exact(text).expect("is a decimal")
}

pub(crate) fn new_job(id: &str, agents: &[&str], created: i64) -> NewJob {
    let days = agents.iter().flat_map(|agent| DAYS.map(|day| (agent, day))).map(|(agent, day)| NewModelDay {
        date: date(day),
        agent: AgentName::new(agent),
        agent_hash: ContentHash::of(agent.as_bytes()),
        skipped: None,
    });
    NewJob {
        id: JobId::new(id),
        kind: JobKind::Simulate,
        config: json!({ "seed": 7, "fee": 0.1 }),
        fingerprint: ContentHash::of(b"the same for all"),
        warnings: vec!["no news".to_owned()],
        days: days.collect(),
        parent: None,
        plan: None,
        supersedes: Vec::new(),
        continues: Vec::new(),
        texts: Vec::new(),
        created_at: at(created),
    }
}

/// A lease that expires immediately: anybody may claim the job next.
pub(crate) async fn claim(store: &Store, job: &str) -> Lease {
    let job = JobId::new(job);
    let claimed = store.claim("worker", Duration::ZERO, Some(&job)).await.expect("claims");
    claimed.expect("there is a job to claim").0
}

/// A host over the store that allows a limited number of transactions.
pub(crate) struct Desk {
    store: Store,
    lease: Lease,
    session: SessionId,
    left: AtomicI64,
    clock: AtomicI64,
    /// Signals that a call of the slow node was sent; it never gets a response.
    hanging: Arc<Notify>,
}

impl Desk {
    fn called<T>(&self, number: u32, value: T, tokens: u64) -> CallOutcome<T> {
        let usage = Usage { input_tokens: tokens, cached_tokens: 1, output_tokens: 2 };
        let attempt = AttemptEnd {
            number,
            error: None,
            usage: Some(usage),
            cost_usd: Some(dec("0.0010")),
            estimate: None,
        };
        CallOutcome { result: Ok(value), attempt }
    }
}

impl Host for Desk {
    fn reserve<'a>(
        &'a self,
        _: &'a StepPath,
        _: Option<&'a ModelRequest>,
    ) -> BoxFuture<'a, Result<(), SessionStop>> {
        Box::pin(async { Ok(()) })
    }

    fn model<'a>(
        &'a self,
        path: &'a StepPath,
        request: &'a ModelRequest,
        _: CallOptions,
        first: u32,
    ) -> BoxFuture<'a, Result<CallOutcome<ModelReply>, SessionStop>> {
        Box::pin(async move {
            if path.node().starts_with("Slow") {
                self.hanging.notify_one();
                std::future::pending::<()>().await;
            }
            let asked = request.messages.last().map(Message::content).unwrap_or_default();
            let text = format!("I have thought about {} bytes: {}.", asked.len(), "momentum ".repeat(20));
            Ok(self.called(first, ModelReply { text, ..ModelReply::default() }, 10))
        })
    }

    fn external<'a>(
        &'a self,
        _: &'a StepPath,
        call: &'a ExternalCall,
        _: CallOptions,
        first: u32,
    ) -> BoxFuture<'a, Result<CallOutcome<ExternalReply>, SessionStop>> {
        Box::pin(async move {
            let reply = ExternalReply { text: format!("news of {}", call.arguments), is_error: false };
            Ok(self.called(first, reply, 3))
        })
    }

    fn commit<'a>(&'a self, writes: Vec<Write>) -> BoxFuture<'a, Result<(), SessionStop>> {
        Box::pin(async move {
            if self.left.fetch_sub(1, Ordering::SeqCst) <= 0 {
                return Err(SessionStop::Shutdown);
            }
            let commit = Commit {
                lease: self.lease.clone(),
                session: self.session,
                at: at(self.clock.fetch_add(1, Ordering::SeqCst)),
                detached: false,
                writes,
            };
            self.store.commit(commit).await.map_err(|error| match error {
                RecordError::LostLease => SessionStop::LostLease,
                other => SessionStop::Record(other.to_string()),
            })
        })
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        // Only the slow node, whose call hangs, reaches its deadline.
        let hanging = Arc::clone(&self.hanging);
        Box::pin(async move { hanging.notified().await })
    }

    fn request<'a>(&'a self, at: ContentHash) -> BoxFuture<'a, Option<Value>> {
        Box::pin(async move {
            let texts = self.store.texts(vec![at]).await.ok()?;
            expand_request(at, &|hash| texts.get(&hash).cloned()).ok()
        })
    }
}

/// The session's tape with its outcomes inlined, as a runtime reads it.
pub(crate) async fn tape(store: &Store, session: SessionId) -> Tape {
    Tape::new(rows(store, session).await)
}

async fn rows(store: &Store, session: SessionId) -> Vec<TapeRow> {
    let mut rows = store.load_tape(session, false).await.expect("reads the tape");
    let wanted: Vec<ContentHash> =
        rows.iter().filter_map(|row| row.outcome.as_ref()).flat_map(references).collect();
    let texts = store.texts(wanted).await.expect("reads the texts");
    for row in &mut rows {
        if let Some(outcome) = &mut row.outcome {
            *outcome = inline(outcome, &|hash| texts.get(&hash).cloned()).expect("has all texts");
        }
    }
    rows
}

/// Runs one agent-day for at most `transactions`, from its current state. `Ok`: it has finished.
pub(crate) async fn run_day(
    store: &Store,
    lease: &Lease,
    agent: &str,
    day: usize,
    transactions: i64,
) -> Result<SessionId, SessionStop> {
    run_day_after(store, lease, agent, day, (transactions, None)).await
}

/// Like [`run_day`], as a branch at the end of another job's session.
pub(crate) async fn run_day_after(
    store: &Store,
    lease: &Lease,
    agent: &str,
    day: usize,
    (transactions, parent): (i64, Option<(&str, SessionId)>),
) -> Result<SessionId, SessionStop> {
    let agent = AgentName::new(agent);
    let new = NewSession { agent: agent.clone(), date: date(DAYS[day]), at: at(1_000 * day as i64) };
    let opened = store.open_session(lease, new).await.expect("opens the session");
    if opened.ended.is_some() {
        return Ok(opened.id);
    }
    let until = (day > 0).then(|| date(DAYS[day - 1]));
    let state = match until {
        Some(until) => store.agent_state(&lease.job, &agent, Some(until)).await.expect("reads the state"),
        None => None,
    };
    let start = state.map_or_else(|| json!({ "shares": 0, "memory": "" }), |state| state.state);
    let desk = Desk {
        store: store.clone(),
        lease: lease.clone(),
        session: opened.id,
        left: AtomicI64::new(transactions),
        clock: AtomicI64::new(10_000 * (day as i64 + 1)),
        hanging: Arc::default(),
    };
    let mut tape = tape(store, opened.id).await;
    if let Some((job, parent)) = parent {
        let mut rows = rows(store, parent).await;
        let mut implied = store.load_derived_rows(parent).await.expect("reads the rows");
        for row in &mut rows {
            row.implied = implied.remove(&row.path).unwrap_or_default();
        }
        let origin = ReusedSession { job: JobId::new(job), agent: agent.clone(), date: date(DAYS[day]) };
        tape = tape.with_parent(origin, rows);
    }
    let session =
        SessionRun::new(Arc::new(desk), tape, Arc::new(Redactor::default()), ContentHash::of(b"seed"));
    let closing = play(&mut session.root(), &start, day).await?;
    session.finish(closing).await.map(|()| opened.id)
}

const OPTIONS: CallOptions = CallOptions { timeout: Duration::from_secs(60), max_attempts: 3 };

fn ask(instructions: &str, messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: "house::momentum".parse().expect("is a name"),
        house_version: Some(1),
        instructions: Some(instructions.to_owned()),
        messages,
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        response_schema: None,
        sampling: Sampling { temperature: Some(0.1 + 0.2), ..Sampling::default() },
    }
}

/// The day: a conversation with a read and an order, two concurrent analysts, and a slow one.
async fn play(root: &mut Ctx, start: &Value, day: usize) -> Result<Vec<Write>, SessionStop> {
    let shares = start["shares"].as_i64().unwrap_or_default();
    let mut solo = root.child(ScopeKey::node("solo"))?;
    let told = solo.set_system_prompt("You trade. Buy low, sell high, and say why.");
    let question = solo
        .push_user_message(&format!("Please analyze and update today's ({}) positions.", DAYS[day]))
        .await?;
    let mut conversation = vec![Message::user(question)];
    let prices = solo.record_local(read_prices()).await?;
    for _ in 0..2 {
        let reply = solo.model(&ask(&told, conversation.clone()), OPTIONS).await?.expect("answers");
        conversation.push(reply.to_message());
        conversation.push(Message::user(prices.to_string()));
    }
    let call = ExternalCall {
        server: "news".to_owned(),
        tool: "find".to_owned(),
        arguments: json!({ "symbol": "AAPL", "weight": 0.1 + 0.2 }),
    };
    let note = ToolInvocation { name: "find".to_owned(), input: call.arguments.clone() };
    solo.external(&call, true, OPTIONS, Some(note)).await?.expect("answers");

    let mut desk = root.child(ScopeKey::Symbol("AAPL".to_owned()))?;
    let analysts = ["Bull Researcher", "Bear Researcher"].map(|name| {
        let branch: Branch<'_, String> = Box::new(move |mut ctx: Ctx| {
            Box::pin(async move {
                let said = ctx.push_user_message(&format!("{name}, 贵州茅台 or AAPL?")).await?;
                let reply = ctx.model(&ask(name, vec![Message::user(said)]), OPTIONS).await?;
                Ok(reply.map(|reply| reply.text).unwrap_or_default())
            })
        });
        (ScopeKey::node(name), branch)
    });
    desk.all(analysts.into_iter().collect()).await?;
    let slow: GuardedBranch<'_, String> = Box::new(|mut ctx: Ctx| {
        Box::pin(async move {
            let said = ctx.push_user_message("Slow one, what do you think?").await?;
            let reply = ctx.model(&ask("slow", vec![Message::user(said)]), OPTIONS).await?;
            Ok(Ok(reply.map(|reply| reply.text).unwrap_or_default()))
        })
    });
    let verdict = desk.guard(ScopeKey::node("Slow Analyst"), Duration::from_secs(1), slow).await?;
    assert_eq!(verdict, GuardOutcome::TimedOut);

    let mut books = root.child(ScopeKey::node("books"))?;
    books.record_local(buy(day, shares)).await?;
    books.record_local(refused(day)).await?;
    Ok(close(shares, day))
}

fn read_prices() -> LocalStep {
    let exposure = ExposureRow {
        dataset: ContentHash::of(b"dataset"),
        series: "AAPL/bars".to_owned(),
        first: Some(date("2012-01-03")),
        last: Some(date("2012-02-29")),
        rows: 40,
        latest_known_at: Some(at(-1)),
    };
    LocalStep {
        kind: "read",
        class: StepClass::Local,
        arguments: json!({ "series": "AAPL/bars" }),
        outcome: json!({ "closes": [0.1, 0.30000000000000004, 1e-7, 542.44], "note": "x".repeat(200) }),
        outcome_kind: OutcomeKind::Ok,
        message: None,
        implied: vec![DerivedRow::Exposure(exposure)],
    }
}

fn buy(day: usize, shares: i64) -> LocalStep {
    let position = PositionRow {
        action_id: 1,
        action_type: "buy".to_owned(),
        symbol: Some("AAPL".into()),
        amount: Quantity::from(10),
        price: Some(Price(dec("542.4400"))),
        cash: Money(-dec("0.00")),
        portfolio_value: Money(dec("10000.10")),
        ..PositionRow::default()
    };
    let snapshot = SnapshotRow {
        symbol: "AAPL".into(),
        position_id: "p1".to_owned(),
        quantity: Quantity::from(shares + 10),
        avg_price: Price(dec("542.44")),
        close: Price(dec("544.47")),
        unrealised_pnl: Money(dec("20.30")),
        stop: None,
        leverage: dec("1"),
    };
    LocalStep {
        kind: "order",
        class: StepClass::Order,
        arguments: json!({ "side": "buy", "symbol": "AAPL", "quantity": 10 }),
        outcome: json!({ "status": "filled" }),
        outcome_kind: OutcomeKind::Ok,
        message: None,
        implied: vec![
            DerivedRow::Order(Box::new(order(day, "filled", "AAPL"))),
            DerivedRow::Position(position),
            DerivedRow::Snapshot(snapshot),
        ],
    }
}

fn refused(day: usize) -> LocalStep {
    LocalStep {
        kind: "order",
        class: StepClass::Order,
        arguments: json!({ "side": "buy", "symbol": "NOPE", "quantity": 10 }),
        outcome: json!({ "status": "rejected", "code": "unknown_symbol" }),
        outcome_kind: OutcomeKind::Refused,
        message: None,
        implied: vec![DerivedRow::Order(Box::new(OrderRow {
            order_id: format!("o{day}.2"),
            code: Some("unknown_symbol".to_owned()),
            message: Some("there is no NOPE".to_owned()),
            numbers: Some(json!({ "known": 5, "odd": 0.1 + 0.2 })),
            price: None,
            fee: None,
            ..order(day, "rejected", "NOPE\0")
        }))],
    }
}

pub(crate) fn order(day: usize, status: &str, symbol: &str) -> OrderRow {
    OrderRow {
        order_id: format!("o{day}.1"),
        symbol: symbol.into(),
        side: "buy".to_owned(),
        quantity: Quantity::from(10),
        status: status.to_owned(),
        code: None,
        message: None,
        numbers: None,
        price: Some(Price(dec("542.4400"))),
        fee: Some(Money(dec("0.00"))),
        slippage: Some(Money(dec("0.0000000000000000000000000001"))),
        realized_pnl: Some(Money(dec("79228162514264337593543950335"))),
        stop: None,
        target: None,
        leverage: Some(dec("1.0")),
    }
}

fn close(shares: i64, day: usize) -> Vec<Write> {
    let state = json!({ "shares": shares + 10, "memory": format!("day {day}: {}", "I bought. ".repeat(30)) });
    let (state, lifted) = ContentDoc::of(&state).into_parts();
    let mut writes: Vec<Write> = lifted.into_iter().map(Write::Text).collect();
    writes.push(Write::CloseSession(Box::new(CloseSession {
        status: DayStatus::Completed,
        error: None,
        metadata: json!({ "provenance": "degraded", "timed_out_nodes": ["Slow Analyst"], "share": 0.1 + 0.2 }),
        state,
        holdings: vec![HoldingRow {
            symbol: "AAPL".into(),
            quantity: Quantity::from(shares + 10),
            price: Price(dec("544.470")),
        }],
        starting: StartingPosition {
            holdings: if shares > 0 { vec![("AAPL".into(), Quantity::from(shares))] } else { Vec::new() },
            cash: Money(dec("10000.00")),
            portfolio_value: Money(dec("10000.00")),
        },
        cash: Money(dec("4575.60")),
        portfolio_value: Money(dec("10020.30")),
        daily_profit: Money(dec("20.30")),
        daily_return_pct: Some(dec("0.0010000000000000000000000001")),
    })));
    writes
}

/// Runs a whole job; each number is the transaction count after which a worker is interrupted and the next one
/// takes over. The last worker is not interrupted.
pub(crate) async fn run_job(store: &Store, job: &str, agents: &[&str], cuts: &[i64]) {
    store.enqueue(new_job(job, agents, 0)).await.expect("queues the job");
    let mut cuts = cuts.iter().copied();
    loop {
        let lease = claim(store, job).await;
        let transactions = cuts.next().unwrap_or(i64::MAX);
        let mut stopped = false;
        for agent in agents {
            for day in 0..DAYS.len() {
                match run_day(store, &lease, agent, day, transactions).await {
                    Ok(_) => {}
                    Err(SessionStop::Shutdown) => stopped = true,
                    Err(other) => panic!("{job}: {other}"),
                }
                if stopped {
                    break;
                }
            }
            if stopped {
                break;
            }
        }
        if !stopped {
            return store.finish(&lease, JobStatus::Completed, None).await.expect("ends the job");
        }
    }
}

/// A job's canonical form.
pub(crate) async fn export(store: &Store, job: &str) -> String {
    let mut out = Vec::new();
    let found = store.canonical_export(&JobId::new(job), &mut out).await.expect("exports");
    assert!(found, "there is no job {job}");
    String::from_utf8(out).expect("is text")
}

/// A commit of these writes.
pub(crate) fn commit(lease: &Lease, session: SessionId, writes: Vec<Write>) -> Commit {
    Commit { lease: lease.clone(), session, at: at(50_000), detached: false, writes }
}

/// A step that only adds a message.
pub(crate) fn said(path: &str, words: &str) -> Vec<Write> {
    let content = text(words);
    let row = papertape_core::record::MessageRow {
        role: papertape_core::message::Role::User,
        content: content.hash,
        tool_name: None,
        tool_input: None,
    };
    let request = ContentDoc::of(&json!({}));
    let outcome = ContentDoc::of(&json!(words));
    let end = papertape_core::record::StepEnd {
        path: StepPath::new(path),
        class: StepClass::Local,
        digest: ContentHash::of(path.as_bytes()),
        request_ref: request.hash,
        outcome_kind: OutcomeKind::Ok,
        outcome_ref: outcome.hash,
        attempt: None,
        reused_from: None,
        implied: vec![DerivedRow::Message(row)],
    };
    let mut writes: Vec<Write> =
        request.texts.into_iter().chain(outcome.texts).chain([content]).map(Write::Text).collect();
    writes.push(Write::End(end));
    writes
}
