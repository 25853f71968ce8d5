//! Layer 3: key names that hold a secret.
//!
//! A name is split into words (`X-MBX-APIKEY`, `apiKey` and `api_key` are equal), which tells `max_tokens`,
//! `token_count` and `password_policy` from `access_token` and `password`.

use super::class::{Class, strong, weak};
use super::{fold, names};
use std::cell::RefCell;
use std::collections::HashSet;

/// The label for a text whose redaction could not be completed.
pub(super) const FAILED: &str = "failed";
/// The label of a configured credential whose name cannot be shown.
pub(super) const CREDENTIAL: &str = "credential";

/// Every label that the rules use.
pub(super) const LABELS: &[&str] = &[
    "api_key",
    "authorization",
    "bearer",
    "basic",
    "cookie",
    CREDENTIAL,
    FAILED,
    "header",
    "jwt",
    "key",
    "mnemonic",
    "password",
    "pem",
    "private_key",
    "secret",
    "signature",
    "token",
    "url_password",
    "wallet_key",
    "webhook",
];

/// Last words of names that say something *about* a secret.
#[rustfmt::skip]
const ABOUT: &[&str] = &[
    "address", "age", "alias", "alg", "algorithm", "allowed", "at", "attempts", "average", "avg", "budget", "class",
    "configured", "consent", "cost", "count", "counts", "date", "days", "desc", "description", "dir", "disabled",
    "domain", "enabled", "endpoint", "env", "error", "errors", "exists", "expiration", "expired",
    "expires", "expiry", "field", "fields", "file", "filename", "fingerprint", "format", "hash",
    "help", "hint", "host", "id", "ids", "in", "index", "indices", "kind", "label", "len", "length", "level",
    "limit", "limits", "location", "logprob", "logprobs", "manager", "max", "message", "min", "missing", "mode", "ms",
    "name", "names", "offset", "on", "out", "owner", "pair", "path", "policies", "policy", "port", "position",
    "present", "price", "prompt", "provider", "quota", "rate", "ratio", "ref", "region", "remaining", "required", "requirements",
    "reset", "rotated", "rotation", "rules", "scope", "scopes", "secs", "seconds", "service", "set", "size", "source",
    "status", "strength", "style", "symbol", "time", "timeout", "title", "total", "ttl", "type", "types", "updated",
    "uri", "url", "usage", "used", "user", "username", "valid", "var", "variable", "version", "visible",
];

/// First words of names that are a quantity or a question.
const ASKING: &[&str] = &[
    "allow", "allows", "can", "enable", "expected", "has", "hide", "is", "max", "min", "missing", "need",
    "needs", "no", "num", "number", "require", "required", "requires", "show", "total", "use", "uses",
    "with", "without",
];

/// Words that make a key or a token ordinary wherever they appear in a name.
#[rustfmt::skip]
const ORDINARY: &[&str] = &[
    "bos", "cached", "budget", "cache", "cls", "completion", "continuation", "counter", "cursor", "dedup", "dedupe",
    "draft", "eos", "foreign", "idempotency", "logprob", "next", "object", "pad", "page", "pagination", "partition", "policy",
    "prev", "primary", "public", "row", "sep", "sort", "special", "stop", "sync", "tokenizer", "unique", "unk", "usage", "pub",
];

