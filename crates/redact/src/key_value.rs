//! Names with their values in plain text: `key=value`, `key: value`, `"key": "value"` at any depth of
//! escaping, `--flag value`, header lines, XML elements, "the password is …".

use super::class::{Class, Strength};
use super::heuristics::{self, Style};
use super::keys;
use super::scan_result::ScanResult;
use super::span::{self, SecretSpan};
use super::yaml;
use std::ops::Range;

/// Maximum length of a name on either side of the hint.
const MAX_NAME: usize = 64;
/// Maximum length of a value.
const MAX_VALUE: usize = 16 * 1024;

/// The separator between a name and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Separator {
    Colon,
    Equals,
    /// `<name>`
    Element,
    /// `"name", "value"` and `set_name("value")`
    Comma,
    /// `--name value`
    Flag,
    /// ` is `, or only a space
    Words,
}

struct Name<'t> {
    range: Range<usize>,
    text: &'t str,
    /// Whether it is in a URL's query or a form.
    in_query: bool,
    is_flag: bool,
    quoted: bool,
}

/// Checks the name around a hint. Returns the end of the name, so that each name is checked once.
pub(super) fn find(text: &str, hint: Range<usize>, found: &mut ScanResult<'_>) -> usize {
    let Some(name) = name_around(text, hint.clone()) else {
        return hint.end;
    };
    let end = name.range.end;
    let Some((joint, at)) = joint_after(text, &name) else {
        return end;
    };
    let is_json_key = name.quoted && joint == Separator::Colon;
    if keys::is_headers(name.text) {
        found.has_json |= is_json_key;
        return end;
    }
    if joint == Separator::Words && !may_be_secret_in_prose(&text.as_bytes()[at..]) {
        return end;
    }
    let Some(class) = class_of(text, &name) else {
        return end;
    };
    if name.quoted && joint == Separator::Comma {
        // {"name":"X-API-Key","value":"…"}: a pair that only JSON tells from a list.
        found.has_json = true;
    }
    // A value may be on the line below its name.
    let at = if is_json_key { skip(text.as_bytes(), at, 256, b" \t\r\n") } else { at };
    let next = text[at..].trim_start().bytes().next();
    if is_json_key && next.is_some_and(|byte| byte == b'{' || byte == b'[' || byte.is_ascii_digit()) {
        found.has_json = true;
        return end;
    }
    if joint == Separator::Colon
        && let Some(block) = yaml::block(text, name.range.start, at)
        && add_work(found, block.range.len())
        && is_block_secret(class, &block, text)
    {
        found.spans.push(SecretSpan { range: block.range, label: class.label });
        return end;
    }
    if let Some((range, style)) = value_at(text, at, &name, class, joint) {
        let Some(value) = text.get(range.clone()) else {
            return end;
        };
        add_work(found, value.len());
        let whole = match (joint, style) {
            (Separator::Comma, _) => {
                heuristics::looks_random(value, true) && !heuristics::is_placeholder(value)
            }
            (Separator::Words, Style::Bare(_) | Style::Prose) => is_prose_value(class, value),
            _ => heuristics::is_secret(class, style, value),
        };
        if whole {
            found.spans.push(SecretSpan { range, label: class.label });
        }
    }
    end
}

/// Everything that was read counts as work, whatever the result.
fn add_work(found: &mut ScanResult<'_>, bytes: usize) -> bool {
    found.work += bytes;
    true
}

/// Whether a block holds a secret: its lines are one text, or one wrapped token.
fn is_block_secret(class: Class, block: &yaml::Block, text: &str) -> bool {
    let Some(value) = text.get(block.range.clone()) else {
        return false;
    };
    if !block.is_block {
        return class.strength == Strength::Strong && heuristics::is_secret(class, Style::Prose, value);
    }
    let lines = || value.split(['\n', '\\']).map(|line| line.trim_start_matches(['n', 'r']).trim());
    let joined: String = lines().collect();
    heuristics::is_secret(class, Style::Quoted, value)
        || heuristics::looks_random(&joined, true)
        || lines().any(|line| line.len() >= 16 && heuristics::is_secret(class, Style::Quoted, line))
}

