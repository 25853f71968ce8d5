//! `GET /jobs/{job_id}/bundle`, `GET /experiments/{experiment_id}/bundle`

use super::error::ApiError;
use super::extract::{ExperimentPath, JobPath, Query};
use super::responses::WriteErrors;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use futures::stream;
use papertape_core::id::{ExperimentId, JobId};
use papertape_protocol::bundle::BundleQuery;
use papertape_service::app::App;
use papertape_service::bundle::archive::Archive;
use papertape_service::bundle::{BundleOptions, BundleTarget, collect};
use std::io::{self, Write};
use tokio::sync::mpsc::{Sender, channel};

/// The size of a chunk of the response, and how many wait for a slow client.
const CHUNK: usize = 64 << 10;
const WAITING: usize = 4;

/// Get the evidence bundle of a job
///
/// A zip archive with the config, dataset hashes, ledger, fills, metrics, comparison, audit, heads and known limitations.
/// `papertape verify FILE` verifies it without a database. The job must have stopped. The response takes as long as an
/// audit of all its sessions, unless `audit` is `false`. Bundles are collected one at a time.
#[utoipa::path(
    get,
    path = "/jobs/{job_id}/bundle",
    tag = "record",
    params(("job_id" = String, Path, description = "The job"), BundleQuery),
    responses(
        (status = 200, body = Vec<u8>, content_type = "application/zip", description = "The bundle; see docs/bundle.md"),
        WriteErrors
    )
)]
pub(super) async fn job(
    State(app): State<App>,
    JobPath(job): JobPath,
    Query(query): Query<BundleQuery>,
) -> Result<Response, ApiError> {
    let job = match job.contains('\0') {
        true => return Err(ApiError::NotFound("unknown job ID".to_owned())),
        false => JobId::new(job),
    };
    respond(&app, BundleTarget::Job(job), query).await
}

/// Get the evidence bundle of an experiment
///
/// The bundles of all its jobs in one file, with their comparison. All jobs must have stopped.
#[utoipa::path(
    get,
    path = "/experiments/{experiment_id}/bundle",
    tag = "record",
    params(("experiment_id" = String, Path, description = "The experiment"), BundleQuery),
    responses(
        (status = 200, body = Vec<u8>, content_type = "application/zip", description = "The bundle; see docs/bundle.md"),
        WriteErrors
    )
)]
pub(super) async fn experiment(
    State(app): State<App>,
    ExperimentPath(experiment): ExperimentPath,
    Query(query): Query<BundleQuery>,
) -> Result<Response, ApiError> {
    respond(&app, BundleTarget::Experiment(ExperimentId::new(experiment)), query).await
}

async fn respond(app: &App, target: BundleTarget, query: BundleQuery) -> Result<Response, ApiError> {
    let options = BundleOptions { tape: query.tape.unwrap_or_default(), audit: query.audit };
    // With PostgreSQL, there may be no data directory.
    let data_dir = &app.config.data_dir;
    let dir = if data_dir.is_dir() { data_dir.clone() } else { std::env::temp_dir() };
    let archive = Box::pin(collect(app, &target, options, &dir, &|_, _| {})).await?;
    let headers = [
        (CONTENT_TYPE, "application/zip".to_owned()),
        (CONTENT_LENGTH, archive.bytes().to_string()),
        (CONTENT_DISPOSITION, format!("attachment; filename=\"{}\"", target.file_name())),
    ];
    Ok((headers, stream(archive)).into_response())
}

/// Sends the file in chunks, as fast as the client reads.
fn stream(mut archive: Archive) -> Body {
    let (sender, mut chunks) = channel(WAITING);
    tokio::task::spawn_blocking(move || {
        let mut out = io::BufWriter::with_capacity(CHUNK, ChunkWriter(sender.clone()));
        if let Err(error) = archive.write_to(&mut out) {
            // The client sees that the body is shorter than its length.
            drop(sender.blocking_send(Err(io::Error::other(error))));
        }
    });
    Body::from_stream(stream::poll_fn(move |context| chunks.poll_recv(context)))
}

struct ChunkWriter(Sender<io::Result<Bytes>>);

impl Write for ChunkWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.0.blocking_send(Ok(Bytes::copy_from_slice(bytes)));
        sent.map_err(|_| io::Error::new(io::ErrorKind::BrokenPipe, "the client has disconnected"))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
