//! Scores and notes of sessions, on both databases.

use crate::desk::{DAYS, at, date, export, run_job};
use crate::places::{Place, on_both};
use papertape_core::id::JobId;
use papertape_core::ports::Queue as _;
use papertape_core::record::SessionId;
use papertape_core::review::{ReviewChanges, SessionReview};
use papertape_redact::{Redactor, Sanitized};
use papertape_store::{
    Deletion, PageRequest, ResultFilter, ReviewFilter, ReviewWrite, ReviewedSession, Store, StoreError,
};
use std::collections::BTreeMap;

on_both!(
    a_review_changes_nothing_that_is_proved,
    fields_are_written_one_by_one,
    lists_are_filtered_and_paged,
    a_review_is_deleted_with_its_job,
);

async fn write(store: &Store, session: SessionId, changes: ReviewChanges, micros: i64) -> ReviewWrite {
    let changes = Sanitized::of(&Redactor::default(), changes);
    store.write_review(session, changes, Some("desk".to_owned()), at(micros)).await.expect("writes")
}

async fn written(store: &Store, session: SessionId, changes: ReviewChanges, micros: i64) -> SessionReview {
    match write(store, session, changes, micros).await {
        ReviewWrite::Written(review) => review,
        other => panic!("{other:?}"),
    }
}

fn score(score: u8) -> ReviewChanges {
    ReviewChanges { score: Some(Some(score)), note: None }
}

fn note(note: &str) -> ReviewChanges {
    ReviewChanges { score: None, note: Some(note.to_owned()) }
}

/// The sessions of a job by day and agent.
async fn sessions(store: &Store, job: &str) -> Vec<SessionId> {
    let filter = ResultFilter { job: Some(JobId::new(job)), ..ResultFilter::default() };
    let page = store.results(&filter, &PageRequest::first(200)).await.expect("reads");
    page.items.into_iter().map(|session| session.id).collect()
}

fn of_job(job: &str) -> ReviewFilter {
    ReviewFilter { job: JobId::new(job), min_score: None, max_score: None }
}

/// Goal: a score and a note on a finished session change neither its chain, the job's head, its fingerprint nor its
/// canonical export; and neither does their removal.
async fn a_review_changes_nothing_that_is_proved(place: Place) {
    let store = place.store().await;
    run_job(&store, "job", &["momentum"], &[]).await;
    let id = JobId::new("job");
    let row = store.get_job(&id).await.expect("reads").expect("is there");
    let (head, exported) = (store.job_head(&id).await.expect("reads"), export(&store, "job").await);
    let session = sessions(&store, "job").await[0];
    for changes in [
        ReviewChanges { score: Some(Some(2)), note: Some("It chased the open.".to_owned()) },
        ReviewChanges { score: Some(None), note: Some(String::new()) },
    ] {
        written(&store, session, changes, 77).await;
        assert_eq!(store.verify_chain(&id).await.expect("verifies").broken, None);
        let after = store.get_job(&id).await.expect("reads").expect("is there");
        assert_eq!((after.fingerprint, &after.config), (row.fingerprint, &row.config));
        assert_eq!(store.job_head(&id).await.expect("reads"), head);
        assert_eq!(export(&store, "job").await, exported);
    }
}

/// Goal: an absent field stays, an equal value keeps the time and the name of its writer, an empty review has no row, and
/// a rejected change writes nothing.
async fn fields_are_written_one_by_one(place: Place) {
    let store = place.store().await;
    run_job(&store, "job", &["momentum"], &[]).await;
    let session = sessions(&store, "job").await[0];
    assert_eq!(write(&store, SessionId(999_999), score(1), 1).await, ReviewWrite::NotFound);
    assert_eq!(written(&store, session, ReviewChanges::default(), 1).await, SessionReview::default());

    let first = written(&store, session, score(4), 1).await;
    let by = Some("desk".to_owned());
    let expected = SessionReview { score: Some(4), note: None, updated_at: Some(at(1)), updated_by: by };
    assert_eq!(first, expected);
    let both = written(&store, session, note("good\n"), 2).await;
    let expected = SessionReview { note: Some("good".to_owned()), updated_at: Some(at(2)), ..first };
    assert_eq!(both, expected);
    assert_eq!(written(&store, session, score(4), 3).await, both);
    assert_eq!(store.reviews(&[session]).await.expect("reads"), BTreeMap::from([(session, both.clone())]));

    for (changes, field) in [(score(6), "score"), (score(0), "score"), (note("\u{0}"), "note")] {
        let written = write(&store, session, changes.clone(), 4).await;
        assert!(matches!(&written, ReviewWrite::Rejected(error) if error.field == field), "{changes:?}");
    }
    assert_eq!(store.reviews(&[session]).await.expect("reads")[&session], both);

    let no_score = ReviewChanges { score: Some(None), note: None };
    let left = written(&store, session, no_score, 5).await;
    assert_eq!((left.score, left.note.as_deref(), left.updated_at), (None, Some("good"), Some(at(5))));
    assert_eq!(written(&store, session, note(""), 6).await, SessionReview::default());
    assert_eq!(place.number("SELECT count(*) FROM session_reviews").await, 0);
}

