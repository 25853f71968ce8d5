//! What the record does for a job, from queueing to deletion, as one story for both databases.

use crate::desk::{DAYS, at, claim, commit, date, dec, export, new_job, order, run_day, run_job, said};
use crate::places::{Place, on_both};
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::message::Usage;
use papertape_core::money::Price;
use papertape_core::ports::{Queue as _, RecordError, RecordStore as _};
use papertape_core::record::OrderRow;
use papertape_core::record::{
    AttemptEnd, Commit, DayStatus, DerivedRow, Estimate, Intent, JobKind, JobStatus, Lease, MessageRow,
    NewJob, NewSession, SessionId, SkippedDay, StepEnd, Supersession, Write,
};
use papertape_core::tape::{ContentDoc, OutcomeKind, StepClass, StepPath, StepState, text};
use papertape_store::{Deletion, JobFilter, PageRequest, ResultFilter, SessionFilter, Store};
use rust_decimal::Decimal;
use serde_json::json;
use std::time::Duration;

on_both!(
    a_job_is_queued_claimed_cancelled_and_resumed,
    jobs_of_a_kind_are_claimed_past_older_ones,
    a_job_runs_and_is_read,
    a_guard_closes_and_what_comes_late_is_a_cost,
    words_are_found,
    an_edit_behind_the_records_back_is_named,
    a_job_goes_with_all_that_hangs_on_it,
    every_decimal_comes_back_as_it_was,
);

const LONG: Duration = Duration::from_secs(600);

/// Goal: a worker without capacity for simulations still claims the assistant's jobs, oldest first, and nothing
/// else.
async fn jobs_of_a_kind_are_claimed_past_older_ones(place: Place) {
    let store = place.store().await;
    for (id, kind, created) in
        [("run", "simulate", 1), ("plan", "plan_execute", 3), ("turn", "chat_action", 2)]
    {
        let job = NewJob { kind: kind.into(), ..new_job(id, &[], created) };
        store.enqueue(job).await.expect("queues");
    }
    let claim = async || {
        let claimed = store.claim_of("w", LONG, JobKind::ASSISTANT).await.expect("asks");
        claimed.map(|(_, row)| row.id.to_string())
    };
    assert_eq!(claim().await.as_deref(), Some("turn"));
    assert_eq!(claim().await.as_deref(), Some("plan"));
    assert_eq!(claim().await, None, "a simulation is none of them");
    assert!(store.claim_of("w", LONG, &[JobKind::Profile]).await.expect("asks").is_none());
    assert_eq!(store.claim("w", LONG, None).await.expect("asks").expect("has one").1.kind, JobKind::Simulate);
}

