//! Attempts of a step: only a failed or further attempt has a row, and the answers are those of a record in which
//! every attempt has one.

use crate::desk::{DAYS, at, claim, commit, date, dec, export, new_job, run_job};
use crate::places::{Place, on_both};
use papertape_core::id::{ContentHash, JobId};
use papertape_core::message::Usage;
use papertape_core::ports::{Queue as _, RecordError, RecordStore as _};
use papertape_core::record::{AttemptEnd, Intent, Lease, NewSession, SessionId, StepEnd, TapeRow, Write};
use papertape_core::tape::{ContentDoc, OutcomeKind, StepClass, StepPath, StepState};
use papertape_store::{PageRequest, StepView, Store};
use serde_json::json;

on_both!(
    a_first_success_has_no_row,
    earlier_records_answer_the_same,
    an_open_step_of_an_earlier_version_continues,
    an_attempt_ends_once,
);

const ROWS: &str = "SELECT count(*) FROM step_attempts";
/// Writes the rows that earlier versions wrote.
const AS_EARLIER: &str =
    "INSERT INTO step_attempts (step_id, attempt, sent_at, ended_at, error, input_tokens,
        cached_tokens, output_tokens, cost_usd)
    SELECT step_id, attempt, sent_at, ended_at, error, input_tokens, cached_tokens, output_tokens, cost_usd
    FROM attempts a WHERE NOT EXISTS (SELECT 1 FROM step_attempts b WHERE b.step_id = a.step_id)";

const USAGE: Usage = Usage { input_tokens: 10, cached_tokens: 1, output_tokens: 2 };

async fn opened(place: &Place) -> (Store, Lease, SessionId) {
    let store = place.store().await;
    store.enqueue(new_job("job", &["momentum"], 0)).await.expect("queues");
    let lease = claim(&store, "job").await;
    let new = NewSession { agent: "momentum".into(), date: date(DAYS[0]), at: at(0) };
    let session = store.open_session(&lease, new).await.expect("opens").id;
    (store, lease, session)
}

fn intent(path: &str) -> Vec<Write> {
    let request = ContentDoc::of(&json!({ "n": 1 }));
    let intent = Intent {
        path: StepPath::new(path),
        digest: ContentHash::of(path.as_bytes()),
        request_ref: request.hash,
    };
    let mut writes: Vec<Write> = request.texts.into_iter().map(Write::Text).collect();
    writes.push(Write::Intent(intent));
    writes
}

fn end(path: &str, attempt: AttemptEnd) -> Vec<Write> {
    let (request, outcome) = (ContentDoc::of(&json!({ "n": 1 })), ContentDoc::of(&json!("done")));
    let end = StepEnd {
        path: StepPath::new(path),
        class: StepClass::External,
        digest: ContentHash::of(path.as_bytes()),
        request_ref: request.hash,
        outcome_kind: OutcomeKind::Ok,
        outcome_ref: outcome.hash,
        attempt: Some(attempt),
        reused_from: None,
        implied: Vec::new(),
    };
    outcome.texts.into_iter().map(Write::Text).chain([Write::End(end)]).collect()
}

fn success(number: u32) -> AttemptEnd {
    AttemptEnd { number, usage: Some(USAGE), cost_usd: Some(dec("0.0010")), ..AttemptEnd::default() }
}

fn failure(number: u32, why: &str) -> AttemptEnd {
    AttemptEnd { number, error: Some(why.to_owned()), ..AttemptEnd::default() }
}

async fn row(store: &Store, session: SessionId, path: &str) -> TapeRow {
    let rows = store.load_tape(session, false).await.expect("reads");
    rows.into_iter().find(|row| row.path.as_str() == path).expect("is there")
}

async fn steps(store: &Store, job: &JobId) -> Vec<StepView> {
    let mut all = Vec::new();
    for session in 1.. {
        let session = SessionId(session);
        if !store.has_session(session).await.expect("reads") {
            break;
        }
        all.extend(store.steps(session, &PageRequest::first(1000)).await.expect("reads").items);
    }
    assert!(!all.is_empty(), "{job} has no steps");
    all
}

/// Goal: the states of a step between its first attempt and its last, as a resume sees them.
async fn a_first_success_has_no_row(place: Place) {
    let (store, lease, session) = opened(&place).await;
    let write = async |writes| store.commit(commit(&lease, session, writes)).await.expect("commits");
    let seen = async |path: &str| {
        let row = row(&store, session, path).await;
        (row.attempts, row.has_ended, row.interrupted)
    };

    write(intent("solo#1/model#1")).await;
    assert_eq!(seen("solo#1/model#1").await, (1, false, 0), "its attempt is in progress");
    write(end("solo#1/model#1", success(1))).await;
    assert_eq!(seen("solo#1/model#1").await, (1, false, 0));
    assert_eq!(place.number(ROWS).await, 0);
    let ended = "SELECT count(*) FROM attempts WHERE ended_at IS NOT NULL AND input_tokens = 10";
    assert_eq!(place.number(ended).await, 1);

    // It fails, the session stops, and the step is sent again.
    write(intent("solo#1/model#2")).await;
    let path = StepPath::new("solo#1/model#2");
    write(vec![Write::Attempt { path: path.clone(), ended: failure(1, "429"), next: None }]).await;
    assert_eq!(seen("solo#1/model#2").await, (1, true, 0));
    write(vec![Write::SendAgain { path: path.clone(), attempt: 2 }]).await;
    assert_eq!(seen("solo#1/model#2").await, (2, false, 0));
    write(vec![Write::Attempt { path, ended: failure(2, "interrupted"), next: Some(3) }]).await;
    assert_eq!(seen("solo#1/model#2").await, (3, false, 1));
    write(end("solo#1/model#2", success(3))).await;
    assert_eq!(seen("solo#1/model#2").await, (3, false, 0));
    assert_eq!(place.number(ROWS).await, 3);

    // A first attempt that fails for good keeps its error.
    write(intent("solo#1/model#3")).await;
    write(end("solo#1/model#3", failure(1, "bad_request"))).await;
    assert_eq!(seen("solo#1/model#3").await, (1, false, 0));
    let error = "SELECT error FROM step_attempts ORDER BY step_id DESC LIMIT 1";
    assert_eq!(place.text(error).await, "bad_request");

    assert_eq!(store.interrupted_attempts(&lease.job).await.expect("counts"), 1);
    let views = store.steps(session, &PageRequest::first(10)).await.expect("reads").items;
    assert_eq!(views.iter().map(|view| view.attempts).collect::<Vec<_>>(), [1, 3, 1]);
    assert_eq!(views[0].usage, USAGE);
    assert_eq!((views[1].cost_usd, views[2].cost_usd), (Some(dec("0.0010")), None));
    assert_eq!(store.verify_chain(&lease.job).await.expect("verifies").broken, None);
}

