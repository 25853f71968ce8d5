//! A connection's socket, which knows whether its client reads.

use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A socket.
#[derive(Debug)]
pub(super) struct Outlet<T> {
    socket: T,
    unread: Unread,
}

/// What is known of a connection's client.
#[derive(Clone, Debug, Default)]
pub(super) struct Unread(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// The system takes no more of what is to be sent.
    is_full: AtomicBool,
    /// The answer has no end of its own.
    is_endless: AtomicBool,
}

impl Unread {
    /// Notes what kind of answer is sent now.
    pub(super) fn is_endless(&self, is_endless: bool) {
        self.0.is_endless.store(is_endless, Ordering::Relaxed);
    }

    /// Does an answer without an end wait for its client?
    pub(super) fn blocks(&self) -> bool {
        self.0.is_endless.load(Ordering::Relaxed) && self.0.is_full.load(Ordering::Relaxed)
    }
}

impl<T> Outlet<T> {
    /// A socket, and what is known of its client.
    pub(super) fn new(socket: T) -> (Self, Unread) {
        let unread = Unread::default();
        (Self { socket, unread: unread.clone() }, unread)
    }

    fn note<R>(&self, written: Poll<R>) -> Poll<R> {
        self.unread.0.is_full.store(written.is_pending(), Ordering::Relaxed);
        written
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Outlet<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.socket).poll_read(context, into)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Outlet<T> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(context, bytes);
        self.note(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(context, slices);
        self.note(written)
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
