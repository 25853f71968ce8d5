//! The keys with their documentation, which is `docs/configuration.md` itself: a table's row is a key.
//! A test holds that it lists the keys of [`super::Config`], and no others.

/// The page.
pub const PAGE: &str = include_str!("../../../../docs/configuration.md");

/// One key.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Key {
    /// Its whole name; `NAME` stands for a name of your own, `[]` for one of a list.
    pub key: String,
    /// `text`, `path`, `address`, `number`, `amount`, `switch` or `list`.
    pub kind: String,
    /// What holds where it is not given; empty: nothing.
    pub default: String,
    /// What it does.
    pub what: String,
}

impl Key {
    /// Is the dotted path this key's?
    #[must_use]
    pub fn fits(&self, path: &str) -> bool {
        let own: Vec<&str> = self.key.split('.').collect();
        let other: Vec<&str> = path.split('.').collect();
        own.len() == other.len() && own.iter().zip(&other).all(|(own, other)| *own == "NAME" || own == other)
    }
}

/// All keys, in the page's order.
#[must_use]
pub fn all() -> Vec<Key> {
    PAGE.lines().filter_map(row).collect()
}

/// A row of a table whose first cell is a name in code.
fn row(line: &str) -> Option<Key> {
    let cells: Vec<&str> = line.strip_prefix("| `")?.strip_suffix(" |")?.split(" | ").collect();
    let [key, kind, default, what] = cells[..] else { return None };
    Some(Key {
        key: key.strip_suffix('`')?.to_owned(),
        kind: kind.to_owned(),
        default: default.trim_matches('`').trim().to_owned(),
        what: what.replace("\\|", "|"),
    })
}
