//! A trader that reads, computes and buys, identically on each day.

use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

/// Model calls per conversation.
pub const MODEL_CALLS: u32 = 7;
/// Tool calls per conversation.
pub const TOOL_CALLS: u32 = 6;

/// The same responses for a server that has parsed the request, so that tests can inspect requests.
#[must_use]
pub fn answer_to(body: &Value) -> Value {
    let said = body["messages"].as_array().into_iter().flatten();
    answer(u32::try_from(said.filter(|turn| turn["role"] == "assistant").count()).unwrap_or(u32::MAX))
}

/// The response after this many turns of the conversation. No two texts are equal.
pub(super) fn answer(turns: u32) -> Value {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let call = |name: &str, arguments: &Value| {
        json!([{ "id": format!("call_{number}"), "type": "function",
            "function": { "name": name, "arguments": arguments.to_string() } }])
    };
    let calls = match turns {
        0 => call("get_portfolio", &json!({})),
        1 => call("get_price", &json!({ "symbol": "AAPL" })),
        2 => call("get_bars", &json!({ "symbol": "AAPL", "limit": 20 })),
        3 => call("get_indicators", &json!({ "symbol": "AAPL", "indicators": ["sma_20", "rsi_14"] })),
        4 => call("calculate", &json!({ "expression": format!("({number} + 3) * 1.01") })),
        5 => call("buy", &json!({ "symbol": "AAPL", "quantity": 1, "reason": "it rises" })),
        _ => Value::Null,
    };
    let last = calls.is_null();
    let mut message = json!({
        "role": "assistant",
        "content": format!(
            "Thought {number}: the close stands above its average of twenty days and the index of relative \
             strength leaves room, as reading {number} shows. Volume has not fallen, the range of the last \
             week is narrow, and cash is at hand. Next I look at what is left to look at, then decide \
             whether one more share is worth its price of the open.{}",
            if last { " Done for today. <FINISH_SIGNAL>" } else { "" }
        ),
    });
    if !last {
        message["tool_calls"] = calls;
    }
    let finish = if last { "stop" } else { "tool_calls" };
    json!({
        "id": format!("answer-{number}"), "object": "chat.completion", "created": 0, "model": "scripted",
        "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
        "usage": { "prompt_tokens": 1200, "completion_tokens": 90, "total_tokens": 1290 },
    })
}
