//! Numbered steps from an empty database to the current schema. A released step is never edited: every change is
//! a new one.

use crate::error::{Result, StoreError};

/// One step of the schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Migration {
    /// From 1.
    pub(crate) version: i64,
    pub(crate) name: &'static str,
    pub(crate) sqlite: &'static str,
    pub(crate) postgres: &'static str,
}

macro_rules! migrations {
    ($($version:literal $number:literal $name:literal,)*) => {
        &[$(Migration {
            version: $version,
            name: $name,
            sqlite: include_str!(concat!("../migrations/sqlite/", $number, "_", $name, ".sql")),
            postgres: include_str!(concat!("../migrations/postgres/", $number, "_", $name, ".sql")),
        },)*]
    };
}

/// All migrations, oldest first.
pub(crate) const MIGRATIONS: &[Migration] = migrations! {
    1 "0001" "record",
    2 "0002" "memory",
    3 "0003" "vectors",
    4 "0004" "sessions_by_job",
    5 "0005" "actions",
    6 "0006" "job_configs",
    7 "0007" "shown",
    8 "0008" "logins",
    9 "0009" "texts_to_index",
    10 "0010" "accounts",
    11 "0011" "chains",
    12 "0012" "action_terms",
    13 "0013" "estimates",
    14 "0014" "quality",
    15 "0015" "delistings",
    16 "0016" "first_attempts",
    17 "0017" "packed_texts",
    18 "0018" "parts",
    19 "0019" "experiments",
    20 "0020" "job_labels",
    21 "0021" "session_reviews",
};

pub(crate) const VERSIONS: &str = "CREATE TABLE IF NOT EXISTS schema_version (
    version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)";

/// Checks that a database of version `found` has this program's schema.
pub(crate) fn check(found: i64) -> Result<()> {
    let known = MIGRATIONS.last().map_or(0, |migration| migration.version);
    match found.cmp(&known) {
        std::cmp::Ordering::Less => Err(StoreError::Older { found, known }),
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(StoreError::Newer { found, known }),
    }
}

/// The migrations to apply to a database of version `found`.
pub(crate) fn pending(found: i64, migrations: &[Migration]) -> Result<&[Migration]> {
    let known = migrations.last().map_or(0, |migration| migration.version);
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    let done = migrations.partition_point(|migration| migration.version <= found);
    Ok(&migrations[done..])
}

pub(crate) fn failed(migration: &Migration, why: &dyn std::fmt::Display) -> StoreError {
    StoreError::Migration {
        version: migration.version,
        name: migration.name.to_owned(),
        why: why.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrations_are_numbered_without_gaps() {
        let versions: Vec<i64> = MIGRATIONS.iter().map(|migration| migration.version).collect();
        assert_eq!(versions, (1..=versions.len() as i64).collect::<Vec<_>>());
    }
}
