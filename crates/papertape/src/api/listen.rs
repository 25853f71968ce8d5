//! Takes connections: at most so many at a time, each with deadlines, and lets them end at shutdown.
//!
//! axum's own loop has no deadline for a request's head and no bound on connections; the routes are its.

use crate::app::App;
use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use papertape_runtime::stopping::StopSignal;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tower::ServiceExt as _;

/// How long nothing is accepted after the system had no room for a connection.
const PAUSE: Duration = Duration::from_secs(1);
/// What of a connection is held at most: a request's head, and an answer's part that is on its way.
const BUFFER_BYTES: usize = 128 * 1024;

/// Answers requests until shutdown, then lets those under way end. Dropping the future cuts them off.
pub(super) async fn listen(app: &App, listener: TcpListener, router: Router, mut shutdown: StopSignal) {
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

/// One connection, to its end.
async fn serve(
    (stream, client): (TcpStream, SocketAddr),
    router: Router,
    head: Duration,
    mut shutdown: StopSignal,
) {
    // An event is to be there when it is sent, not when there are more of them.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(client));
        router.clone().oneshot(request)
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(head).max_buf_size(BUFFER_BYTES);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        _ = shutdown.stopped() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(client = %client, error = %error, "a connection broke off");
    }
}
