//! URLs without credentials, for display.

use papertape_redact::Redactor;
use serde_json::Value;

const MASK: &str = "***";

/// Masks the credentials of every URL in a document.
pub(super) fn mask_urls(document: &mut Value) {
    match document {
        Value::String(text) if text.contains("://") => *text = masked(text),
        Value::Array(items) => items.iter_mut().for_each(mask_urls),
        Value::Object(fields) => fields.values_mut().for_each(mask_urls),
        _ => {}
    }
}

/// A text with the credentials of every URL in it masked: the password of `user:password@`, a lone `token@`
/// entirely, and whatever redaction recognizes as a secret in a query.
pub(super) fn masked(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (scheme, behind) = rest.split_at(at + 3);
        shown.push_str(scheme);
        // A password may itself contain `@`, and an unescaped one may contain `/`: the last `@` before the
        // query ends it.
        let end = behind.find(|c: char| c == '?' || c == '#' || c.is_whitespace()).unwrap_or(behind.len());
        let (authority, query) = behind.split_at(end);
        match authority.rsplit_once('@') {
            Some((credentials, host)) => {
                if let Some((user, _)) = credentials.split_once(':') {
                    shown.push_str(user);
                    shown.push(':');
                }
                shown.push_str(MASK);
                shown.push('@');
                shown.push_str(host);
            }
            None => shown.push_str(authority),
        }
        rest = query;
    }
    shown.push_str(rest);
    Redactor::default().redact_text(&shown).value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: no form of a URL reveals its credentials, and text without credentials stays readable.
    #[test]
    fn credentials_are_masked_wherever_a_url_has_them() {
        let cases = [
            ("postgres://me:secret@db:5432/tape", "postgres://me:***@db:5432/tape"),
            ("postgres://me:se/cr@et@db/tape", "postgres://me:***@db/tape"),
            ("https://ghp_token@example.org/v1", "https://***@example.org/v1"),
            ("--url=https://me:secret@example.org", "--url=https://me:***@example.org"),
            ("http://localhost:11434/v1", "http://localhost:11434/v1"),
            ("socks5://a:b@c and http://d:e@f", "socks5://a:***@c and http://d:***@f"),
        ];
        for (url, shown) in cases {
            assert_eq!(masked(url), shown);
        }
        let query = masked("https://example.org/search?api_key=0123456789abcdef0123&page=2");
        assert!(!query.contains("0123456789abcdef") && query.contains("page=2"), "{query}");
    }
}
