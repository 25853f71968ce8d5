//! Dropping a call closes its connection: the provider stops and the call costs no more.

use crate::support::{gateway, request};
use papertape_core::ports::ModelClient as _;
use papertape_testkit::model_server::{Broken, ModelServer, ScriptedAnswer};
use std::sync::Arc;
use tokio::sync::Notify;

#[tokio::test]
async fn dropping_before_the_answer_closes_the_connection() {
    for stream in [true, false] {
        let server = ModelServer::scripted([ScriptedAnswer::text("late").held()]).await;
        let gateway = gateway(&server, stream);
        let request = request("Hello");
        let mut call = gateway.call(&request, None);
        tokio::select! {
            _ = &mut call => panic!("the answer is held back"),
            _ = server.request(1) => {}
        }
        drop(call);
        let seen = server.closed(1).await;
        assert!(!seen.answered);
    }
}

#[tokio::test]
async fn dropping_in_the_middle_of_a_stream_closes_the_connection() {
    let answer = ScriptedAnswer::text("one two three four five six").broken(Broken::Stalled);
    let server = ModelServer::scripted([answer]).await;
    let gateway = gateway(&server, true);
    let request = request("Hello");
    let arrived = Arc::new(Notify::new());
    let tell = Arc::clone(&arrived);
    let sink = move |_: &str| tell.notify_one();
    let mut call = gateway.call(&request, Some(&sink));
    tokio::select! {
        _ = &mut call => panic!("the stream is stalled"),
        () = arrived.notified() => {}
    }
    drop(call);
    assert!(!server.closed(1).await.answered);
}

/// A held response that is released arrives; the server has sent it completely.
#[tokio::test]
async fn a_held_answer_can_be_released() {
    let server = ModelServer::scripted([ScriptedAnswer::text("at last").held()]).await;
    let gateway = gateway(&server, true);
    let request = request("Hello");
    let release = async {
        server.request(1).await;
        server.release();
    };
    let (answer, ()) = tokio::join!(gateway.call(&request, None), release);
    assert_eq!(answer.unwrap().reply.text, "at last");
    assert!(!server.answered(1).await.closed_early);
}
