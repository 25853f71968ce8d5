//! Where the server that owns a data directory can be reached: a small file in it, for commands that
//! come to write while the server has the record.
//!
//! The file decides nothing. Who owns the record is decided by its lock; a file that a dead server left
//! behind names a process that is not the lock's holder, and is not looked at.

use crate::config::Mode;
use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

/// Who serves, and where.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// The server's process.
    pub pid: u32,
    /// Where it can be reached from this machine, as `http://127.0.0.1:8080`.
    pub url: String,
    /// What lets this user's own commands in, where the server asks for tokens. It is good as long as the
    /// server's process lives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Address").field("pid", &self.pid).field("url", &self.url).finish_non_exhaustive()
    }
}

impl Address {
    /// This process's, which listens at `bound`.
    #[must_use]
    pub fn of_this_process(bound: SocketAddr) -> Self {
        // Who listens everywhere listens on loopback too.
        let ip = match bound.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        let url = format!("http://{}", SocketAddr::new(ip, bound.port()));
        Self { pid: std::process::id(), url, key: None }
    }

    /// The same with the key of a server that asks for tokens.
    #[must_use]
    pub fn with_key(self, key: Option<&str>) -> Self {
        Self { key: key.map(str::to_owned), ..self }
    }

    /// What this user's commands have to send as a bearer token.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Writes the file; it goes with what this gives.
    ///
    /// # Errors
    /// The system's, with the path.
    pub fn publish(&self, data_dir: &Path, mode: Mode) -> Result<Published> {
        let path = file(data_dir, mode);
        // Renamed into place, so that nobody reads half of it.
        let draft = path.with_extension("json.new");
        let text = serde_json::to_string(self)?;
        write_privately(&draft, &text)
            .and_then(|()| std::fs::rename(&draft, &path))
            .with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(Published { path })
    }

    /// Where the process `pid` serves the data directory; `None` where it does not say.
    #[must_use]
    pub fn read(data_dir: &Path, mode: Mode, pid: u32) -> Option<Self> {
        let text = std::fs::read_to_string(file(data_dir, mode)).ok()?;
        let address: Self = serde_json::from_str(&text).ok()?;
        (address.pid == pid).then_some(address)
    }
}

/// The file, as long as it is there.
#[derive(Debug)]
pub struct Published {
    path: PathBuf,
}

impl Drop for Published {
    fn drop(&mut self) {
        // One that stays is known as stale by its process.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// For nobody else to read, whatever the directory allows.
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
    fn an_address_holds_for_its_process_alone_and_goes_with_it() {
        let dir = tempfile::tempdir().expect("makes a directory");
        let address = Address::of_this_process(SocketAddr::from(([0, 0, 0, 0], 8080))).with_key(Some("k3y"));
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
