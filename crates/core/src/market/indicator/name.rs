//! An indicator's text form.

use super::Indicator;
use crate::market::ReadError;
use rust_decimal::Decimal;
use std::fmt;
use std::str::FromStr;

/// The longest window, in bars.
const LONGEST: usize = 1_000;

impl fmt::Display for Indicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sma { window } => write!(f, "sma({window})"),
            Self::Ema { window } => write!(f, "ema({window})"),
            Self::Macd { fast, slow, signal } => write!(f, "macd({fast},{slow},{signal})"),
            Self::Rsi { window } => write!(f, "rsi({window})"),
            Self::Bollinger { window, deviations } => write!(f, "bollinger({window},{deviations})"),
            Self::Atr { window } => write!(f, "atr({window})"),
            Self::Vwma { window } => write!(f, "vwma({window})"),
            Self::Mfi { window } => write!(f, "mfi({window})"),
        }
    }
}

impl FromStr for Indicator {
    type Err = ReadError;

    fn from_str(text: &str) -> Result<Self, ReadError> {
        let refuse = |reason: &str| ReadError::Indicator { text: text.to_owned(), reason: reason.to_owned() };
        let lower = text.trim().to_ascii_lowercase();
        let (name, arguments) = match lower.split_once('(') {
            None => (lower.as_str(), Vec::<&str>::new()),
            Some((name, rest)) => {
                let inner = rest.strip_suffix(')').ok_or_else(|| refuse("a parenthesis is missing"))?;
                let inner = inner.trim();
                let arguments = inner.split(',').map(str::trim).filter(|_| !inner.is_empty());
                (name.trim_end(), arguments.collect())
            }
        };
        let most = match name {
            "sma" | "ema" | "rsi" | "atr" | "vwma" | "mfi" => 1,
            "bollinger" => 2,
            "macd" => 3,
            _ => {
                return Err(refuse(
                    "unknown name; expected one of sma, ema, macd, rsi, bollinger, atr, vwma, mfi",
                ));
            }
        };
        if arguments.len() > most {
            return Err(refuse("it has too many parameters"));
        }
        let window = |at: usize, usual: usize| -> Result<usize, ReadError> {
            let Some(argument) = arguments.get(at) else {
                return Ok(usual);
            };
            (argument.parse().ok())
                .filter(|window| (1..=LONGEST).contains(window))
                .ok_or_else(|| refuse("a window must be a whole number from 1 to 1000"))
        };
        Ok(match name {
            "sma" => Self::Sma { window: window(0, 20)? },
            "ema" => Self::Ema { window: window(0, 20)? },
            "rsi" => Self::Rsi { window: window(0, 14)? },
            "atr" => Self::Atr { window: window(0, 14)? },
            "vwma" => Self::Vwma { window: window(0, 20)? },
            "mfi" => Self::Mfi { window: window(0, 14)? },
            "bollinger" => {
                let deviations = arguments.get(1).map_or(Ok(Decimal::TWO), |text| text.parse());
                let deviations = deviations
                    .ok()
                    .filter(|d: &Decimal| *d > Decimal::ZERO && *d <= Decimal::TEN)
                    .ok_or_else(|| refuse("the deviations must be a number above 0, up to 10"))?
                    .normalize();
                Self::Bollinger { window: window(0, 20)?, deviations }
            }
            _ => {
                let (fast, slow, signal) = (window(0, 12)?, window(1, 26)?, window(2, 9)?);
                if fast >= slow {
                    return Err(refuse("the fast window must be shorter than the slow one"));
                }
                Self::Macd { fast, slow, signal }
            }
        })
    }
}

impl serde::Serialize for Indicator {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Indicator {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
