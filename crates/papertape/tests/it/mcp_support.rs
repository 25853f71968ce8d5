//! A real tool server in another process (Python 3), with a connection back to the test.

use papertape_core::ports::ExternalCall;
use papertape_integrations::mcp::McpTools;
use papertape_service::config::ToolServer;
use serde_json::Value;
use std::net::SocketAddr;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::net::{TcpListener, TcpStream};

/// The path of the server's program.
pub(crate) const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fixtures/mcp_server.py");

/// Where servers report to.
pub(crate) struct Watch(TcpListener);

impl Watch {
    pub(crate) async fn new() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.expect("a port is free"))
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.0.local_addr().expect("it is bound")
    }

    /// The next server that starts.
    pub(crate) async fn server(&self) -> Seen {
        let (stream, _) = self.0.accept().await.expect("a server reports");
        Seen(BufReader::new(stream).lines())
    }

    /// Whether no further server has started. Only meaningful after the last call has its response.
    pub(crate) async fn is_quiet(&self) -> bool {
        let mut accept = std::pin::pin!(self.0.accept());
        std::future::poll_fn(|context| std::task::Poll::Ready(accept.as_mut().poll(context).is_pending()))
            .await
    }

    /// A server on its standard streams.
    pub(crate) fn stdio(&self, flags: &[&str]) -> ToolServer {
        let address = self.address().to_string();
        let words = ["python3", SERVER, "stdio", &address];
        let command = words.iter().chain(flags).map(|word| (*word).to_owned()).collect();
        ToolServer { command, ..ToolServer::default() }
    }
}

/// A server that is running, or has exited.
pub(crate) struct Seen(Lines<BufReader<TcpStream>>);

impl Seen {
    /// Its next report; `None`: its process has exited.
    pub(crate) async fn says(&mut self) -> Option<String> {
        self.0.next_line().await.ok().flatten()
    }
}

/// One server with the name `desk`.
pub(crate) fn desk(server: ToolServer) -> McpTools {
    McpTools::new([("desk".to_owned(), server)].into())
}

pub(crate) fn call(tool: &str, arguments: Value) -> ExternalCall {
    ExternalCall { server: "desk".to_owned(), tool: tool.to_owned(), arguments }
}