async fn a_job_is_queued_claimed_cancelled_and_resumed(place: Place) {
    let store = place.store().await;
    let (one, two) = (JobId::new("one"), JobId::new("two"));
    assert!(store.claim("w", LONG, None).await.expect("asks").is_none());
    store.enqueue(new_job("two", &["momentum"], 2)).await.expect("queues");
    store.enqueue(new_job("one", &["momentum"], 1)).await.expect("queues");
    let twice = store.enqueue(new_job("one", &["momentum"], 1)).await;
    assert!(matches!(twice, Err(RecordError::Inconsistent(_))), "{twice:?}");

    // The oldest goes first, and a leased job is not claimed again.
    let (lease, row) = store.claim("w", LONG, None).await.expect("asks").expect("has one");
    assert_eq!((&row.id, row.status, lease.epoch), (&one, JobStatus::Running, 1));
    assert_eq!(row.config, json!({ "seed": 7, "fee": 0.1 }));
    assert_eq!(row.warnings, ["no news"]);
    assert!(store.claim("v", LONG, Some(&one)).await.expect("asks").is_none());
    let (other, _) = store.claim("v", Duration::ZERO, None).await.expect("asks").expect("has one");
    assert_eq!(other.job, two);
    // An expired lease is.
    let (taken, _) = store.claim("w", LONG, None).await.expect("asks").expect("has one");
    assert_eq!((&taken.job, taken.epoch), (&two, 2));
    let lost = store.renew(&other, LONG).await;
    assert!(matches!(lost, Err(RecordError::LostLease)), "{lost:?}");
    let lost = store.finish(&other, JobStatus::Failed, None).await;
    assert!(matches!(lost, Err(RecordError::LostLease)), "{lost:?}");

    // Canceling a running job notifies its worker, and the job can be resumed.
    assert!(!store.renew(&lease, LONG).await.expect("renews"));
    assert!(!store.requeue(&one).await.expect("asks"), "it has not stopped");
    assert_eq!(store.cancel(&one).await.expect("asks"), Some(JobStatus::Running));
    assert!(store.renew(&lease, LONG).await.expect("renews"));
    store.finish(&lease, JobStatus::Cancelled, Some("by hand".to_owned())).await.expect("ends");
    let lost = store.finish(&lease, JobStatus::Completed, None).await;
    assert!(matches!(lost, Err(RecordError::LostLease)), "its lease has ended: {lost:?}");
    let stopped = store.get_job(&one).await.expect("reads").expect("is there");
    assert_eq!((stopped.status, stopped.error.as_deref()), (JobStatus::Cancelled, Some("by hand")));
    assert!(stopped.completed_at.is_some());
    assert!(store.requeue(&one).await.expect("asks"));
    let (again, row) = store.claim("w", LONG, None).await.expect("asks").expect("has one");
    assert_eq!((&again.job, row.error, row.completed_at), (&one, None, None));
    assert!(!store.renew(&again, LONG).await.expect("renews"), "the old request has gone");
    store.finish(&again, JobStatus::Queued, None).await.expect("gives it back");
    // A queued one is canceled immediately.
    assert_eq!(store.cancel(&one).await.expect("asks"), Some(JobStatus::Cancelled));
    assert_eq!(store.cancel(&JobId::new("none")).await.expect("asks"), None);
    assert!(!store.requeue(&JobId::new("none")).await.expect("asks"));

    let events = store.events(&one, 0, 100).await.expect("reads");
    let told: Vec<String> = events
        .iter()
        .map(|event| format!("{} {} {}", event.n, event.kind, event.data["status"].as_str().unwrap_or("")))
        .collect();
    assert_eq!(
        told,
        [
            "1 job queued",
            "2 job running",
            "3 job cancelled",
            "4 end cancelled",
            "5 job queued",
            "6 job running",
            "7 job queued",
            "8 job cancelled",
            "9 end cancelled"
        ]
    );
    assert_eq!(store.events(&one, 7, 1).await.expect("reads")[0].n, 8);

    // A job that supersedes another one does not change it.
    let mut newer = new_job("three", &["momentum"], 3);
    newer.supersedes = vec![Supersession { agent: "momentum".into(), job: one.clone() }];
    newer.days[0].skipped = Some(SkippedDay { job: one.clone(), session: SessionId(1) });
    store.enqueue(newer).await.expect("queues");
    let old = store.get_job(&one).await.expect("reads").expect("is there");
    assert_eq!(old.superseded_by, Some(JobId::new("three")));
    let page = store.jobs(&JobFilter::default(), &PageRequest::first(10)).await.expect("reads");
    let ids: Vec<String> = page.items.iter().map(|item| item.job.id.to_string()).collect();
    assert_eq!(ids, ["three", "two", "one"], "newest first");
    assert_eq!((page.items[0].days.skipped, page.items[0].days.queued), (1, 1));
    let cancelled = JobFilter { kind: Some(JobKind::Simulate), status: Some(JobStatus::Cancelled) };
    let page = store.jobs(&cancelled, &PageRequest::first(10)).await.expect("reads");
    assert_eq!(page.items.len(), 1);
}

