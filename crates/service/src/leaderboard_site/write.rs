//! Writes a site into a directory of its own, which takes its name once it is complete.

use super::SITE_FORMAT;
use anyhow::{Context as _, bail};
use papertape_core::id::ContentHash;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A site in progress.
pub(super) struct SiteWriter {
    dir: TempDir,
    out: PathBuf,
    replaces: bool,
}

impl SiteWriter {
    /// `replace`: an existing site may be replaced. No other directory ever is, except an empty one.
    pub(super) fn create(out: &Path, replace: bool) -> anyhow::Result<Self> {
        let shown = out.display();
        let exists = out.symlink_metadata().is_ok();
        let is_empty = || fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_none());
        let replaces = exists && !is_empty();
        if replaces && !is_site(out) {
            bail!("{shown} exists and is not a leaderboard site; choose another directory");
        }
        if replaces && !replace {
            bail!("{shown} already has a leaderboard site; replace it with --replace");
        }
        let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        let dir = tempfile::Builder::new()
            .prefix(".papertape-leaderboard-")
            .tempdir_in(parent)
            .with_context(|| format!("cannot write in {}", parent.display()))?;
        Ok(Self { dir, out: out.to_owned(), replaces })
    }

    pub(super) fn write(&self, name: &str, text: &str) -> anyhow::Result<()> {
        fs::write(self.dir.path().join(name), text).with_context(|| format!("cannot write {name}"))
    }

    /// Gives the site its name.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        let Self { dir, out, replaces } = self;
        let cannot = || format!("cannot write {}", out.display());
        publish(dir.path()).with_context(cannot)?;
        if !replaces {
            // An empty directory is replaced.
            fs::rename(dir.path(), &out).with_context(cannot)?;
            drop(dir.keep());
            return Ok(());
        }
        let before = dir.path().with_extension("before");
        fs::rename(&out, &before).with_context(cannot)?;
        if let Err(error) = fs::rename(dir.path(), &out) {
            fs::rename(&before, &out).with_context(cannot)?;
            return Err(error).with_context(cannot);
        }
        drop(dir.keep());
        fs::remove_dir_all(&before).with_context(|| format!("cannot remove {}", before.display()))
    }
}

/// A temporary directory is readable to its owner only; a site is for everyone.
fn publish(dir: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    fs::set_permissions(dir, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    Ok(())
}

fn is_site(dir: &Path) -> bool {
    let text = fs::read(dir.join("leaderboard.json")).unwrap_or_default();
    let format = serde_json::from_slice::<Value>(&text).ok();
    format.is_some_and(|found| found["format"] == SITE_FORMAT)
}

/// A file name for an ID.
pub(super) fn plain_name(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    match !id.is_empty() && id.len() <= 64 && id.chars().all(is_plain) {
        true => id.to_owned(),
        false => ContentHash::of(id.as_bytes()).to_hex(),
    }
}
