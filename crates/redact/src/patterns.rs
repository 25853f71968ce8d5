//! Layer 4: secrets recognized by their shape. Each begins with a literal that the scan finds; an anchored
//! pattern then checks the rest. The shapes are those that the issuers document for their own keys.

use super::span::{self, SecretSpan};
use base64::Engine as _;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Maximum bytes that one shape reads: a PEM block of a large key.
pub(super) const MAX_SHAPE: usize = 16 * 1024;

/// The bytes that a shape reads first.
pub(super) const NEAR: usize = 512;

struct Shape {
    literal: &'static str,
    label: &'static str,
    /// Whether no letter or digit may precede the literal.
    boundary: bool,
    /// Anchored at the literal; the first group, if any, is the secret.
    pattern: &'static str,
    check: fn(&str) -> bool,
}

const fn shape(literal: &'static str, label: &'static str, pattern: &'static str) -> Shape {
    Shape { literal, label, boundary: true, pattern, check: any }
}

const fn checked(mut shape: Shape, check: fn(&str) -> bool) -> Shape {
    shape.check = check;
    shape
}

const fn anywhere(mut shape: Shape) -> Shape {
    shape.boundary = false;
    shape
}

const TAIL: &str = r"^[A-Za-z0-9]+[-_.][A-Za-z0-9_.-]{16,}";
const LETTERS: &str = r"^[A-Za-z0-9]+[-_][A-Za-z0-9]{20,}";

