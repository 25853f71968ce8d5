//! Locks.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex. Its data is consistent even after a panic, because no update can fail halfway.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
