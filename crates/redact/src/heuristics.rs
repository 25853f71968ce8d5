//! Heuristics: does the value of a secret's name look like a secret? Names mislead both ways: `password:
//! required` contains none, and code is full of `api_key = settings.api_key`.

use super::class::{Class, Strength};
use super::keys;

/// How a value is written, which decides how much weight its name carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// In quotes, or a JSON string.
    Quoted,
    /// In a URL's query or after a command's flag.
    Parameter,
    /// `NAME=value` without spaces and with the name in capitals.
    Environment,
    /// `name: value` or `name = value` without quotes; `true` if nothing follows on the line.
    Bare(bool),
    /// `the password is value`.
    Prose,
}

/// Whether this value, under a name of this class, is a secret.
pub(super) fn is_secret(class: Class, style: Style, value: &str) -> bool {
    if is_placeholder(value) {
        return false;
    }
    if class.label == "mnemonic" && style == Style::Quoted && value.split_whitespace().count() < 6 {
        return looks_random(value, true);
    }
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let pathlike = value.starts_with('/') || value.starts_with("./") || value.starts_with("~/");
    match class.strength {
        Strength::Weak => {
            let short = style == Style::Parameter && value.len() >= 8 && digits > 0 && letters > 0;
            let pass = class.label == "password"
                && value.len() >= 6
                && digits > 0
                && letters > 0
                && !value.contains(char::is_whitespace);
            looks_random(value, class.label != "api_key") || short || (pass && !is_code(value))
        }
        Strength::Strong => match style {
            Style::Quoted => {
                value.chars().count() >= 3 && !is_prose(value) && !(pathlike && class.label == "password")
            }
            Style::Parameter => value.len() >= 4 && !is_code(value),
            Style::Environment => value.len() >= 4 && !is_code(value) && !pathlike,
            Style::Bare(ends_line) => {
                let a_word_alone = ends_line
                    && class.label == "password"
                    && value.len() >= 8
                    && value.trim_end_matches('!').bytes().all(|b| b.is_ascii_lowercase());
                !pathlike && (a_word_alone || is_credential(class, value))
            }
            Style::Prose => !pathlike && is_credential(class, value),
        },
    }
}

/// Whether a value is a placeholder: empty, masked, a template, a variable's name, a type.
pub(super) fn is_placeholder(value: &str) -> bool {
    let value = value.trim();
    let lower = value.to_ascii_lowercase();
    if let Some((scheme, rest)) = value.split_once(' ')
        && SCHEMES.contains(&scheme.to_ascii_lowercase().as_str())
    {
        return is_placeholder(rest);
    }
    let masked = !value.bytes().any(|b| b.is_ascii_alphanumeric()) && value.is_ascii();
    let template = value.starts_with("${")
        || value.starts_with("$(")
        || value.starts_with("{{")
        || value.starts_with("%(")
        || (value.starts_with('<') && value.ends_with('>'))
        || (value.starts_with('{') && value.ends_with('}'))
        || (value.starts_with('%') && value.ends_with('%'))
        || is_variable(value.trim_start_matches('$')) && (value.starts_with('$') || names_secret(value))
        || lower.starts_with("env:")
        || lower.starts_with("env.")
        || lower.starts_with("process.env")
        || lower.starts_with("os.environ")
        || lower.starts_with("os.getenv");
    let mask = lower.contains("****")
        || lower.contains("xxxxxx")
        || lower.contains("••")
        || value.ends_with("...")
        || value.ends_with('…');
    let example = (lower.starts_with("your") || lower.starts_with("my-") || lower.starts_with("<your"))
        && (lower.contains("key")
            || lower.contains("token")
            || lower.contains("secret")
            || lower.contains("password"))
        && !lower.bytes().any(|b| b.is_ascii_digit());
    let scheme_alone = SCHEMES.contains(&lower.as_str());
    masked
        || is_shell_variable(value)
        || template
        || mask
        || example
        || scheme_alone
        || HARMLESS_WORDS.contains(&lower.trim_matches(['*', '!', '.', '(', ')']))
        || only_placeholders(&lower)
}

