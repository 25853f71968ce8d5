//! Takes connections: at most so many at a time, each with deadlines, and lets them end at shutdown.
//!
//! axum's own loop has no deadline for a request's head and no bound on connections; the routes are its.

use super::outlet::{Outlet, Unread};
use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use papertape_runtime::cancellation::CancelToken;
use papertape_service::app::App;
use std::future::poll_fn;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tower::ServiceExt as _;

/// How long nothing is accepted after the system had no room for a connection.
const PAUSE: Duration = Duration::from_secs(1);
/// What of a connection is held at most: a request's head, and an answer's part that is on its way.
const BUFFER_BYTES: usize = 128 * 1024;

/// Answers requests until shutdown, then lets those under way end. Dropping the future cuts them off.
pub(super) async fn listen(app: &App, listener: TcpListener, router: Router, shutdown: CancelToken) {
    let server = &app.config.server;
    let places = Arc::new(Semaphore::new(server.connections.max(1)));
    let head = Duration::from_secs(server.header_timeout_secs.max(1));
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let accepting = async {
            // Who finds no place waits in the system's queue. The semaphore is never closed.
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            _ = shutdown.stopped() => break,
            accepted = accepting => accepted,
        };
        match accepted {
            Ok((stream, client)) => {
                // An event is to be there when it is sent, not when there are more of them.
                let _ = stream.set_nodelay(true);
                let serving = serve((stream, client), router.clone(), head, shutdown.clone());
                connections.spawn(async move {
                    serving.await;
                    drop(place);
                });
            }
            Err(error) if is_the_clients(error.kind()) => {}
            Err(error) => {
                tracing::error!(error = %error, "a connection cannot be taken");
                drop(place);
                app.services.clock.sleep(PAUSE).await;
            }
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// The client had gone before it was taken.
fn is_the_clients(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::ConnectionAborted | ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset)
}

/// Marks an answer that has no end of its own: at shutdown nobody waits until its client has read it.
#[derive(Clone, Copy)]
pub(super) struct Endless;

/// One connection, to its end.
async fn serve(
    (stream, client): (impl AsyncRead + AsyncWrite + Unpin, SocketAddr),
    router: Router,
    head: Duration,
    shutdown: CancelToken,
) {
    let (outlet, unread) = Outlet::new(stream);
    let answered = unread.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(client));
        let (answering, answered) = (router.clone().oneshot(request), answered.clone());
        async move {
            let answer = answering.await;
            answered.is_endless(
                answer.as_ref().is_ok_and(|answer| answer.extensions().get::<Endless>().is_some()),
            );
            answer
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(head).max_buf_size(BUFFER_BYTES);
    let mut connection = pin!(http.serve_connection(TokioIo::new(outlet), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        _ = shutdown.stopped() => {
            connection.as_mut().graceful_shutdown();
            match last_of(connection, &unread).await {
                Some(ended) => ended,
                // Its client connects again elsewhere, from where it was.
                None => return tracing::debug!(client = %client, "an unread stream was cut off"),
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(client = %client, error = %error, "a connection broke off");
    }
}

/// Lets a connection end; `None` where only a stream is left that its client does not read.
async fn last_of<T>(mut connection: Pin<&mut impl Future<Output = T>>, unread: &Unread) -> Option<T> {
    poll_fn(|context| match connection.as_mut().poll(context) {
        Poll::Ready(ended) => Poll::Ready(Some(ended)),
        Poll::Pending if unread.blocks() => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::response::{IntoResponse as _, Response};
    use axum::routing::get;
    use futures::stream::{iter, pending};
    use futures::{StreamExt as _, future::join};
    use papertape_runtime::cancellation::{CancelSource, StopReason};
    use std::convert::Infallible;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

    /// More than fits between the two.
    const CHUNK: &[u8] = &[b'x'; 4096];
    const CHUNKS: usize = 100;

    /// A server with one answer, and a client that has asked for it.
    async fn asked(answer: fn() -> Response) -> (impl Future<Output = ()>, CancelSource, DuplexStream) {
        let (mut client, server) = duplex(1024);
        client.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.expect("writes");
        let stopper = CancelSource::default();
        let router = Router::new().route("/", get(async move || answer()));
        let address = SocketAddr::from(([127, 0, 0, 1], 1));
        (serve((server, address), router, Duration::from_secs(60), stopper.signal()), stopper, client)
    }

    fn chunks() -> impl futures::Stream<Item = Result<&'static [u8], Infallible>> + Send {
        iter([Ok(CHUNK); CHUNKS])
    }

    // Goal: a stream whose client never reads does not hold up the shutdown; without this, it never ends.
    #[tokio::test]
    async fn an_unread_stream_is_cut_off() {
        let endless = || {
            let mut answer = Body::from_stream(chunks().chain(pending())).into_response();
            answer.extensions_mut().insert(Endless);
            answer
        };
        let (serving, stopper, mut client) = asked(endless).await;
        let mut serving = pin!(serving);
        tokio::select! {
            () = serving.as_mut() => panic!("it goes on"),
            first = client.read_u8() => assert_eq!(first.expect("reads"), b'H'),
        }
        stopper.stop(StopReason::Shutdown);
        serving.await;
    }

    // Goal: a client that reads gets its stream whole, with its proper end, and an answer with an end of its own is
    // waited for however slowly it is read.
    #[tokio::test]
    async fn what_is_read_ends_whole() {
        let whole = || Body::from_stream(chunks()).into_response();
        let (serving, stopper, mut client) = asked(whole).await;
        let reading = async {
            client.read_u8().await.expect("reads");
            stopper.stop(StopReason::Shutdown);
            let mut rest = Vec::new();
            client.read_to_end(&mut rest).await.expect("reads");
            assert_eq!(rest.iter().filter(|byte| **byte == b'x').count(), CHUNK.len() * CHUNKS);
            assert!(rest.ends_with(b"0\r\n\r\n"), "its end is told");
        };
        join(serving, reading).await;
    }
}