/// After "is" or a space, a value must look like a secret by itself.
fn is_prose_value(class: Class, value: &str) -> bool {
    let sure = class.strength == Strength::Strong && class.label == "password";
    if sure {
        heuristics::is_secret(class, Style::Prose, value)
    } else {
        heuristics::looks_random(value, true) && !heuristics::is_placeholder(value)
    }
}

/// Whether the next word could be a secret in prose. Names are frequent in prose, so this cheap check runs
/// first.
fn may_be_secret_in_prose(rest: &[u8]) -> bool {
    let spaces = rest.iter().take_while(|byte| b" *`".contains(byte)).count();
    let word = &rest[spaces..];
    let length = word.iter().take(64).take_while(|byte| byte.is_ascii_graphic()).count();
    let word = &word[..length];
    matches!(word.first(), Some(b'"' | b'\'' | b'\\'))
        || length >= 6 && word.iter().any(u8::is_ascii_digit)
        || length >= 6 && word.iter().any(|byte| b"!@#$%^&*+~".contains(byte))
        || length >= 20
}

fn name_around(text: &str, hint: Range<usize>) -> Option<Name<'_>> {
    let bytes = text.as_bytes();
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    let ascii = text.get(hint.clone())?.is_ascii();
    let mut start = hint.start;
    let mut end = hint.end;
    if ascii {
        while start > 0 && hint.start - start < MAX_NAME && in_name(bytes[start - 1]) {
            start -= 1;
        }
        while end < bytes.len() && end - hint.end < MAX_NAME && in_name(bytes[end]) {
            end += 1;
        }
        // `\napi_key`: the letter is part of the escape.
        if start > 0 && bytes[start - 1] == b'\\' && b"nrtbf".contains(&bytes[start]) && start < hint.start {
            start += 1;
        }
        while end > start && b".-_".contains(&bytes[end - 1]) {
            end -= 1;
        }
    }
    let is_flag = text[start..end].starts_with("--");
    while start < end && b".-".contains(&bytes[start]) {
        start += 1;
    }
    let before = start.checked_sub(1).map(|at| bytes[at]);
    Some(Name {
        text: text.get(start..end)?,
        in_query: before.is_some_and(|byte| b"?&".contains(&byte)),
        is_flag,
        quoted: false,
        range: start..end,
    })
    .map(|name| Name { quoted: quote_after(bytes, name.range.end).is_some(), ..name })
}

/// The position after a closing quote, escaped or not.
fn quote_after(bytes: &[u8], mut at: usize) -> Option<usize> {
    while bytes.get(at) == Some(&b'\\') {
        at += 1;
    }
    matches!(bytes.get(at), Some(b'"' | b'\'')).then_some(at + 1)
}

fn skip(bytes: &[u8], mut at: usize, limit: usize, set: &[u8]) -> usize {
    let end = bytes.len().min(at + limit);
    while at < end && set.contains(&bytes[at]) {
        at += 1;
    }
    at
}

fn joint_after(text: &str, name: &Name<'_>) -> Option<(Separator, usize)> {
    let bytes = text.as_bytes();
    let end = name.range.end;
    if name.range.start > 0 && bytes[name.range.start - 1] == b'<' && bytes.get(end) == Some(&b'>') {
        return Some((Separator::Element, end + 1));
    }
    let mut at = quote_after(bytes, end).unwrap_or(end);
    // **API key:** `…`, os.environ["API_KEY"] = "…", secret (base64): …
    at = skip(bytes, at, 3, b"*`]_");
    at = skip(bytes, at, 8, b" \t");
    let rest = &text[at..];
    for (sign, joint) in [
        (":=", Separator::Equals),
        ("=>", Separator::Colon),
        ("===", Separator::Equals),
        ("==", Separator::Equals),
        ("=", Separator::Equals),
        ("%3D", Separator::Equals),
        ("：", Separator::Colon),
        ("＝", Separator::Equals),
        ("|", Separator::Colon),
    ] {
        if rest.starts_with(sign) {
            return Some((joint, at + sign.len()));
        }
    }
    if rest.starts_with(':') && !rest.starts_with("::") && !rest.starts_with("://") {
        return Some((Separator::Colon, at + 1));
    }
    if name.quoted && rest.starts_with([',', '}']) || rest.starts_with("(\"") || rest.starts_with("('") {
        return Some((Separator::Comma, at + 1));
    }
    if name.quoted {
        return None;
    }
    if let Some(used) = verb(rest).or_else(|| verb_after(rest)) {
        return Some((Separator::Words, at + used));
    }
    let spaced = at > end;
    match (name.is_flag, spaced) {
        (true, true) => Some((Separator::Flag, at)),
        (false, true) => Some((Separator::Words, at)),
        _ => None,
    }
}

