//! The processes that an agent's program has started: how they are found and ended.
//!
//! They share a process group, unless one leaves it; and they inherit a variable with a value of their own, by which
//! those that left are found (on Linux). A process that leaves the group and also clears its environment is not found:
//! only a sandbox contains such a program.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The variable that marks an agent's processes.
pub(super) const MARK: &str = "PAPERTAPE_AGENT_PROCESS";

/// An agent's processes. Dropping it kills them.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    leader: Option<u32>,
    mark: String,
}

/// A value for [`MARK`] that no other process has.
pub(super) fn new_mark() -> String {
    static STARTED: AtomicU64 = AtomicU64::new(0);
    let count = STARTED.fetch_add(1, Ordering::Relaxed);
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    format!("{}-{count}-{nanos}", std::process::id())
}

impl ProcessGroup {
    /// The group with this leader, whose processes have this value of [`MARK`].
    pub(super) fn new(leader: Option<u32>, mark: String) -> Self {
        Self { leader, mark }
    }

    /// Asks all processes of the group to end.
    pub(super) fn terminate(&self) {
        self.signal(Signal::Terminate);
    }

    /// Kills all processes, including those that left the group.
    pub(super) fn kill(&self) {
        self.signal(Signal::Kill);
        #[cfg(target_os = "linux")]
        marked::kill(&format!("{MARK}={}", self.mark));
    }

    #[cfg(unix)]
    fn signal(&self, signal: Signal) {
        use rustix::process::{Pid, kill_process_group};
        let leader = self.leader.and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let signal = match signal {
            Signal::Terminate => rustix::process::Signal::TERM,
            Signal::Kill => rustix::process::Signal::KILL,
        };
        if let Some(leader) = leader {
            // An error means that the group has ended.
            let _ = kill_process_group(leader, signal);
        }
    }

    #[cfg(not(unix))]
    fn signal(&self, _: Signal) {}
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}

#[derive(Clone, Copy)]
enum Signal {
    Terminate,
    Kill,
}

#[cfg(target_os = "linux")]
mod marked {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    use std::collections::BTreeSet;

    /// Searches before giving up on processes that start others faster than they are found.
    const MAX_SEARCHES: usize = 100;

    /// Kills every process with this variable.
    pub(super) fn kill(variable: &str) {
        let mut killed = BTreeSet::new();
        for _ in 0..MAX_SEARCHES {
            let found: Vec<i32> = processes().filter(|id| has(*id, variable)).collect();
            // One that was killed may still be listed.
            if found.iter().all(|id| killed.contains(id)) {
                return;
            }
            for id in found {
                let Some(process) = Pid::from_raw(id) else { continue };
                let Ok(process) = pidfd_open(process, PidfdFlags::empty()) else { continue };
                // The ID may meanwhile belong to another process; the descriptor does not change.
                if has(id, variable) {
                    let _ = pidfd_send_signal(&process, Signal::KILL);
                    killed.insert(id);
                }
            }
        }
    }

    fn processes() -> impl Iterator<Item = i32> {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
    }

    /// Whether a process started with this variable. Those of other users cannot be read, and do not have it.
    fn has(id: i32, variable: &str) -> bool {
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|one| one == variable.as_bytes())
    }
}
