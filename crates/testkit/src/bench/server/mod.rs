//! A model server for benchmarks: real HTTP, a built-in script, and as little work as possible, in its own
//! process, so that its costs are not attributed to the product.
//!
//! It stores no requests and parses no JSON: a response depends on the number of assistant turns in the request,
//! and on the desk role named in its system prompt. It is a trader with a [`Conversation`], or, given [`Roles`], a
//! desk.

mod prose;
mod roles;
mod solo;

pub use prose::lengthen;
pub use roles::Roles;
pub use solo::{Conversation, LONG_TEXT};

use serde_json::{Value, json};
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// The argument that turns a benchmark's program into the server, followed by its latency in milliseconds and what
/// it answers: nothing for [`Conversation::Short`], `LONG`, or the file of a desk's [`Roles`].
pub const ARGUMENT: &str = "--model-server";
/// The argument for [`Conversation::Long`].
const LONG: &str = "--long";

/// What the server answers.
#[derive(Clone)]
enum Script {
    Solo(Conversation),
    Desk(Arc<Roles>),
}

/// A server in its own process. It stops when dropped.
pub struct ServerProcess {
    child: Child,
    url: String,
}

impl ServerProcess {
    /// Starts this program as a server that waits this long before each response.
    ///
    /// # Panics
    /// Panics if it cannot be started.
    #[must_use]
    pub fn start(latency: Duration, conversation: Conversation) -> Self {
        let long = (conversation == Conversation::Long).then_some(OsStr::new(LONG));
        Self::start_with(latency, long)
    }

    /// The same as a desk with the responses in this file.
    ///
    /// # Panics
    /// Panics if it cannot be started.
    #[must_use]
    pub fn start_desk(latency: Duration, roles: &Path) -> Self {
        Self::start_with(latency, Some(roles.as_os_str()))
    }

    fn start_with(latency: Duration, script: Option<&OsStr>) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this program has a path"))
            .args([ARGUMENT, &latency.as_millis().to_string()])
            .args(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("is piped"))
            .read_line(&mut line)
            .expect("says its address");
        Self { child, url: line.trim().to_owned() }
    }

    /// The base URL for a client.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// CPU time that it has used so far.
    #[must_use]
    pub fn cpu_time(&self) -> Duration {
        super::cpu_time_of(self.child.id()).unwrap_or_default()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether this process is to be the server; if so, serves until its parent exits. Call it at the start of
/// `main`.
///
/// # Panics
/// Panics if loopback cannot be bound, or the file of roles cannot be read.
pub fn serve_if_asked() -> bool {
    let mut arguments = std::env::args().skip_while(|argument| argument != ARGUMENT);
    let Some(latency) = arguments.nth(1).and_then(|millis| millis.parse().ok()) else { return false };
    let script = match arguments.next() {
        None => Script::Solo(Conversation::Short),
        Some(long) if long == LONG => Script::Solo(Conversation::Long),
        Some(path) => Script::Desk(Arc::new(Roles::read(Path::new(&path)))),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("starts");
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback can be bound");
        println!("http://{}/v1/", listener.local_addr().expect("has an address"));
        let latency = Duration::from_millis(latency);
        let accepting = async {
            loop {
                if let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(converse(stream, latency, script.clone()));
                }
            }
        };
        tokio::select! {
            () = accepting => {}
            // The input closes when the parent exits.
            () = closed() => {}
        }
    });
    true
}

async fn closed() {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let _ = std::io::stdin().lock().read_line(&mut String::new());
        let _ = sender.send(());
    });
    let _ = receiver.await;
}

/// Responds to the requests of one connection.
async fn converse(mut stream: TcpStream, latency: Duration, script: Script) {
    let _ = stream.set_nodelay(true);
    let mut held = Vec::with_capacity(32 * 1024);
    loop {
        let Some((head, whole)) = extent(&held) else {
            match stream.read_buf(&mut held).await {
                Ok(0) | Err(_) => return,
                Ok(_) => continue,
            }
        };
        while held.len() < whole {
            match stream.read_buf(&mut held).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        }
        let body = &held[head..whole];
        let turns = marks(body, br#""role":"assistant""#);
        let answer = match &script {
            Script::Desk(roles) => roles.answer(body, turns),
            Script::Solo(conversation) => conversation.answer(turns),
        };
        let streamed = marks(body, br#""stream":true"#) > 0;
        let (kind, body) = if streamed {
            ("text/event-stream", events(&answer))
        } else {
            ("application/json", answer.to_string())
        };
        held.drain(..whole);
        if !latency.is_zero() {
            tokio::time::sleep(latency).await;
        }
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", body.len());
        if stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).await.is_err() {
            return;
        }
    }
}

/// Where the first request's head and body end; `None` while the head is incomplete.
fn extent(held: &[u8]) -> Option<(usize, usize)> {
    let head = held.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&held[..head]).ok()?;
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    Some((head, head + length.unwrap_or_default()))
}

