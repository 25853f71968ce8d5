//! SIGINT and SIGTERM: the first asks to stop after the step under way, the second stops at once.

use super::failure::STOPPED;
use super::output::note;
use super::progress;
use papertape_runtime::cancellation::{CancelSource, StopReason};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens from now on. `told` is called at the first signal.
///
/// # Errors
/// The system's.
pub(super) fn listen(stopper: &CancelSource, told: impl FnOnce() + Send + 'static) -> anyhow::Result<()> {
    let stopper = stopper.clone();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        either(&mut interrupt, &mut terminate).await;
        told();
        stopper.stop(StopReason::Shutdown);
        either(&mut interrupt, &mut terminate).await;
        progress::clear();
        note!("stopped at once");
        stop_at_once();
    });
    Ok(())
}

/// What was committed is there; the step under way is sent again by whoever goes on.
#[expect(
    clippy::disallowed_methods,
    reason = "at once means that nothing is waited for, destructors least of all"
)]
fn stop_at_once() {
    std::process::exit(STOPPED.into());
}

async fn either(one: &mut Signal, other: &mut Signal) {
    tokio::select! {
        _ = one.recv() => {}
        _ = other.recv() => {}
    }
}
