//! Text without secrets stays unchanged: the project's documents, its prompts, ordinary words.
#![expect(clippy::disallowed_methods, reason = "the files of the repository are what is tested")]

use papertape_redact::Redactor;
use std::path::{Path, PathBuf};

fn files(directory: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, endings, found);
        } else if path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known)) {
            found.push(path);
        }
    }
}

/// The lines in which something is redacted.
fn removals(path: &Path, text: &str) -> Vec<String> {
    let out = Redactor::default().redact_text(text);
    if out.removed == 0 {
        return Vec::new();
    }
    let changed = text.lines().zip(out.value.lines()).filter(|(before, after)| before != after);
    changed.map(|(before, after)| format!("{}: {before}\n  -> {after}", path.display())).collect()
}

/// Goal: nothing is redacted in the documents or the prompts.
#[test]
fn documents_and_prompts_stay_whole() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    files(&root.join("docs"), &["md", "py", "mjs", "ts"], &mut found);
    for room in ["agents", "assistant", "runtime", "house", "core", "llm"] {
        let room = root.join("crates").join(room);
        if room.is_dir() {
            files(&room.join("src"), &["txt", "md", "j2", "jinja", "toml"], &mut found);
        }
    }
    // The rules' own tables list what they search for.
    found.retain(|path| !path.ends_with("token_shapes.txt") && !path.ends_with("mnemonic_words.txt"));
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        found.push(root.join(name));
    }
    let prompts = found.iter().filter(|path| path.to_string_lossy().contains("prompts")).count();
    assert!(found.len() >= 40 && prompts >= 10, "{} files, {prompts} prompts", found.len());
    let mut wrong = Vec::new();
    for path in &found {
        wrong.extend(removals(path, &std::fs::read_to_string(path).expect("text")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
