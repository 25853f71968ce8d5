//! Conversations with the assistant, on both databases.

use crate::desk::{at, claim, commit, date, new_job};
use crate::places::{Place, on_both};
use futures::future::join_all;
use papertape_core::chat::{ChatId, ChatRole, ChatWrite, NewChat, NewTurn};
use papertape_core::id::JobId;
use papertape_core::language::Language;
use papertape_core::page::PageRequest;
use papertape_core::plan::{NewPlan, PlanId, PlanWrite};
use papertape_core::ports::{ActionLog as _, Chats, Plans as _, Queue as _, RecordError, RecordStore as _};
use papertape_core::record::{JobKind, JobStatus, NewJob, NewSession, Write};
use papertape_redact::{Redactor, Sanitized};
use papertape_store::Deletion;
use serde_json::json;

on_both!(
    a_question_and_its_answer_are_kept,
    one_message_is_answered_at_a_time,
    a_turn_that_never_began_says_so,
    a_plan_is_worked_on_by_one_job
);

fn turn(chat: &str, opens: bool, job: &str, message: &str) -> Sanitized<NewTurn> {
    let secrets = vec![("key".to_owned(), "correct-horse-battery".to_owned())];
    let turn = NewTurn {
        session: ChatId::new(chat),
        opens: opens.then(|| NewChat { title: "about it".to_owned(), language: Language::En }),
        message: message.to_owned(),
        metadata: json!({}),
        answer_metadata: json!({ "type": "job_log", "job_id": job }),
        plan: None,
        job: NewJob { kind: JobKind::ChatAction, ..new_job(job, &[], 0) },
        at: at(1),
    };
    Sanitized::of(&Redactor::new(secrets).expect("long enough"), turn)
}