async fn a_job_runs_and_is_read(place: Place) {
    let store = place.store().await;
    let job = JobId::new("job");
    run_job(&store, "job", &["momentum", "contrarian"], &[5]).await;

    let details = store.job_details(&job).await.expect("reads").expect("is there");
    assert_eq!(details.job.status, JobStatus::Completed);
    assert_eq!(details.days.len(), 4);
    assert!(details.days.iter().all(|day| day.status == DayStatus::Completed), "{:?}", details.days);
    // Five model calls and one tool call in each of four sessions; two of the first one were interrupted.
    let calls = 4 * 4 * 10 + 4 * 3;
    assert_eq!(details.used.usage.input_tokens, calls);
    assert_eq!(details.used.cost_usd, dec("0.020"));
    let spent = store.load_usage(&job).await.expect("reads");
    assert_eq!(spent.iter().map(|spent| spent.usage.input_tokens).sum::<u64>(), calls);

    // The session, its actions and its transcript.
    let filter =
        SessionFilter { agent: Some("momentum".into()), date: Some(date(DAYS[0])), ..Default::default() };
    let page = store.sessions(&filter, true, &PageRequest::first(10)).await.expect("reads");
    let [session] = &page.items[..] else { panic!("there is one session: {page:?}") };
    assert_eq!(session.positions.len(), 1);
    assert_eq!(session.positions[0].price.map(|price| price.0), Some(dec("542.44")));
    assert_eq!(session.positions[0].daily_profit.map(|profit| profit.0), Some(dec("20.30")));
    let conversation = session.conversation.as_ref().expect("was asked for");
    assert_eq!(session.total_messages, Some(conversation.len() as u32));
    assert_eq!(conversation[0].content, "Please analyze and update today's (2012-03-01) positions.");
    assert_eq!(session.instructions[0].node, "solo#1");
    let tool = conversation.iter().find(|message| message.tool_name.is_some()).expect("a tool has answered");
    assert_eq!(tool.tool_input, Some(json!({ "symbol": "AAPL", "weight": 0.1 + 0.2 })));
    let plain = place.text("SELECT content FROM reasoning_logs ORDER BY id LIMIT 1").await;
    assert_eq!(plain, conversation[0].content, "the seeds' column reads as it does there");

    // By node, by instrument.
    let count = async |filter: SessionFilter| {
        store.sessions(&filter, false, &PageRequest::first(10)).await.expect("reads").items.len()
    };
    assert_eq!(
        count(SessionFilter { node: Some("Bull Researcher".to_owned()), ..Default::default() }).await,
        4
    );
    assert_eq!(
        count(SessionFilter { node: Some("Bull Researcher#1".to_owned()), ..Default::default() }).await,
        4
    );
    assert_eq!(count(SessionFilter { node: Some("Bull".to_owned()), ..Default::default() }).await, 0);
    assert_eq!(count(SessionFilter { symbol: Some("AAPL".into()), ..Default::default() }).await, 4);
    assert_eq!(count(SessionFilter { symbol: Some("AAP".into()), ..Default::default() }).await, 0);
    assert_eq!(count(SessionFilter { symbol: Some("MSFT".into()), ..Default::default() }).await, 0);
    let bull = SessionFilter { node: Some("Bull Researcher".to_owned()), ..filter.clone() };
    let page = store.sessions(&bull, true, &PageRequest::first(10)).await.expect("reads");
    let said = page.items[0].conversation.as_ref().expect("was asked for");
    assert!(said.len() == 2 && said.iter().all(|message| message.node == "Bull Researcher#1"));

    // Results.
    let filter =
        ResultFilter { agent: Some("momentum".into()), job: Some(job.clone()), ..Default::default() };
    let page = store.results(&filter, &PageRequest::first(10)).await.expect("reads");
    let [first, second] = &page.items[..] else { panic!("there are two days") };
    assert_eq!((first.previous_date, second.previous_date), (None, Some(date(DAYS[0]))));
    assert_eq!(second.starting.as_ref().expect("is closed").holdings[0].1.0, dec("10"));
    assert_eq!(second.holdings[0].quantity.0, dec("20"));
    let statuses: Vec<&str> = first.orders.iter().map(|order| order.status.as_str()).collect();
    assert_eq!(statuses, ["filled", "rejected"]);
    assert_eq!(first.orders[0].realized_pnl.map(|money| money.0), Some(dec("79228162514264337593543950335")));
    assert_eq!(first.orders[1].numbers, Some(json!({ "known": 5, "odd": 0.1 + 0.2 })));
    let values = store.daily_values(&job, Some(&"momentum".into())).await.expect("reads");
    assert_eq!(values.len(), 2);
    assert_eq!(values[1].portfolio_value.0, dec("10020.30"));

    // What a later job builds on.
    let newest = store.newest_completed_job(&"momentum".into()).await.expect("reads").expect("is there");
    assert_eq!((newest.job, newest.date), (job.clone(), date(DAYS[1])));
    assert_eq!(newest.state.state["shares"], 20);
    let state = store.agent_state(&job, &"momentum".into(), Some(date(DAYS[0]))).await.expect("reads");
    assert_eq!(state.expect("is there").state["shares"], 10);
    let before = store.agent_state(&job, &"momentum".into(), Some(date("2012-02-01"))).await.expect("reads");
    assert!(before.is_none());
    let hash = ContentHash::of(b"momentum");
    let [account] = &store.accounts_from(&"momentum".into(), hash, date(DAYS[0])).await.expect("reads")[..]
    else {
        panic!("there is one account")
    };
    assert_eq!((&account.job, account.days.len()), (&job, 2));
    assert_eq!(account.days[0].done.as_ref().map(|done| done.session), Some(first.id));
    // An agent that starts a day later reaches that day from a different state.
    let later = store.accounts_from(&"momentum".into(), hash, date("2012-03-02")).await.expect("reads");
    assert_eq!(later.len(), 0);

    // The tape and the data read.
    let all = PageRequest::first(1000);
    let steps = store.steps(first.id, &all).await.expect("reads").items;
    let slow =
        steps.iter().find(|step| step.path.as_str() == "AAPL/Slow Analyst#1/model#1").expect("was sent");
    assert_eq!(slow.state, StepState::Abandoned);
    assert!(steps.iter().all(|step| step.seq.is_some()));
    assert_eq!(steps.iter().map(|step| step.interrupted).sum::<u32>(), 1);
    assert_eq!(store.interrupted_attempts(&job).await.expect("counts"), 1);
    let shown = store.exposures(first.id, &all).await.expect("reads").items;
    assert_eq!((shown.len(), shown[0].shown.rows), (1, 40));
    let counts = store.counts().await.expect("counts");
    assert_eq!((counts.rows["trading_sessions"], counts.jobs["completed"]), (4, 1));
    assert!(counts.bytes > 10_000);

    // Summaries are written afterwards, on a tape of their own, and change nothing that is compared.
    let whole = export(&store, "job").await;
    assert!(!store.requeue(&job).await.expect("asks"), "it is completed");
    place.edit("UPDATE jobs SET status = 'partial' WHERE job_id = 'job'").await;
    store.requeue(&job).await.expect("asks");
    let lease = claim(&store, "job").await;
    summarize(&store, &lease, first.id, &conversation[1].path).await;
    store.finish(&lease, JobStatus::Completed, None).await.expect("ends");
    assert_eq!(export(&store, "job").await, whole);
    assert_eq!(store.load_tape(first.id, true).await.expect("reads").len(), 1);
    let details = store.job_details(&job).await.expect("reads").expect("is there");
    assert_eq!(details.used_by_summaries.usage.output_tokens, 5);
    assert_eq!(details.used.usage.input_tokens, calls, "summaries have a budget of their own");
    let report = store.verify_chain(&job).await.expect("verifies");
    assert_eq!((report.broken, report.heads.len()), (None, 4));
}

