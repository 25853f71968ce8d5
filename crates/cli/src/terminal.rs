//! The process's progress bars and the terminal that they share with everything else on stderr.

use indicatif::{MultiProgress, ProgressBar};
use papertape_core::language::Language;
use std::sync::LazyLock;

static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// Writes to the terminal with the bars out of the way.
pub fn above_bars<T>(write: impl FnOnce() -> T) -> T {
    BARS.suspend(write)
}

/// Adds a bar below the others.
pub(super) fn add_bar(bar: ProgressBar) -> ProgressBar {
    BARS.add(bar)
}

/// Whether stderr is not a terminal, so that bars are not drawn.
pub(super) fn bars_are_hidden() -> bool {
    BARS.is_hidden()
}

/// Removes the bars and restores the terminal.
pub(super) fn clear() {
    let _ = BARS.clear();
    echo::restore();
}

/// Stops a terminal with bars from echoing Ctrl-C as `^C`, which would push the bars down a line and leave a copy of
/// one behind.
pub(super) fn hide_control_echo() {
    if !bars_are_hidden() {
        echo::hide();
    }
}

pub(super) fn restore_echo() {
    echo::restore();
}

mod echo {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
    use std::sync::{Mutex, PoisonError};

    /// The modes to restore.
    static BEFORE: Mutex<Option<LocalModes>> = Mutex::new(None);

    pub(super) fn hide() {
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

    /// Leaves a terminal whose modes cannot be read as it is.
    fn change(change: impl FnOnce(&mut LocalModes, &mut Option<LocalModes>)) {
        let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
        let stderr = std::io::stderr();
        let Ok(mut termios) = tcgetattr(&stderr) else { return };
        let current = termios.local_modes;
        change(&mut termios.local_modes, &mut before);
        if termios.local_modes != current {
            let _ = tcsetattr(&stderr, OptionalActions::Now, &termios);
        }
    }
}

/// The terminal's language, if it sets one that Papertape has.
pub(super) fn terminal_language() -> Option<Language> {
    let variables = ["LC_ALL", "LC_MESSAGES", "LANG"];
    let set = variables.iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    set.as_deref().and_then(Language::from_tag)
}
