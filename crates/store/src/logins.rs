//! Browser logins: hashes only, each with an expiry.

use crate::error::Result;
use crate::store::Store;
use crate::value::{columns, params};
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
    ) -> Result<()> {
        self.write_with((cookie.to_owned(), token.to_owned()), move |db, (cookie, token)| {
            async move {
                db.execute("DELETE FROM logins WHERE ends_at <= $1", params![now]).await?;
                let sql = "DELETE FROM logins WHERE cookie_hash NOT IN
                    (SELECT cookie_hash FROM logins ORDER BY ends_at DESC, cookie_hash LIMIT $1)";
                db.execute(sql, params![limit.saturating_sub(1)]).await?;
                let row = columns! { cookie_hash: cookie, token_hash: token, ends_at };
                db.insert("logins", row).await
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
    pub async fn login(&self, cookie: &str, now: Timestamp) -> Result<Option<String>> {
        let sql = "SELECT token_hash FROM logins WHERE cookie_hash = $1 AND ends_at > $2";
        self.first(sql, params![cookie, now]).await
    }

    /// Ends a login. Does nothing if there is no such login.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn end_login(&self, cookie: &str) -> Result<()> {
        self.execute("DELETE FROM logins WHERE cookie_hash = $1", params![cookie]).await.map(drop)
    }
}