/// Joined words that name a secret wherever they appear, with their label.
#[rustfmt::skip]
const STRONG: &[(&str, &str)] = &[
    ("privatekey", "private_key"), ("privkey", "private_key"), ("signingkey", "private_key"),
    ("walletkey", "wallet_key"), ("walletsecret", "wallet_key"), ("spendingkey", "wallet_key"),
    ("seedphrase", "mnemonic"), ("recoveryphrase", "mnemonic"), ("secretphrase", "mnemonic"), ("backupphrase", "mnemonic"),
    ("seedwords", "mnemonic"), ("recoverykey", "secret"), ("recoverycode", "secret"), ("backupcode", "secret"),
    ("apikey", "api_key"), ("apisecret", "api_key"), ("secretkey", "secret"), ("accesskey", "api_key"),
    ("encryptionkey", "secret"), ("masterkey", "secret"), ("accountkey", "api_key"),
    ("subscriptionkey", "api_key"), ("servicekey", "api_key"), ("consumerkey", "api_key"),
    ("appkey", "api_key"), ("licensekey", "api_key"), ("sharedkey", "secret"), ("authkey", "api_key"),
    ("sessionkey", "secret"), ("hmackey", "secret"), ("deploykey", "secret"), ("clientsecret", "secret"),
    ("accesstoken", "token"), ("authtoken", "token"), ("refreshtoken", "token"), ("idtoken", "token"),
    ("bearertoken", "token"), ("sessiontoken", "token"), ("securitytoken", "token"), ("apitoken", "token"),
    ("bottoken", "token"), ("csrftoken", "token"), ("xsrftoken", "token"), ("personaltoken", "token"),
    ("usertoken", "token"), ("admintoken", "token"), ("servicetoken", "token"), ("secrettoken", "token"),
    ("logintoken", "token"), ("authorizationcode", "authorization"), ("password", "password"),
    ("passwd", "password"), ("passphrase", "password"), ("passcode", "password"), ("passwort", "password"),
];

/// Header fields whose values are not secrets.
#[rustfmt::skip]
const PLAIN_HEADERS: &[&str] = &[
    "accept", "acceptencoding", "acceptlanguage", "age", "allow", "cachecontrol", "connection",
    "contentdisposition", "contentencoding", "contentlanguage", "contentlength", "contenttype", "date", "etag",
    "expires", "host", "keepalive", "lastmodified", "location", "origin", "pragma", "referer",
    "retryafter", "server", "te", "trailer", "transferencoding", "upgrade", "useragent", "vary",
    "via", "xrequestid", "requestid",
];

/// The words of a name, in lower case and in plain letters, with lookalike letters folded.
pub(super) fn words(name: &str) -> Vec<String> {
    let name = fold::name(name);
    let mut out: Vec<String> = Vec::new();
    let mut open = false;
    let chars: Vec<char> = name.chars().collect();
    for (at, c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            open = false;
            continue;
        }
        let before = at.checked_sub(1).map(|i| chars[i]);
        let rises = c.is_uppercase() && before.is_some_and(|b| b.is_lowercase() || b.is_numeric());
        // The last capital of a run begins the next word: `APIKey` is `api key`.
        let ends_run = c.is_uppercase()
            && before.is_some_and(char::is_uppercase)
            && chars.get(at + 1).is_some_and(|next| next.is_lowercase());
        if !open || rises || ends_run {
            out.push(String::new());
            open = true;
        }
        if let Some(word) = out.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    out
}

/// Maximum bytes of a name that is remembered.
const MAX_REMEMBERED_BYTES: usize = 24;
/// Maximum number of names that a thread remembers.
const MAX_REMEMBERED: usize = 512;

thread_local! {
    /// Names of members that were found to be ordinary: the same few appear in almost all JSON.
    static ORDINARY_NAMES: RefCell<HashSet<Box<str>>> = RefCell::default();
}

/// Whether a name is neither that of a secret nor that of header fields, as [`classify`] and [`is_headers`] find.
pub(super) fn is_ordinary(name: &str) -> bool {
    let compute = || classify(name).is_none() && !is_headers(name);
    // No secret is remembered: none consists of a few small letters.
    if name.len() > MAX_REMEMBERED_BYTES || !name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'_')) {
        return compute();
    }
    ORDINARY_NAMES.with_borrow_mut(|names| {
        if names.contains(name) {
            return true;
        }
        let is_ordinary = compute();
        if is_ordinary {
            if names.len() == MAX_REMEMBERED {
                names.clear();
            }
            names.insert(name.into());
        }
        is_ordinary
    })
}

