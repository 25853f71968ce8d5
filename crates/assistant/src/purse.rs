//! What the jobs that are started may use, out of what the job that starts them has.
//!
//! A turn or an execution of a plan has two budgets: one for what is said in it, one for all the simulations
//! that it starts together. What a started job may use is set aside; when it has ended, what it did not use
//! is there again.

use papertape_core::budget::Limit;
use papertape_core::id::JobId;
use papertape_core::message::CallFailure;
use papertape_core::ports::BoxFuture;
use papertape_core::time::Timestamp;

/// What a job on a plan may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// For what is said in it.
    pub talk: Limit,
    /// For the simulations that it starts, together.
    pub simulations: Limit,
}

/// Sets aside what a job that is started may use.
pub trait Purse: Send + Sync {
    /// For a simulation: what is asked for, and at most what is left. Where nothing is left, the jobs that
    /// have some of it are waited for, until that instant.
    ///
    /// # Errors
    /// Nothing is left, in a sentence.
    fn for_simulation<'a>(
        &'a self,
        job: &'a JobId,
        asked: Limit,
        until: Option<Timestamp>,
    ) -> BoxFuture<'a, Result<Limit, CallFailure>>;

    /// For a job on a plan: a half of what is left to be said, and of what simulations may use all that is
    /// left, or (`with_simulations` is `false`) nothing.
    ///
    /// # Errors
    /// Nothing is left, in a sentence.
    fn for_plan<'a>(
        &'a self,
        job: &'a JobId,
        with_simulations: bool,
    ) -> BoxFuture<'a, Result<Share, CallFailure>>;

    /// A job has stopped, or was not started after all: what it did not use is there again.
    fn settle<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<(), CallFailure>>;
}
