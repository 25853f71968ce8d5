//! A job's memory settings.

use serde::{Deserialize, Serialize};

/// Maximum window of rounds, and so the maximum number of rounds in a state.
pub const MAX_WINDOW: u32 = 10;

/// Which of the three memories are enabled. A disabled one is neither written nor read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum MemoryMode {
    /// None.
    Off,
    /// Round memory.
    Rounds,
    /// Round memory and the contexts of open positions.
    RoundsOpen,
    /// Both, and reflections on closed trades.
    All,
}

papertape_core::words!(MemoryMode {
    Off = "off", Rounds = "rounds", RoundsOpen = "rounds+open", All = "all",
});

impl MemoryMode {
    /// Whether rounds are remembered.
    #[must_use]
    pub fn rounds(self) -> bool {
        self >= Self::Rounds
    }

    /// Whether theses of open positions are remembered.
    #[must_use]
    pub fn open(self) -> bool {
        self >= Self::RoundsOpen
    }

    /// Whether closed trades are reflected on.
    #[must_use]
    pub fn trades(self) -> bool {
        self >= Self::All
    }
}

impl TryFrom<String> for MemoryMode {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<MemoryMode> for String {
    fn from(mode: MemoryMode) -> Self {
        mode.as_str().to_owned()
    }
}

/// A job's memory settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MemorySettings {
    /// Which memories are enabled.
    pub mode: MemoryMode,
    /// How many of its last rounds a trader reads, 0 to 10.
    pub read_window: u32,
    /// The same for the session after a losing close.
    pub read_window_after_loss: u32,
    /// How many of the latest rounds are stored per agent, at least one.
    pub keep_rounds: u32,
    /// How many reflections a trader gets as lessons.
    pub lessons: u32,
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self {
            mode: MemoryMode::All,
            read_window: 2,
            read_window_after_loss: 2,
            keep_rounds: 100,
            lessons: 3,
        }
    }
}

impl MemorySettings {
    /// No memory, as in jobs from before it existed.
    #[must_use]
    pub fn off() -> Self {
        Self { mode: MemoryMode::Off, ..Self::default() }
    }

    /// Whether the memory is disabled.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.mode == MemoryMode::Off
    }

    /// Checks that the numbers are within their limits.
    ///
    /// # Errors
    /// The field and a sentence.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        for (field, window) in
            [("read_window", self.read_window), ("read_window_after_loss", self.read_window_after_loss)]
        {
            if window > MAX_WINDOW {
                return Err((field, format!("it is from 0 to {MAX_WINDOW}, not {window}")));
            }
        }
        if self.keep_rounds == 0 {
            return Err(("keep_rounds", "it is at least 1".to_owned()));
        }
        if self.lessons > 20 {
            return Err(("lessons", format!("it is from 0 to 20, not {}", self.lessons)));
        }
        Ok(())
    }
}