async fn summarize(
    store: &Store,
    lease: &Lease,
    session: papertape_core::record::SessionId,
    path: &StepPath,
) {
    let request = ContentDoc::of(&json!({ "sum up": path }));
    let outcome = ContentDoc::of(&json!({ "text": "It thought." }));
    let at_path = StepPath::new("summaries#1/model#1");
    let digest = ContentHash::of(b"summary");
    let mut writes: Vec<Write> = request.texts.into_iter().map(Write::Text).collect();
    writes.push(Write::Intent(Intent { path: at_path.clone(), digest, request_ref: request.hash }));
    let first = Commit { detached: true, ..commit(lease, session, writes) };
    store.commit(first).await.expect("sends");
    let mut writes: Vec<Write> = outcome.texts.into_iter().map(Write::Text).collect();
    writes.push(Write::End(StepEnd {
        path: at_path,
        class: StepClass::External,
        digest,
        request_ref: request.hash,
        outcome_kind: OutcomeKind::Ok,
        outcome_ref: outcome.hash,
        attempt: Some(AttemptEnd {
            number: 1,
            error: None,
            usage: None,
            cost_usd: None,
            estimate: Some(Estimate {
                usage: Usage { input_tokens: 3, cached_tokens: 0, output_tokens: 5 },
                cost_usd: None,
            }),
        }),
        reused_from: None,
        implied: Vec::new(),
    }));
    writes.push(Write::Summary { path: Some(path.clone()), summary: Ok("It thought.".to_owned()) });
    writes.push(Write::Summary { path: None, summary: Err("no model".to_owned()) });
    let second = Commit { detached: true, ..commit(lease, session, writes) };
    store.commit(second).await.expect("ends");
    let details = store.job_details(&lease.job).await.expect("reads").expect("is there");
    assert!(details.used_by_summaries.estimated_calls > 0, "what is not known is counted as estimated");
    assert_eq!(details.used.estimated_calls, 0);
    let one = SessionFilter { job: Some(lease.job.clone()), ..Default::default() };
    let page = store.sessions(&one, true, &PageRequest::first(50)).await.expect("reads");
    let view = page.items.iter().find(|item| item.id == session).expect("is there");
    assert_eq!((view.session_summary.as_deref(), view.summary_error.as_deref()), (None, Some("no model")));
    let summed: Vec<&str> =
        view.conversation.iter().flatten().filter_map(|message| message.summary.as_deref()).collect();
    assert_eq!(summed, ["It thought."]);
}

