//! Where the doors of running sessions are reached: the server's own address, or a listener that serves nothing else.

use anyhow::{Context as _, Result};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::OnceLock;
use tokio::net::TcpListener;
use tokio::sync::Mutex;

/// The address of this process's doors, once something listens there.
#[derive(Debug, Default)]
pub struct DoorListener {
    address: OnceLock<SocketAddr>,
    opening: Mutex<()>,
}

impl DoorListener {
    /// Sets the address that a server serves the doors at. A wildcard address includes loopback.
    pub fn set(&self, bound: SocketAddr) {
        let ip = match bound.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        let _ = self.address.set(SocketAddr::new(ip, bound.port()));
    }

    /// The address as programs on this machine reach it; `None`: nothing listens.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.address.get().copied()
    }

    /// Binds a free port of loopback, for the caller to serve; `None`: something listens already.
    ///
    /// # Errors
    /// No port is available.
    pub async fn bind(&self) -> Result<Option<TcpListener>> {
        let _one_at_a_time = self.opening.lock().await;
        if self.address().is_some() {
            return Ok(None);
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.context("cannot open a port for external agents")?;
        self.set(listener.local_addr()?);
        Ok(Some(listener))
    }
}
