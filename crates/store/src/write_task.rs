//! Work for a transaction that it may share with other work.

use crate::db::Db;
use crate::error::StoreError;
use crate::session_head::Head;
use crate::texts::NewTexts;
use crate::wake::{Wake, WakeOnDrop};
use futures::FutureExt as _;
use papertape_core::ports::BoxFuture;
use papertape_core::record::Lease;
use std::any::Any;
use std::panic::AssertUnwindSafe;
use tokio::sync::oneshot;

/// A session's commits.
pub(crate) trait SessionCommits: Send + Sync {
    /// The lease that they are made under.
    fn lease(&self) -> &Lease;

    /// The texts that they begin with: those of several sessions can be stored at once.
    fn texts(&self) -> &NewTexts;

    /// Their type.
    fn as_any(&self) -> &dyn Any;

    /// Applies a group of commits of this type under one lease, in their order. Returns the session's counters after each.
    fn apply_all<'a>(
        &'a self,
        db: &'a mut dyn Db,
        group: &'a [&'a dyn SessionCommits],
    ) -> BoxFuture<'a, Result<Vec<Head>, StoreError>>;
}

/// Work to be done inside a transaction.
pub(crate) trait WriteTask: Send {
    /// Does the work. Resolves to `false` if it failed and its changes must be rolled back. It may be called again
    /// after a rollback.
    fn run<'a>(&'a mut self, db: &'a mut dyn Db) -> BoxFuture<'a, bool>;

    /// The session's commits that are all of the work, if it consists of commits: those of several tasks can be applied
    /// together.
    fn commits(&self) -> Option<&dyn SessionCommits> {
        None
    }

    /// Marks commits as applied, together with those of other tasks, which left these counters.
    fn mark_applied(&mut self, _head: Head) {}

    /// Marks the work as failed.
    fn fail(&mut self, error: StoreError);

    /// Why it failed.
    fn failure(&self) -> Option<StoreError>;

    /// Sends the result to the waiter, given how the surrounding transaction ended. Work that panicked sends
    /// nothing: its receiver sees the sender dropped.
    fn answer(self: Box<Self>, ended: Result<(), StoreError>);
}

/// Runs the tasks in their order. Returns the task that failed, by its position; the caller then rolls everything back.
///
/// Consecutive commits under one lease are applied together: the lease is checked once, and what they read is read once.
pub(crate) async fn run_together(db: &mut dyn Db, tasks: &mut [Box<dyn WriteTask>]) -> Result<(), usize> {
    let mut done = 0;
    while done < tasks.len() {
        let next = &mut tasks[done..];
        let count = commits_of_one_lease(next);
        let is_ok = match count {
            0 | 1 => run_guarded(db, &mut *next[0]).await,
            _ => apply_together(db, &mut next[..count]).await,
        };
        if !is_ok {
            return Err(done);
        }
        done += count.max(1);
    }
    Ok(())
}

/// Runs a task. A panic is a bug in that task and must not take down the others.
pub(crate) async fn run_guarded(db: &mut dyn Db, task: &mut dyn WriteTask) -> bool {
    AssertUnwindSafe(task.run(db)).catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!("a database write panicked and was rolled back");
        false
    })
}

/// How many of the first tasks are commits under the same lease.
fn commits_of_one_lease(tasks: &[Box<dyn WriteTask>]) -> usize {
    let Some(first) = tasks.first().and_then(|task| task.commits()) else { return 0 };
    tasks.iter().take_while(|task| task.commits().is_some_and(|other| other.lease() == first.lease())).count()
}

async fn apply_together(db: &mut dyn Db, tasks: &mut [Box<dyn WriteTask>]) -> bool {
    let group: Vec<&dyn SessionCommits> = tasks.iter().filter_map(|task| task.commits()).collect();
    let Some(first) = group.first() else { return true };
    let applied = AssertUnwindSafe(first.apply_all(db, &group)).catch_unwind().await;
    match applied {
        Ok(Ok(heads)) => {
            tasks.iter_mut().zip(heads).for_each(|(task, head)| task.mark_applied(head));
            true
        }
        Ok(Err(error)) => {
            tasks[0].fail(error);
            false
        }
        // Alone, the task that has the bug is found.
        Err(_) => false,
    }
}

/// A task that does this work, and its result once the task is answered. Dropping the future cancels nothing.
pub(crate) fn task<T, F>(work: F) -> (Box<dyn WriteTask>, BoxFuture<'static, Result<T, StoreError>>)
where
    T: Send + 'static,
    F: for<'a> Fn(&'a mut dyn Db) -> BoxFuture<'a, Result<T, StoreError>> + Send + Sync + 'static,
{
    let (sender, receiver) = oneshot::channel();
    let answered = answer_of(receiver);
    (Box::new(Work { work, result: None, sender }), answered)
}

/// A task that applies a session's commits, and the session's counters once they are durable.
pub(crate) fn append(
    commits: Box<dyn SessionCommits>,
    wake: Wake,
) -> (Box<dyn WriteTask>, BoxFuture<'static, Result<Appended, StoreError>>) {
    let (sender, receiver) = oneshot::channel();
    (Box::new(Append { commits, wake, result: None, sender }), answer_of(receiver))
}

fn answer_of<T: Send + 'static>(
    receiver: oneshot::Receiver<Result<T, StoreError>>,
) -> BoxFuture<'static, Result<T, StoreError>> {
    let panicked = || Err(StoreError::Database("a database write has panicked".to_owned()));
    async move { receiver.await.unwrap_or_else(|_| panicked()) }.boxed()
}

/// A session's counters after its commits, and who is told of them.
type Appended = (Head, WakeOnDrop);

/// Commits of a session.
struct Append {
    commits: Box<dyn SessionCommits>,
    wake: Wake,
    /// `None`: not applied, or it panicked.
    result: Option<Result<Head, StoreError>>,
    sender: oneshot::Sender<Result<Appended, StoreError>>,
}

impl WriteTask for Append {
    fn run<'a>(&'a mut self, db: &'a mut dyn Db) -> BoxFuture<'a, bool> {
        self.result = None;
        async move {
            let applied = self.commits.apply_all(db, &[&*self.commits]).await;
            let missing = || StoreError::inconsistent("commits without counters");
            let result = applied.and_then(|heads| heads.into_iter().next().ok_or_else(missing));
            if result.is_ok() {
                self.wake.before_commit();
            }
            self.result.insert(result).is_ok()
        }
        .boxed()
    }

    fn commits(&self) -> Option<&dyn SessionCommits> {
        Some(&*self.commits)
    }

    fn mark_applied(&mut self, head: Head) {
        self.wake.before_commit();
        self.result = Some(Ok(head));
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
            (Some(Ok(head)), Ok(())) => Ok((head, WakeOnDrop(self.wake))),
            (None, Ok(())) => return,
        };
        // Nobody may be waiting for the result.
        let _ = self.sender.send(answer);
    }
}

struct Work<T, F> {
    work: F,
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