async fn a_guard_closes_and_what_comes_late_is_a_cost(place: Place) {
    let store = place.store().await;
    store.enqueue(new_job("job", &["momentum"], 0)).await.expect("queues");
    let lease = claim(&store, "job").await;
    let new = || NewSession { agent: "momentum".into(), date: date(DAYS[0]), at: at(0) };
    let opened = store.open_session(&lease, new()).await.expect("opens");
    let again = store.open_session(&lease, new()).await.expect("finds it");
    assert_eq!((again.id, again.ended, again.is_new, opened.is_new), (opened.id, None, false, true));
    let (session, job) = (opened.id, lease.job.clone());

    let (digest, request, outcome) =
        (ContentHash::of(b"d"), ContentDoc::of(&json!({})), ContentDoc::of(&json!("late")));
    let path = StepPath::new("AAPL/News#1/model#1");
    let other = StepPath::new("AAPL/News#10/model#1");
    let intent =
        |path: &StepPath| Write::Intent(Intent { path: path.clone(), digest, request_ref: request.hash });
    let mut writes: Vec<Write> = request.texts.iter().cloned().map(Write::Text).collect();
    writes.extend([intent(&path), intent(&other)]);
    store.commit(commit(&lease, session, writes)).await.expect("sends");
    let twice = store.commit(commit(&lease, session, vec![intent(&path)])).await;
    assert!(matches!(twice, Err(RecordError::Inconsistent(_))), "{twice:?}");

    let failed =
        AttemptEnd { number: 1, error: Some("rate_limited: 429".to_owned()), ..AttemptEnd::default() };
    let retry = Write::Attempt { path: path.clone(), ended: failed, next: Some(2) };
    store.commit(commit(&lease, session, vec![retry])).await.expect("tries again");
    let tape = store.load_tape(session, false).await.expect("reads");
    let row = tape.iter().find(|row| row.path == path).expect("is there");
    assert_eq!((row.state, row.attempts), (StepState::Intent, 2));

    let end = |path: &StepPath, class, number, implied| StepEnd {
        path: path.clone(),
        class,
        digest,
        request_ref: request.hash,
        outcome_kind: if class == StepClass::Guard { OutcomeKind::TimedOut } else { OutcomeKind::Ok },
        outcome_ref: outcome.hash,
        attempt: number,
        reused_from: None,
        implied,
    };
    let verdict = StepPath::new("AAPL/News#1/guard#1");
    let mut writes: Vec<Write> = outcome.texts.iter().cloned().map(Write::Text).collect();
    writes.push(Write::End(end(&verdict, StepClass::Guard, None, Vec::new())));
    writes.push(Write::CloseScope { scope: "AAPL/News#1".to_owned() });
    store.commit(commit(&lease, session, writes)).await.expect("closes");

    // The response arrives after all: it adds to the cost, and is ignored.
    let content = text("too late");
    let message = DerivedRow::Message(MessageRow {
        role: papertape_core::message::Role::Assistant,
        content: content.hash,
        tool_name: None,
        tool_input: None,
    });
    let usage = Usage { input_tokens: 100, cached_tokens: 0, output_tokens: 9 };
    let attempt = AttemptEnd {
        number: 2,
        error: None,
        usage: Some(usage),
        cost_usd: Some(dec("0.25")),
        estimate: None,
    };
    let late = end(&path, StepClass::External, Some(attempt), vec![message]);
    let writes = vec![Write::Text(content), Write::End(late)];
    store.commit(commit(&lease, session, writes)).await.expect("takes the cost");
    let tape = store.load_tape(session, false).await.expect("reads");
    let state = |path: &StepPath| tape.iter().find(|row| row.path == *path).map(|row| row.state);
    assert_eq!(state(&path), Some(StepState::Abandoned));
    assert_eq!(state(&other), Some(StepState::Intent), "round 10 is not round 1");
    assert_eq!(state(&verdict), Some(StepState::Done(OutcomeKind::TimedOut)));
    assert_eq!(place.number("SELECT count(*) FROM reasoning_logs").await, 0);
    assert_eq!(store.load_usage(&job).await.expect("reads")[0].cost_usd, dec("0.25"));
    let steps = store.steps(session, &PageRequest::first(10)).await.expect("reads").items;
    assert_eq!(steps[0].cost_usd, Some(dec("0.25")));

    // Another worker claims the job: writes of the first one are rejected.
    let stolen = claim(&store, "job").await;
    let late = store.commit(commit(&lease, session, said("solo#1/message#1", "still here"))).await;
    assert!(matches!(late, Err(RecordError::LostLease)), "{late:?}");
    let opened = store.open_session(&lease, new()).await;
    assert!(matches!(opened, Err(RecordError::LostLease)), "{opened:?}");
    assert_eq!(store.load_tape(session, false).await.expect("reads").len(), 3);
    store.commit(commit(&stolen, session, said("solo#1/message#1", "now me"))).await.expect("writes");
    let wrong = store.commit(commit(&stolen, session, said("solo#1/message#1", "twice"))).await;
    assert!(matches!(wrong, Err(RecordError::Inconsistent(_))), "{wrong:?}");

    // A day without a worker is not running, and runs again on resume.
    let day = async || store.job_details(&job).await.expect("reads").expect("is there").days[0].status;
    assert_eq!(day().await, DayStatus::Running);
    store.finish(&stolen, JobStatus::Partial, Some("no budget".to_owned())).await.expect("stops");
    assert_eq!(day().await, DayStatus::Queued);
    store.requeue(&job).await.expect("goes on");
    let lease = claim(&store, "job").await;
    assert_eq!(store.open_session(&lease, new()).await.expect("finds it").id, session);
    assert_eq!(day().await, DayStatus::Running);

    // Event numbers not needed by a late outcome or a rejected commit were returned.
    let events = store.events(&job, 0, 100).await.expect("reads");
    assert!(events.iter().zip(1..).all(|(event, n)| event.n == n), "{events:?}");
    let told: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    let stopped = ["job", "end"];
    let resumed = ["job", "job", "progress"];
    assert_eq!(told[..6], ["job", "job", "progress", "node", "job", "message"]);
    assert_eq!(told[6..], [&stopped[..], &resumed[..]].concat());
    assert_eq!(store.verify_chain(&job).await.expect("verifies").broken, None);
}

