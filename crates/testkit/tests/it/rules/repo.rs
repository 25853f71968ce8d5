//! The repository as the rules see it: the files of a fresh clone.

use std::fs;
use std::path::{Path, PathBuf};

/// Generated folders, anywhere.
const MADE_ANYWHERE: &[&str] = &[".git", "target", "node_modules", "dist", "__pycache__"];
/// Generated folders at the root.
const MADE_AT_ROOT: &[&str] = &["data", "papertape-data"];

/// A text file of the repository.
pub(super) struct TextFile {
    /// Relative to the root, with `/`.
    pub(super) path: String,
    /// Its contents.
    pub(super) text: String,
}

impl TextFile {
    /// Every line that matches `hit`, as `path:line: text`.
    pub(super) fn lines_where(&self, hit: impl Fn(&str) -> bool) -> Vec<String> {
        let lines = self.text.lines().enumerate().filter(|(_, line)| hit(line));
        lines.map(|(index, line)| format!("{}:{}: {}", self.path, index + 1, line.trim())).collect()
    }

    /// Whether it is a Rust file that is compiled only for tests.
    pub(super) fn is_test(&self) -> bool {
        self.path.ends_with(".rs") && (self.path.contains("/tests/") || self.path.ends_with("/tests.rs"))
    }
}

/// The root of the workspace.
pub(super) fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the crate is two folders below the root")
}

/// Every text file, by path. Files that are not UTF-8 are data and are skipped.
pub(super) fn texts() -> Vec<TextFile> {
    let root = root();
    let mut texts = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the repository can be read") {
            let path = entry.expect("an entry can be read").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                let made = MADE_ANYWHERE.contains(&name.as_str())
                    || (folder == root && MADE_AT_ROOT.contains(&name.as_str()));
                if !made {
                    folders.push(path);
                }
            } else if name != ".git"
                && let Ok(text) = fs::read_to_string(&path)
            {
                let path = path.strip_prefix(&root).expect("below the root").to_string_lossy().into_owned();
                texts.push(TextFile { path, text });
            }
        }
    }
    texts.sort_by(|a, b| a.path.cmp(&b.path));
    texts
}

/// The files whose names have this ending.
pub(super) fn texts_ending(end: &str) -> Vec<TextFile> {
    texts().into_iter().filter(|file| file.path.ends_with(end)).collect()
}
