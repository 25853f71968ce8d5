//! A trader that reads, computes and buys, identically on each day.

use super::prose::lengthen;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a text of [`Conversation::Long`].
pub const LONG_TEXT: usize = 3_000;

/// What the trader does on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversation {
    /// Six tool calls and a final message, each with a paragraph of text.
    Short,
    /// Eight tool calls and a final message, each with [`LONG_TEXT`] bytes of text.
    Long,
}

impl Conversation {
    /// Model calls per conversation.
    #[must_use]
    pub const fn model_calls(self) -> u32 {
        match self {
            Self::Short => 7,
            Self::Long => 9,
        }
    }

    /// Tool calls per conversation: one in each response except the last.
    #[must_use]
    pub const fn tool_calls(self) -> u32 {
        self.model_calls() - 1
    }

    /// The response to a parsed request, so that tests can inspect requests.
    #[must_use]
    pub fn answer_to(self, body: &Value) -> Value {
        let said = body["messages"].as_array().into_iter().flatten();
        let turns = said.filter(|turn| turn["role"] == "assistant").count();
        self.answer(u32::try_from(turns).unwrap_or(u32::MAX))
    }

    /// The response after this many turns of the conversation. No two texts are equal.
    pub(super) fn answer(self, turns: u32) -> Value {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let call = match self {
            Self::Short => short(turns, number),
            Self::Long => long(turns),
        };
        let text = format!(
            "Thought {number}: the close stands above its average of twenty days and the index of relative \
             strength leaves room, as reading {number} shows. Volume has not fallen, the range of the last \
             week is narrow, and cash is at hand. Next I look at what is left to look at, then decide \
             whether one more share is worth its price of the open.{}",
            if call.is_none() { " Done for today. <FINISH_SIGNAL>" } else { "" }
        );
        let text = match self {
            Self::Short => text,
            Self::Long => lengthen(&text, number, LONG_TEXT),
        };
        let mut message = json!({ "role": "assistant", "content": text });
        let finish = if call.is_none() { "stop" } else { "tool_calls" };
        if let Some((name, arguments)) = call {
            message["tool_calls"] = json!([{ "id": format!("call_{number}"), "type": "function",
                "function": { "name": name, "arguments": arguments.to_string() } }]);
        }
        json!({
            "id": format!("answer-{number}"), "object": "chat.completion", "created": 0, "model": "scripted",
            "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
            "usage": { "prompt_tokens": 1200, "completion_tokens": 90, "total_tokens": 1290 },
        })
    }
}

fn short(turns: u32, number: u64) -> Option<(&'static str, Value)> {
    Some(match turns {
        0 => ("get_portfolio", json!({})),
        1 => ("get_price", json!({ "symbol": "AAPL" })),
        2 => ("get_bars", json!({ "symbol": "AAPL", "limit": 20 })),
        3 => ("get_indicators", json!({ "symbol": "AAPL", "indicators": ["sma_20", "rsi_14"] })),
        4 => ("calculate", json!({ "expression": format!("({number} + 3) * 1.01") })),
        5 => ("buy", json!({ "symbol": "AAPL", "quantity": 1, "reason": "it rises" })),
        _ => return None,
    })
}

fn long(turns: u32) -> Option<(&'static str, Value)> {
    let indicators = ["sma_20", "sma_50", "macd", "rsi_14", "atr_14"];
    Some(match turns {
        0 => ("get_portfolio", json!({})),
        1 => ("get_price", json!({ "symbol": "AAPL" })),
        2 => ("get_bars", json!({ "symbol": "AAPL", "limit": 20 })),
        3 => ("get_indicators", json!({ "symbol": "AAPL", "indicators": indicators })),
        4 => ("get_price", json!({ "symbol": "IBM" })),
        5 => ("get_bars", json!({ "symbol": "IBM", "limit": 20 })),
        6 => ("get_indicators", json!({ "symbol": "IBM", "indicators": indicators })),
        7 => ("buy", json!({ "symbol": "AAPL", "quantity": 1, "reason": "it rises" })),
        _ => return None,
    })
}
