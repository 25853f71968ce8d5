//! How far the export of spans has progressed: a small file in the data directory.
//!
//! Session IDs only grow. Every ID up to `through` has been seen; of those, `waiting` holds sessions that had
//! not ended yet, and missing IDs: on PostgreSQL an ID that was assigned earlier can become visible later.

use anyhow::{Context as _, Result};
use papertape_core::record::SessionId;
use papertape_service::config::Mode;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A missing ID is given up once this many later ones have been seen.
const LOST_AFTER: i64 = 10_000;
/// The maximum number of consecutive missing IDs to wait for.
const MAX_GAP: i64 = 1_000;

/// The progress of the export.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Progress {
    pub(super) through: i64,
    waiting: BTreeSet<i64>,
    /// The IDs in `waiting` that no session had.
    #[serde(default)]
    gaps: BTreeSet<i64>,
}

impl Progress {
    /// Starts now: sessions that have already ended are not exported.
    pub(super) fn from_now(newest: SessionId, open: &[SessionId]) -> Self {
        let waiting = open.iter().map(|session| session.0).collect();
        Self { through: newest.0, waiting, gaps: BTreeSet::new() }
    }

    /// Adds further sessions, in the order of their IDs.
    pub(super) fn add(&mut self, sessions: &[SessionId]) {
        for SessionId(id) in sessions {
            let first = (self.through + 1).max(id - MAX_GAP);
            // Before the very first session there is no gap to wait for.
            if self.through > 0 {
                self.gaps.extend(first..*id);
                self.waiting.extend(first..*id);
            }
            self.waiting.insert(*id);
            self.through = *id;
        }
        let lost: Vec<i64> = self.gaps.range(..self.through - LOST_AFTER).copied().collect();
        for id in lost {
            self.gaps.remove(&id);
            self.waiting.remove(&id);
        }
    }

    /// The sessions to check again.
    pub(super) fn waiting(&self) -> Vec<SessionId> {
        self.waiting.iter().map(|id| SessionId(*id)).collect()
    }

    /// Marks a session as sent.
    pub(super) fn mark_exported(&mut self, session: SessionId) {
        self.waiting.remove(&session.0);
        self.gaps.remove(&session.0);
    }

    /// Reads the file; `None` if it is missing or unreadable.
    pub(super) fn load(path: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(path).ok()?;
        serde_json::from_str(&text)
            .inspect_err(|error| {
                tracing::warn!(path = %path.display(), error = %error, "cannot read the progress of the export");
            })
            .ok()
    }

    /// Writes the file atomically.
    ///
    /// # Errors
    /// The operating system's error, with the path.
    pub(super) fn save(&self, path: &Path) -> Result<()> {
        let draft = path.with_extension("json.new");
        std::fs::write(&draft, serde_json::to_string(self)?)
            .and_then(|()| std::fs::rename(&draft, path))
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

/// The path of the file.
pub(super) fn file(data_dir: &Path, mode: Mode) -> PathBuf {
    data_dir.join(match mode {
        Mode::Prod => "otlp.json",
        Mode::Dev => "otlp-dev.json",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(ids: &[i64]) -> Vec<SessionId> {
        ids.iter().copied().map(SessionId).collect()
    }

    /// Missing IDs are waited for, sent sessions are not, and neither is waited for forever.
    #[test]
    fn missing_ids_are_waited_for() {
        let mut progress = Progress::from_now(SessionId(5), &ids(&[3]));
        progress.add(&ids(&[6, 9]));
        assert_eq!(progress.waiting(), ids(&[3, 6, 7, 8, 9]));
        progress.mark_exported(SessionId(9));
        progress.mark_exported(SessionId(7));
        assert_eq!(progress.waiting(), ids(&[3, 6, 8]));
        progress.add(&ids(&[20_000]));
        assert_eq!(progress.waiting().len(), 2 + 1_001, "3 and 6 are open, however long that lasts");
        progress.add(&(20_001..40_000).map(SessionId).collect::<Vec<_>>());
        assert!(progress.gaps.is_empty());
    }

    /// The first session of an empty database leaves no gap; the file returns what was written.
    #[test]
    fn progress_is_stored() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = file(dir.path(), Mode::Prod);
        assert_eq!(Progress::load(&path), None);
        let mut progress = Progress::default();
        progress.add(&ids(&[7, 8]));
        assert_eq!(progress.waiting(), ids(&[7, 8]));
        progress.save(&path).expect("writes");
        assert_eq!(Progress::load(&path), Some(progress));
        std::fs::write(&path, "{").expect("writes");
        assert_eq!(Progress::load(&path), None);
    }
}
