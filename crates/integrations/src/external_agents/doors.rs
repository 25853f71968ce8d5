//! The doors outside a sandbox: a Unix socket whose connections lead to this process's listener.

use papertape_service::doors::DoorListener;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tokio::task::JoinSet;

/// The socket. Dropping it closes it and all its connections.
pub(super) struct DoorSocket {
    path: PathBuf,
    empty_file: PathBuf,
    _folder: TempDir,
    _serving: JoinSet<()>,
}

impl DoorSocket {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A file next to the socket, with which others are covered.
    pub(super) fn empty_file(&self) -> &Path {
        &self.empty_file
    }

    #[cfg(unix)]
    pub(super) fn open(doors: Arc<DoorListener>) -> io::Result<Self> {
        let folder = TempDir::with_prefix("papertape-doors-")?;
        let path = folder.path().join("doors.sock");
        let empty_file = folder.path().join("empty");
        std::fs::write(&empty_file, "")?;
        let listener = tokio::net::UnixListener::bind(&path)?;
        let mut serving = JoinSet::new();
        serving.spawn(unix::serve(listener, doors));
        Ok(Self { path, empty_file, _folder: folder, _serving: serving })
    }

    #[cfg(not(unix))]
    pub(super) fn open(_: Arc<DoorListener>) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(unix)]
mod unix {
    use super::{Arc, DoorListener, JoinSet, io};
    use tokio::io::copy_bidirectional;
    use tokio::net::{TcpStream, UnixListener, UnixStream};

    /// Connections at a time; further ones wait.
    const MAX_CONNECTIONS: usize = 64;

    pub(super) async fn serve(listener: UnixListener, doors: Arc<DoorListener>) {
        let mut connections = JoinSet::new();
        loop {
            while connections.len() >= MAX_CONNECTIONS {
                connections.join_next().await;
            }
            match listener.accept().await {
                Ok((inside, _)) => {
                    let doors = Arc::clone(&doors);
                    connections.spawn(async move {
                        if let Err(error) = connect(inside, &doors).await {
                            tracing::debug!(error = %error, "a connection from a sandbox failed");
                        }
                    });
                }
                Err(error) => return tracing::warn!(error = %error, "a sandbox has lost its doors"),
            }
            while connections.try_join_next().is_some() {}
        }
    }

    async fn connect(mut inside: UnixStream, doors: &DoorListener) -> io::Result<()> {
        let Some(address) = doors.address() else { return Err(io::ErrorKind::NotConnected.into()) };
        let mut outside = TcpStream::connect(address).await?;
        outside.set_nodelay(true)?;
        copy_bidirectional(&mut inside, &mut outside).await.map(|_| ())
    }
}
