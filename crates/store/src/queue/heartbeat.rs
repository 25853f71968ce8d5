//! A worker's heartbeat: one row extends all of its leases. It takes no job's lock, so a long transaction of one job
//! cannot make the leases of the others expire.

use super::micros;
use crate::db::Db;
use crate::error::Result;
use crate::value::{from_row, params};
use papertape_core::record::{Lease, LeaseState};
use std::collections::HashMap;
use std::time::Duration;

/// How long the row of a worker that has stopped is kept.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Extends the leases of a worker, and reports their states.
pub(super) async fn heartbeat(
    db: &mut dyn Db,
    owner: &str,
    leases: &[Lease],
    lease_for: Duration,
) -> Result<Vec<LeaseState>> {
    let now = db.backend().now();
    let sql = format!("UPDATE workers SET beat_until = {now} + $1 WHERE worker_id = $2");
    if db.execute(&sql, params![micros(lease_for), owner]).await? == 0 {
        let sql = format!("DELETE FROM workers WHERE beat_until < {now} - $1");
        db.execute(&sql, params![micros(KEPT)]).await?;
        let sql = format!(
            "INSERT INTO workers (worker_id, beat_until) VALUES ($2, {now} + $1)
             ON CONFLICT (worker_id) DO UPDATE SET beat_until = excluded.beat_until"
        );
        db.execute(&sql, params![micros(lease_for), owner]).await?;
    }
    let sql = format!(
        "SELECT job_id, 0, lease_epoch, CASE WHEN cancel_requested = 1 THEN 1 ELSE 0 END,
             CASE WHEN lease_until <= {now} THEN 1 ELSE 0 END
         FROM jobs WHERE status = 'running' AND lease_owner = $1
         UNION ALL
         SELECT p.job_id, p.part, p.lease_epoch, CASE WHEN j.cancel_requested = 1 THEN 1 ELSE 0 END,
             CASE WHEN p.lease_until <= {now} THEN 1 ELSE 0 END
         FROM job_parts p JOIN jobs j ON j.job_id = p.job_id WHERE p.status = 'running' AND p.lease_owner = $1"
    );
    let mut held: HashMap<Lease, (bool, bool)> = db.all(&sql, params![owner]).await?.into_iter().collect();
    let state = |lease: &Lease| match held.remove(lease) {
        None => LeaseState::Lost,
        Some((true, _)) => LeaseState::Cancelled,
        Some((false, _)) => LeaseState::Held,
    };
    let states = leases.iter().map(state).collect();
    // It could not record how these ended. One that was claimed just now may not be among the leases yet.
    for (lease, _) in held.into_iter().filter(|(_, (_, is_old))| *is_old) {
        let (job, epoch) = (&lease.job, lease.epoch);
        if lease.part == 0 {
            let sql = "UPDATE jobs SET lease_owner = NULL WHERE job_id = $1 AND lease_epoch = $2";
            db.execute(sql, params![job, epoch]).await?;
        } else {
            let sql = "UPDATE job_parts SET lease_owner = NULL
                WHERE job_id = $1 AND lease_epoch = $2 AND part = $3";
            db.execute(sql, params![job, epoch, lease.part]).await?;
        }
    }
    Ok(states)
}

from_row! { impl row => Lease { job, part, epoch } }
