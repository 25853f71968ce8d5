//! The order of the writes of each job, or of each part of a job that is split. Those that queue up while a transaction is in progress share the next one: a job
//! of many agents is not limited to one commit per round trip, and its writers do not wait for each other's locks
//! while each holds a connection.

use crate::write_scope::WriteScope;
use crate::write_task::WriteTask;
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

/// Max tasks per transaction, so that the first one does not wait too long, nor the lease's renewal.
const MAX_TASKS: usize = 64;

/// The waiting tasks of each job or part that has a transaction in progress.
#[derive(Default)]
pub(super) struct JobWriteQueue {
    waiting: Mutex<HashMap<WriteScope, VecDeque<Box<dyn WriteTask>>>>,
}

impl std::fmt::Debug for JobWriteQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobWriteQueue").finish_non_exhaustive()
    }
}

impl JobWriteQueue {
    /// Queues a task. Returns whether the caller must now run the groups until [`Self::take`] has none.
    pub(super) fn push(&self, scope: &WriteScope, task: Box<dyn WriteTask>) -> bool {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tasks) = waiting.get_mut(scope) {
            tasks.push_back(task);
            return false;
        }
        waiting.insert(scope.clone(), VecDeque::from([task]));
        true
    }

    /// The tasks of the next transaction.
    pub(super) fn take(&self, scope: &WriteScope) -> Option<Vec<Box<dyn WriteTask>>> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let tasks = waiting.get_mut(scope)?;
        if tasks.is_empty() {
            waiting.remove(scope);
            return None;
        }
        let count = tasks.len().min(MAX_TASKS);
        Some(tasks.drain(..count).collect())
    }
}
