//! A database for each test, with direct access that bypasses the store.

use papertape_store::{DatabaseTarget, Store};
use papertape_testkit::postgres;
use tempfile::TempDir;

/// A test's database.
pub(crate) struct Place {
    pub(crate) target: DatabaseTarget,
    _dir: Option<TempDir>,
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        let dir = tempfile::tempdir().expect("makes a directory");
        Self { target: DatabaseTarget::Sqlite(dir.path().join("tape.db")), _dir: Some(dir) }
    }

    pub(crate) fn postgres() -> Self {
        let place = postgres::place().expect("starts PostgreSQL");
        Self { target: DatabaseTarget::Postgres(place.url, place.schema), _dir: None }
    }

    pub(crate) async fn store(&self) -> Store {
        Store::open(self.target.clone()).await.expect("opens")
    }

    /// Runs a statement as someone who edits the database by hand. Returns the number of changed rows.
    pub(crate) async fn edit(&self, sql: &str) -> u64 {
        match &self.target {
            DatabaseTarget::Sqlite(path) => {
                let connection = rusqlite::Connection::open(path).expect("opens");
                connection.busy_timeout(std::time::Duration::from_secs(10)).expect("waits");
                connection.execute(sql, []).expect("edits") as u64
            }
            DatabaseTarget::Postgres(url, schema) => {
                let client = client(url, schema).await;
                client.execute(sql, &[]).await.expect("edits")
            }
        }
    }

    /// The first column of the first row, an integer.
    pub(crate) async fn number(&self, sql: &str) -> i64 {
        match &self.target {
            DatabaseTarget::Sqlite(path) => {
                let connection = rusqlite::Connection::open(path).expect("opens");
                connection.query_row(sql, [], |row| row.get(0)).expect("reads")
            }
            DatabaseTarget::Postgres(url, schema) => {
                client(url, schema).await.query_one(sql, &[]).await.expect("reads").get(0)
            }
        }
    }

    /// The first column of the first row, a text.
    pub(crate) async fn text(&self, sql: &str) -> String {
        match &self.target {
            DatabaseTarget::Sqlite(path) => {
                let connection = rusqlite::Connection::open(path).expect("opens");
                connection.query_row(sql, [], |row| row.get(0)).expect("reads")
            }
            DatabaseTarget::Postgres(url, schema) => {
                client(url, schema).await.query_one(sql, &[]).await.expect("reads").get(0)
            }
        }
    }
}

async fn client(url: &str, schema: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("connects");
    tokio::spawn(connection);
    client.batch_execute(&format!("SET search_path TO {schema}")).await.expect("finds the schema");
    client
}

/// Defines a test for an async function of a [`Place`], once per database.
macro_rules! on_both {
    ($($name:ident),* $(,)?) => { $(
        mod $name {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                super::$name(crate::places::Place::sqlite()).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres_too() {
                super::$name(crate::places::Place::postgres()).await;
            }
        }
    )* };
}
pub(crate) use on_both;