/// The class of secret under this name; `None` for an ordinary name.
pub(super) fn classify(name: &str) -> Option<Class> {
    if name.len() > 128 || name.contains("[redacted:") {
        return None;
    }
    let words = words(name);
    let joined = words.concat();
    if let Some(class) = names::header(name, &joined).or_else(|| names::foreign(name, &words, &joined)) {
        return Some(class);
    }
    let (first, last) = (words.first()?.as_str(), words.last()?.as_str());
    if words.iter().any(|word| ORDINARY.contains(&word.as_str())) || ASKING.contains(&first) {
        return None;
    }
    let is_key_id = last == "id" && (joined.ends_with("apikeyid") || joined.ends_with("accesskeyid"));
    let is_password_hash = last == "hash" && joined.contains("password");
    if last == "id" && joined.ends_with("keyid") && words.len() > 2 && !is_key_id {
        return Some(weak("api_key")); // Some brokers send their key as `…-KEY-ID`.
    }
    if ABOUT.contains(&last) && words.len() > 1 && !is_key_id && !is_password_hash {
        return None;
    }
    if let Some((_, label)) = STRONG.iter().find(|(text, _)| joined.contains(text)) {
        return Some(strong(label));
    }
    if joined.ends_with("authorization") {
        return Some(strong("authorization"));
    }
    match last {
        "cookie" | "cookies" => Some(strong("cookie")),
        "secret" | "secrets" => Some(strong("secret")),
        "credential" | "credentials" | "creds" => Some(strong("credential")),
        "pwd" | "otp" | "totp" => Some(strong("password")),
        "jwt" | "bearer" => Some(strong("token")),
        "mnemonic" | "wif" | "xprv" => Some(strong("mnemonic")),
        "token" | "auth" => Some(weak("token")),
        "pass" | "pin" => Some(weak("password")),
        "key" if words.len() > 1 => Some(weak("api_key")),
        _ if words.iter().any(|word| word == "secret") => Some(weak("secret")),
        _ => None,
    }
}

/// Whether a name says something about a secret and does not hold one (`min_length`, `type`).
pub(super) fn is_about(name: &str) -> bool {
    let words = words(name);
    words.first().is_some_and(|word| ASKING.contains(&word.as_str()))
        || words.last().is_some_and(|word| ABOUT.contains(&word.as_str()))
}

/// A parameter of a URL's query that holds a secret.
pub(super) fn classify_query(name: &str) -> Option<Class> {
    match words(name).concat().as_str() {
        "key" => Some(weak("key")),
        "sig" | "signature" | "xamzsignature" | "xgoogsignature" => Some(strong("signature")),
        "token" | "auth" | "xamzsecuritytoken" => Some(strong("token")),
        "xamzcredential" => Some(strong("credential")),
        "pass" => Some(strong("password")),
        _ => classify(name),
    }
}

/// A name whose object holds header fields.
pub(super) fn is_headers(name: &str) -> bool {
    words(name).last().is_some_and(|word| word == "headers" || word == "header")
}

/// A header field that may be shown.
pub(super) fn is_plain_header(name: &str) -> bool {
    let joined = words(name).concat();
    PLAIN_HEADERS.contains(&joined.as_str())
        || joined.contains("ratelimit")
        || joined.ends_with("version")
        || is_about(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Goal: remembering a name changes nothing, however many names were seen before.
    #[test]
    fn a_remembered_name_is_classified_as_before() {
        let names = ["symbol", "text", "api_key", "headers", "token", "pin", "max_tokens", "apiKey", "密码"];
        for round in 0..3 {
            for name in names {
                let expected = classify(name).is_none() && !is_headers(name);
                assert_eq!(is_ordinary(name), expected, "{name} in round {round}");
            }
            for number in 0..2 * MAX_REMEMBERED {
                let letter = |place: usize| char::from(b'b' + (number / 8_usize.pow(place as u32) % 8) as u8);
                let name: String = (0..4).map(letter).collect();
                assert!(is_ordinary(&format!("x_{name}")), "{name} is an ordinary name");
            }
        }
    }
}
