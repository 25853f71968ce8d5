//! Health of the server.

use crate::app::App;
use crate::view::deployment;
use papertape_core::ports::ModelClient as _;
use papertape_protocol::health::{HealthResponse, HealthState};
use papertape_store::{JobFilter, PageRequest};

/// Less free space than this counts as full: a commit may need as much.
const LITTLE_BYTES: u64 = 4 << 20;

/// Free bytes of the data directory's disk.
fn free(dir: &std::path::Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(dir).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

fn full(free: u64) -> Option<String> {
    (free < LITTLE_BYTES).then(|| format!("the disk of the data directory is full: {free} bytes are free"))
}

/// Checks the database, the disk, the default dataset, and whether every configured agent's model can be called.
pub async fn health(app: &App) -> HealthResponse {
    let mut problems = Vec::new();
    if let Err(error) = app.store.jobs(&JobFilter::default(), &PageRequest::first(1)).await {
        tracing::error!(error = %error, "the database cannot be read");
        problems.push("the database cannot be read".to_owned());
    }
    problems.extend(free(&app.config.data_dir).and_then(full));
    if let Err(error) = app.catalogue.open(&app.config.simulation.dataset) {
        problems.push(format!("simulation.dataset: {error}"));
    }
    let unusable = |agent: &papertape_agents::config::AgentConfig| {
        app.gateway.check(&agent.model).err().map(|reason| format!("agent {}: {reason}", agent.name))
    };
    HealthResponse {
        status: if problems.is_empty() { HealthState::Ok } else { HealthState::Failing },
        version: env!("CARGO_PKG_VERSION").to_owned(),
        problems,
        warnings: app.config.agents.iter().filter_map(unusable).collect(),
        deployment: deployment(app),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_a_problem() {
        assert!(full(0).is_some_and(|why| why.contains("full")));
        assert_eq!(full(LITTLE_BYTES), None);
        assert!(free(&std::env::temp_dir()).is_some_and(|free| free > 0));
        assert_eq!(free(std::path::Path::new("no such directory")), None);
    }
}
