//! A conversation of N turns takes O(N) bytes, although every request contains all turns before it.

use crate::desk::{at, claim, commit, date, new_job};
use crate::places::Place;
use papertape_core::message::{Message, ModelRequest, Sampling, ToolChoice};
use papertape_core::ports::{Queue as _, RecordStore as _};
use papertape_core::record::{Intent, NewSession, Write};
use papertape_core::tape::{RequestChain, StepPath, expand_request};

async fn bytes_of(turns: u32) -> u64 {
    let place = Place::sqlite();
    let store = place.store().await;
    store.enqueue(new_job("talk", &["momentum"], 0)).await.expect("queues");
    let lease = claim(&store, "talk").await;
    let new = NewSession { agent: "momentum".into(), date: date("2012-03-01"), at: at(0) };
    let session = store.open_session(&lease, new).await.expect("opens").id;
    let mut request = ModelRequest {
        model: "house::momentum".parse().expect("is a name"),
        house_version: None,
        instructions: Some("Trade well. ".repeat(100)),
        messages: Vec::new(),
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        response_schema: None,
        sampling: Sampling::default(),
    };
    let mut chain: Option<RequestChain> = None;
    for turn in 1..=turns {
        request.messages.push(Message::user(format!("turn {turn}: {}", "a long thought ".repeat(40))));
        let (link, texts) = RequestChain::link(chain.take(), &request);
        let mut writes: Vec<Write> = texts.into_iter().map(Write::Text).collect();
        writes.push(Write::Intent(Intent {
            path: StepPath::of("solo#1", "model", turn),
            digest: request.digest(),
            request_ref: link.at,
        }));
        store.commit(commit(&lease, session, writes)).await.expect("commits");
        chain = Some(link);
    }
    // The last request can be read back in full.
    let last = chain.expect("has a link").at;
    let mut texts = std::collections::BTreeMap::new();
    let whole = loop {
        match expand_request(last, &|hash| texts.get(&hash).cloned()) {
            Ok(whole) => break whole,
            Err(missing) => texts.extend(store.texts(vec![missing.0]).await.expect("reads")),
        }
    };
    assert_eq!(whole, request.to_json());
    store.counts().await.expect("counts").text_bytes
}

#[tokio::test]
async fn a_conversation_of_twice_the_turns_costs_twice_the_bytes() {
    let (short, long) = (bytes_of(40).await, bytes_of(80).await);
    assert!(long < short * 21 / 10, "40 turns are {short} bytes, 80 are {long}");
    assert!(short < 40 * 1_500, "40 turns of 620 bytes are {short} bytes");
}
