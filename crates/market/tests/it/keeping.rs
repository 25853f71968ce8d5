//! A directory of datasets: writes are atomic, visible to other catalogues, and never break older jobs.

use crate::support::{files, options, strict};
use papertape_core::market::Dataset;
use papertape_market::{BUNDLED_NAME, Catalogue, MarketError, bundled, check_name};
use std::path::Path;

fn dataset(name: &str, close: &str) -> Dataset {
    let text = format!("date,open,high,low,close,volume\n2024-01-02,1,9,1,{close},5\n2024-01-03,1,9,1,3,5\n");
    strict(&files(&[("A.csv", &text)]), &options(name)).expect("imports").dataset
}

fn names(catalogue: &Catalogue) -> Vec<String> {
    catalogue.list().expect("lists").into_iter().map(|one| one.name).collect()
}

// Goal: a dataset stored by one catalogue is found by another, open or not, by name and by hash, with its market.
#[test]
fn what_is_kept_is_found_by_others() {
    let dir = tempfile::tempdir().expect("a directory");
    let (one, two) = (Catalogue::at(dir.path()), Catalogue::at(dir.path()));
    assert_eq!(names(&two), [BUNDLED_NAME], "an empty directory is not an error");
    let made = dataset("mine", "2");
    assert!(one.store(&made, Some("us_equity"), false).expect("keeps"));
    let entry = two.find("mine").expect("finds");
    assert_eq!((entry.hash, entry.market.as_deref(), entry.bars), (made.hash(), Some("us_equity"), 2));
    assert!(entry.bytes > 0);
    let opened = two.open(&made.hash().to_hex()[..8]).expect("opens");
    assert_eq!((opened.hash(), opened.name()), (made.hash(), "mine"));
    assert_eq!(opened.computed_hash(), made.hash());
    assert_eq!(two.verify("mine").expect("whole").hash, made.hash());
}

// Goal: storing the same dataset again is not an error; other content requires `replace`, and the old content stays.
#[test]
fn a_name_is_replaced_only_on_request_and_nothing_is_lost() {
    let dir = tempfile::tempdir().expect("a directory");
    let catalogue = Catalogue::at(dir.path());
    let (old, new) = (dataset("mine", "2"), dataset("mine", "4"));
    catalogue.store(&old, None, false).expect("keeps");
    assert!(!catalogue.store(&old, None, false).expect("the same"), "there was nothing to write");
    assert!(matches!(catalogue.store(&new, None, false), Err(MarketError::NameTaken { .. })));
    assert_eq!(catalogue.find("mine").expect("finds").hash, old.hash());
    assert!(catalogue.store(&new, None, true).expect("replaces"));
    assert_eq!(catalogue.open("mine").expect("opens").hash(), new.hash());
    assert_eq!(catalogue.open(&old.hash().to_hex()).expect("opens").hash(), old.hash());
    let list = catalogue.list().expect("lists");
    let of_name: Vec<bool> = list.iter().filter(|one| one.name == "mine").map(|one| one.replaced).collect();
    assert_eq!(of_name, [false, true]);
    assert!(matches!(
        catalogue.store(&dataset(BUNDLED_NAME, "2"), None, true),
        Err(MarketError::NameTaken { .. })
    ));
    assert!(!catalogue.store(&bundled(), None, false).expect("the same"));
}

// Goal: a name, and content without a name, can be removed; a dataset that is part of the program cannot.
#[test]
fn what_is_removed_is_gone() {
    let dir = tempfile::tempdir().expect("a directory");
    let catalogue = Catalogue::at(dir.path());
    let (old, new) = (dataset("mine", "2"), dataset("mine", "4"));
    catalogue.store(&old, None, false).expect("keeps");
    catalogue.store(&new, None, true).expect("replaces");
    assert!(catalogue.remove(&old.hash().to_hex()).expect("removes").replaced);
    assert!(matches!(catalogue.open(&old.hash().to_hex()), Err(MarketError::NotFound { .. })));
    catalogue.remove("mine").expect("removes");
    assert_eq!(names(&catalogue), [BUNDLED_NAME]);
    assert!(matches!(catalogue.remove(BUNDLED_NAME), Err(MarketError::Fixed { .. })));
    let left: Vec<_> = std::fs::read_dir(dir.path().join("content")).expect("reads").collect();
    assert!(left.is_empty(), "{left:?}");
}

// Goal: what a dead writer left behind is never found, and the next writer removes it.
#[test]
fn leftovers_are_cleared_away() {
    let dir = tempfile::tempdir().expect("a directory");
    let catalogue = Catalogue::at(dir.path());
    let made = dataset("mine", "2");
    let half = dir.path().join("content").join(format!(".{}", made.hash()));
    std::fs::create_dir_all(&half).expect("makes");
    std::fs::create_dir_all(dir.path().join("names")).expect("makes");
    std::fs::write(half.join("data"), b"half").expect("writes");
    std::fs::write(dir.path().join("names/.mine.json"), b"{").expect("writes");
    assert_eq!(names(&catalogue), [BUNDLED_NAME]);
    catalogue.store(&made, None, false).expect("keeps");
    assert!(!half.exists());
    assert_eq!(catalogue.verify("mine").expect("whole").hash, made.hash());
}

// Goal: a file that was changed, truncated or extended is reported and not opened.
#[test]
fn damage_is_told() {
    let dir = tempfile::tempdir().expect("a directory");
    let made = dataset("mine", "2");
    Catalogue::at(dir.path()).store(&made, None, false).expect("keeps");
    let path = dir.path().join("content").join(made.hash().to_hex()).join("data");
    let whole = std::fs::read(&path).expect("reads");
    let damaged = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("writes");
        let catalogue = Catalogue::at(dir.path());
        matches!(catalogue.open("mine"), Err(MarketError::Damaged { .. }))
            && matches!(catalogue.verify("mine"), Err(MarketError::Damaged { .. }))
    };
    for at in [0, 9, whole.len() / 2, whole.len() - 1] {
        let mut changed = whole.clone();
        changed[at] ^= 4;
        assert!(damaged(&changed), "changed at {at}");
    }
    assert!(
        damaged(&whole[..whole.len() - 1]) && damaged(&[whole.as_slice(), b"x"].concat()) && damaged(b"")
    );
    std::fs::remove_file(Path::new(&path).with_file_name("about.json")).expect("removes");
    assert!(Catalogue::at(dir.path()).open(&made.hash().to_hex()).is_err());
}

// Goal: a name cannot point outside the directory.
#[test]
fn names_are_plain() {
    for name in ["a", "us-2024_v1.2", "A1"] {
        assert!(check_name(name).is_ok(), "{name}");
    }
    for name in ["", ".", "../x", "a/b", "-a", ".hidden", "ü", "a b", &"a".repeat(65)] {
        assert!(check_name(name).is_err(), "{name}");
        assert!(Catalogue::at("nowhere").find(name).is_err());
    }
}
