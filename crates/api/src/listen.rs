//! Accepts connections: a limited number at a time, each with deadlines, and lets them finish at shutdown.
//!
//! axum's own accept loop has no deadline for a request's head and no limit on connections. The routes are axum's.

use super::monitored_socket::{MonitoredSocket, SendState};
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

/// The pause after the system failed to accept a connection.
const PAUSE: Duration = Duration::from_secs(1);
/// The maximum buffer of a connection, for a request's head or the part of a response that is being sent.
const BUFFER_BYTES: usize = 128 * 1024;

/// Serves requests until shutdown, then lets those in progress finish. Dropping the future aborts them.
pub(super) async fn listen(app: &App, listener: TcpListener, router: Router, shutdown: CancelToken) {
    let server = &app.config.server;
    let permits = Arc::new(Semaphore::new(server.max_connections.max(1)));
    let head = Duration::from_secs(server.header_timeout_secs.max(1));
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let accepting = async {
            // Beyond the limit, connections wait in the system's queue. The semaphore is never closed.
            let permit = Arc::clone(&permits).acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            _ = shutdown.stopped() => break,
            accepted = accepting => accepted,
        };
        match accepted {
            Ok((stream, client)) => {
                // Send each event at once instead of waiting for more.
                let _ = stream.set_nodelay(true);
                let serving = serve((stream, client), router.clone(), head, shutdown.clone());
                connections.spawn(async move {
                    serving.await;
                    drop(permit);
                });
            }
            Err(error) if is_client_error(error.kind()) => {}
            Err(error) => {
                tracing::error!(error = %error, "cannot accept a connection");
                drop(permit);
                app.services.clock.sleep(PAUSE).await;
            }
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// The client disconnected before it was accepted.
fn is_client_error(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::ConnectionAborted | ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset)
}

/// Marks a response without an end: shutdown does not wait until its client has read it.
#[derive(Clone, Copy)]
pub(super) struct Endless;

/// Serves one connection until it ends.
async fn serve(
    (stream, client): (impl AsyncRead + AsyncWrite + Unpin, SocketAddr),
    router: Router,
    head: Duration,
    shutdown: CancelToken,
) {
    let (socket, state) = MonitoredSocket::new(stream);
    let state_service_error = state.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(client));
        let (responding, state) = (router.clone().oneshot(request), state_service_error.clone());
        async move {
            let response = responding.await;
            state.set_endless(
                response.as_ref().is_ok_and(|response| response.extensions().get::<Endless>().is_some()),
            );
            response
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(head).max_buf_size(BUFFER_BYTES);
    let mut connection = pin!(http.serve_connection(TokioIo::new(socket), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        _ = shutdown.stopped() => {
            connection.as_mut().graceful_shutdown();
            match finish(connection, &state).await {
                Some(ended) => ended,
                // The client reconnects elsewhere at its cursor.
                None => return tracing::debug!(client = %client, "an unread stream was closed"),
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(client = %client, error = %error, "connection failed");
    }
}

/// Lets a connection finish; `None` if only a stream is left that its client does not read.
async fn finish<T>(mut connection: Pin<&mut impl Future<Output = T>>, state: &SendState) -> Option<T> {
    poll_fn(|context| match connection.as_mut().poll(context) {
        Poll::Ready(ended) => Poll::Ready(Some(ended)),
        Poll::Pending if state.is_stalled() => Poll::Ready(None),
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

    /// More than the pipe between client and server holds.
    const CHUNK: &[u8] = &[b'x'; 4096];
    const CHUNKS: usize = 100;

    /// A server with one response, and a client that has requested it.
    async fn requested(respond: fn() -> Response) -> (impl Future<Output = ()>, CancelSource, DuplexStream) {
        let (mut client, server) = duplex(1024);
        client.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.expect("writes");
        let source = CancelSource::default();
        let router = Router::new().route("/", get(async move || respond()));
        let address = SocketAddr::from(([127, 0, 0, 1], 1));
        (serve((server, address), router, Duration::from_secs(60), source.signal()), source, client)
    }

    fn chunks() -> impl futures::Stream<Item = Result<&'static [u8], Infallible>> + Send {
        iter([Ok(CHUNK); CHUNKS])
    }

    // Goal: a stream whose client never reads does not block the shutdown.
    #[tokio::test]
    async fn an_unread_stream_is_closed() {
        let endless = || {
            let mut response = Body::from_stream(chunks().chain(pending())).into_response();
            response.extensions_mut().insert(Endless);
            response
        };
        let (serving, source, mut client) = requested(endless).await;
        let mut serving = pin!(serving);
        tokio::select! {
            () = serving.as_mut() => panic!("it is still open"),
            first = client.read_u8() => assert_eq!(first.expect("reads"), b'H'),
        }
        source.stop(StopReason::Shutdown);
        serving.await;
    }

    // Goal: a client that reads gets its stream completely, with its end; shutdown waits for a response that has an
    // end, however slowly it is read.
    #[tokio::test]
    async fn a_response_that_is_read_is_complete() {
        let complete = || Body::from_stream(chunks()).into_response();
        let (serving, source, mut client) = requested(complete).await;
        let reading = async {
            client.read_u8().await.expect("reads");
            source.stop(StopReason::Shutdown);
            let mut rest = Vec::new();
            client.read_to_end(&mut rest).await.expect("reads");
            assert_eq!(rest.iter().filter(|byte| **byte == b'x').count(), CHUNK.len() * CHUNKS);
            assert!(rest.ends_with(b"0\r\n\r\n"), "it has an end");
        };
        join(serving, reading).await;
    }
}