/// Schemes of the `Authorization` header.
const SCHEMES: &[&str] = &["bearer", "basic", "token", "digest", "negotiate"];

#[rustfmt::skip]
const HARMLESS_WORDS: &[&str] = &[
    "absent", "any", "bool", "boolean", "bytes", "changed", "configured", "correct", "disabled", "empty", "enabled", "encrypted",
    "everything", "expired", "false", "field", "hidden", "include", "incorrect", "integer", "invalid", "masked", "missing",
    "mismatch", "n/a", "nil", "no", "none", "not set", "null", "number", "object", "ok", "omit", "optional", "patience", "pending", "policy", "present", "protected",
    "provided", "redacted", "rejected", "removed", "required", "reset", "rotated", "same-origin", "set", "str", "string",
    "text", "true", "unchanged", "undefined", "unknown", "unset", "unsupported", "valid", "verified", "wrong", "yes",
];

/// Names of algorithms and formats that contain digits and appear after "token:" or "key:".
const ALGORITHMS: &[&str] = &[
    "sha256",
    "sha512",
    "sha1",
    "base64",
    "base58",
    "base32",
    "oauth2",
    "oauth2.0",
    "ed25519",
    "argon2id",
    "argon2",
    "pbkdf2",
    "hs256",
    "rs256",
    "es256",
    "http2",
    "aes256",
    "aes-256",
    "secp256k1",
    "rsa-2048",
    "rsa2048",
    "utf-8",
    "totp6",
    "aes-256-gcm",
    "aes128",
];

/// `OPENAI_API_KEY`: the name of a variable.
fn is_variable(value: &str) -> bool {
    value.contains('_')
        && value.starts_with(|c: char| c.is_ascii_uppercase())
        && value.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// `$TOKEN`
fn is_shell_variable(value: &str) -> bool {
    value
        .strip_prefix('$')
        .is_some_and(|name| name.len() >= 2 && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'))
}

/// Whether a variable's name describes its content, so that it is a name and not itself a secret.
fn names_secret(value: &str) -> bool {
    keys::classify(value).is_some() && value.split('_').all(|part| part.len() <= 16)
}

/// Whether only placeholders and a scheme's name are left.
fn only_placeholders(lower: &str) -> bool {
    let mut rest = String::new();
    let mut text = lower;
    let mut any = false;
    while let Some(open) = text.find("[redacted:") {
        let Some(close) = text[open..].find(']') else {
            break;
        };
        let label = &text[open + "[redacted:".len()..open + close];
        if !label.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b)) {
            return false;
        }
        rest.push_str(&text[..open]);
        text = &text[open + close + 1..];
        any = true;
    }
    rest.push_str(text);
    any && matches!(rest.trim(), "" | "bearer" | "basic" | "token")
}

/// Whether it is prose: sentences about passwords use small words; passphrases rarely do.
fn is_prose(value: &str) -> bool {
    const SMALL: &[&str] = &[
        "a", "an", "and", "are", "at", "be", "been", "by", "can", "cannot", "does", "enter", "for", "from",
        "has", "in", "is", "it", "minimum", "must", "not", "of", "on", "or", "please", "required", "should",
        "that", "the", "this", "to", "too", "via", "was", "were", "with", "your",
    ];
    let mut words = 0;
    let mut small = 0;
    for word in value.split_whitespace() {
        words += 1;
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        small += usize::from(SMALL.contains(&bare.as_str()));
        if looks_random(word, false) {
            return false;
        }
    }
    let chinese = value.chars().filter(|c| ('\u{4e00}'..='\u{9fff}').contains(c)).count();
    words >= 2 && small >= 1 || words >= 4 && value.ends_with('.') || chinese >= 4
}

