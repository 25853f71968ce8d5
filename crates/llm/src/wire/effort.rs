//! Reasoning effort.

use std::str::FromStr;

/// An effort level, or a number of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
    Budget(u32),
}

impl FromStr for Effort {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "none" | "zero" => Self::None,
            "minimal" => Self::Minimal,
            "low" => Self::Low,
            "medium" => Self::Medium,
            "high" => Self::High,
            "xhigh" => Self::Xhigh,
            "max" => Self::Max,
            tokens => Self::Budget(
                tokens
                    .parse()
                    .map_err(|_| "the reasoning effort is not one of minimal, low, medium and high")?,
            ),
        })
    }
}

impl Effort {
    /// The keyword in chat completions, which cannot express a number of tokens.
    pub(crate) const fn keyword(self) -> Option<&'static str> {
        Some(match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
            Self::Budget(_) => return None,
        })
    }

    /// The number of tokens, for providers that accept only a budget.
    pub(crate) const fn budget(self, low: u32) -> Option<u32> {
        match self {
            Self::None => None,
            Self::Minimal | Self::Low => Some(low),
            Self::Medium => Some(8_000),
            Self::High | Self::Xhigh | Self::Max => Some(24_000),
            Self::Budget(tokens) => Some(tokens),
        }
    }
}
