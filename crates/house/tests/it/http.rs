//! A house model behind HTTP: the requests and responses of a real provider, whole and streamed.

use crate::day::{day_request, question};
use crate::support::{answer_to, gateway};
use papertape_core::message::Message;
use papertape_core::ports::ModelClient as _;
use papertape_house as house;
use papertape_testkit::model_server::{ModelServer, Reply, ScriptedAnswer, read_request};
use serde_json::json;

/// The same day over HTTP as in the process: nothing relevant is lost.
#[tokio::test]
async fn a_day_over_http_is_the_same_day() {
    let server = ModelServer::answering(|body| {
        let request = read_request(body, "house::buy_and_hold".parse().unwrap()).unwrap();
        ScriptedAnswer::reply(Reply::from(&house::answer(&request).unwrap().reply))
    })
    .await;
    for stream in [true, false] {
        let gateway = gateway(&server, stream);
        let mut local = day_request("buy_and_hold", &question("AAPL"));
        let mut turns = 0;
        loop {
            let mut remote = local.clone();
            remote.model = "test::anything".parse().unwrap();
            let over_http = gateway.call(&remote, None).await.unwrap().reply;
            let here = house::answer(&local).unwrap().reply;
            assert_eq!(over_http, here);
            turns += 1;
            local.messages.push(here.to_message());
            if here.tool_calls.is_empty() {
                break;
            }
            for call in &here.tool_calls {
                let answer = match call.name.as_str() {
                    "get_portfolio" => json!({ "cash": 1000, "equity": 1000, "positions": [] }),
                    "get_price" => json!({ "price": 10 }),
                    _ => json!({ "status": "filled", "quantity": call.arguments["quantity"], "cash": 20 }),
                };
                local.messages.push(answer_to(&call.id, &call.name, &answer.to_string()));
            }
        }
        assert_eq!(turns, 4);
    }
}

/// Through the port, a house model answers without a server, sends its text to the sink, and reports its
/// usage.
#[tokio::test]
async fn house_models_answer_through_the_port() {
    let config = papertape_llm::ModelsConfig::default();
    let gateway = papertape_llm::Gateway::new(&config, &house::HouseModels, &|_| None).unwrap();
    let known = "house::momentum".parse().unwrap();
    assert_eq!(gateway.check(&known), Ok(()));
    assert_eq!(gateway.house_version(&known), Some(house::VERSION));
    let request = day_request("momentum", &question("AAPL"));
    let heard = std::sync::Mutex::new(String::new());
    let sink = |delta: &str| heard.lock().unwrap().push_str(delta);
    let answer = gateway.call(&request, Some(&sink)).await.unwrap();
    assert_eq!(*heard.lock().unwrap(), answer.reply.text);
    assert!(answer.usage.unwrap().input_tokens > 0);
    let mut unknown = request;
    unknown.model = "house::genius".parse().unwrap();
    unknown.messages.push(Message::user("Hello"));
    let failure = gateway.call(&unknown, None).await.unwrap_err().failure;
    assert_eq!(failure.kind.as_str(), "bad_request");
    assert_eq!(
        failure.message,
        "unknown house model `house::genius`; expected one of house::buy_and_hold, house::contrarian, house::momentum"
    );
    assert_eq!(gateway.check(&unknown.model), Err(failure.message));
}