async fn words_are_found(place: Place) {
    let store = place.store().await;
    store.enqueue(new_job("job", &["momentum", "contrarian"], 0)).await.expect("queues");
    let lease = claim(&store, "job").await;
    let texts = [
        ("momentum", "Buying 10 AAPL: strong Momentum, and \"quotes\" too."),
        ("contrarian", "贵州茅台的估值太高，我决定卖出 AAPL。NUL \0 inside"),
    ];
    for (agent, words) in texts {
        let new = NewSession { agent: agent.into(), date: date(DAYS[0]), at: at(0) };
        let session = store.open_session(&lease, new).await.expect("opens").id;
        store.commit(commit(&lease, session, said("solo#1/message#1", words))).await.expect("writes");
        // Storing the same text again adds nothing.
        store.commit(commit(&lease, session, said("solo#1/message#2", words))).await.expect("writes");
    }
    let find = async |q: &str| -> Vec<String> {
        let filter = SessionFilter { q: Some(q.to_owned()), ..SessionFilter::default() };
        let page = store.sessions(&filter, true, &PageRequest::first(10)).await.expect("searches");
        page.items.iter().map(|item| item.agent.to_string()).collect()
    };
    for (q, expected) in [
        ("momentum", vec!["momentum"]),
        ("MOMENTUM aapl", vec!["momentum"]),
        ("aapl", vec!["momentum", "contrarian"]),
        ("momentum 茅台", vec![]),
        ("moment", vec![]),
        ("茅台", vec!["contrarian"]),
        ("台", vec!["contrarian"]),
        ("出", vec!["contrarian"]),
        ("估值太高", vec!["contrarian"]),
        ("台茅", vec![]),
        ("inside", vec!["contrarian"]),
        // None of this is parsed as query syntax.
        ("aapl OR nothing", vec![]),
        ("\"strong momentum\"*", vec!["momentum"]),
        ("momentum' & !x:*", vec![]),
        ("NEAR(aapl 10)", vec![]),
        ("aapl\0", vec!["momentum", "contrarian"]),
        ("( ' \" \\", vec![]),
        ("", vec![]),
    ] {
        assert_eq!(find(q).await, expected, "of {q:?}");
    }
    // A text with a NUL is read back unchanged.
    let filter = SessionFilter { agent: Some("contrarian".into()), ..SessionFilter::default() };
    let page = store.sessions(&filter, true, &PageRequest::first(10)).await.expect("reads");
    assert_eq!(page.items[0].conversation.as_ref().expect("was asked for")[0].content, texts[1].1);
    assert_eq!(store.verify_chain(&lease.job).await.expect("verifies").broken, None);
}