/// The length of "is" and the like, and of a colon after it.
fn verb(rest: &str) -> Option<usize> {
    for word in
        ["is", "was", "to", "are", "es", "est", "ist", "lautet", "e", "är", "è", "é", "是", "为", "為", "は"]
    {
        let Some(start) = rest.get(..word.len()) else {
            continue;
        };
        if !start.eq_ignore_ascii_case(word) {
            continue;
        }
        let behind = rest[word.len()..].trim_start_matches([':', '：']);
        if !word.is_ascii() || behind.starts_with(' ') {
            return Some(rest.len() - behind.len());
        }
    }
    None
}

/// "password **for the new account is** …": a few words before the verb.
fn verb_after(rest: &str) -> Option<usize> {
    if !["for ", "of ", "on "].iter().any(|word| rest.starts_with(word)) {
        return None;
    }
    let near = &rest[..span::floor(rest, 64)];
    let near = &near[..near.find(['.', ',', ';', '\n', '"', ':']).unwrap_or(near.len())];
    near.find(" is").filter(|at| rest[at + 3..].starts_with([' ', ':'])).map(|at| at + 3)
}

/// The class of the name, including the words before it ("secret access key") when it is the last of several.
fn class_of(text: &str, name: &Name<'_>) -> Option<Class> {
    if name.in_query {
        return keys::classify_query(name.text);
    }
    let own = keys::classify(name.text);
    if own.is_some_and(|class| class.strength == Strength::Strong) || name.quoted || name.is_flag {
        return own;
    }
    let head = &text[..name.range.start];
    let mut first = head.len();
    let mut best = own;
    for _ in 0..2 {
        let trimmed = head[..first].strip_suffix(' ').unwrap_or(&head[..first]);
        let word = trimmed.bytes().rev().take(24).take_while(u8::is_ascii_alphanumeric).count();
        if word == 0 || trimmed.len() == first {
            break;
        }
        first = trimmed.len() - word;
        if let Some(class) = keys::classify(&text[first..name.range.end])
            && (best.is_none() || class.strength == Strength::Strong)
        {
            best = Some(class);
        }
    }
    best
}

/// The value's position and style.
fn value_at(
    text: &str,
    at: usize,
    name: &Name<'_>,
    class: Class,
    joint: Separator,
) -> Option<(Range<usize>, Style)> {
    let bytes = text.as_bytes();
    if joint == Separator::Element {
        let end = at + text[at..].find('<')?;
        return Some((at..end, Style::Quoted));
    }
    let spaced = bytes.get(at).is_some_and(u8::is_ascii_whitespace);
    let mut start = skip(bytes, at, 8, b" \t");
    start = skip(bytes, start, 3, b"*`");
    start = skip(bytes, start, 4, b" \t");
    start = skip(bytes, start, 1, b"`");
    if text[start..].starts_with("Some(") {
        start += 5;
    }
    let prefixed = matches!(bytes.get(start), Some(b'b' | b'f' | b'r' | b'u'))
        && matches!(bytes.get(start + 1), Some(b'"' | b'\''));
    let opening = start + usize::from(prefixed);
    if let Some(inside) = quote_after(bytes, opening) {
        return Some((inside..closing(text, opening, inside), Style::Quoted));
    }
    let end = unquoted_end(text, start, name.in_query);
    let in_line = line_end(text, start);
    let is_header = class.label == "authorization" || class.label == "cookie";
    if is_header && matches!(joint, Separator::Colon | Separator::Equals) && !name.in_query {
        return header_value(text, start..in_line, class);
    }
    let value = start..end;
    let blank = text.get(end..in_line)?.trim().is_empty();
    let style = if name.in_query
        || joint == Separator::Flag
        || followed_by_pair(bytes, end, joint, spaced)
        || is_tight_token(class, joint, spaced, &text[value.clone()])
    {
        Style::Parameter
    } else if joint == Separator::Equals && !spaced && !name.text.bytes().any(|b| b.is_ascii_lowercase()) {
        Style::Environment
    } else if joint == Separator::Words {
        Style::Prose
    } else {
        Style::Bare(blank)
    };
    Some((value, style))
}

