//! Where the server that owns a data directory can be reached: a small file in it, for commands that need to
//! write while the server holds the database.
//!
//! The file decides nothing. The lock decides who owns the database; a file that a dead server left behind
//! names a process that does not hold the lock, and is ignored.

use crate::config::Mode;
use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

/// Which process serves, and where.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// The server's process ID.
    pub pid: u32,
    /// The URL on this machine, like `http://127.0.0.1:8080`.
    pub url: String,
    /// The key that lets this user's own commands in when the server requires tokens. It is valid for the
    /// lifetime of the server's process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Address").field("pid", &self.pid).field("url", &self.url).finish_non_exhaustive()
    }
}

impl Address {
    /// The address of this process, which listens at `bound`.
    #[must_use]
    pub fn for_this_process(bound: SocketAddr) -> Self {
        // A wildcard address includes loopback.
        let ip = match bound.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        let url = format!("http://{}", SocketAddr::new(ip, bound.port()));
        Self { pid: std::process::id(), url, key: None }
    }

    /// Adds the key of a server that requires tokens.
    #[must_use]
    pub fn with_key(self, key: Option<&str>) -> Self {
        Self { key: key.map(str::to_owned), ..self }
    }

    /// What this user's commands must send as a bearer token.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Writes the file; dropping the result removes it.
    ///
    /// # Errors
    /// The operating system's error, with the path.
    pub fn publish(&self, data_dir: &Path, mode: Mode) -> Result<Published> {
        let path = file(data_dir, mode);
        // Renamed into place, so that nobody reads half a file.
        let draft = path.with_extension("json.new");
        let text = serde_json::to_string(self)?;
        write_privately(&draft, &text)
            .and_then(|()| std::fs::rename(&draft, &path))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Published { path })
    }

    /// Where the process `pid` serves the data directory; `None` if it left no file.
    #[must_use]
    pub fn read(data_dir: &Path, mode: Mode, pid: u32) -> Option<Self> {
        let text = std::fs::read_to_string(file(data_dir, mode)).ok()?;
        let address: Self = serde_json::from_str(&text).ok()?;
        (address.pid == pid).then_some(address)
    }
}

/// The file, which exists as long as this value.
#[derive(Debug)]
pub struct Published {
    path: PathBuf,
}

impl Drop for Published {
    fn drop(&mut self) {
        // A file that stays behind is recognized as stale by its process ID.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Readable by the owner only, whatever the directory allows.
fn write_privately(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

fn file(data_dir: &Path, mode: Mode) -> PathBuf {
    data_dir.join(match mode {
        Mode::Prod => "server.json",
        Mode::Dev => "server-dev.json",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_valid_only_for_its_process() {
        let dir = tempfile::tempdir().expect("makes a directory");
        let address = Address::for_this_process(SocketAddr::from(([0, 0, 0, 0], 8080))).with_key(Some("k3y"));
        assert!(!format!("{address:?}").contains("k3y"));
        assert_eq!(address.url, "http://127.0.0.1:8080");
        let published = address.publish(dir.path(), Mode::Prod).expect("writes");
        assert_eq!(Address::read(dir.path(), Mode::Prod, address.pid), Some(address.clone()));
        assert_eq!(Address::read(dir.path(), Mode::Prod, address.pid + 1), None);
        assert_eq!(Address::read(dir.path(), Mode::Dev, address.pid), None);
        drop(published);
        assert_eq!(Address::read(dir.path(), Mode::Prod, address.pid), None);
    }
}
