//! `papertape sandbox-forward`, which Papertape itself runs inside an external agent's sandbox: it starts the agent, and
//! passes connections to the session's doors on to a socket that leads out of the sandbox.

use super::Outcome;
use super::args::parse_address;
use anyhow::{Context as _, Result};
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct ForwardArgs {
    /// Socket that leads to the doors
    #[arg(long, value_name = "FILE")]
    socket: PathBuf,
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    listen: SocketAddr,
    /// The agent's program, with its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Runs the program, and exits as it does.
pub(super) async fn run(args: ForwardArgs) -> Outcome {
    let (program, arguments) = args.command.split_first().context("no command")?;
    let listener = tokio::net::TcpListener::bind(args.listen).await;
    let listener = listener.with_context(|| format!("cannot listen on {}", args.listen))?;
    let mut command = tokio::process::Command::new(program);
    let mut child = command.args(arguments).spawn().with_context(|| format!("cannot start `{program}`"))?;
    let status = tokio::select! {
        status = child.wait() => status?,
        failed = forward(listener, &args.socket) => {
            failed?;
            child.wait().await?
        }
    };
    // As a shell has it: a signal is 128 and its number.
    #[cfg(unix)]
    let by_signal = std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| 128 + signal);
    #[cfg(not(unix))]
    let by_signal = None;
    let code = status.code().or(by_signal).and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}

#[cfg(unix)]
async fn forward(listener: tokio::net::TcpListener, socket: &std::path::Path) -> Result<()> {
    loop {
        let (mut inside, _) = listener.accept().await.context("cannot accept a connection")?;
        let socket = socket.to_owned();
        tokio::spawn(async move {
            // Either end of a connection may break it.
            if let Ok(mut outside) = tokio::net::UnixStream::connect(socket).await {
                let _ = tokio::io::copy_bidirectional(&mut inside, &mut outside).await;
            }
        });
    }
}

#[cfg(not(unix))]
async fn forward(_: tokio::net::TcpListener, _: &std::path::Path) -> Result<()> {
    anyhow::bail!("a sandbox needs Linux")
}
