//! The portable copy of each plan's log: `plans/plan_<id>.sqlite`, and `system_jobs.sqlite` for work without a
//! plan.
//!
//! A file contains the action log of the plan's jobs in plain SQLite, to be copied, opened or handed over. The
//! database is the source of truth: files are written after its commits, idempotently by (job, sequence), and
//! catch up at the next start. Our own code reads them only in [`PortableFiles::migrate`], which migrates older
//! formats and imports jobs from files that were put into the folder.

mod file;
mod import;
mod project;
mod schema_versions;
mod source;
mod upgrade;

pub use project::Projector;
pub use upgrade::{FileReport, PortableFiles};

use papertape_core::plan::PlanId;
use std::path::{Path, PathBuf};

/// The folder of plan files.
const PLANS: &str = "plans";
/// The file for work without a plan.
const SYSTEM: &str = "system_jobs.sqlite";

/// The file of a plan's jobs, or of jobs without a plan.
fn path_of(dir: &Path, plan: Option<PlanId>) -> PathBuf {
    match plan {
        Some(plan) => dir.join(PLANS).join(format!("plan_{plan}.sqlite")),
        None => dir.join(SYSTEM),
    }
}

/// The existing files: the system file first, then by plan.
fn files_in(dir: &Path) -> std::io::Result<Vec<(Option<PlanId>, PathBuf)>> {
    let mut found = Vec::new();
    let system = dir.join(SYSTEM);
    if system.is_file() {
        found.push((None, system));
    }
    match std::fs::read_dir(dir.join(PLANS)) {
        Ok(entries) => {
            for entry in entries {
                let path = entry?.path();
                if let Some(plan) = plan_of(&path).filter(|_| path.is_file()) {
                    found.push((Some(plan), path));
                }
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    found.sort();
    Ok(found)
}

/// The plan that a file belongs to, by its name.
fn plan_of(path: &Path) -> Option<PlanId> {
    let id = path.file_name()?.to_str()?.strip_prefix("plan_")?.strip_suffix(".sqlite")?;
    let plain = id.bytes().all(|byte| byte.is_ascii_digit()) && !id.starts_with('0');
    id.parse().ok().filter(|_| plain).map(PlanId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_a_plans_by_its_name() {
        let dir = Path::new("data");
        assert_eq!(plan_of(&path_of(dir, Some(PlanId(17)))), Some(PlanId(17)));
        for other in
            ["plan_.sqlite", "plan_x.sqlite", "plan_007.sqlite", "plan_1.sqlite.v1-backup", "plan_-1.sqlite"]
        {
            assert_eq!(plan_of(&dir.join(PLANS).join(other)), None, "{other}");
        }
    }
}
