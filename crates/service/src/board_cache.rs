//! Caches of leaderboards: where completed runs belong, and the boards of runs that cannot change.
//!
//! A job's config never changes, so neither does its board. The key of a ranked board holds each of its runs with the
//! job's epoch: a job's sessions change only under a lease, and each lease has a new epoch.

use lru::LruCache;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::time::Timestamp;
use papertape_protocol::leaderboard::Board;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum number of jobs, of about 1 KiB each.
const MAX_JOBS: usize = 20_000;

/// The maximum number of ranked boards, of up to 100 KiB each.
const MAX_RANKED: usize = 64;

/// Where a job's runs belong: the board, and each agent's configuration.
#[derive(Clone, Debug)]
pub(crate) struct RunKey {
    /// The board, without entries.
    pub(crate) board: Board,
    /// The agents with a run on it.
    pub(crate) agents: Vec<AgentKey>,
    /// Why other agents have none.
    pub(crate) excluded: Vec<NotFresh>,
}

/// A configuration of a job.
#[derive(Clone, Debug)]
pub(crate) struct AgentKey {
    pub(crate) agent: AgentName,
    /// The hash of its settings and the board's conditions.
    pub(crate) configuration: String,
    pub(crate) models: Vec<String>,
    /// Whether another run of it would be the same.
    pub(crate) is_deterministic: bool,
}

/// Why a run does not start fresh: it shares days, money or knowledge with another run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotFresh {
    Branch,
    Continued,
    WithMemory,
}

/// `None` for a job whose config cannot be read.
type Keys = LruCache<(JobId, Timestamp), Option<Arc<RunKey>>>;

/// Keys by job and the time of its request, and ranked boards by their inputs.
#[derive(Debug)]
pub struct BoardCache {
    keys: Mutex<Keys>,
    ranked: Mutex<LruCache<ContentHash, Arc<Board>>>,
}

impl Default for BoardCache {
    fn default() -> Self {
        Self { keys: Mutex::new(LruCache::unbounded()), ranked: Mutex::new(LruCache::unbounded()) }
    }
}

impl BoardCache {
    pub(crate) fn get(&self, job: &(JobId, Timestamp)) -> Option<Option<Arc<RunKey>>> {
        locked(&self.keys).get(job).cloned()
    }

    pub(crate) fn insert(&self, job: (JobId, Timestamp), key: Option<Arc<RunKey>>) {
        let mut cached = locked(&self.keys);
        cached.put(job, key);
        if cached.len() > MAX_JOBS {
            cached.pop_lru();
        }
    }

    /// The board that was ranked from these inputs.
    pub(crate) fn ranked(&self, inputs: &ContentHash) -> Option<Arc<Board>> {
        locked(&self.ranked).get(inputs).cloned()
    }

    pub(crate) fn insert_ranked(&self, inputs: ContentHash, board: Arc<Board>) {
        let mut cached = locked(&self.ranked);
        cached.put(inputs, board);
        if cached.len() > MAX_RANKED {
            cached.pop_lru();
        }
    }
}

/// A poisoned lock is safe to use: an entry is cached as a whole or not at all.
fn locked<T>(cache: &Mutex<T>) -> MutexGuard<'_, T> {
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}
