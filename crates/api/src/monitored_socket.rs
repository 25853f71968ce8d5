//! A connection's socket that notices whether its client reads.

use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A socket with the state of its sending side.
#[derive(Debug)]
pub(super) struct MonitoredSocket<T> {
    socket: T,
    state: SendState,
}

/// Whether a connection can send. Clones share the state.
#[derive(Clone, Debug, Default)]
pub(super) struct SendState(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    /// The system's send buffer is full.
    is_full: AtomicBool,
    /// The current response has no end.
    is_endless: AtomicBool,
}

impl SendState {
    /// Sets whether the current response has no end.
    pub(super) fn set_endless(&self, is_endless: bool) {
        self.0.is_endless.store(is_endless, Ordering::Relaxed);
    }

    /// Whether a response without an end waits for its client.
    pub(super) fn is_stalled(&self) -> bool {
        self.0.is_endless.load(Ordering::Relaxed) && self.0.is_full.load(Ordering::Relaxed)
    }
}

impl<T> MonitoredSocket<T> {
    pub(super) fn new(socket: T) -> (Self, SendState) {
        let state = SendState::default();
        (Self { socket, state: state.clone() }, state)
    }

    fn record<R>(&self, written: Poll<R>) -> Poll<R> {
        self.state.0.is_full.store(written.is_pending(), Ordering::Relaxed);
        written
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for MonitoredSocket<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.socket).poll_read(context, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for MonitoredSocket<T> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(context, bytes);
        self.record(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(context, slices);
        self.record(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}
