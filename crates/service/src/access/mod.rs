//! Who may use the server: named tokens with a scope, browser sessions, and throttling of failed logins.
//!
//! Decisions depend only on the arguments and the given instant; this module knows no HTTP. Tokens and
//! session cookies are stored as hashes, so nothing that is stored grants access.

mod attempts;
mod token;

pub use attempts::LoginThrottle;
pub use token::{HASH_PREFIX, TOKEN_PREFIX, TokenHash, new_token};

use papertape_core::time::Timestamp;
use papertape_protocol::access::Scope;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::time::Duration;

/// The maximum number of browser sessions at a time; one more ends the session that would expire first.
pub const MAX_SESSIONS: u32 = 1_000;
/// The caller name for the key that a server leaves for commands of its own user.
const THIS_MACHINE: &str = "this machine";

/// A configured token, represented by its hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessToken {
    /// The owner or purpose.
    pub name: String,
    /// What the token allows.
    pub scope: Scope,
    /// The token's hash.
    pub hash: TokenHash,
}

/// An authenticated caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The token's name.
    pub name: String,
    /// What it may do.
    pub scope: Scope,
}

/// Why a login is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginError {
    /// No configured token has this value.
    UnknownToken,
    /// Too many logins from this client have failed; the next one is not checked before this time has passed.
    Throttled(Duration),
}

/// Authenticates callers.
#[derive(Debug)]
pub struct Authenticator {
    tokens: Vec<(TokenHash, Caller)>,
    throttle: LoginThrottle,
    session_duration: Duration,
    /// The key for commands of the server's own user, which find it in the data directory.
    local: Option<String>,
}

/// A browser session. Only its hashes are stored.
#[derive(Clone, Debug)]
pub struct Login {
    /// The cookie that the browser sends from now on.
    pub cookie: String,
    /// The cookie's hash.
    pub cookie_hash: TokenHash,
    /// The hash of the token used to log in.
    pub token_hash: TokenHash,
    /// The token's name and scope.
    pub caller: Caller,
    /// When the session expires.
    pub until: Timestamp,
}

impl Authenticator {
    /// An authenticator for these tokens. A browser stays logged in for `session_hours`, at least 1.
    #[must_use]
    pub fn new(tokens: &[AccessToken], session_hours: u32) -> Self {
        let known =
            |token: &AccessToken| (token.hash, Caller { name: token.name.clone(), scope: token.scope });
        let mut tokens: Vec<_> = tokens.iter().map(known).collect();
        let local = (!tokens.is_empty()).then(new_token);
        if let Some(key) = &local {
            let caller = Caller { name: THIS_MACHINE.to_owned(), scope: Scope::Operate };
            tokens.push((TokenHash::of(key), caller));
        }
        Self {
            tokens,
            throttle: LoginThrottle::default(),
            session_duration: Duration::from_secs(u64::from(session_hours.max(1)) * 3_600),
            local,
        }
    }

    /// Whether no token is configured, so that anyone who can reach the server has full access.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The key for commands of the server's own user; `None` if no tokens are configured.
    #[must_use]
    pub fn local_key(&self) -> Option<&str> {
        self.local.as_deref()
    }

    /// How long a browser stays logged in.
    #[must_use]
    pub fn session_duration(&self) -> Duration {
        self.session_duration
    }

    /// The caller that holds this token.
    #[must_use]
    pub fn by_token(&self, token: &str) -> Option<Caller> {
        self.caller_of(token).map(|(_, caller)| caller.clone())
    }

    fn caller_of(&self, token: &str) -> Option<(TokenHash, &Caller)> {
        let hash = TokenHash::from_well_formed(token)?;
        // Every token is compared, in constant time, so timing reveals nothing.
        let mut found = None;
        for (known, caller) in &self.tokens {
            if *known == hash {
                found = Some((hash, caller));
            }
        }
        found
    }

    /// The caller that holds the token with this hash, as stored with a login; `None` if the token is no
    /// longer configured.
    #[must_use]
    pub fn by_token_hash(&self, hash: &str) -> Option<Caller> {
        let known = self.tokens.iter().find(|(known, _)| known.to_string() == hash);
        known.map(|(_, caller)| caller.clone())
    }