/// Number of occurrences in a request's body of these bytes, which begin with a quote.
fn marks(body: &[u8], mark: &[u8]) -> u32 {
    let found = body.iter().enumerate().filter(|(at, byte)| **byte == b'"' && body[*at..].starts_with(mark));
    u32::try_from(found.count()).unwrap_or(u32::MAX)
}

/// A response as an event stream: the text in chunks of eight words, each call in two, the end, the usage.
fn events(answer: &Value) -> String {
    let message = &answer["choices"][0]["message"];
    let mut deltas = vec![json!({ "role": "assistant", "content": "" })];
    let words: Vec<&str> = message["content"].as_str().unwrap_or_default().split_inclusive(' ').collect();
    deltas.extend(words.chunks(8).map(|words| json!({ "content": words.concat() })));
    for (index, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
        let (id, name) = (&call["id"], &call["function"]["name"]);
        let function = json!({ "name": name, "arguments": "" });
        let start = json!({ "index": index, "id": id, "type": "function", "function": function });
        deltas.push(json!({ "tool_calls": [start] }));
        let function = json!({ "arguments": call["function"]["arguments"] });
        deltas.push(json!({ "tool_calls": [{ "index": index, "function": function }] }));
    }
    let chunk = |choices: Value| {
        json!({ "id": answer["id"], "object": "chat.completion.chunk", "created": 0, "model": "scripted",
            "choices": choices })
    };
    let mut chunks: Vec<Value> =
        deltas.into_iter().map(|delta| chunk(json!([{ "index": 0, "delta": delta }]))).collect();
    let finish = &answer["choices"][0]["finish_reason"];
    chunks.push(chunk(json!([{ "index": 0, "delta": {}, "finish_reason": finish }])));
    let mut last = chunk(json!([]));
    last["usage"] = answer["usage"].clone();
    chunks.push(last);
    let lines: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    lines + "data: [DONE]\n\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests that arrive in pieces, or several at once, are separated.
    #[test]
    fn a_request_ends_where_its_length_says() {
        let request = b"POST /v1/x HTTP/1.1\r\nContent-Length: 5\r\n\r\nhelloPOST";
        assert_eq!(extent(request), Some((42, 47)));
        assert_eq!(extent(&request[..30]), None);
        assert_eq!(extent(b"GET / HTTP/1.1\r\n\r\n"), Some((18, 18)));
    }

    /// Benchmarks divide by the script's counts: a tool call in each response, then the end.
    #[test]
    fn each_response_but_the_last_calls_a_tool() {
        for (conversation, bytes) in [(Conversation::Short, 300), (Conversation::Long, LONG_TEXT)] {
            let last = conversation.model_calls() - 1;
            for turn in 0..=last {
                let message = conversation.answer(turn)["choices"][0]["message"].take();
                assert_eq!(message["tool_calls"].is_null(), turn == last, "{conversation:?}, turn {turn}");
                let text = message["content"].as_str().expect("a text");
                assert_eq!(text.ends_with("<FINISH_SIGNAL>"), turn == last, "{text}");
                assert!((bytes..bytes + 200).contains(&text.len()), "{} bytes", text.len());
            }
        }
        let body = br#"{"a":[{"role":"assistant"},{"role":"user"},{"role":"assistant"}],"stream":true}"#;
        assert_eq!((marks(body, br#""role":"assistant""#), marks(body, br#""stream":true"#)), (2, 1));
    }

    /// A stream has the same content as the whole response.
    #[test]
    fn a_streams_pieces_are_the_answers_text() {
        let answer = Conversation::Short.answer(0);
        let events = events(&answer);
        let pieces = events
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
        let text: String = pieces
            .filter_map(|chunk| Some(chunk["choices"][0]["delta"]["content"].as_str()?.to_owned()))
            .collect();
        assert_eq!(text, answer["choices"][0]["message"]["content"]);
    }

    /// Several calls of a response have an index each, so that a client does not merge them.
    #[test]
    fn a_streams_calls_are_numbered() {
        let call = |id: &str| json!({ "id": id, "type": "function", "function": { "name": "get_price", "arguments": "{}" } });
        let message = json!({ "role": "assistant", "content": "", "tool_calls": [call("a"), call("b")] });
        let events = events(&json!({ "id": "x", "choices": [{ "message": message }] }));
        let indexes: Vec<i64> = events
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok())
            .filter_map(|chunk| chunk["choices"][0]["delta"]["tool_calls"][0]["index"].as_i64())
            .collect();
        assert_eq!(indexes, [0, 0, 1, 1]);
    }
}
