//! What an error says about its transaction.

use crate::error::StoreError;
use tokio_postgres::error::SqlState;

/// For a statement before the commit: the transaction was rolled back and may succeed when retried, on another
/// connection if this one is closed.
pub(super) fn is_passing(error: &tokio_postgres::Error) -> bool {
    is_undone(error) || error.is_closed() || error.code().is_some_and(is_going)
}

/// The server is closing the connection, or rejects new ones for now.
fn is_going(code: &SqlState) -> bool {
    [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        SqlState::TOO_MANY_CONNECTIONS,
    ]
    .contains(code)
}

/// No connection is available for now: the server is down, shutting down or starting up.
pub(super) fn is_away(error: &deadpool_postgres::PoolError) -> bool {
    match error {
        // An error code from the server tells whether it is temporary; no response at all always is.
        deadpool_postgres::PoolError::Backend(error) => error.code().is_none_or(is_going),
        _ => false,
    }
}

/// For a commit: its reply is lost, so the transaction may have been committed or not.
pub(super) fn is_unknown(error: &tokio_postgres::Error) -> bool {
    error.code().is_none_or(is_going)
}

/// For any statement, including the commit, after which the outcome would otherwise be unknown: the transaction
/// conflicted with another one, and the server has rolled it back.
pub(super) fn is_undone(error: &tokio_postgres::Error) -> bool {
    matches!(error.code(), Some(code) if *code == SqlState::T_R_DEADLOCK_DETECTED
        || *code == SqlState::T_R_SERIALIZATION_FAILURE)
}

pub(super) fn pool_error(error: deadpool_postgres::PoolError) -> StoreError {
    match error {
        deadpool_postgres::PoolError::Backend(error) => error.into(),
        other => StoreError::Database(other.to_string()),
    }
}
