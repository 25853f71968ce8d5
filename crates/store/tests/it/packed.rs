//! Texts that no SQL client reads are compressed; a message's text never is.

use crate::desk::{DAYS, at, claim, commit, date, new_job, said};
use crate::places::{Place, on_both};
use papertape_core::ports::{Queue as _, RecordStore as _};
use papertape_core::record::{NewSession, Write};
use papertape_core::tape::text;

on_both! { a_text_that_becomes_a_message_is_plain, a_damaged_text_is_an_error }

const OF: &str = "SELECT encoding FROM texts WHERE id = (SELECT min(id) FROM texts WHERE encoding = 2)";

/// Goal: whichever comes first, the message's text is text to any SQL client, and is found.
async fn a_text_that_becomes_a_message_is_plain(place: Place) {
    let store = place.store().await;
    store.enqueue(new_job("job", &["momentum"], 0)).await.expect("queues");
    let lease = claim(&store, "job").await;
    let new = NewSession { agent: "momentum".into(), date: date(DAYS[0]), at: at(0) };
    let session = store.open_session(&lease, new).await.expect("opens").id;
    let words = "the pelican said nothing for a long time, ".repeat(10);

    let prompt = Write::Text(text(words.as_str()));
    store.commit(commit(&lease, session, vec![prompt])).await.expect("commits");
    assert_eq!(place.number(OF).await, 2, "it is packed at first");
    let hash = text(words.as_str()).hash;
    assert_eq!(store.texts(vec![hash]).await.expect("reads")[&hash], words);

    // The session has written the text already, so the message comes without it.
    let mut message = said("solo#1/message#1", &words);
    message.retain(|write| !matches!(write, Write::Text(text) if text.hash == hash));
    store.commit(commit(&lease, session, message)).await.expect("commits");
    assert_eq!(place.text("SELECT content FROM reasoning_logs").await, words);
    let packed = "SELECT count(*) FROM texts WHERE packed IS NOT NULL AND body <> ''";
    assert_eq!(place.number(packed).await, 0, "no text is stored in two forms");
    assert_eq!(store.texts(vec![hash]).await.expect("reads")[&hash], words);
    let found = place.text("SELECT path || ' ' || node FROM reasoning_logs").await;
    assert_eq!(found, "solo#1/message#1 solo#1");
}

/// Goal: a compressed text that was edited is an error of its own, not a crash and not another text.
async fn a_damaged_text_is_an_error(place: Place) {
    let store = place.store().await;
    store.enqueue(new_job("job", &["momentum"], 0)).await.expect("queues");
    let lease = claim(&store, "job").await;
    let new = NewSession { agent: "momentum".into(), date: date(DAYS[0]), at: at(0) };
    let session = store.open_session(&lease, new).await.expect("opens").id;
    let words = "one word after the other ".repeat(10);
    let hash = text(words.as_str()).hash;
    let write = Write::Text(text(words.as_str()));
    store.commit(commit(&lease, session, vec![write])).await.expect("commits");
    let blob = |hex: &str| match place.target {
        papertape_store::DatabaseTarget::Sqlite(_) => format!("x'{hex}'"),
        papertape_store::DatabaseTarget::Postgres(..) => format!("'\\x{hex}'"),
    };
    for change in [
        format!("packed = {}", blob("00")),
        format!("packed = {}", blob("ff00")),
        "packed = NULL".to_owned(),
        "encoding = 0".to_owned(),
        "encoding = 3".to_owned(),
        "body = 'x'".to_owned(),
    ] {
        place.edit("CREATE TABLE saved AS SELECT * FROM texts").await;
        place.edit(&format!("UPDATE texts SET {change} WHERE encoding = 2")).await;
        let error = store.texts(vec![hash]).await.expect_err(&change).to_string();
        assert!(error.contains("text"), "{change}: {error}");
        place
            .edit(
                "UPDATE texts SET body = (SELECT s.body FROM saved s WHERE s.id = texts.id),
                    encoding = (SELECT s.encoding FROM saved s WHERE s.id = texts.id),
                    packed = (SELECT s.packed FROM saved s WHERE s.id = texts.id)",
            )
            .await;
        place.edit("DROP TABLE saved").await;
    }
    assert_eq!(store.texts(vec![hash]).await.expect("reads")[&hash], words);
}
