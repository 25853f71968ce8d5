//! Checks of where the data lives: the directory, the database, the address.

use crate::address::Address;
use crate::app::{database_file, target};
use crate::config::{Config, without_password};
use crate::format::{bytes, count};
use papertape_protocol::doctor::Finding;
use papertape_store::{Store, StoreError};
use std::path::Path;
use std::time::Duration;

/// With less free space, writes to the database may soon fail.
const LITTLE_BYTES: u64 = 200 * 1024 * 1024;
/// The timeout for a response from the database.
const PATIENCE: Duration = Duration::from_secs(10);

/// Checks the data directory: existence, owner, permissions, free space.
pub(super) fn directory(config: &Config) -> Vec<Finding> {
    let dir = &config.data_dir;
    let shown = dir.display();
    let meta = match std::fs::metadata(dir) {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let mut found = vec![parent(dir)];
            found.extend(room(existing(dir)));
            return found;
        }
        Err(error) => return vec![Finding::broken("data", format!("{shown} cannot be looked at: {error}"))],
    };
    if !meta.is_dir() {
        return vec![Finding::broken("data", format!("{shown} is there, and is no directory"))];
    }
    let mut found = vec![match writable(dir) {
        Ok(()) => Finding::ok("data", format!("{shown} can be written")),
        Err(error) => Finding::broken("data", format!("{shown} cannot be written: {error}")),
    }];
    found.extend(openness(dir, &meta));
    found.extend(room(dir));
    found
}

/// Checks the parent of a directory that does not exist yet.
fn parent(dir: &Path) -> Finding {
    let above = existing(dir);
    if !above.is_dir() {
        return Finding::broken(
            "data",
            format!("{} cannot be made: {} is no directory", dir.display(), above.display()),
        );
    }
    match writable(above) {
        Ok(()) => Finding::ok("data", format!("{} is not there yet; the first run makes it", dir.display())),
        Err(error) => Finding::broken("data", format!("{} cannot be made: {error}", dir.display())),
    }
}

/// The nearest existing ancestor.
fn existing(dir: &Path) -> &Path {
    let above = dir.ancestors().find(|above| above.as_os_str().is_empty() || above.exists());
    above.filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Tries to create a file in the directory. Leaves nothing behind.
fn writable(dir: &Path) -> std::io::Result<()> {
    let probe = dir.join(format!(".papertape-doctor-{}", std::process::id()));
    std::fs::OpenOptions::new().write(true).create_new(true).open(&probe)?;
    std::fs::remove_file(&probe)
}

/// Checks whether other users can read what agents said and did.
#[cfg(unix)]
fn openness(dir: &Path, meta: &std::fs::Metadata) -> Option<Finding> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = meta.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then(|| {
        Finding::note("data", format!("others may look into it (mode {mode:o}): chmod 700 {}", dir.display()))
    })
}

#[cfg(not(unix))]
fn openness(_: &Path, _: &std::fs::Metadata) -> Option<Finding> {
    None
}

fn room(dir: &Path) -> Option<Finding> {
    let disk = rustix::fs::statvfs(dir).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let text = format!("{} free where the data are", bytes(free));
    Some(if free < LITTLE_BYTES { Finding::broken("disk", text) } else { Finding::ok("disk", text) })
}

/// Checks the database: its kind, existence, schema version and size.
pub(super) async fn database(config: &Config) -> Vec<Finding> {
    let place = match &config.database_url {
        Some(url) => format!("PostgreSQL at {}, mode {}", without_password(url), config.mode.as_str()),
        None => {
            let file = database_file(&config.data_dir, config.mode);
            if !file.exists() {
                let text = format!("SQLite, {} is not there yet; the first run makes it", file.display());
                return vec![Finding::ok("database", text)];
            }
            format!("SQLite, {}", file.display())
        }
    };
    let opened = tokio::time::timeout(PATIENCE, Store::open_read_only(target(config))).await;
    let store = match opened {
        Ok(Ok(store)) => store,
        Ok(Err(StoreError::Older { found: 0, .. })) if config.database_url.is_some() => {
            return vec![Finding::ok("database", format!("{place} answers; the first run makes the schema"))];
        }
        Ok(Err(StoreError::Older { found, known })) => {
            let text =
                format!("{place} has schema {found}; the next command that writes brings it to {known}");
            return vec![Finding::note("database", text)];
        }
        Ok(Err(error)) => return vec![Finding::broken("database", format!("{place}: {error}"))],
        Err(_) => {
            let text = format!("{place} has not answered in {} s", PATIENCE.as_secs());
            return vec![Finding::broken("database", text)];
        }
    };
    let mut found = vec![match store.counts().await {
        Ok(counts) => {
            let jobs: u64 = counts.jobs.values().sum();
            let sessions = counts.rows.get("trading_sessions").copied().unwrap_or_default();
            let size = bytes(counts.bytes);
            let text = format!("{place}: {} jobs, {} sessions, {size}", count(jobs), count(sessions));
            Finding::ok("database", text)
        }
        Err(error) => Finding::broken("database", format!("{place}: {error}")),
    }];
    found.extend(owner(config));
    found
}

/// The process that owns the SQLite database, found without taking the lock.
fn owner(config: &Config) -> Option<Finding> {
    let pid = holder(config)?;
    Some(match Address::read(&config.data_dir, config.mode, pid) {
        Some(address) => Finding::ok("owner", format!("process {pid} serves it at {}", address.url)),
        None => Finding::note("owner", format!("process {pid} has it; other commands can only read")),
    })
}

/// The process that holds the database lock.
fn holder(config: &Config) -> Option<u32> {
    if config.database_url.is_some() {
        return None;
    }
    Store::holder(&database_file(&config.data_dir, config.mode))
}

/// Checks whether the server can bind its address. `by_server`: the server itself runs the check.
pub(super) fn listening(config: &Config, by_server: bool) -> Finding {
    if by_server {
        return Finding::ok("address", format!("{} is this server's", config.listen));
    }
    let ours = holder(config).and_then(|pid| Address::read(&config.data_dir, config.mode, pid));
    match std::net::TcpListener::bind(config.listen) {
        Ok(_) => Finding::ok("address", format!("{} is free for `papertape serve`", config.listen)),
        Err(_) if ours.is_some_and(|ours| ours.url.ends_with(&format!(":{}", config.listen.port()))) => {
            Finding::ok("address", format!("{} is this record's server", config.listen))
        }
        Err(error) => {
            let text = format!(
                "{} cannot be listened on ({error}); `papertape serve --listen` takes another",
                config.listen
            );
            Finding::note("address", text)
        }
    }
}