/// Goal: a record with a row for every attempt reads, verifies and exports like one without.
async fn earlier_records_answer_the_same(place: Place) {
    let store = place.store().await;
    let job = JobId::new("job");
    run_job(&store, "job", &["momentum"], &[4, 7, 5]).await;
    let answers = async || {
        let mut tape = Vec::new();
        for session in [SessionId(1), SessionId(2)] {
            let rows = store.load_tape(session, false).await.expect("reads");
            tape.extend(rows.into_iter().map(|row| (row.path, row.attempts, row.has_ended, row.interrupted)));
        }
        let report = store.verify_chain(&job).await.expect("verifies");
        assert_eq!(report.broken, None);
        let interrupted = store.interrupted_attempts(&job).await.expect("counts");
        (tape, steps(&store, &job).await, report.heads, interrupted, export(&store, "job").await)
    };
    let now = answers().await;
    let sent = now.1.iter().filter(|step| step.class == StepClass::External).count();
    assert!(now.1.iter().any(|step| step.state == StepState::Abandoned), "a guard closed");
    let rows = place.number(ROWS).await;
    assert!(rows < sent as i64, "{rows} rows for {sent} steps");
    assert_eq!(place.number("SELECT count(*) FROM attempts").await, {
        now.1.iter().map(|step| i64::from(step.attempts)).sum::<i64>()
    });
    assert!(place.edit(AS_EARLIER).await > 0);
    assert_eq!(answers().await, now);
}

/// Goal: a step that an earlier version announced is completed in the form of that version.
async fn an_open_step_of_an_earlier_version_continues(place: Place) {
    let (store, lease, session) = opened(&place).await;
    let write = async |writes| store.commit(commit(&lease, session, writes)).await.expect("commits");
    write(intent("solo#1/model#1")).await;
    write(intent("solo#1/model#2")).await;
    assert_eq!(place.edit(AS_EARLIER).await, 2);
    assert!(!row(&store, session, "solo#1/model#1").await.has_ended);
    write(end("solo#1/model#1", success(1))).await;
    let path = StepPath::new("solo#1/model#2");
    write(vec![Write::Attempt { path, ended: failure(1, "interrupted"), next: Some(2) }]).await;
    write(end("solo#1/model#2", success(2))).await;
    assert_eq!(place.number(&format!("{ROWS} WHERE ended_at IS NULL")).await, 0);
    assert_eq!(place.number(ROWS).await, 3);
    let views = store.steps(session, &PageRequest::first(10)).await.expect("reads").items;
    let found: Vec<_> = views.iter().map(|view| (view.attempts, view.usage, view.cost_usd)).collect();
    assert_eq!(found, [(1, USAGE, Some(dec("0.0010"))), (2, USAGE, Some(dec("0.0010")))]);
    assert_eq!(store.verify_chain(&lease.job).await.expect("verifies").broken, None);
}

/// Goal: an attempt without a row cannot end a second time, whether its step is done or abandoned.
async fn an_attempt_ends_once(place: Place) {
    let (store, lease, session) = opened(&place).await;
    let write = async |writes| store.commit(commit(&lease, session, writes)).await;
    write(intent("solo#1/model#1")).await.expect("commits");
    write(end("solo#1/model#1", success(1))).await.expect("commits");
    let twice = write(end("solo#1/model#1", success(1))).await;
    assert!(matches!(twice, Err(RecordError::Inconsistent(_))), "{twice:?}");

    write(intent("solo#1/model#2")).await.expect("commits");
    write(vec![Write::CloseScope { scope: "solo#1".to_owned() }]).await.expect("commits");
    assert_eq!(row(&store, session, "solo#1/model#2").await.attempts, 1);
    write(end("solo#1/model#2", success(1))).await.expect("its cost is recorded");
    let twice = write(end("solo#1/model#2", success(1))).await;
    assert!(matches!(twice, Err(RecordError::Inconsistent(_))), "{twice:?}");
    let other = write(end("solo#1/model#3", success(2))).await;
    other.expect("a step without an intent has the attempt that it brings");
    let spent = store.load_usage(&lease.job).await.expect("reads");
    assert_eq!(spent[0].cost_usd, dec("0.0030"), "each attempt is counted once");
    assert_eq!(store.verify_chain(&lease.job).await.expect("verifies").broken, None);
}
