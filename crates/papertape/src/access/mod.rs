//! Who may use the server: named tokens with a scope, browsers' sessions, and logins that fail.
//!
//! It decides from what it is given and the instant that it is told; it knows no HTTP. Tokens are kept as
//! hashes, and so are the sessions' cookies: nothing that is held here lets anybody in.

mod attempts;
mod token;

pub use attempts::Attempts;
pub use token::{HASH_PREFIX, TOKEN_PREFIX, TokenHash, new_token};

use crate::config::AuthConfig;
use papertape_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use utoipa::ToSchema;

/// The most browsers that are logged in at a time; a further one ends the session that would end first.
const MOST_SESSIONS: usize = 1_000;
/// The name of whoever holds the key that a server leaves for the commands of its own user.
const THIS_MACHINE: &str = "this machine";

/// What a caller may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[derive(clap::ValueEnum)]
pub enum Scope {
    /// Read everything, change nothing.
    Read,
    /// Read everything, and start, stop and change what can be.
    Operate,
}

impl Scope {
    /// As configuration and answers spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Operate => "operate",
        }
    }
}

/// Somebody who was let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The token's name.
    pub name: String,
    /// What it may do.
    pub scope: Scope,
}

/// Why a login is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginRefused {
    /// There is no such token.
    Wrong,
    /// So many have failed from there that the next is not looked at before this time has passed.
    Slowed(Duration),
}

/// Knows who may come in.
#[derive(Debug)]
pub struct Doorkeeper {
    tokens: Vec<(TokenHash, Caller)>,
    sessions: Mutex<HashMap<TokenHash, Session>>,
    attempts: Attempts,
    lasts: Duration,
    /// Lets the commands of the server's own user in: they find it in the data directory.
    local: Option<String>,
}

#[derive(Debug)]
struct Session {
    caller: Caller,
    until: Timestamp,
}

impl Doorkeeper {
    /// One that lets the configured tokens in.
    #[must_use]
    pub fn new(config: &AuthConfig) -> Self {
        let known = |token: &crate::config::AccessToken| {
            (token.hash, Caller { name: token.name.clone(), scope: token.scope })
        };
        let mut tokens: Vec<_> = config.tokens.iter().map(known).collect();
        let local = (!tokens.is_empty()).then(new_token);
        if let Some(key) = &local {
            let caller = Caller { name: THIS_MACHINE.to_owned(), scope: Scope::Operate };
            tokens.push((TokenHash::of(key), caller));
        }
        Self {
            tokens,
            sessions: Mutex::default(),
            attempts: Attempts::default(),
            lasts: Duration::from_secs(u64::from(config.session_hours.max(1)) * 3_600),
            local,
        }
    }

    /// Is no token configured, so that whoever reaches the server may do everything?
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The key for commands of the server's own user; `None` where none is needed.
    #[must_use]
    pub fn local_key(&self) -> Option<&str> {
        self.local.as_deref()
    }

    /// How long a browser stays logged in.
    #[must_use]
    pub fn session_lasts(&self) -> Duration {
        self.lasts
    }

    /// Who holds this token.
    #[must_use]
    pub fn by_token(&self, token: &str) -> Option<Caller> {
        let hash = TokenHash::of_well_formed(token)?;
        // All are compared, each in constant time: how long it takes tells nothing.
        let mut found = None;
        for (known, caller) in &self.tokens {
            if *known == hash {
                found = Some(caller);
            }
        }
        found.cloned()
    }

    /// Who is logged in with this cookie.
    #[must_use]
    pub fn by_cookie(&self, cookie: &str, now: Timestamp) -> Option<Caller> {
        let hash = TokenHash::of_well_formed(cookie)?;
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get(&hash).filter(|session| now < session.until).map(|session| session.caller.clone())
    }

