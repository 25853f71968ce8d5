//! Notifies other processes of commits, and listens for theirs: `NOTIFY` and `LISTEN`.

use super::tls::ConnectOptions;
use crate::notifications::JobNotifier;
use deadpool_postgres::Pool;
use futures::future::{Either, select};
use futures::{StreamExt as _, stream};
use papertape_core::id::JobId;
use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio_postgres::AsyncMessage;

/// Delay before a broken connection is reopened.
const PAUSE: Duration = Duration::from_secs(1);

/// The background tasks of a store's hub. They end with it.
#[derive(Debug)]
pub(super) struct CrossProcessNotifier {
    way: ConnectOptions,
    /// The channel's name. Each schema is a database of its own and has its own channel.
    channel: String,
    tasks: Mutex<Tasks>,
}

#[derive(Debug, Default)]
struct Tasks {
    sender: Option<AbortHandle>,
    listener: Option<AbortHandle>,
}

impl CrossProcessNotifier {
    /// For the database in this schema. Starts no task yet.
    pub(super) fn new(way: ConnectOptions, schema: &str) -> Self {
        Self { way, channel: format!("papertape_{schema}"), tasks: Mutex::default() }
    }

    /// Publishes the hub's commits to other processes from now on.
    pub(super) fn notify_from(&self, runtime: &Handle, pool: Pool, notifier: JobNotifier) {
        let channel = self.channel.clone();
        let sender = runtime.spawn(async move {
            loop {
                let jobs = notifier.unpublished().await;
                if let Err(error) = notify(&pool, &channel, &jobs).await {
                    // Followers in other processes also poll, so a lost notification is only a delay.
                    tracing::debug!(error = %error, "cannot notify other processes of a commit");
                }
            }
        });
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = tasks.sender.replace(sender.abort_handle()) {
            before.abort();
        }
    }

    /// Wakes the hub's followers when another process commits, from now on. Calling it again has no effect.
    pub(super) fn listen(&self, runtime: &Handle, notifier: &JobNotifier) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        if tasks.listener.is_some() {
            return;
        }
        let (way, channel, notifier) = (self.way.clone(), self.channel.clone(), notifier.clone());
        let listener = runtime.spawn(async move {
            loop {
                if let Err(error) = listen(&way, &channel, &notifier).await {
                    tracing::warn!(error = %error, "not receiving other processes' commits for now");
                }
                tokio::time::sleep(PAUSE).await;
            }
        });
        tasks.listener = Some(listener.abort_handle());
    }
}

impl Drop for CrossProcessNotifier {
    fn drop(&mut self) {
        let tasks = self.tasks.get_mut().unwrap_or_else(PoisonError::into_inner);
        for task in [tasks.sender.take(), tasks.listener.take()].into_iter().flatten() {
            task.abort();
        }
    }
}

async fn notify(pool: &Pool, channel: &str, jobs: &[JobId]) -> Result<(), String> {
    let client = pool.get().await.map_err(|error| error.to_string())?;
    let jobs: Vec<&str> = jobs.iter().map(JobId::as_str).collect();
    let sql = "SELECT pg_notify($1, job) FROM unnest($2::text[]) AS job";
    let statement = client.prepare_cached(sql).await.map_err(|error| error.to_string())?;
    client.query(&statement, &[&channel, &jobs]).await.map(drop).map_err(|error| error.to_string())
}

/// Listens until the connection ends.
async fn listen(
    way: &ConnectOptions,
    channel: &str,
    notifier: &JobNotifier,
) -> Result<(), tokio_postgres::Error> {
    let (client, mut connection) = way.config.connect(way.tls.clone()).await?;
    let listener = pin!(async move {
        let mut messages = stream::poll_fn(move |context| connection.poll_message(context));
        while let Some(message) = messages.next().await {
            if let AsyncMessage::Notification(notification) = message? {
                notifier.wake(&JobId::new(notification.payload()));
            }
        }
        Ok(())
    });
    let liveness_probe = pin!(async {
        client.batch_execute(&format!("LISTEN {channel}")).await?;
        // Commits made before `LISTEN` were not announced.
        notifier.wake_all();
        std::future::pending::<Result<(), tokio_postgres::Error>>().await
    });
    match select(listener, liveness_probe).await {
        Either::Left((ended, _)) | Either::Right((ended, _)) => ended,
    }
}
