//! Work for a transaction that it may share with other work.

use crate::db::Db;
use crate::error::StoreError;
use crate::texts::NewTexts;
use futures::FutureExt as _;
use papertape_core::ports::BoxFuture;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Work to be done inside a transaction.
pub(crate) trait WriteTask: Send {
    /// Does the work. Resolves to `false` if it failed and its changes must be rolled back. It may be called again
    /// after a rollback.
    fn run<'a>(&'a mut self, db: &'a mut dyn Db) -> BoxFuture<'a, bool>;

    /// The texts that the work begins with, if it says so: they can be stored for several tasks at once.
    fn texts(&self) -> Option<&NewTexts>;

    /// Marks the work as failed.
    fn fail(&mut self, error: StoreError);

    /// Why it failed.
    fn failure(&self) -> Option<StoreError>;

    /// Sends the result to the waiter, given how the surrounding transaction ended. Work that panicked sends
    /// nothing: its receiver sees the sender dropped.
    fn answer(self: Box<Self>, ended: Result<(), StoreError>);
}

/// A task that does this work, and its result once the task is answered. Dropping the future cancels nothing.
pub(crate) fn task<T, F>(
    texts: Option<Arc<NewTexts>>,
    work: F,
) -> (Box<dyn WriteTask>, BoxFuture<'static, Result<T, StoreError>>)
where
    T: Send + 'static,
    F: for<'a> Fn(&'a mut dyn Db) -> BoxFuture<'a, Result<T, StoreError>> + Send + Sync + 'static,
{
    let (sender, receiver) = oneshot::channel();
    let answered = async move {
        receiver
            .await
            .unwrap_or_else(|_| Err(StoreError::Database("a database write has panicked".to_owned())))
    };
    (Box::new(Work { work, texts, result: None, sender }), answered.boxed())
}

struct Work<T, F> {
    work: F,
    texts: Option<Arc<NewTexts>>,
    /// `None`: not run, or it panicked.
    result: Option<Result<T, StoreError>>,
    sender: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> WriteTask for Work<T, F>
where
    T: Send,
    F: for<'a> Fn(&'a mut dyn Db) -> BoxFuture<'a, Result<T, StoreError>> + Send + Sync,
{
    fn run<'a>(&'a mut self, db: &'a mut dyn Db) -> BoxFuture<'a, bool> {
        self.result = None;
        let working = (self.work)(db);
        async move {
            let result = working.await;
            self.result.insert(result).is_ok()
        }
        .boxed()
    }

    fn texts(&self) -> Option<&NewTexts> {
        self.texts.as_deref()
    }

    fn fail(&mut self, error: StoreError) {
        self.result = Some(Err(error));
    }

    fn failure(&self) -> Option<StoreError> {
        self.result.as_ref()?.as_ref().err().cloned()
    }

    fn answer(self: Box<Self>, ended: Result<(), StoreError>) {
        let answer = match (self.result, ended) {
            (Some(Err(error)), _) | (_, Err(error)) => Err(error),
            (Some(Ok(value)), Ok(())) => Ok(value),
            (None, Ok(())) => return,
        };
        // Nobody may be waiting for the result.
        let _ = self.sender.send(answer);
    }
}
