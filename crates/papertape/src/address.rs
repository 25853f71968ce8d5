//! Where the server that owns a data directory can be reached: a small file in it, for commands that
//! come to write while the server has the record.
//!
//! The file decides nothing. Who owns the record is decided by its lock; a file that a dead server left
//! behind names a process that is not the lock's holder, and is not looked at.

use crate::config::Mode;
use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

/// Who serves, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// The server's process.
    pub pid: u32,
    /// Where it can be reached from this machine, as `http://127.0.0.1:8080`.
    pub url: String,
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
        Self { pid: std::process::id(), url: format!("http://{}", SocketAddr::new(ip, bound.port())) }
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
        std::fs::write(&draft, text)
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
        let address = Address::of_this_process(SocketAddr::from(([0, 0, 0, 0], 8080)));
        assert_eq!(address.url, "http://127.0.0.1:8080");
        let published = address.publish(dir.path(), Mode::Prod).expect("writes");
        assert_eq!(Address::read(dir.path(), Mode::Prod, address.pid), Some(address.clone()));
        assert_eq!(Address::read(dir.path(), Mode::Prod, address.pid + 1), None);
        assert_eq!(Address::read(dir.path(), Mode::Dev, address.pid), None);
        drop(published);
        assert_eq!(Address::read(dir.path(), Mode::Prod, address.pid), None);
    }
}