#[rustfmt::skip]
static SHAPES: &[Shape] = &[
    // Model providers.
    checked(shape("sk-", "api_key", r"^(?i:sk)-[A-Za-z0-9_-]{16,}"), mixed),
    checked(shape("sess-", "api_key", TAIL), mixed),
    checked(shape("gsk_", "api_key", LETTERS), mixed),
    checked(shape("xai-", "api_key", TAIL), mixed),
    checked(shape("pplx-", "api_key", TAIL), mixed),
    checked(shape("nvapi-", "api_key", TAIL), mixed),
    checked(shape("tvly-", "api_key", TAIL), mixed),
    checked(shape("hf_", "api_key", LETTERS), mixed),
    checked(shape("r8_", "api_key", LETTERS), mixed),
    checked(shape("lsv2_", "api_key", TAIL), mixed),
    checked(shape("fw_", "api_key", LETTERS), mixed),
    checked(shape("jina_", "api_key", LETTERS), mixed),
    // Clouds and code hosts.
    shape("akia", "api_key", r"^AKIA[A-Z0-9]{16}\b"),
    shape("asia", "api_key", r"^ASIA[A-Z0-9]{16}\b"),
    shape("abia", "api_key", r"^ABIA[A-Z0-9]{16}\b"),
    shape("acca", "api_key", r"^ACCA[A-Z0-9]{16}\b"),
    shape("aiza", "api_key", r"^AIza[A-Za-z0-9_-]{30,}"),
    shape("ya29.", "token", r"^ya29\.[A-Za-z0-9_-]{16,}"),
    shape("gocspx-", "secret", r"^GOCSPX-[A-Za-z0-9_-]{16,}"),
    shape("ghp_", "token", LETTERS), shape("gho_", "token", LETTERS), shape("ghu_", "token", LETTERS),
    shape("ghs_", "token", LETTERS), shape("ghr_", "token", LETTERS),
    checked(shape("github_pat_", "token", r"^github_pat_[A-Za-z0-9_]{22,}"), mixed),
    checked(shape("glpat-", "token", TAIL), mixed),
    shape("npm_", "token", r"^npm_[A-Za-z0-9]{36}\b"),
    checked(shape("pypi-", "token", r"^pypi-[A-Za-z0-9_-]{40,}"), mixed),
    checked(shape("dop_v1_", "token", TAIL), mixed),
    checked(shape("dapi", "token", r"^dapi[0-9a-f]{32}(?:-\d)?\b"), any),
    checked(shape("hvs.", "token", TAIL), mixed),
    checked(shape("sbp_", "token", LETTERS), mixed),
    checked(shape("sb_secret_", "token", TAIL), mixed),
    checked(shape("glsa_", "token", TAIL), mixed),
    checked(shape("dckr_pat_", "token", TAIL), mixed),
    checked(shape("atatt3x", "token", r"^ATATT3x[A-Za-z0-9_=-]{40,}"), any),
    checked(shape("pmak-", "api_key", TAIL), mixed),
    checked(shape("lin_api_", "api_key", TAIL), mixed),
    checked(shape("ntn_", "api_key", LETTERS), mixed),
    checked(shape("secret_", "api_key", r"^secret_[A-Za-z0-9]{40,}"), mixed),
    shape("age-secret-key-1", "private_key", r"^AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    // Messengers and mail.
    checked(shape("xoxb-", "token", TAIL), mixed), checked(shape("xoxp-", "token", TAIL), mixed),
    checked(shape("xoxa-", "token", TAIL), mixed), checked(shape("xoxr-", "token", TAIL), mixed),
    checked(shape("xoxs-", "token", TAIL), mixed), checked(shape("xoxe", "token", r"^xoxe[.-][A-Za-z0-9.-]{16,}"), mixed),
    checked(shape("xoxc-", "token", TAIL), mixed), checked(shape("xoxd-", "token", r"^xoxd-[A-Za-z0-9%+/=-]{16,}"), mixed),
    checked(shape("xapp-", "token", TAIL), mixed),
    anywhere(shape("hooks.slack.com/", "webhook", r"^hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/-]{16,})")),
    anywhere(shape("/api/webhooks/", "webhook", r"^/api/webhooks/(\d{6,}/[A-Za-z0-9_-]{20,})")),
    anywhere(shape("access_token=", "webhook", r"^(?i:access_token)=([0-9a-f]{64})\b")),
    anywhere(shape("/bot/v2/hook/", "webhook", r"^/bot/v2/hook/([A-Za-z0-9-]{16,})")),
    anywhere(shape("/webhook/send?key=", "webhook", r"^/webhook/send\?key=([A-Za-z0-9-]{16,})")),
    anywhere(shape(":aa", "token", r"^:AA[A-Za-z0-9_-]{32,36}")),
    shape("sg.", "api_key", r"^SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    shape("key-", "api_key", r"^key-[0-9a-f]{32}\b"),
    // Payment and shops.
    checked(shape("sk_live_", "api_key", r"^sk_live_[A-Za-z0-9]{10,}"), any),
    checked(shape("sk_test_", "api_key", r"^sk_test_[A-Za-z0-9]{10,}"), any),
    checked(shape("rk_live_", "api_key", r"^rk_live_[A-Za-z0-9]{10,}"), any),
    checked(shape("rk_test_", "api_key", r"^rk_test_[A-Za-z0-9]{10,}"), any),
    checked(shape("whsec_", "secret", r"^whsec_[A-Za-z0-9+/=]{16,}"), any),
    checked(shape("shpat_", "token", r"^shpat_[0-9a-fA-F]{32}"), any),
    checked(shape("shpss_", "token", r"^shpss_[0-9a-fA-F]{32}"), any),
    checked(shape("sq0csp-", "secret", TAIL), any),
    checked(shape("sq0atp-", "token", TAIL), any),
    // General formats.
    shape("eyj", "jwt", r"^eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){1,3}"),
    checked(shape("bearer", "bearer", r"^(?i:bearer)(?:\s|%20|\+|\\[tn])+([A-Za-z0-9._~+/=-]{8,})"), bearer),
    checked(shape("basic", "basic", r"^(?i:basic)(?:\s|%20|\+)+([A-Za-z0-9+/_-]{6,}={0,2})"), basic),
    anywhere(shape("-----begin", "pem", concat!(
        r"^-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----",
        r"(?:(?s:.)*?-----END [A-Z0-9 ]*-----|[A-Za-z0-9+/=\s\\:,.-]*)",
    ))),
    anywhere(shape("-----begin", "pem", r"^-----BEGIN OpenVPN Static key V1-----(?s:.)*?-----END [A-Za-z0-9 ]*-----")),
    checked(anywhere(shape("://", "url_password", r#"^://[^\s/?#@:"'<>\\`]*:([^\s/?#"'<>\\`]+)@[A-Za-z0-9_.\[-]"#)), password),
    checked(anywhere(shape("://", "url_password", r#"^://([^\s/?#@:"'<>\\`]{16,})@[A-Za-z0-9_.\[-]"#)), mixed),
    checked(shape("-u", "password", r#"^-u\s+['"]?[^\s:'"]+:([^\s'"/]{3,})"#), password),
    anywhere(shape("infura.io/", "api_key", r"^infura\.io/(?:ws/)?v3/([0-9a-f]{32})\b")),
    checked(anywhere(shape("alchemy.com/v2/", "api_key", r"^alchemy\.com/v2/([A-Za-z0-9_-]{20,})")), mixed),
    // Wallets. Plain 64 hex digits are a content hash unless the text names a key.
    checked(shape("private", "wallet_key", r"^(?i:private)[ _-]?(?i:key)\W{0,8}(?:[A-Za-z]+\W+){0,4}((?:0x)?[0-9a-fA-F]{64})\b"), any),
    checked(shape("wallet", "wallet_key", r"^(?i:wallet)[ _-]?(?i:key|secret)\W{0,8}(?:[A-Za-z]+\W+){0,4}((?:0x)?[0-9a-fA-F]{64})\b"), any),
    checked(shape("signing", "wallet_key", r"^(?i:signing)[ _-]?(?i:key)\W{0,8}(?:[A-Za-z]+\W+){0,4}((?:0x)?[0-9a-fA-F]{64})\b"), any),
    checked(anywhere(shape("私钥", "wallet_key", r"^私钥[^0-9A-Za-z]{0,16}((?:0x)?[0-9a-fA-F]{64})\b")), any),
    shape("xprv", "wallet_key", r"^xprv[1-9A-HJ-NP-Za-km-z]{100,112}\b"),
    shape("yprv", "wallet_key", r"^yprv[1-9A-HJ-NP-Za-km-z]{100,112}\b"),
    shape("zprv", "wallet_key", r"^zprv[1-9A-HJ-NP-Za-km-z]{100,112}\b"),
    shape("tprv", "wallet_key", r"^tprv[1-9A-HJ-NP-Za-km-z]{100,112}\b"),
    shape("nsec1", "wallet_key", r"^nsec1[a-z0-9]{58}\b"),
    shape("6p", "wallet_key", r"^6P[1-9A-HJ-NP-Za-km-z]{56}\b"),
];

static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    SHAPES.iter().map(|shape| Regex::new(shape.pattern).expect("a fixed expression compiles")).collect()
});

/// The literals that shapes begin with, in the order of the shapes.
pub(super) fn literals() -> impl Iterator<Item = &'static str> {
    SHAPES.iter().map(|shape| shape.literal)
}

/// Adds the secret if the whole shape matches.
pub(super) fn find(which: usize, text: &str, at: usize, spans: &mut Vec<SecretSpan<'_>>) {
    let (shape, pattern) = (&SHAPES[which], &PATTERNS[which]);
    if shape.boundary && !has_boundary(text, at) {
        return;
    }
    let Some(rest) = text.get(at..span::floor(text, at + MAX_SHAPE)) else {
        return;
    };
    // In a hostile text the literals can follow each other closely, so the first read is short.
    let near = &rest[..span::floor(rest, NEAR)];
    let is_cut = near.len() < rest.len();
    let captures = match pattern.captures(near) {
        Some(found) if is_cut && found.get(0).is_some_and(|all| all.end() == near.len()) => {
            if found.get(1).or_else(|| found.get(0)).is_some_and(|secret| (shape.check)(secret.as_str())) {
                pattern.captures(rest)
            } else {
                None
            }
        }
        None if is_cut && shape.label == "pem" => pattern.captures(rest),
        found => found,
    };
    let Some(captures) = captures else {
        return;
    };
    let Some(secret) = captures.get(1).or_else(|| captures.get(0)) else {
        return;
    };
    if (shape.check)(secret.as_str()) {
        let mut range = at + secret.start()..at + secret.end();
        if shape.literal == ":aa" {
            let Some(full) = with_bot_number(text, range) else {
                return;
            };
            range = full;
        }
        spans.push(SecretSpan { range, label: shape.label });
    }
}

/// Whether no letter, digit or underscore precedes this position.
pub(super) fn has_boundary(text: &str, at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| text.as_bytes()[before]);
    !before.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') || after_escape(text, at)
}

/// `\nsk-…`: the letter before it is part of an escape.
fn after_escape(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    at >= 2 && bytes[at - 2] == b'\\' && b"nrt".contains(&bytes[at - 1])
        || at >= 3 && bytes[at - 3] == b'%' && bytes[at - 2..at].iter().all(u8::is_ascii_hexdigit)
}

/// A Telegram bot's token is its number, a colon and 35 characters.
fn with_bot_number(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let digits = text.as_bytes()[..range.start].iter().rev().take_while(|b| b.is_ascii_digit()).count();
    (7..=12).contains(&digits).then(|| range.start - digits..range.end)
}

fn any(_: &str) -> bool {
    true
}

/// Whether one part of sufficient length has digits and letters: `sk-learn-pipeline-example` has none.
pub(super) fn mixed(text: &str) -> bool {
    if super::heuristics::is_placeholder(text) {
        return false;
    }
    let part_mixes = |part: &str| {
        let digits = part.bytes().filter(u8::is_ascii_digit).count();
        let upper = part.bytes().any(|b| b.is_ascii_uppercase());
        let lower = part.bytes().any(|b| b.is_ascii_lowercase());
        part.len() >= 8 && digits >= 1 && digits < part.len() && (upper || lower)
            || part.len() >= 16 && (upper && lower || digits == part.len())
    };
    text.split(['-', '_', '.', '/', '%']).any(part_mixes)
}

fn bearer(text: &str) -> bool {
    let digit = text.bytes().any(|b| b.is_ascii_digit());
    let upper = text.bytes().skip(1).any(|b| b.is_ascii_uppercase());
    let lower = text.bytes().any(|b| b.is_ascii_lowercase());
    // "bearer-to-bearer", "bearer 2024-11-01" and "bearer instruments" are not tokens.
    let date = text.bytes().all(|b| b.is_ascii_digit() || b == b'-' || b == b'.');
    !super::heuristics::is_placeholder(text)
        && !date
        && (digit && text.len() >= 8 || upper && lower || text.len() >= 24 && !text.contains('/'))
}

fn basic(text: &str) -> bool {
    use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
    let bare = text.trim_end_matches('=');
    STANDARD_NO_PAD
        .decode(bare)
        .or_else(|_| URL_SAFE_NO_PAD.decode(bare))
        .is_ok_and(|bytes| std::str::from_utf8(&bytes).is_ok_and(|pair| pair.contains(':')))
}

fn password(text: &str) -> bool {
    // `https://user:password@host` documents the format of an address.
    let is_word = ["password", "passwd", "pass", "pwd", "secret", "token"]
        .contains(&text.to_ascii_lowercase().as_str());
    !is_word
        && !super::heuristics::is_placeholder(text)
        && !text.bytes().all(|b| b.is_ascii_digit() && text.len() < 3)
}
