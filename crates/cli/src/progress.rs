//! Progress to stderr: a bar an agent in a terminal, a line for every tenth of its days elsewhere.

use super::output::{money, note, percent};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use papertape_core::id::AgentName;
use papertape_core::money::Money;
use papertape_core::record::DayStatus;
use papertape_core::time::Date;
use papertape_runtime::simulate::Observer;
use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

/// All bars of the process, and so of its terminal.
static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// Does something that writes to the terminal, with the bars out of its way.
pub(super) fn above_the_bars<T>(write: impl FnOnce() -> T) -> T {
    BARS.suspend(write)
}

/// Shows a bar among the others.
pub(super) fn add(bar: ProgressBar) -> ProgressBar {
    BARS.add(bar)
}

/// Takes the bars away and leaves the terminal as it was found.
pub(super) fn clear() {
    let _ = BARS.clear();
    echo::restore();
}

/// One agent's work, before it begins.
#[derive(Clone, Debug)]
pub(super) struct Track {
    /// The agent.
    pub(super) agent: AgentName,
    /// Its days in this job.
    pub(super) days: u64,
    /// Of these, done already.
    pub(super) done: u64,
    /// What returns are counted from.
    pub(super) initial: Money,
}

/// Progress of a job's agents.
pub(super) struct Progress {
    // The agents do not change, so that no lock is needed to find a line.
    lines: BTreeMap<AgentName, Mutex<Line>>,
}

struct Line {
    bar: ProgressBar,
    name: String,
    days: u64,
    done: u64,
    failed: u64,
    initial: Money,
}

impl Progress {
    /// Shows the agents' lines.
    pub(super) fn new(tracks: Vec<Track>) -> Self {
        let longest = tracks.iter().map(|track| track.agent.as_str().chars().count()).max().unwrap_or(0);
        let wide = longest.min(32);
        if !BARS.is_hidden() {
            echo::silence();
        }
        let lines = tracks.into_iter().map(|track| (track.agent.clone(), Mutex::new(Line::new(track, wide))));
        Self { lines: lines.collect() }
    }

    /// Shows an agent's newest day; `done` counts all that are over, this one included.
    pub(super) fn reached(&self, agent: &AgentName, done: u64, failed: u64, newest: (Date, Money)) {
        if let Some(line) = self.lines.get(agent) {
            let mut line = line.lock().unwrap_or_else(PoisonError::into_inner);
            line.failed = failed;
            line.advance(done, newest);
        }
    }
}

impl Observer for Progress {
    fn day_ended(&self, agent: &AgentName, date: Date, status: DayStatus, value: Money) {
        let Some(line) = self.lines.get(agent) else { return };
        let mut line = line.lock().unwrap_or_else(PoisonError::into_inner);
        line.failed += u64::from(status == DayStatus::Failed);
        let done = line.done + 1;
        line.advance(done, (date, value));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        for line in self.lines.values() {
            line.lock().unwrap_or_else(PoisonError::into_inner).bar.finish_and_clear();
        }
        echo::restore();
    }
}

impl Line {
    fn new(track: Track, wide: usize) -> Self {
        let bar = BARS.add(ProgressBar::new(track.days).with_position(track.done));
        let template = "{spinner} {prefix} {bar:20} {pos:>4}/{len} days  {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━╸─").tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ "));
        }
        let name: String = track.agent.as_str().chars().take(wide).collect();
        bar.set_prefix(format!("{name:wide$}"));
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar, name, days: track.days, done: track.done, failed: 0, initial: track.initial }
    }

    fn advance(&mut self, done: u64, (date, value): (Date, Money)) {
        let before = self.tenths();
        self.done = done;
        let value = value.to_f64();
        let initial = self.initial.to_f64();
        let gain = (initial > 0.0).then(|| value / initial - 1.0);
        let failed = if self.failed > 0 { format!("  {} failed", self.failed) } else { String::new() };
        let text = format!("{date}  {:>14}  {:>8}{failed}", money(value), percent(gain));
        if BARS.is_hidden() {
            if self.tenths() > before {
                note!("{}: {} of {} days, {}", self.name, self.done, self.days, squeezed(&text));
            }
        } else {
            self.bar.set_position(done);
            self.bar.set_message(text);
        }
    }

    fn tenths(&self) -> u64 {
        (self.done * 10).checked_div(self.days).unwrap_or(10)
    }
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A terminal shows Ctrl-C as `^C`, which would push the bars a line down and leave one of them behind.
mod echo {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
    use std::sync::{Mutex, PoisonError};

    /// What the terminal's modes were.
    static BEFORE: Mutex<Option<LocalModes>> = Mutex::new(None);

    pub(super) fn silence() {
        change(|modes, before| {
            before.get_or_insert(*modes);
            modes.remove(LocalModes::ECHOCTL);
        });
    }

    pub(super) fn restore() {
        change(|modes, before| {
            if let Some(before) = before.take() {
                *modes = before;
            }
        });
    }

    /// A terminal that cannot be asked is left as it is.
    fn change(change: impl FnOnce(&mut LocalModes, &mut Option<LocalModes>)) {
        let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
        let stderr = std::io::stderr();
        let Ok(mut termios) = tcgetattr(&stderr) else { return };
        let was = termios.local_modes;
        change(&mut termios.local_modes, &mut before);
        if termios.local_modes != was {
            let _ = tcsetattr(&stderr, OptionalActions::Now, &termios);
        }
    }
}