    /// Logs a browser in with a token.
    ///
    /// # Errors
    /// The token is unknown, or the client has failed too often.
    pub fn log_in(&self, client: IpAddr, token: &str, now: Timestamp) -> Result<Login, LoginError> {
        if let Some(wait) = self.throttle.wait(client, now) {
            return Err(LoginError::Throttled(wait));
        }
        let Some((token_hash, caller)) = self.caller_of(token.trim()) else {
            self.throttle.failed(client, now);
            return Err(LoginError::UnknownToken);
        };
        self.throttle.succeeded(client);
        let cookie = new_token();
        let until = now.checked_add(self.session_duration).unwrap_or(Timestamp::MAX);
        Ok(Login { cookie_hash: TokenHash::of(&cookie), cookie, token_hash, caller: caller.clone(), until })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn authenticator(token: &str, scope: Scope) -> Authenticator {
        let token = AccessToken { name: "desk".to_owned(), scope, hash: TokenHash::of(token) };
        Authenticator::new(&[token], 2)
    }

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + secs).expect("an instant")
    }

    /// A login gets its own cookie with its own lifetime. The cookie is not a token, and the token's hash
    /// identifies the caller as long as the token is configured.
    #[test]
    fn a_login_belongs_to_a_token() {
        let token = new_token();
        let first = authenticator(&token, Scope::Read);
        let client = IpAddr::from([10, 0, 0, 1]);
        let login = first.log_in(client, &format!(" {token}\n"), at(0)).expect("logs in");
        assert_eq!(login.caller, Caller { name: "desk".to_owned(), scope: Scope::Read });
        assert_eq!((login.until, login.cookie_hash), (at(7_200), TokenHash::of(&login.cookie)));
        assert_eq!(first.by_token(&login.cookie), None, "a cookie is not a token");
        let stored = login.token_hash.to_string();
        assert_eq!(first.by_token_hash(&stored), Some(login.caller));
        assert_eq!(
            authenticator(&token, Scope::Operate).by_token_hash(&stored).map(|by| by.scope),
            Some(Scope::Operate)
        );
        assert_eq!(authenticator(&new_token(), Scope::Read).by_token_hash(&stored), None, "it was revoked");
        assert_eq!(first.by_token_hash(&token), None, "a token is not a hash");
    }

    /// Failed logins slow down that client only, until a login succeeds.
    #[test]
    fn failed_logins_are_throttled() {
        let token = new_token();
        let access = authenticator(&token, Scope::Read);
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let wrong = |client, secs| access.log_in(client, "guess", at(secs)).expect_err("rejected");
        let a_second = LoginError::Throttled(Duration::from_secs(1));
        assert_eq!((wrong(one, 0), wrong(one, 0)), (LoginError::UnknownToken, a_second));
        assert_eq!((wrong(one, 1), wrong(one, 1)), (LoginError::UnknownToken, a_second));
        assert_eq!(wrong(one, 2), LoginError::UnknownToken);
        assert_eq!(wrong(one, 2), LoginError::Throttled(Duration::from_secs(2)));
        // Even the correct token is not checked before the pause is over.
        assert!(access.log_in(one, &token, at(3)).is_err());
        assert!(access.log_in(other, &token, at(3)).is_ok());
        assert!(access.log_in(one, &token, at(4)).is_ok());
        assert_eq!((wrong(one, 4), wrong(one, 4)), (LoginError::UnknownToken, a_second), "it started over");
    }

    /// Without tokens the server is open, and there is no local key.
    #[test]
    fn without_tokens_the_server_is_open() {
        let open = Authenticator::new(&[], 12);
        assert!(open.is_open() && open.local_key().is_none());
        let closed = authenticator(&new_token(), Scope::Read);
        let local = closed.by_token(closed.local_key().expect("a key")).expect("logs in");
        assert_eq!(local.scope, Scope::Operate);
        assert!(!closed.is_open());
    }
}