/// Goal: a user message, its reply's placeholder and the job that writes the reply are created atomically; the
/// job's commit fills in the reply; a conversation outlives its job, and a plan binds it.
async fn a_question_and_its_answer_are_kept(place: Place) {
    let store = place.store().await;
    let chat = ChatId::new("chat");
    assert_eq!(store.ask(turn("chat", false, "none", "hello")).await.expect("asks"), None);
    assert!(store.get_job(&JobId::new("none")).await.expect("reads").is_none(), "no job of nothing");
    let asked = store.ask(turn("chat", true, "one", "say correct-horse-battery")).await.expect("asks");
    let asked = asked.expect("it begins");
    assert_eq!(asked.user.content, "say [redacted:key]");
    assert_eq!((asked.user.n, asked.assistant.n, asked.assistant.content.as_str()), (1, 2, ""));
    assert_eq!(store.turn(&JobId::new("one")).await.expect("reads"), Some(asked.clone()));
    assert_eq!(store.turn(&JobId::new("none")).await.expect("reads"), None);
    let twice = store.ask(turn("chat", false, "other", "again")).await;
    assert!(matches!(&twice, Err(RecordError::Busy(job)) if job.as_str() == "one"), "{twice:?}");
    assert!(store.get_job(&JobId::new("other")).await.expect("reads").is_none(), "nothing was written");

    let plan = PlanWrite::Create(NewPlan {
        id: None,
        name: "plan".to_owned(),
        goal: String::new(),
        chat_session: Some(chat.clone()),
        origin: None,
    });
    let plan =
        store.write_plans(Sanitized::of(&Redactor::default(), vec![plan]), at(2)).await.expect("writes")[0]
            .plan;
    let lease = claim(&store, "one").await;
    let new = NewSession { agent: "assistant".into(), date: date("2012-03-01"), at: at(0) };
    let session = store.open_session(&lease, new).await.expect("opens").id;
    let clean = |write| Write::Chat(Box::new(Sanitized::of(&Redactor::default(), write)));
    let answer = ChatWrite::Answer {
        message: asked.assistant.id,
        content: "done".to_owned(),
        metadata: json!({ "type": "job_log", "actions_summary": [] }),
    };
    let bind = ChatWrite::Bind { session: chat.clone(), plan: Some(plan) };
    store.commit(commit(&lease, session, vec![clean(answer), clean(bind)])).await.expect("commits");
    let lost =
        ChatWrite::Answer { message: asked.user.id, content: "not mine".to_owned(), metadata: json!({}) };
    let lost = store.commit(commit(&lease, session, vec![clean(lost)])).await;
    assert!(matches!(lost, Err(RecordError::Inconsistent(_))), "a person's words are not written over");

    let lease = claim(&store, "one").await;
    store.finish(&lease, JobStatus::Completed, None).await.expect("ends");
    let next = store.ask(turn("chat", false, "two", "and then?")).await.expect("asks").expect("it is there");
    assert_eq!((next.session.plan_id, next.user.n), (Some(plan), 3));
    let index = store.plan_job(&JobId::new("two")).await.expect("reads").expect("is there");
    assert_eq!(index.plan, Some(plan), "a turn works for the conversation's plan");
    let history = store.history(&chat, next.user.n, 50).await.expect("reads");
    let said: Vec<(ChatRole, &str)> =
        history.iter().map(|message| (message.role, message.content.as_str())).collect();
    assert_eq!(said, [(ChatRole::User, "say [redacted:key]"), (ChatRole::Assistant, "done")]);

    let gone = store.delete_job(&JobId::new("one"), false).await.expect("deletes");
    assert!(matches!(gone, Deletion::Deleted(_)), "{gone:?}");
    let gone = PlanWrite::Delete { plan };
    store.write_plans(Sanitized::of(&Redactor::default(), vec![gone]), at(3)).await.expect("writes");
    let kept = store.session(&chat).await.expect("reads").expect("is there");
    assert_eq!((kept.plan_id, kept.title.as_str(), kept.language), (None, "about it", Language::En));
    let page = Chats::messages(&store, &chat, &PageRequest::first(3)).await.expect("reads");
    let numbers: Vec<i64> = page.items.iter().map(|message| message.n).collect();
    assert_eq!(numbers, [4, 3, 2]);
    let rest = PageRequest::after(3, &page.next.expect("there is more"));
    let page = Chats::messages(&store, &chat, &rest).await.expect("reads");
    assert_eq!((page.items[0].n, page.items[0].job_id.clone(), page.next), (1, None, None));

    let missing = NewTurn { plan: Some(PlanId(99)), ..turn("other", true, "three", "hi").into_inner() };
    let missing =
        store.ask(Sanitized::of(&Redactor::default(), missing)).await.expect("asks").expect("begins");
    assert_eq!(missing.session.plan_id, None, "a plan that is not there binds nothing");
    let sessions = Chats::sessions(&store, &PageRequest::default()).await.expect("reads");
    assert_eq!(sessions.items.len(), 2);
}

/// Goal: of many concurrent messages in one conversation one is accepted, and the next one after the reply;
/// numbers have no gaps. A requeued reply counts too.
async fn one_message_is_answered_at_a_time(place: Place) {
    let store = place.store().await;
    let mut heard = Vec::new();
    for round in 0..4 {
        let speakers = (0..8).map(|speaker| {
            let store = store.clone();
            async move { store.ask(turn("chat", true, &format!("job-{round}-{speaker}"), "me too")).await }
        });
        let mut taken = Vec::new();
        for asked in join_all(speakers).await {
            match asked {
                Ok(asked) => taken.push(asked.expect("it is there").user.job_id.expect("a job")),
                Err(RecordError::Busy(_)) => {}
                Err(other) => panic!("{other}"),
            }
        }
        let [job] = &taken[..] else { panic!("one is heard: {taken:?}") };
        let lease = claim(&store, job.as_str()).await;
        store.finish(&lease, JobStatus::Failed, Some("no model".to_owned())).await.expect("ends");
        heard.push(job.clone());
    }
    let all = store.history(&ChatId::new("chat"), i64::MAX, 500).await.expect("reads");
    let numbers: Vec<i64> = all.iter().map(|message| message.n).collect();
    assert_eq!(numbers, (1..=8).collect::<Vec<_>>());
    assert!(all[1].content.contains("no model"), "why there is no answer: {:?}", all[1]);

    assert!(store.requeue(&heard[0]).await.expect("asks"));
    let two = store.requeue(&heard[1]).await;
    assert!(matches!(&two, Err(RecordError::Busy(job)) if *job == heard[0]), "{two:?}");
    let asked = store.ask(turn("chat", false, "late", "and I")).await;
    assert!(matches!(&asked, Err(RecordError::Busy(job)) if *job == heard[0]), "{asked:?}");
    let row = store.get_job(&heard[1]).await.expect("reads").expect("is there");
    assert_eq!(row.status, JobStatus::Failed, "it is as it was");
}

