//! Machine measurements: the disk's latency for a durable write, CPU time, memory.

use super::report::Series;
use rustix::time::{ClockId, clock_gettime};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// Number of timed writes.
const WRITES: usize = 200;

/// Wall and CPU time of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Timed {
    wall: Instant,
    cpu: Duration,
}

impl Timed {
    /// Starts now.
    #[must_use]
    pub fn start() -> Self {
        Self { wall: Instant::now(), cpu: cpu_time() }
    }

    /// Wall time, and CPU time of this process, since the start.
    #[must_use]
    pub fn end(self) -> (Duration, Duration) {
        (self.wall.elapsed(), cpu_time().saturating_sub(self.cpu))
    }
}

/// CPU time of this process so far, all threads, user and system, in nanosecond resolution from `getrusage`.
/// Excludes child processes.
#[must_use]
pub fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    let secs = u64::try_from(now.tv_sec).unwrap_or_default();
    Duration::new(secs, u32::try_from(now.tv_nsec).unwrap_or_default())
}

/// CPU time of another process so far, in steps of 10 ms. `None` if it does not exist.
#[must_use]
pub fn cpu_time_of(pid: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // After the name, which may contain anything: state is field 3, user time 14, system time 15.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 10))
}

/// Peak resident memory of this process since its start or [`reset_peak`], in bytes. `None` if the system does
/// not report it.
#[must_use]
pub fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Resets the peak, if the system supports it.
pub fn reset_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// Time to make 4 KiB durable in this directory: an overwrite, then `fdatasync`, as for a database's WAL. 200
/// samples; use the median.
///
/// # Panics
/// Panics if the directory is not writable.
#[must_use]
pub fn fsync_time(dir: &Path) -> Series {
    let path = dir.join("fsync-probe");
    let mut file = OpenOptions::new().create(true).truncate(true).write(true).open(&path).expect("opens");
    let mut series = Series::default();
    for _ in 0..WRITES {
        let started = Instant::now();
        file.write_all(&[7; 4096]).expect("writes");
        file.sync_data().expect("syncs");
        series.push(started.elapsed().as_secs_f64());
    }
    drop(file);
    fs::remove_file(&path).expect("removes");
    series
}

/// Measures [`fsync_time`] and prints its median in milliseconds.
///
/// # Panics
/// As for [`fsync_time`].
#[must_use]
pub fn median_fsync(dir: &Path) -> f64 {
    let times = fsync_time(dir);
    let (low, high) = (times.quantile(0.1) * 1e3, times.quantile(0.9) * 1e3);
    let median = times.median() * 1e3;
    println!("disk: 4 KiB + fdatasync {median:.3} ms (10 % under {low:.3}, 10 % over {high:.3})\n");
    median
}
