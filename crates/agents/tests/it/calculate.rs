//! The calculator tool.

use papertape_agents::tools::calculate::evaluate;
use proptest::prelude::*;
use rust_decimal::Decimal;

fn check(expression: &str, wanted: &str) {
    let value = evaluate(expression).map(|value| value.round_dp(6).normalize().to_string());
    assert_eq!(value.as_deref(), Ok(wanted), "{expression}");
}

// Goal: the usual rules of precedence, and decimals that are exact.
#[test]
fn expressions_follow_the_usual_rules() {
    check("1 + 2 * 3", "7");
    check("(1 + 2) * 3", "9");
    check("8 / 4 / 2", "1");
    check("7 % 4 - 1", "2");
    check("-2 ^ 2", "-4");
    check("2 ^ 3 ^ 2", "512");
    check("2 ^ -1", "0.5");
    check("--3 + +1", "4");
    check(" 0.1 + 0.2 ", "0.3");
    check("1.5*(2-(3-4))", "4.5");
}

// Goal: an invalid expression is reported as such.
#[test]
fn errors_say_what_is_wrong() {
    for (expression, wanted) in [
        ("", "unexpected end of the expression"),
        ("1 +", "unexpected end of the expression"),
        ("(1 + 2", "unclosed parenthesis"),
        ("1 + 2)", "unexpected `)`"),
        ("2 x 3", "unexpected `x`"),
        ("import os", "`i` is not a number"),
        ("1.2.3", "`1.2.3` is not a number"),
        ("1 / 0", "division by zero"),
        ("1 % (2 - 2)", "division by zero"),
        ("0 ^ -1", "division by zero"),
        ("9 ^ 99", "too large"),
        ("79228162514264337593543950335 + 1", "too large"),
        ("价格", "`价` is not a number"),
    ] {
        let error = evaluate(expression).expect_err(expression);
        assert!(error.contains(wanted), "{expression}: {error}");
    }
    assert!(evaluate(&"1+".repeat(300)).expect_err("long").contains("longer than 500"));
    assert!(evaluate(&"(".repeat(400)).expect_err("deep").contains("nested deeper"));
    assert!(evaluate(&"-".repeat(400)).expect_err("deep").contains("nested deeper"));
}

proptest! {
    // Goal: no input from a model causes a panic.
    #[test]
    fn any_text_is_answered(text in "[-0-9+*/%^(). a]{0,40}") {
        drop(evaluate(&text));
    }

    // Goal: sums and products agree with decimals.
    #[test]
    fn it_agrees_with_decimals(a in -9999..9999_i64, b in -9999..9999_i64, c in 1..999_i64) {
        let value = evaluate(&format!("{a} * ({b} - {c}) / {c}")).expect("a value");
        let [a, b, c] = [a, b, c].map(Decimal::from);
        prop_assert_eq!(value, a * (b - c) / c);
    }
}