/// Goal: a turn canceled before a worker claimed it, or after its worker died, says so in place of the reply, in
/// the conversation's language; an existing reply stays.
async fn a_turn_that_never_began_says_so(place: Place) {
    let store = place.store().await;
    let answer =
        async |job: &str| store.turn(&JobId::new(job)).await.expect("reads").expect("is there").assistant;
    store.ask(turn("english", true, "one", "hello")).await.expect("asks").expect("begins");
    store.cancel(&JobId::new("one")).await.expect("asks");
    let said = answer("one").await;
    assert_eq!(said.content, "This turn was stopped.");
    assert_eq!(said.metadata["error"], "cancelled");
    assert_eq!((&said.metadata["type"], &said.metadata["job_id"]), (&json!("job_log"), &json!("one")));

    let chinese = turn("chinese", true, "two", "你好").into_inner();
    let opens = Some(NewChat { title: "你好".to_owned(), language: Language::Zh });
    let chinese = Sanitized::of(&Redactor::default(), NewTurn { opens, ..chinese });
    store.ask(chinese).await.expect("asks").expect("begins");
    let lease = claim(&store, "two").await;
    store.finish(&lease, JobStatus::Cancelled, None).await.expect("ends");
    assert_eq!(answer("two").await.content, "本轮已被停止。");

    store.ask(turn("answered", true, "three", "hello")).await.expect("asks").expect("begins");
    let lease = claim(&store, "three").await;
    let new = NewSession { agent: "assistant".into(), date: date("2012-03-01"), at: at(0) };
    let session = store.open_session(&lease, new).await.expect("opens").id;
    let message = answer("three").await.id;
    let words = ChatWrite::Answer { message, content: "here".to_owned(), metadata: json!({}) };
    let words = Write::Chat(Box::new(Sanitized::of(&Redactor::default(), words)));
    store.commit(commit(&lease, session, vec![words])).await.expect("commits");
    store.finish(&lease, JobStatus::Cancelled, None).await.expect("ends");
    assert_eq!(answer("three").await.content, "here");
}

/// Goal: of many concurrent jobs that would execute or decompose one plan, one is accepted; the others learn
/// which one it is. A requeued job counts too.
async fn a_plan_is_worked_on_by_one_job(place: Place) {
    let store = place.store().await;
    let new =
        NewPlan { id: None, name: "plan".to_owned(), goal: String::new(), chat_session: None, origin: None };
    let write = Sanitized::of(&Redactor::default(), vec![PlanWrite::Create(new)]);
    let plan = store.write_plans(write, at(2)).await.expect("writes")[0].plan;
    let job = |id: &str, kind: &str| NewJob { kind: kind.into(), plan: Some(plan), ..new_job(id, &[], 0) };
    for kind in ["plan_execute", "plan_decompose"] {
        let workers = (0..8).map(|n| {
            let (store, job) = (store.clone(), job(&format!("{kind}-{n}"), kind));
            async move { store.enqueue(job).await }
        });
        let ended = join_all(workers).await;
        let let_in = usize::from(kind == "plan_execute");
        assert_eq!(ended.iter().filter(|one| one.is_ok()).count(), let_in, "{ended:?}");
        assert!(ended.iter().all(|one| matches!(one, Ok(()) | Err(RecordError::Busy(_)))), "{ended:?}");
    }
    let running = store.plan_jobs(plan, &PageRequest::first(10)).await.expect("reads").items;
    assert_eq!(running.len(), 1, "{running:?}");
    let first =
        running.iter().find(|one| one.job_type == JobKind::PlanExecute).expect("is there").job.clone();
    store.cancel(&first).await.expect("asks");
    store.enqueue(job("next", "plan_execute")).await.expect("the first has stopped");
    let again = store.requeue(&first).await;
    assert!(matches!(&again, Err(RecordError::Busy(job)) if job.as_str() == "next"), "{again:?}");
    store.enqueue(job("run", "simulate")).await.expect("simulations are no business of this");
}