    /// Logs a browser in with a token, and gives its cookie.
    ///
    /// # Errors
    /// A token that is not known, or too many of them from there.
    pub fn log_in(
        &self,
        client: IpAddr,
        token: &str,
        now: Timestamp,
    ) -> Result<(String, Caller), LoginRefused> {
        if let Some(wait) = self.attempts.wait(client, now) {
            return Err(LoginRefused::Slowed(wait));
        }
        let Some(caller) = self.by_token(token.trim()) else {
            self.attempts.failed(client, now);
            return Err(LoginRefused::Wrong);
        };
        self.attempts.succeeded(client);
        let cookie = new_token();
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, session| now < session.until);
        while sessions.len() >= MOST_SESSIONS {
            let first = sessions.iter().min_by_key(|(_, session)| session.until).map(|(hash, _)| *hash);
            first.and_then(|hash| sessions.remove(&hash));
        }
        let until = now.checked_add(self.lasts).unwrap_or(Timestamp::MAX);
        sessions.insert(TokenHash::of(&cookie), Session { caller: caller.clone(), until });
        Ok((cookie, caller))
    }

    /// Ends a browser's session.
    pub fn log_out(&self, cookie: &str) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).remove(&TokenHash::of(cookie));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::AccessToken;

    fn keeper(token: &str, scope: Scope) -> Doorkeeper {
        let token = AccessToken { name: "desk".to_owned(), scope, hash: TokenHash::of(token) };
        Doorkeeper::new(&AuthConfig { tokens: vec![token], session_hours: 2 })
    }

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + secs).expect("an instant")
    }

    /// A session lasts its time and no longer, and ends with a logout; its cookie is no token.
    #[test]
    fn a_session_lasts_its_time() {
        let token = new_token();
        let keeper = keeper(&token, Scope::Read);
        let client = IpAddr::from([10, 0, 0, 1]);
        let (cookie, caller) = keeper.log_in(client, &format!(" {token}\n"), at(0)).expect("let in");
        assert_eq!(caller, Caller { name: "desk".to_owned(), scope: Scope::Read });
        assert_eq!(keeper.by_cookie(&cookie, at(7_199)), Some(caller));
        assert_eq!(keeper.by_cookie(&cookie, at(7_200)), None);
        assert_eq!(keeper.by_cookie(&token, at(1)), None, "a token is no cookie");
        assert_eq!(keeper.by_token(&cookie), None, "a cookie is no token");
        keeper.log_out(&cookie);
        assert_eq!(keeper.by_cookie(&cookie, at(1)), None);
    }

    /// However many log in, what is held stays bounded, and the oldest go first.
    #[test]
    fn sessions_are_bounded() {
        let token = new_token();
        let keeper = keeper(&token, Scope::Operate);
        let client = IpAddr::from([10, 0, 0, 1]);
        let log_in = |n: i64| keeper.log_in(client, &token, at(n)).expect("let in").0;
        let first = log_in(0);
        let second = log_in(1);
        for n in 2..=i64::try_from(MOST_SESSIONS).expect("is small") {
            log_in(n);
        }
        assert_eq!(keeper.by_cookie(&first, at(2_000)), None);
        assert!(keeper.by_cookie(&second, at(2_000)).is_some());
        assert_eq!(keeper.sessions.lock().expect("whole").len(), MOST_SESSIONS);
    }

    /// What fails is answered later and later, from that client alone, until a login succeeds.
    #[test]
    fn failed_logins_are_slowed() {
        let token = new_token();
        let keeper = keeper(&token, Scope::Read);
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let wrong = |client, secs| keeper.log_in(client, "guess", at(secs)).expect_err("refused");
        let a_second = LoginRefused::Slowed(Duration::from_secs(1));
        assert_eq!((wrong(one, 0), wrong(one, 0)), (LoginRefused::Wrong, a_second));
        assert_eq!((wrong(one, 1), wrong(one, 1)), (LoginRefused::Wrong, a_second));
        assert_eq!(wrong(one, 2), LoginRefused::Wrong);
        assert_eq!(wrong(one, 2), LoginRefused::Slowed(Duration::from_secs(2)));
        // Not even the right one is looked at before its time.
        assert!(keeper.log_in(one, &token, at(3)).is_err());
        assert!(keeper.log_in(other, &token, at(3)).is_ok());
        assert!(keeper.log_in(one, &token, at(4)).is_ok());
        assert_eq!((wrong(one, 4), wrong(one, 4)), (LoginRefused::Wrong, a_second), "it began anew");
    }

    /// Without tokens the server is open, and there is no key to leave anywhere.
    #[test]
    fn without_tokens_nobody_is_asked() {
        let open = Doorkeeper::new(&AuthConfig::default());
        assert!(open.is_open() && open.local_key().is_none());
        let kept = keeper(&new_token(), Scope::Read);
        let local = kept.by_token(kept.local_key().expect("a key")).expect("let in");
        assert_eq!(local.scope, Scope::Operate);
        assert!(!kept.is_open());
    }
}
