//! A job's progress on stderr: a bar per agent in a terminal, elsewhere a line for every tenth of its days.

use super::output::{money, note, percent};
use super::terminal;
use indicatif::{ProgressBar, ProgressStyle};
use papertape_core::id::AgentName;
use papertape_core::market::Masking;
use papertape_core::money::Money;
use papertape_core::record::DayStatus;
use papertape_core::time::Date;
use papertape_runtime::simulate::Observer;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Where an agent is when progress starts.
#[derive(Clone, Debug)]
pub(super) struct Track {
    pub(super) agent: AgentName,
    /// Days of the agent in this job.
    pub(super) days: u64,
    /// How many of them are already completed or failed.
    pub(super) done: u64,
    /// The value that returns are relative to.
    pub(super) initial: Money,
    /// In a masked job: the way back to real days.
    pub(super) masking: Option<Masking>,
}

/// The progress of a job's agents.
pub(super) struct Progress {
    // The set of agents is fixed, so finding a line takes no lock.
    lines: BTreeMap<AgentName, Mutex<Line>>,
}

struct Line {
    bar: ProgressBar,
    name: String,
    days: u64,
    done: u64,
    failed: u64,
    initial: Money,
    masking: Option<Masking>,
}

impl Progress {
    pub(super) fn new(tracks: Vec<Track>) -> Self {
        let longest = tracks.iter().map(|track| track.agent.as_str().chars().count()).max().unwrap_or(0);
        let width = longest.min(32);
        terminal::hide_control_echo();
        let lines =
            tracks.into_iter().map(|track| (track.agent.clone(), Mutex::new(Line::new(track, width))));
        Self { lines: lines.collect() }
    }

    /// Updates an agent's line. `done` is the number of its completed and failed days.
    pub(super) fn update(&self, agent: &AgentName, done: u64, failed: u64, newest: (Date, Money)) {
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
        terminal::restore_echo();
    }
}

impl Line {
    fn new(track: Track, width: usize) -> Self {
        let bar = terminal::add_bar(ProgressBar::new(track.days).with_position(track.done));
        let template = "{spinner} {prefix} {bar:20} {pos:>4}/{len} days  {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━╸─").tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ "));
        }
        let name: String = track.agent.as_str().chars().take(width).collect();
        bar.set_prefix(format!("{name:width$}"));
        bar.enable_steady_tick(Duration::from_millis(120));
        Self {
            bar,
            name,
            days: track.days,
            done: track.done,
            failed: 0,
            initial: track.initial,
            masking: track.masking,
        }
    }

    fn advance(&mut self, done: u64, (date, value): (Date, Money)) {
        let before = self.tenths();
        let date = self.masking.as_ref().map_or(date, |masking| masking.real_date(date));
        self.done = done;
        let value = value.to_f64();
        let initial = self.initial.to_f64();
        let gain = (initial > 0.0).then(|| value / initial - 1.0);
        let failed = if self.failed > 0 { format!("  {} failed", self.failed) } else { String::new() };
        let text = format!("{date}  {:>14}  {:>8}{failed}", money(value), percent(gain));
        if terminal::bars_are_hidden() {
            if self.tenths() > before {
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                note!("{}: {} of {} days, {text}", self.name, self.done, self.days);
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