/// An expression or a type of a programming language.
fn is_code(value: &str) -> bool {
    let marks = ["(", "[", "::", "->", "<", "{", "://"];
    if marks.iter().any(|mark| value.contains(mark)) || value.starts_with('&') && value.len() < 12 {
        return true;
    }
    // `settings.api_key`, `my_token_2`: words with dots and underscores, with numbers only between them.
    let parts: Vec<&str> = value.split(['.', '_']).collect();
    parts.len() > 1
        && value.starts_with(|c: char| c.is_ascii_lowercase())
        && parts.iter().all(|part| {
            part.len() <= 16
                && (part.bytes().all(|b| b.is_ascii_lowercase())
                    || (part.len() <= 2 && part.bytes().all(|b| b.is_ascii_digit())))
        })
}

/// Whether it looks like a credential of a person or a program.
fn is_credential(class: Class, value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    if value.contains(char::is_whitespace) || is_code(value) || ALGORITHMS.contains(&lower.as_str()) {
        return false;
    }
    let upper = value.bytes().filter(u8::is_ascii_uppercase).count();
    let small = value.bytes().filter(u8::is_ascii_lowercase).count();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let special = value.bytes().filter(|b| b"!@#$%^&*+~?=".contains(b)).count();
    let letters = upper + small;
    let min_digits = if class.label == "password" { 4 } else { 8 };
    if letters == 0 {
        return digits >= min_digits
            && (digits == value.len() || special > 0 && !value.contains('%') && !value.starts_with('$'));
    }
    // `8-character`, `16-byte`, `Q3`, `v1.2`: short, or a number with a word appended.
    let number_and_word = value.split(['-', '.', '/', '_']).all(|part| {
        part.bytes().all(|b| b.is_ascii_digit()) || part.bytes().all(|b| b.is_ascii_alphabetic())
    });
    let mixed = digits > 0
        && !(number_and_word && value.contains(['-', '.', '/']) && special == 0 && class.label != "password");
    // `ABCD-1234-EFGH-5678`
    let groups = value.split('-').filter(|part| part.len() >= 4).count();
    let is_serial = groups >= 3 && digits >= 4 && upper >= 4 && small == 0;
    is_serial
        || (value.len() >= 6 && (mixed || special > 0 && letters >= 4 && !value.ends_with(['?', '!', '='])))
        || looks_random(value, true)
        || (value.len() >= 24 && letters == value.len())
}

/// Whether it looks like a machine's token: no words, a long part that mixes letters and digits or cases.
/// Content hashes and UUIDs look like that too and count only with `hex_counts`.
pub(super) fn looks_random(value: &str, hex_counts: bool) -> bool {
    if value.len() < 16
        || !value.bytes().all(|b| b.is_ascii_graphic())
        || value.contains("://")
        || value.starts_with('/')
        || value.starts_with("data:")
        || value.contains(['(', '<', '{'])
    {
        return false;
    }
    let digits = value.strip_prefix("0x").unwrap_or(value);
    let is_hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
    if is_hex && (digits.len() < value.len() || !hex_counts) {
        // Addresses and transaction hashes; wallet keys have their own rule.
        return false;
    }
    if value.len() == 36 && value.split('-').map(str::len).eq([8, 4, 4, 4, 12]) {
        return hex_counts;
    }
    let count = |is: fn(&u8) -> bool| value.bytes().filter(is).count();
    let is_base64 = value.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b));
    let all_kinds = count(u8::is_ascii_uppercase) >= 5
        && count(u8::is_ascii_lowercase) >= 5
        && count(u8::is_ascii_digit) >= 1;
    if is_base64 && all_kinds && value.len() >= 32 {
        return true;
    }
    value.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| {
        let count = |is: fn(&u8) -> bool| part.bytes().filter(is).count();
        let digits = count(u8::is_ascii_digit);
        let upper = count(u8::is_ascii_uppercase);
        let small = count(u8::is_ascii_lowercase);
        part.len() >= 12 && digits >= 2 && upper + small >= 2 || part.len() >= 20 && upper >= 3 && small >= 3
    })
}
