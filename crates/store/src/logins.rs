//! Browser logins: hashes only, each with an expiry.

use crate::error::StoreError;
use crate::store::Store;
use crate::value::params;
use futures::FutureExt as _;
use papertape_core::time::Timestamp;

impl Store {
    /// Stores a login until it expires, by its cookie's hash, with the hash of the token that created it. Removes
    /// expired logins and, if there are more than `most`, those that expire first.
    ///
    /// # Errors
    /// Returns an error if the database fails or the cookie already exists.
    pub async fn add_login(
        &self,
        cookie: &str,
        token: &str,
        (now, ends_at): (Timestamp, Timestamp),
        limit: u32,
    ) -> Result<(), StoreError> {
        let (cookie, token) = (cookie.to_owned(), token.to_owned());
        self.write(move |db| {
            let (cookie, token) = (cookie.clone(), token.clone());
            async move {
                db.execute("DELETE FROM logins WHERE ends_at <= $1", params![now]).await?;
                let sql = "DELETE FROM logins WHERE cookie_hash NOT IN
                    (SELECT cookie_hash FROM logins ORDER BY ends_at DESC, cookie_hash LIMIT $1)";
                db.execute(sql, params![limit.saturating_sub(1)]).await?;
                let sql = "INSERT INTO logins (cookie_hash, token_hash, ends_at) VALUES ($1, $2, $3)";
                db.execute(sql, params![&cookie, &token, ends_at]).await.map(drop)
            }
            .boxed()
        })
        .await
    }

    /// The hash of the token with which a browser logged in; `None` if the login has expired or the cookie is
    /// unknown.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn login(&self, cookie: &str, now: Timestamp) -> Result<Option<String>, StoreError> {
        self.read_with(cookie.to_owned(), move |db, cookie| {
            async move {
                let sql = "SELECT token_hash FROM logins WHERE cookie_hash = $1 AND ends_at > $2";
                db.row(sql, params![cookie, now]).await?.map(|mut row| row.get()).transpose()
            }
            .boxed()
        })
        .await
    }

    /// Ends a login. Does nothing if there is no such login.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn end_login(&self, cookie: &str) -> Result<(), StoreError> {
        self.write_with(cookie.to_owned(), |db, cookie| {
            async move {
                let sql = "DELETE FROM logins WHERE cookie_hash = $1";
                db.execute(sql, params![cookie]).await.map(drop)
            }
            .boxed()
        })
        .await
    }
}
