//! Conversations with the assistant, on both databases.

use crate::desk::{at, claim, commit, date, new_job};
use crate::places::{Place, on_both};
use futures::future::join_all;
use papertape_core::action::Language;
use papertape_core::chat::{ChatId, ChatWrite, NewChat, NewTurn, Speaker};
use papertape_core::id::JobId;
use papertape_core::page::PageRequest;
use papertape_core::plan::{NewPlan, PlanId, PlanWrite};
use papertape_core::ports::{ActionLog as _, Chats, Plans as _, Queue as _, Record as _, RecordError};
use papertape_core::record::{NewJob, NewSession, Write};
use papertape_core::redact::{Clean, Redactor};
use serde_json::json;

on_both!(a_question_and_its_answer_are_kept, messages_are_numbered_without_gaps);

fn turn(chat: &str, opens: bool, job: &str, message: &str) -> Clean<NewTurn> {
    let secrets = vec![("key".to_owned(), "correct-horse-battery".to_owned())];
    let turn = NewTurn {
        session: ChatId::new(chat),
        opens: opens.then(|| NewChat { title: "about it".to_owned(), language: Language::En }),
        message: message.to_owned(),
        metadata: json!({}),
        answer_metadata: json!({ "type": "job_log", "job_id": job }),
        plan: None,
        job: NewJob { kind: "chat_action".to_owned(), ..new_job(job, &[], 0) },
        at: at(1),
    };
    Clean::of(&Redactor::new(secrets).expect("long enough"), turn)
}

/// Goal: a question, the place of its answer and the job that answers are there together or not at all; the
/// answer is put in its place by the job's commit; a conversation survives its job, and a plan binds it.
async fn a_question_and_its_answer_are_kept(place: Place) {
    let store = place.store().await;
    let chat = ChatId::new("chat");
    assert_eq!(store.ask(turn("chat", false, "none", "hello")).await.expect("asks"), None);
    assert!(store.job(&JobId::new("none")).await.expect("reads").is_none(), "no job of nothing");
    let asked = store.ask(turn("chat", true, "one", "say correct-horse-battery")).await.expect("asks");
    let asked = asked.expect("it begins");
    assert_eq!(asked.user.content, "say [redacted:key]");
    assert_eq!((asked.user.n, asked.assistant.n, asked.assistant.content.as_str()), (1, 2, ""));
    assert_eq!(store.turn(&JobId::new("one")).await.expect("reads"), Some(asked.clone()));
    assert_eq!(store.turn(&JobId::new("none")).await.expect("reads"), None);
    let twice = store.ask(turn("chat", false, "one", "again")).await;
    assert!(matches!(twice, Err(RecordError::Inconsistent(_))), "{twice:?}");

    let plan = PlanWrite::Create(NewPlan {
        id: None,
        name: "plan".to_owned(),
        goal: String::new(),
        chat_session: Some(chat.clone()),
        origin: None,
    });
    let plan =
        store.write_plans(Clean::of(&Redactor::default(), vec![plan]), at(2)).await.expect("writes")[0].plan;
    let lease = claim(&store, "one").await;
    let new = NewSession { agent: "assistant".into(), date: date("2012-03-01"), at: at(0) };
    let session = store.open_session(&lease, new).await.expect("opens").id;
    let clean = |write| Write::Chat(Box::new(Clean::of(&Redactor::default(), write)));
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

    let next = store.ask(turn("chat", false, "two", "and then?")).await.expect("asks").expect("it is there");
    assert_eq!((next.session.plan_id, next.user.n), (Some(plan), 3));
    let index = store.plan_job(&JobId::new("two")).await.expect("reads").expect("is there");
    assert_eq!(index.plan, Some(plan), "a turn works for the conversation's plan");
    let history = store.history(&chat, next.user.n, 50).await.expect("reads");
    let said: Vec<(Speaker, &str)> =
        history.iter().map(|message| (message.role, message.content.as_str())).collect();
    assert_eq!(said, [(Speaker::User, "say [redacted:key]"), (Speaker::Assistant, "done")]);

    store.delete_job(&JobId::new("one")).await.expect("deletes");
    let gone = PlanWrite::Delete { plan };
    store.write_plans(Clean::of(&Redactor::default(), vec![gone]), at(3)).await.expect("writes");
    let kept = store.session(&chat).await.expect("reads").expect("is there");
    assert_eq!((kept.plan_id, kept.title.as_str(), kept.language), (None, "about it", Language::En));
    let page = Chats::messages(&store, &chat, &PageRequest::first(3)).await.expect("reads");
    let numbers: Vec<i64> = page.items.iter().map(|message| message.n).collect();
    assert_eq!(numbers, [4, 3, 2]);
    let rest = PageRequest::after(3, &page.next.expect("there is more"));
    let page = Chats::messages(&store, &chat, &rest).await.expect("reads");
    assert_eq!((page.items[0].n, page.items[0].job_id.clone(), page.next), (1, None, None));

    let missing = NewTurn { plan: Some(PlanId(99)), ..turn("other", true, "three", "hi").into_inner() };
    let missing = store.ask(Clean::of(&Redactor::default(), missing)).await.expect("asks").expect("begins");
    assert_eq!(missing.session.plan_id, None, "a plan that is not there binds nothing");
    let sessions = Chats::sessions(&store, &PageRequest::default()).await.expect("reads");
    assert_eq!(sessions.items.len(), 2);
}

/// Goal: many who speak at a time in one conversation are each heard, with numbers that leave no gap.
async fn messages_are_numbered_without_gaps(place: Place) {
    let store = place.store().await;
    store.ask(turn("chat", true, "first", "hello")).await.expect("asks").expect("begins");
    let speakers = (0..12).map(|speaker| {
        let store = store.clone();
        async move {
            let asked = turn("chat", true, &format!("job-{speaker}"), "me too");
            store.ask(asked).await.expect("asks").expect("is there")
        }
    });
    let turns = join_all(speakers).await;
    assert!(turns.iter().all(|turn| turn.assistant.n == turn.user.n + 1));
    let all = store.history(&ChatId::new("chat"), i64::MAX, 500).await.expect("reads");
    let numbers: Vec<i64> = all.iter().map(|message| message.n).collect();
    assert_eq!(numbers, (1..=26).collect::<Vec<_>>());
}