async fn an_edit_behind_the_records_back_is_named(place: Place) {
    let store = place.store().await;
    let job = JobId::new("job");
    run_job(&store, "job", &["momentum"], &[]).await;
    let first = place.number("SELECT min(id) FROM trading_sessions").await;
    let check = async |edit: &str, back: &str, table: &str, path: Option<&str>| {
        assert_eq!(store.verify_chain(&job).await.expect("verifies").broken, None, "before {edit}");
        assert!(place.edit(edit).await > 0, "{edit}");
        let broken = store.verify_chain(&job).await.expect("verifies").broken.expect("it is found");
        assert!(broken.tables.contains(&table), "{edit}: {broken}");
        assert_eq!(broken.path.as_ref().map(StepPath::as_str), path, "{edit}: {broken}");
        if !back.is_empty() {
            place.edit(back).await;
        }
    };
    let of_first = format!("session_id = {first}");
    check(
        &format!("UPDATE positions SET price = '542.45' WHERE {of_first}"),
        &format!("UPDATE positions SET price = '542.4400' WHERE {of_first}"),
        "positions",
        Some("books#1/order#1"),
    )
    .await;
    check(
        &format!("UPDATE orders SET code = 'lot_size' WHERE {of_first} AND status = 'rejected'"),
        &format!("UPDATE orders SET code = 'unknown_symbol' WHERE {of_first} AND status = 'rejected'"),
        "orders",
        Some("books#1/order#2"),
    )
    .await;
    check(
        &format!("UPDATE steps SET outcome_kind = 'failed' WHERE {of_first} AND path = 'solo#1/model#2'"),
        &format!("UPDATE steps SET outcome_kind = 'ok' WHERE {of_first} AND path = 'solo#1/model#2'"),
        "steps",
        Some("solo#1/model#2"),
    )
    .await;
    check(
        "UPDATE texts SET body = body || ' Honest.' WHERE body LIKE 'Please analyze%(2012-03-01)%'",
        "UPDATE texts SET body = substr(body, 1, length(body) - 8) WHERE body LIKE 'Please analyze%(2012-03-01)%'",
        "texts",
        Some("solo#1/message#1"),
    )
    .await;
    check(
        &format!("UPDATE holdings SET quantity = '11' WHERE {of_first}"),
        &format!("UPDATE holdings SET quantity = '10' WHERE {of_first}"),
        "holdings",
        None,
    )
    .await;
    check(
        &format!("UPDATE positions SET daily_profit = '20.31' WHERE {of_first}"),
        &format!("UPDATE positions SET daily_profit = '20.30' WHERE {of_first}"),
        "positions",
        None,
    )
    .await;
    check(
        &format!("UPDATE trading_sessions SET metadata = '{{}}' WHERE id = {first}"),
        "",
        "trading_sessions",
        None,
    )
    .await;
    run_job(&store, "other", &["momentum"], &[]).await;
    let other = JobId::new("other");
    let session = "(SELECT min(id) FROM trading_sessions WHERE job_id = 'other')";
    assert!(
        place
            .edit(&format!("DELETE FROM steps WHERE session_id = {session} AND path = 'solo#1/read#1'"))
            .await
            > 0
    );
    let broken = store.verify_chain(&other).await.expect("verifies").broken.expect("it is found");
    assert_eq!(broken.date, Some(date(DAYS[0])));
}

