//! The client of a call as the session sees it, and the session as the waiting request sees it.

use papertape_core::external::{ModelDoorClient, ModelDoorReply};
use papertape_core::message::CallFailure;
use papertape_core::ports::BoxFuture;
use tokio::sync::{mpsc, watch};

/// What a session sends.
#[derive(Debug)]
pub(super) enum FromSession {
    /// Words of the answer, redacted by the session.
    Words(String),
    /// A further attempt begins.
    Restarted,
    /// The answer, durable.
    Answer(Result<ModelDoorReply, CallFailure>),
}

/// The session's end. When it is dropped without an answer, the session has stopped.
pub(super) struct Client {
    sender: mpsc::UnboundedSender<FromSession>,
    /// Whether the client takes words before the answer.
    takes_words: bool,
    presence: watch::Receiver<()>,
}

/// The request's end. Dropping it says that the client has left.
pub(super) struct Waiting {
    receiver: mpsc::UnboundedReceiver<FromSession>,
    _presence: watch::Sender<()>,
}

/// Both ends.
pub(super) fn connect(takes_words: bool) -> (Client, Waiting) {
    // An answer has at most 4 MiB, so the channel needs no bound of its own.
    let (sender, receiver) = mpsc::unbounded_channel();
    let (present, presence) = watch::channel(());
    (Client { sender, takes_words, presence }, Waiting { receiver, _presence: present })
}

impl Client {
    /// Sends to the request. One that has gone needs nothing.
    fn send(&self, message: FromSession) {
        let _ = self.sender.send(message);
    }
}

impl ModelDoorClient for Client {
    fn delta(&self, text: &str) {
        if self.takes_words {
            self.send(FromSession::Words(text.to_owned()));
        }
    }

    fn restarted(&self) {
        self.send(FromSession::Restarted);
    }

    fn answer(&self, answer: Result<ModelDoorReply, CallFailure>) {
        self.send(FromSession::Answer(answer));
    }

    fn has_left(&self) -> bool {
        self.presence.has_changed().is_err()
    }

    fn left(&self) -> BoxFuture<'_, ()> {
        let mut presence = self.presence.clone();
        // Nothing is ever sent: it changes by being closed.
        Box::pin(async move { while presence.changed().await.is_ok() {} })
    }
}

impl Waiting {
    /// The next message; `None`: the session has stopped.
    pub(super) async fn next(&mut self) -> Option<FromSession> {
        self.receiver.recv().await
    }
}
