//! stub
use crate::app::App;
use papertape_runtime::stopping::StopSignal;
/// stub
pub async fn serve(_: App, _l: tokio::net::TcpListener, mut s: StopSignal) -> anyhow::Result<()> {
    s.stopped().await;
    Ok(())
}