async fn a_job_goes_with_all_that_hangs_on_it(place: Place) {
    let store = place.store().await;
    run_job(&store, "goes", &["momentum"], &[]).await;
    store.enqueue(new_job("stays", &["momentum"], 0)).await.expect("queues");
    let lease = claim(&store, "stays").await;
    run_day(&store, &lease, "momentum", 0, i64::MAX).await.expect("runs");
    place.edit("UPDATE jobs SET parent = 'goes' WHERE job_id = 'stays'").await;

    let goes = JobId::new("goes");
    let delete = async || store.delete_job(&goes, false).await.expect("asks");
    assert_eq!(delete().await, Deletion::InUse(vec![JobId::new("stays")]));
    place.edit("UPDATE jobs SET parent = NULL WHERE job_id = 'stays'").await;
    assert!(matches!(delete().await, Deletion::Deleted(_)));
    assert_eq!(delete().await, Deletion::NotFound);
    let rows = store.counts().await.expect("counts").rows;
    for (table, left) in [
        ("jobs", 1),
        ("job_details", 2),
        ("trading_sessions", 1),
        ("session_instructions", 1),
        ("positions", 1),
        ("orders", 2),
        ("exposures", 1),
        ("position_snapshots", 1),
        ("holdings", 1),
        ("agent_states", 1),
    ] {
        assert_eq!(rows[table], left, "of {table}");
    }
    let steps = place
        .number("SELECT count(*) FROM steps s WHERE s.session_id NOT IN (SELECT id FROM trading_sessions)")
        .await;
    let attempts = "SELECT count(*) FROM step_attempts WHERE step_id NOT IN (SELECT id FROM steps)";
    assert_eq!((steps, place.number(attempts).await), (0, 0));
    let left = store.get_job(&JobId::new("stays")).await.expect("reads").expect("is there");
    assert_eq!(left.parent, None);
    // Texts shared with the other job are still there, and its tape can be read and verified.
    run_day(&store, &lease, "momentum", 1, i64::MAX).await.expect("runs");
    assert_eq!(store.verify_chain(&left.id).await.expect("verifies").broken, None);
    // A worker of a deleted job has lost its lease.
    let session =
        store.find_session(&left.id, &AgentName::new("momentum"), date(DAYS[1])).await.expect("reads");
    let session = session.expect("is there").id;
    let running = store.delete_job(&left.id, false).await.expect("asks");
    assert_eq!(running, Deletion::Unfinished(left.id.clone(), JobStatus::Running));
    place.edit("DELETE FROM jobs WHERE job_id = 'stays'").await;
    let lost = store.commit(commit(&lease, session, said("solo#1/message#9", "hello"))).await;
    assert!(matches!(lost, Err(RecordError::LostLease)), "{lost:?}");
}

async fn every_decimal_comes_back_as_it_was(place: Place) {
    let store = place.store().await;
    store.enqueue(new_job("job", &["momentum"], 0)).await.expect("queues");
    let lease = claim(&store, "job").await;
    let new = NewSession { agent: "momentum".into(), date: date(DAYS[0]), at: at(0) };
    let session = store.open_session(&lease, new).await.expect("opens").id;
    let mantissas = [
        0,
        1,
        10,
        9_999,
        10_000,
        10_001,
        123_456_789,
        100_000_000_000,
        79_228_162_514_264_337_593_543_950_335,
    ];
    let numbers: Vec<Decimal> = mantissas
        .into_iter()
        .flat_map(|mantissa: i128| [mantissa, -mantissa])
        .flat_map(|mantissa| (0..=28).map(move |scale| Decimal::from_i128_with_scale(mantissa, scale)))
        .collect();
    let mut writes = said("solo#1/order#1", "buy");
    if let Some(Write::End(end)) = writes.last_mut() {
        end.implied = numbers
            .iter()
            .map(|number| {
                DerivedRow::Order(Box::new(OrderRow {
                    price: Some(Price(*number)),
                    ..order(0, "filled", "AAPL")
                }))
            })
            .collect();
    }
    store.commit(commit(&lease, session, writes)).await.expect("writes");
    let page = store.results(&ResultFilter::default(), &PageRequest::first(1)).await.expect("reads");
    let read: Vec<String> = page.items[0]
        .orders
        .iter()
        .filter_map(|order| order.price)
        .map(|price| price.0.to_string())
        .collect();
    let written: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    assert_eq!(read, written);
    assert_eq!(store.verify_chain(&lease.job).await.expect("verifies").broken, None);
}
