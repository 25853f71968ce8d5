//! The configuration keys with their documentation, taken from `docs/configuration.md`: one table row per
//! key. A test checks that the page lists exactly the keys of [`super::Config`].

/// The page's source.
pub const PAGE: &str = include_str!("../../../../docs/configuration.md");

/// One key.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ConfigKey {
    /// The full name; `NAME` stands for a name of your own, `[]` for an item of a list.
    pub key: String,
    /// `string`, `path`, `address`, `number`, `decimal`, `boolean` or `list`.
    pub kind: String,
    /// The default; empty: none.
    pub default: String,
    /// What the key does.
    pub description: String,
}

impl ConfigKey {
    /// Whether the dotted path matches this key.
    #[must_use]
    pub fn fits(&self, path: &str) -> bool {
        let own: Vec<&str> = self.key.split('.').collect();
        let other: Vec<&str> = path.split('.').collect();
        own.len() == other.len() && own.iter().zip(&other).all(|(own, other)| *own == "NAME" || own == other)
    }
}

/// All keys, in the page's order.
#[must_use]
pub fn all() -> Vec<ConfigKey> {
    PAGE.lines().filter_map(row).collect()
}

/// Parses a table row whose first cell is a name in code.
fn row(line: &str) -> Option<ConfigKey> {
    let cells: Vec<&str> = line.strip_prefix("| `")?.strip_suffix(" |")?.split(" | ").collect();
    let [key, kind, default, description] = cells[..] else { return None };
    Some(ConfigKey {
        key: key.strip_suffix('`')?.to_owned(),
        kind: kind.to_owned(),
        default: default.trim_matches('`').trim().to_owned(),
        description: description.replace("\\|", "|"),
    })
}
