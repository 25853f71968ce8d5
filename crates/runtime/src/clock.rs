//! The system clock.

use futures::FutureExt as _;
use papertape_core::ports::{BoxFuture, Clock};
use papertape_core::time::Timestamp;
use std::time::Duration;

/// The system's wall clock, with tokio's timer.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        tokio::time::sleep(duration).boxed()
    }
}
