//! The capabilities of Anthropic's models, by name.

/// The capabilities that determine how a request controls thinking, and the limit of output tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Capabilities {
    /// Accepts an effort level.
    pub(super) effort: bool,
    /// Accepts the level `xhigh`.
    pub(super) xhigh: bool,
    /// Accepts the level `max`.
    pub(super) max: bool,
    /// Decides by itself how much it thinks, without a budget.
    pub(super) adaptive: bool,
    /// Thinks unless the request turns it off.
    pub(super) thinks: bool,
    /// Maximum output tokens.
    pub(super) max_tokens: u32,
}

/// The model's capabilities, by family and version; an unknown model gets those of the older ones.
pub(super) fn of(model: &str) -> Capabilities {
    let (family, version) = parse(model);
    let at_least = |major, minor| version >= Some((major, minor));
    let is = |major, minor| version == Some((major, minor));
    let is_5 = version.is_some_and(|(major, _)| major == 5);
    let (effort, max, xhigh, adaptive, thinks) = match family {
        "opus" => (at_least(4, 5), at_least(4, 6), at_least(4, 7), at_least(4, 6), is_5),
        "sonnet" => (is(4, 6) || is_5, is(4, 6) || is_5, is_5, is(4, 6) || is_5, is_5),
        "haiku" => (at_least(5, 0), at_least(5, 0), at_least(5, 0), at_least(5, 0), at_least(5, 0)),
        "fable" | "mythos" => (true, true, true, true, false),
        _ => (false, false, false, false, false),
    };
    Capabilities { effort, xhigh, max, adaptive, thinks, max_tokens: max_tokens(model, family, version) }
}

fn max_tokens(model: &str, family: &str, version: Option<(u32, u32)>) -> u32 {
    match (family, version) {
        ("opus", Some(version)) if version >= (4, 8) => 128_000,
        ("opus", Some(version)) if version >= (4, 5) => 64_000,
        ("opus", Some(version)) if version >= (4, 0) => 32_000,
        ("haiku", Some(version)) if version >= (5, 0) => 128_000,
        ("fable" | "mythos", _) => 128_000,
        _ if model.contains("claude-3-5") => 8_192,
        _ if model.contains("3-opus") || model.contains("3-haiku") => 4_096,
        _ => 64_000,
    }
}

/// `claude-opus-4-8-20260101`: the family, and the version if there is one.
fn parse(model: &str) -> (&str, Option<(u32, u32)>) {
    let mut parts = model.split('-').skip_while(|part| *part != "claude").skip(1);
    let Some(family) = parts.next() else { return ("", None) };
    // A part of more than two digits is a date.
    let number = |part: Option<&str>| part.filter(|part| part.len() <= 2).and_then(|part| part.parse().ok());
    let major: Option<u32> = number(parts.next());
    let minor: u32 = number(parts.next()).unwrap_or(0);
    (family, major.map(|major| (major, minor)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: names are parsed in Anthropic's format, ignoring dates.
    #[test]
    fn models_by_their_names() {
        assert_eq!(parse("claude-opus-4-8-20260101"), ("opus", Some((4, 8))));
        assert_eq!(parse("claude-sonnet-4-20250514"), ("sonnet", Some((4, 0))));
        assert_eq!(parse("some-model"), ("", None));
        assert!(of("claude-opus-4-5").effort && !of("claude-opus-4-5").adaptive);
        assert!(of("claude-sonnet-5").thinks && of("claude-sonnet-4-6").adaptive);
        for (model, max_tokens) in [
            ("claude-opus-4-1", 32_000),
            ("claude-opus-4-8", 128_000),
            ("claude-sonnet-4-5", 64_000),
            ("claude-3-5-sonnet-20241022", 8_192),
            ("claude-3-haiku-20240307", 4_096),
            ("some-model", 64_000),
        ] {
            assert_eq!(of(model).max_tokens, max_tokens, "{model}");
        }
    }
}
