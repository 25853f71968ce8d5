//! `calculate`: decimal arithmetic for models.

use super::{Arguments, ToolOutput, number, spec};
use papertape_core::message::ToolSpec;
use rust_decimal::{Decimal, MathematicalOps as _};
use serde_json::{Value, json};

/// Maximum length of an expression.
const LONGEST: usize = 500;
/// Maximum nesting of brackets and signs.
const DEEPEST: u32 = 50;

/// The tool's spec for the model.
#[must_use]
pub fn tool() -> ToolSpec {
    spec(
        "calculate",
        "Calculates an arithmetic expression with + - * / % ^ and parentheses",
        &[("expression", json!({ "type": "string", "description": "for example (1024.5 - 3.2) / 187.3" }))],
        1,
    )
}

/// Runs the tool.
#[must_use]
pub fn run(arguments: &Value) -> ToolOutput {
    let result =
        Arguments::of(arguments).and_then(|arguments| arguments.text("expression")).and_then(evaluate);
    match result {
        Ok(value) => ToolOutput::plain(json!({ "result": number(value.round_dp(10)) })),
        Err(message) => ToolOutput::error(message),
    }
}

/// The value of an expression.
///
/// # Errors
/// A sentence with the reason: an unexpected character, a division by zero, or a number that is too large.
pub fn evaluate(expression: &str) -> Result<Decimal, String> {
    if expression.len() > LONGEST {
        return Err(format!("the expression is longer than {LONGEST} characters"));
    }
    let mut parser = Parser { rest: expression, depth: 0 };
    let value = parser.sum()?;
    match parser.peek() {
        None => Ok(value),
        Some(stray) => Err(format!("unexpected `{stray}`")),
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: u32,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, wanted: &[char]) -> Option<char> {
        let next = self.peek().filter(|next| wanted.contains(next))?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    fn sum(&mut self) -> Result<Decimal, String> {
        let mut total = self.product()?;
        while let Some(sign) = self.take(&['+', '-']) {
            let next = self.product()?;
            let next = if sign == '+' { next } else { -next };
            total = total.checked_add(next).ok_or_else(too_large)?;
        }
        Ok(total)
    }

    fn product(&mut self) -> Result<Decimal, String> {
        let mut total = self.signed()?;
        while let Some(sign) = self.take(&['*', '/', '%']) {
            let next = self.signed()?;
            total = match sign {
                '*' => total.checked_mul(next).ok_or_else(too_large)?,
                _ if next.is_zero() => return Err("division by zero".to_owned()),
                '/' => total.checked_div(next).ok_or_else(too_large)?,
                _ => total.checked_rem(next).ok_or_else(too_large)?,
            };
        }
        Ok(total)
    }

    fn signed(&mut self) -> Result<Decimal, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("the expression is nested deeper than {DEEPEST} levels"));
        }
        let value = match self.take(&['+', '-']) {
            Some('-') => self.signed().map(|value| -value),
            Some(_) => self.signed(),
            None => self.power(),
        };
        self.depth -= 1;
        value
    }

    fn power(&mut self) -> Result<Decimal, String> {
        let base = self.atom()?;
        if self.take(&['^']).is_none() {
            return Ok(base);
        }
        let exponent = self.signed()?;
        if base.is_zero() && exponent.is_sign_negative() {
            return Err("division by zero".to_owned());
        }
        base.checked_powd(exponent).ok_or_else(|| "the power is too large or not a number".to_owned())
    }

    fn atom(&mut self) -> Result<Decimal, String> {
        if self.take(&['(']).is_some() {
            let value = self.sum()?;
            return match self.take(&[')']) {
                Some(_) => Ok(value),
                None => Err("unclosed parenthesis".to_owned()),
            };
        }
        let Some(next) = self.peek() else { return Err("unexpected end of the expression".to_owned()) };
        let digits = self.rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(self.rest.len());
        if digits == 0 {
            return Err(format!("`{next}` is not a number"));
        }
        let (text, rest) = self.rest.split_at(digits);
        self.rest = rest;
        text.parse().map_err(|_| format!("`{text}` is not a number"))
    }
}

fn too_large() -> String {
    "the result is too large".to_owned()
}
