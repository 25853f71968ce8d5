//! Checks of where the data lives: the directory, the database, the address.

use crate::address::Address;
use crate::app::{database_file, target};
use crate::config::{Config, without_password};
use crate::format::{bytes, counted};
use papertape_protocol::doctor::Finding;
use papertape_store::{PartCounts, Store, StoreError};
use std::path::Path;
use std::time::Duration;

/// With less free space, writes to the database may soon fail.
const MIN_FREE_BYTES: u64 = 200 * 1024 * 1024;
/// The timeout for a response from the database.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Checks the data directory: existence, owner, permissions, free space.
pub(super) fn directory(config: &Config) -> Vec<Finding> {
    let dir = &config.data_dir;
    let path = dir.display();
    let meta = match std::fs::metadata(dir) {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let mut findings = vec![parent(dir)];
            findings.extend(free_space(existing(dir)));
            return findings;
        }
        Err(error) => return vec![Finding::broken("data", format!("{path} is not accessible: {error}"))],
    };
    if !meta.is_dir() {
        return vec![Finding::broken("data", format!("{path} exists but is not a directory"))];
    }
    let mut findings = vec![match writable(dir) {
        Ok(()) => Finding::ok("data", format!("{path} is writable")),
        Err(error) => Finding::broken("data", format!("{path} is not writable: {error}")),
    }];
    findings.extend(permissions(dir, &meta));
    findings.extend(free_space(dir));
    findings
}

/// Checks the parent of a directory that does not exist yet.
fn parent(dir: &Path) -> Finding {
    let above = existing(dir);
    if !above.is_dir() {
        return Finding::broken(
            "data",
            format!("cannot create {}: {} is not a directory", dir.display(), above.display()),
        );
    }
    match writable(above) {
        Ok(()) => {
            Finding::ok("data", format!("{} does not exist yet; the first run creates it", dir.display()))
        }
        Err(error) => Finding::broken("data", format!("cannot create {}: {error}", dir.display())),
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
fn permissions(dir: &Path, meta: &std::fs::Metadata) -> Option<Finding> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = meta.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then(|| {
        let dir = dir.display();
        Finding::note("data", format!("other users can read it (mode {mode:o}); run `chmod 700 {dir}`"))
    })
}

#[cfg(not(unix))]
fn permissions(_: &Path, _: &std::fs::Metadata) -> Option<Finding> {
    None
}

fn free_space(dir: &Path) -> Option<Finding> {
    let disk = rustix::fs::statvfs(dir).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let text = format!("{} free in the data directory", bytes(free));
    Some(if free < MIN_FREE_BYTES { Finding::broken("disk", text) } else { Finding::ok("disk", text) })
}

/// Checks the database: its kind, existence, schema version and size.
pub(super) async fn database(config: &Config) -> Vec<Finding> {
    let name = match &config.database_url {
        Some(url) => format!("PostgreSQL at {}, mode {}", without_password(url), config.mode.as_str()),
        None => {
            let file = database_file(&config.data_dir, config.mode);
            if !file.exists() {
                let text = format!("SQLite, {} does not exist yet; the first run creates it", file.display());
                return vec![Finding::ok("database", text)];
            }
            format!("SQLite, {}", file.display())
        }
    };
    let opened = tokio::time::timeout(TIMEOUT, Store::open_read_only(target(config))).await;
    let store = match opened {
        Ok(Ok(store)) => store,
        Ok(Err(StoreError::Older { found: 0, .. })) if config.database_url.is_some() => {
            let text = format!("{name} responds; the first run creates the schema");
            return vec![Finding::ok("database", text)];
        }
        Ok(Err(StoreError::Older { found, known })) => {
            let text =
                format!("{name} has schema {found}; the next command that writes upgrades it to {known}");
            return vec![Finding::note("database", text)];
        }
        Ok(Err(error)) => return vec![Finding::broken("database", format!("{name}: {error}"))],
        Err(_) => {
            let text = format!("{name} did not respond within {} s", TIMEOUT.as_secs());
            return vec![Finding::broken("database", text)];
        }
    };
    let mut findings = match store.counts().await {
        Ok(counts) => {
            let jobs: u64 = counts.jobs.values().sum();
            let sessions = counts.rows.get("trading_sessions").copied().unwrap_or_default();
            let size = bytes(counts.bytes);
            let text = format!("{name}: {}, {}, {size}", counted(jobs, "job"), counted(sessions, "session"));
            let mut findings = vec![Finding::ok("database", text)];
            findings.extend(parts(counts.parts));
            findings
        }
        Err(error) => vec![Finding::broken("database", format!("{name}: {error}"))],
    };
    findings.extend(owner(config));
    findings
}

/// The parts of jobs that have not stopped.
fn parts(counts: PartCounts) -> Option<Finding> {
    let PartCounts { jobs, queued, running, expired } = counts;
    if jobs == 0 {
        return None;
    }
    let text = format!(
        "{} in parts: {running} running, {queued} queued, {expired} with an expired lease",
        counted(jobs, "job")
    );
    Some(match expired {
        0 => Finding::ok("parts", text),
        _ => Finding::note("parts", format!("{text}; the next free worker takes those over")),
    })
}

/// The process that owns the SQLite database, found without taking the lock.
fn owner(config: &Config) -> Option<Finding> {
    let pid = owner_pid(config)?;
    Some(match Address::read(&config.data_dir, config.mode, pid) {
        Some(address) => Finding::ok("owner", format!("the server at {} (process {pid})", address.url)),
        None => Finding::note("owner", format!("process {pid}; other commands can only read")),
    })
}

fn owner_pid(config: &Config) -> Option<u32> {
    if config.database_url.is_some() {
        return None;
    }
    Store::holder(&database_file(&config.data_dir, config.mode))
}

/// Checks whether the server can bind its address. `by_server`: the server itself runs the check.
pub(super) fn listening(config: &Config, by_server: bool) -> Finding {
    if by_server {
        return Finding::ok("address", format!("this server listens on {}", config.listen));
    }
    let server = owner_pid(config).and_then(|pid| Address::read(&config.data_dir, config.mode, pid));
    match std::net::TcpListener::bind(config.listen) {
        Ok(_) => Finding::ok("address", format!("{} is available for `papertape serve`", config.listen)),
        Err(_)
            if server.is_some_and(|server| server.url.ends_with(&format!(":{}", config.listen.port()))) =>
        {
            Finding::ok("address", format!("this database's server listens on {}", config.listen))
        }
        Err(error) => {
            let text = format!(
                "cannot listen on {} ({error}); choose another address with `papertape serve --listen`",
                config.listen
            );
            Finding::note("address", text)
        }
    }
}
