//! A model server on loopback that says what a test tells it to, in the wire format of `OpenAI`'s chat
//! completions, streamed or whole, and that can fail in all the ways real ones do.
//!
//! Nothing here waits for a fixed time: a test waits for what it means ([`ModelServer::request`],
//! [`ModelServer::closed`]) and lets a held answer go with [`ModelServer::release`].

mod answer;
mod convert;
mod serve;

pub use answer::{Broken, Call, Reply, ScriptedAnswer, Tokens};
pub use convert::read_request;

use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// What the server answers when nothing is queued.
type Fallback = Box<dyn Fn(&Value) -> ScriptedAnswer + Send + Sync>;

/// Gives a vector for each text, or the status of its refusal.
type Embedder = Box<dyn Fn(&[String]) -> Result<Vec<Vec<f32>>, u16> + Send + Sync>;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The path and query, `/v1/chat/completions`.
    pub path: String,
    /// Header names in lower case with their values, in the order of arrival.
    pub headers: Vec<(String, String)>,
    /// The JSON body; null where it was none.
    pub body: Value,
    /// How many requests with an equal body have come, this one included: 1 for the first.
    pub occurrence: usize,
    /// The answer went out whole.
    pub answered: bool,
    /// The client went away before the answer was whole.
    pub closed_early: bool,
}

impl Recorded {
    /// The first header of this name, given in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// The server. It stops when dropped.
pub struct ModelServer {
    address: std::net::SocketAddr,
    shared: Arc<Shared>,
    task: AbortHandle,
}

impl ModelServer {
    /// A server that gives these answers in the order in which requests come, then refuses with 400
    /// and the code `script_exhausted`.
    ///
    /// # Panics
    /// Where loopback cannot be bound.
    pub async fn scripted(answers: impl IntoIterator<Item = ScriptedAnswer>) -> Self {
        let server = Self::answering(|_| ScriptedAnswer::error(400, "script_exhausted")).await;
        for answer in answers {
            server.push(answer);
        }
        server
    }

    /// A server that makes its answer from the request's body.
    ///
    /// # Panics
    /// Where loopback cannot be bound.
    pub async fn answering(default: impl Fn(&Value) -> ScriptedAnswer + Send + Sync + 'static) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("loopback can be bound");
        let address = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            default: Box::new(default),
            embedder: Mutex::default(),
            requests: Mutex::default(),
            deciding: Mutex::default(),
            latency: Mutex::new(Duration::ZERO),
            version: watch::Sender::new(0),
            released: watch::Sender::new(0),
        });
        let router = serve::router(Arc::clone(&shared));
        let task = tokio::spawn(async move {
            // It only ends with the runtime or by the abort below.
            let _ = axum::serve(listener, router).await;
        });
        Self { address, shared, task: task.abort_handle() }
    }

    /// Adds an answer, given before the default is asked.
    pub fn push(&self, answer: ScriptedAnswer) {
        lock(&self.shared.queue).push_back(answer);
    }

    /// From now on every answer begins after so long. For measurements; tests need none.
    pub fn set_latency(&self, latency: Duration) {
        *lock(&self.shared.latency) = latency;
    }

    /// From now on `embeddings` answers by this rule; before, there is nothing at that address.
    pub fn set_embedder(
        &self,
        embedder: impl Fn(&[String]) -> Result<Vec<Vec<f32>>, u16> + Send + Sync + 'static,
    ) {
        *lock(&self.shared.embedder) = Some(Box::new(embedder));
    }

    /// The base URL for a client, `http://127.0.0.1:PORT/v1/`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/v1/", self.address)
    }

    /// All requests so far, in the order in which they came.
    #[must_use]
    pub fn requests(&self) -> Vec<Recorded> {
        lock(&self.shared.requests).clone()
    }

    /// How many requests have come.
    #[must_use]
    pub fn count(&self) -> usize {
        lock(&self.shared.requests).len()
    }

    /// How many requests have come whose body equals that of an earlier one.
    #[must_use]
    pub fn repeats(&self) -> usize {
        lock(&self.shared.requests).iter().filter(|request| request.occurrence > 1).count()
    }

    /// Waits until the server has the `nth` request, counted from 1, and gives it.
    ///
    /// # Panics
    /// Where `nth` is 0.
    pub async fn request(&self, nth: usize) -> Recorded {
        self.when(nth, |_| true).await
    }

    /// Waits until the answer to the `nth` request has gone out whole.
    ///
    /// # Panics
    /// Where `nth` is 0.
    pub async fn answered(&self, nth: usize) -> Recorded {
        self.when(nth, |request| request.answered).await
    }

    /// Waits until the client has gone away from the `nth` request before its answer was whole.
    ///
    /// # Panics
    /// Where `nth` is 0.
    pub async fn closed(&self, nth: usize) -> Recorded {
        self.when(nth, |request| request.closed_early).await
    }

    /// Lets every answer go that is held back now.
    pub fn release(&self) {
        self.shared.released.send_modify(|times| *times += 1);
    }

    async fn when(&self, nth: usize, holds: impl Fn(&Recorded) -> bool) -> Recorded {
        assert!(nth > 0, "requests are counted from 1");
        let mut version = self.shared.version.subscribe();
        loop {
            version.mark_unchanged();
            let found = lock(&self.shared.requests).get(nth - 1).filter(|request| holds(request)).cloned();
            if let Some(request) = found {
                return request;
            }
            version.changed().await.expect("the sender lives as long as the server");
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What the server's tasks share.
struct Shared {
    queue: Mutex<VecDeque<ScriptedAnswer>>,
    default: Fallback,
    embedder: Mutex<Option<Embedder>>,
    requests: Mutex<Vec<Recorded>>,
    /// Held while a request gets its answer and its place.
    deciding: Mutex<()>,
    latency: Mutex<Duration>,
    version: watch::Sender<u64>,
    released: watch::Sender<u64>,
}

impl Shared {
    /// Keeps the request and says what to answer, in one step, so that the order of the script is
    /// the order of the record.
    fn receive(&self, path: String, headers: Vec<(String, String)>, body: Value) -> (usize, ScriptedAnswer) {
        let _one_at_a_time = lock(&self.deciding);
        let queued = lock(&self.queue).pop_front();
        // Before anybody can see the request: who has waited for it changes what comes after it.
        let answer = queued.unwrap_or_else(|| (self.default)(&body));
        let at = {
            let mut requests = lock(&self.requests);
            let request = recorded(&requests, path, headers, body);
            requests.push(request);
            requests.len() - 1
        };
        self.version.send_modify(|version| *version += 1);
        (at, answer)
    }

    /// Keeps a request that no script answers, and that is answered at once.
    fn keep(&self, path: String, headers: Vec<(String, String)>, body: Value) {
        {
            let mut requests = lock(&self.requests);
            let request = Recorded { answered: true, ..recorded(&requests, path, headers, body) };
            requests.push(request);
        }
        self.version.send_modify(|version| *version += 1);
    }

    fn mark(&self, at: usize, change: impl FnOnce(&mut Recorded)) {
        if let Some(request) = lock(&self.requests).get_mut(at) {
            change(request);
        }
        self.version.send_modify(|version| *version += 1);
    }
}

fn recorded(earlier: &[Recorded], path: String, headers: Vec<(String, String)>, body: Value) -> Recorded {
    let occurrence = 1 + earlier.iter().filter(|earlier| earlier.body == body).count();
    Recorded { path, headers, body, occurrence, answered: false, closed_early: false }
}

/// A lock that a panicking thread held guards data that is still whole: every change here is one call.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