/// `token=abc123def456`: no spaces, only letters and digits.
fn is_tight_token(class: Class, joint: Separator, spaced: bool, value: &str) -> bool {
    let alphanumeric = value.bytes().all(|byte| byte.is_ascii_alphanumeric());
    class.label == "token" && joint == Separator::Equals && !spaced && value.len() >= 10 && alphanumeric
}

/// `Pwd=secret;Database=x` and `a=1&b=2`: a list of pairs, as opposed to a line of code.
fn followed_by_pair(bytes: &[u8], end: usize, joint: Separator, spaced: bool) -> bool {
    let pair = |at: usize| {
        bytes[at..].iter().take(32).find(|b| !b.is_ascii_alphanumeric() && !b"_ -".contains(b)) == Some(&b'=')
    };
    joint == Separator::Equals && !spaced && matches!(bytes.get(end), Some(b';' | b'&')) && pair(end + 1)
}

/// The position of the quote that closes the one in `opening..inside`, or the end of the line.
fn closing(text: &str, opening: usize, inside: usize) -> usize {
    let bytes = text.as_bytes();
    let quote = bytes[inside - 1];
    let depth = inside - 1 - opening;
    let limit = bytes.len().min(inside + MAX_VALUE);
    let mut slashes = 0;
    for (at, byte) in bytes.iter().enumerate().take(limit).skip(inside) {
        match *byte {
            b'\\' => slashes += 1,
            byte if byte == quote && slashes <= depth => return at - slashes,
            b'\n' => return at,
            _ => slashes = 0,
        }
    }
    span::floor(text, limit)
}

fn unquoted_end(text: &str, start: usize, in_query: bool) -> usize {
    let stop = |c: char| {
        c.is_whitespace() || !c.is_ascii() || "\"'`,;)}]>|<\\".contains(c) || in_query && "&#".contains(c)
    };
    let rest = &text[start..span::floor(text, start + MAX_VALUE)];
    // `Pwd=…&…` outside a query ends at the ampersand when another pair follows.
    let mut end = rest.find(stop).unwrap_or(rest.len());
    if let Some(amp) = rest[..end].find('&')
        && rest[amp..end].contains('=')
    {
        end = amp;
    }
    start + rest[..end].trim_end_matches(['.', ':', ',']).len()
}

fn line_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let limit = bytes.len().min(start + MAX_VALUE);
    (start..limit).find(|at| matches!(bytes[*at], b'\n' | b'\r')).unwrap_or_else(|| span::floor(text, limit))
}

/// `Authorization: Bearer …` and `Cookie: a=b; c=d` run to the end of the line or of the quote
/// around them.
fn header_value(text: &str, line: Range<usize>, class: Class) -> Option<(Range<usize>, Style)> {
    let line = text
        .get(line.start..span::floor(text, line.end))
        .map(|rest| line.start..line.start + rest.find(['"', '\'', '`', '\\']).unwrap_or(rest.len()))?;
    let value = text.get(line.clone())?.trim_end();
    let range = line.start..line.start + value.len();
    if class.label == "cookie" {
        let (name, rest) = value.split_once('=')?;
        let is_pair = !name.trim().contains(char::is_whitespace) && rest.trim().len() >= 4;
        return is_pair.then_some((range, Style::Quoted));
    }
    let mut words = value.split_whitespace();
    let scheme = words.next()?;
    let Some(credentials) = words.next() else {
        return Some((range, Style::Bare(true)));
    };
    let known = [
        "bearer",
        "basic",
        "token",
        "digest",
        "apikey",
        "negotiate",
        "ntlm",
        "hawk",
        "bot",
        "key",
        "aws4-hmac-sha256",
        "signature",
        "bitstamp",
        "deri-hmac-sha256",
    ];
    let is_known = known.contains(&scheme.to_ascii_lowercase().as_str());
    let dull = credentials.bytes().all(|b| b.is_ascii_lowercase());
    (is_known && !dull && credentials.len() >= 6).then_some((range, Style::Quoted))
}
