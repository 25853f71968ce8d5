//! SIGINT and SIGTERM: the first stops after the current step, the second stops immediately.

use super::failure::STOPPED;
use super::output::note;
use super::terminal;
use papertape_runtime::cancellation::{CancelSource, StopReason};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens from now on, and calls `on_first` at the first signal.
pub(super) fn listen(cancel: &CancelSource, on_first: impl FnOnce() + Send + 'static) -> anyhow::Result<()> {
    let cancel = cancel.clone();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        either(&mut interrupt, &mut terminate).await;
        on_first();
        cancel.stop(StopReason::Shutdown);
        either(&mut interrupt, &mut terminate).await;
        terminal::clear();
        note!("stopped immediately");
        exit_now();
    });
    Ok(())
}

/// Committed steps are safe, and a resumed job sends the interrupted one again.
#[expect(clippy::disallowed_methods, reason = "an immediate stop waits for nothing, not even destructors")]
fn exit_now() {
    std::process::exit(STOPPED.into());
}

async fn either(one: &mut Signal, other: &mut Signal) {
    tokio::select! {
        _ = one.recv() => {}
        _ = other.recv() => {}
    }
}
