//! A model server on loopback that returns scripted responses in the wire format of `OpenAI`'s chat completions,
//! streamed or whole, and that can fail in all the ways real ones do.
//!
//! Nothing here waits for a fixed time: a test waits for an event ([`ModelServer::request`],
//! [`ModelServer::closed`]) and releases a held response with [`ModelServer::release`].

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

/// Computes the response when nothing is queued.
type Fallback = Box<dyn Fn(&Value) -> ScriptedAnswer + Send + Sync>;

/// Returns a vector for each text, or the status of an error response.
type Embedder = Box<dyn Fn(&[String]) -> Result<Vec<Vec<f32>>, u16> + Send + Sync>;

/// A request as received.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Path and query, such as `/v1/chat/completions`.
    pub path: String,
    /// Header names in lower case with their values, in the order of arrival.
    pub headers: Vec<(String, String)>,
    /// The JSON body; null if it is not JSON.
    pub body: Value,
    /// Number of requests so far with an equal body, including this one: 1 for the first.
    pub occurrence: usize,
    /// Whether the response was sent completely.
    pub answered: bool,
    /// Whether the client disconnected before the response was complete.
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
    /// A server that returns these responses in the order of requests, then 400 with the code `script_exhausted`.
    ///
    /// # Panics
    /// Panics if loopback cannot be bound.
    pub async fn scripted(answers: impl IntoIterator<Item = ScriptedAnswer>) -> Self {
        let server = Self::answering(|_| ScriptedAnswer::error(400, "script_exhausted")).await;
        for answer in answers {
            server.push(answer);
        }
        server
    }

    /// A server that computes its response from the request's body.
    ///
    /// # Panics
    /// Panics if loopback cannot be bound.
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
            // It only ends with the runtime or when it is aborted below.
            let _ = axum::serve(listener, router).await;
        });
        Self { address, shared, task: task.abort_handle() }
    }

    /// Queues a response, which takes precedence over the default.
    pub fn push(&self, answer: ScriptedAnswer) {
        lock(&self.shared.queue).push_back(answer);
    }

    /// From now on, every response starts after this delay. For benchmarks; tests need none.
    pub fn set_latency(&self, latency: Duration) {
        *lock(&self.shared.latency) = latency;
    }

    /// From now on, `embeddings` responds by this function; before that, the route does not exist.
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

    /// All requests so far, in the order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<Recorded> {
        lock(&self.shared.requests).clone()
    }

    /// Number of requests received.
    #[must_use]
    pub fn count(&self) -> usize {
        lock(&self.shared.requests).len()
    }

    /// Number of requests received whose body equals that of an earlier one.
    #[must_use]
    pub fn repeats(&self) -> usize {
        lock(&self.shared.requests).iter().filter(|request| request.occurrence > 1).count()
    }

    /// Waits until the server has received the `nth` request, counted from 1, and returns it.
    ///
    /// # Panics
    /// Panics if `nth` is 0.
    pub async fn request(&self, nth: usize) -> Recorded {
        self.when(nth, |_| true).await
    }

    /// Waits until the response to the `nth` request has been sent completely.
    ///
    /// # Panics
    /// Panics if `nth` is 0.
    pub async fn answered(&self, nth: usize) -> Recorded {
        self.when(nth, |request| request.answered).await
    }

    /// Waits until the client has disconnected from the `nth` request before its response was complete.
    ///
    /// # Panics
    /// Panics if `nth` is 0.
    pub async fn closed(&self, nth: usize) -> Recorded {
        self.when(nth, |request| request.closed_early).await
    }

    /// Releases every response that is held back now.
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

/// State shared by the server's tasks.
struct Shared {
    queue: Mutex<VecDeque<ScriptedAnswer>>,
    default: Fallback,
    embedder: Mutex<Option<Embedder>>,
    requests: Mutex<Vec<Recorded>>,
    /// Held while a request is assigned its response and its index.
    deciding: Mutex<()>,
    latency: Mutex<Duration>,
    version: watch::Sender<u64>,
    released: watch::Sender<u64>,
}

impl Shared {
    /// Records the request and picks the response in one step, so that requests are recorded in the order of the
    /// script.
    fn receive(&self, path: String, headers: Vec<(String, String)>, body: Value) -> (usize, ScriptedAnswer) {
        let _one_at_a_time = lock(&self.deciding);
        let queued = lock(&self.queue).pop_front();
        // Before the request becomes visible: a test that waits for it may change what comes next.
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

    /// Records a request that needs no script and gets its response immediately.
    fn record(&self, path: String, headers: Vec<(String, String)>, body: Value) {
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

/// State locked by a thread that panicked is still consistent: every change here is one call.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