/// Goal: the reviewed sessions of a job, and no others, come by day and agent, in pages that neither drop nor repeat one
/// while scores change, and filters keep what they name.
async fn lists_are_filtered_and_paged(place: Place) {
    let store = place.store().await;
    run_job(&store, "job", &["momentum", "contrarian"], &[]).await;
    run_job(&store, "other", &["momentum"], &[]).await;
    let ids = sessions(&store, "job").await;
    assert!(ids.len() >= 4, "{ids:?}");
    for (session, value) in ids.iter().zip([5, 1, 3]) {
        written(&store, *session, score(value), 1).await;
    }
    written(&store, ids[3], note("only words"), 1).await;
    written(&store, sessions(&store, "other").await[0], score(2), 1).await;

    let list = async |filter: &ReviewFilter, request: &PageRequest| {
        store.job_reviews(filter, request).await.expect("reads")
    };
    let shown = |items: &[ReviewedSession]| items.iter().map(|item| item.id).collect::<Vec<_>>();
    let whole = list(&of_job("job"), &PageRequest::first(200)).await;
    assert_eq!((shown(&whole.items), whole.next), (ids[..4].to_vec(), None));
    assert_eq!((whole.items[0].date, whole.items[0].agent.as_str()), (date(DAYS[0]), "contrarian"));
    assert_eq!(whole.items[3].review.note.as_deref(), Some("only words"));

    let first = list(&of_job("job"), &PageRequest::first(2)).await;
    written(&store, ids[0], score(2), 2).await;
    written(&store, ids[3], score(5), 2).await;
    let rest =
        list(&of_job("job"), &PageRequest::after(2, first.next.as_ref().expect("there is more"))).await;
    assert_eq!([shown(&first.items), shown(&rest.items)].concat(), ids[..4]);
    assert_eq!(rest.next, None);

    let high = ReviewFilter { min_score: Some(3), ..of_job("job") };
    assert_eq!(shown(&list(&high, &PageRequest::first(200)).await.items), [ids[2], ids[3]]);
    let middle = ReviewFilter { min_score: Some(2), max_score: Some(3), ..of_job("job") };
    assert_eq!(shown(&list(&middle, &PageRequest::first(200)).await.items), [ids[0], ids[2]]);
    assert!(list(&of_job("none"), &PageRequest::first(200)).await.items.is_empty());
    let bad = PageRequest { cursor: Some("5b5d".to_owned()), ..PageRequest::first(2) };
    assert!(matches!(store.job_reviews(&of_job("job"), &bad).await, Err(StoreError::BadCursor)));
}

/// Goal: a deleted job leaves no reviews behind, and takes no other job's.
async fn a_review_is_deleted_with_its_job(place: Place) {
    let store = place.store().await;
    for job in ["job", "other"] {
        run_job(&store, job, &["momentum"], &[]).await;
        written(&store, sessions(&store, job).await[0], score(3), 1).await;
    }
    let deleted = store.delete_job(&JobId::new("job"), false).await.expect("deletes");
    assert!(matches!(deleted, Deletion::Deleted(_)), "{deleted:?}");
    let other = sessions(&store, "other").await;
    assert_eq!(place.number("SELECT count(*) FROM session_reviews").await, 1);
    assert_eq!(store.reviews(&other).await.expect("reads").len(), 1);
}
