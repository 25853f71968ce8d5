#!/usr/bin/env python3
"""Writes the expected values of the metrics tests, computed by empyrical-reloaded.

    pip install empyrical-reloaded
    python3 scripts/metrics_oracle.py                 # writes the fixture
    python3 scripts/metrics_oracle.py --check         # fails where the fixture is not what would be written
    python3 scripts/metrics_oracle.py a.csv b.csv     # adds series: the last column of a CSV with a header

Closing values are decimals with two digits, so that a test reads exactly the same numbers. A value
that empyrical gives as NaN or as an infinity is null.
"""

import argparse
import csv
import gzip
import json
import math
import pathlib
import sys

import empyrical
import numpy as np
import pandas as pd

FIXTURE = pathlib.Path(__file__).parent.parent / "crates/core/tests/it/fixtures/metrics.json"
BUNDLED = pathlib.Path(__file__).parent.parent / "crates/market/data/us-daily-2000-2013.csv.gz"
SEED = 20040


def walk(rng, days, drift, spread, initial=100_000.0):
    """Closing values of a random walk, in whole cents."""
    return [round(float(v), 2) for v in initial * np.cumprod(1 + rng.normal(drift, spread, days))]


def cases(paths):
    rng = np.random.default_rng(SEED)
    initial = 100_000.0
    yield "year", initial, walk(rng, 252, 0.0005, 0.012), 0.0
    yield "ten_years", initial, walk(rng, 2520, 0.0003, 0.015), 0.0
    yield "bad_year", initial, walk(rng, 252, -0.002, 0.02), 0.0
    yield "year_over_risk_free", initial, walk(rng, 252, 0.0005, 0.012), 0.0001
    yield "month", initial, walk(rng, 21, 0.001, 0.01), 0.0
    yield "first_day_loss", initial, [90_000.0, 91_000.0, 92_500.5, 92_000.25, 95_000.0], 0.0
    yield "flat", initial, [initial] * 10, 0.0
    yield "same_return_each_day", 100.0, [200.0, 400.0, 800.0, 1600.0], 0.0
    yield "single_day", initial, [101_250.75], 0.0
    yield "single_day_loss", initial, [98_765.43], 0.0
    yield "two_days", initial, [101_250.75, 100_500.1], 0.0
    yield "two_days_gain", initial, [101_250.75, 103_500.1], 0.0
    yield "all_losing", initial, [99_000.0, 98_500.5, 97_000.0, 96_999.99, 90_000.0], 0.0
    yield "all_winning", initial, [100_001.0, 101_500.5, 101_700.0, 104_999.99], 0.0
    yield "everything_lost", initial, [50_000.0, 25_000.0, 0.0], 0.0
    # The bundled data: what one share of each would have been worth, day by day.
    closes = {}
    with gzip.open(BUNDLED, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            closes.setdefault(row["symbol"], []).append(round(float(row["close"]), 2))
    for symbol, values in sorted(closes.items()):
        yield f"bundled_{symbol}", values[0], values[1:], 0.0
    for path in paths:
        with open(path, newline="", encoding="utf-8") as file:
            values = [round(float(row[-1]), 2) for row in list(csv.reader(file))[1:]]
        yield pathlib.Path(path).stem, values[0], values[1:], 0.0


def number(value):
    value = float(value)
    return value if math.isfinite(value) else None


def expected(initial, values, risk_free):
    returns = pd.Series([initial, *values]).pct_change().iloc[1:]
    return {
        "total_return": number(empyrical.cum_returns_final(returns)),
        "annualised_return": number(empyrical.annual_return(returns)),
        "volatility": number(empyrical.annual_volatility(returns)),
        "sharpe": number(empyrical.sharpe_ratio(returns, risk_free=risk_free)),
        "sortino": number(empyrical.sortino_ratio(returns, required_return=risk_free)),
        "downside_risk": number(empyrical.downside_risk(returns, required_return=risk_free)),
        "max_drawdown": number(empyrical.max_drawdown(returns)),
        "calmar": number(empyrical.calmar_ratio(returns)),
    }


# Each against a benchmark, over the same number of days.
PAIRS = [
    ("year", "bad_year"),
    ("bad_year", "year"),
    ("year", "year"),
    ("year", "year_over_risk_free"),
    ("first_day_loss", "all_losing"),
    ("all_losing", "first_day_loss"),
    ("flat", "flat"),
    ("same_return_each_day", "all_winning"),
    ("all_winning", "same_return_each_day"),
    ("single_day", "single_day_loss"),
    ("two_days", "two_days_gain"),
    ("two_days_gain", "two_days"),
    ("bundled_AAPL", "bundled_IBM"),
    ("bundled_AAPL", "bundled_MSFT"),
    ("bundled_MSFT", "bundled_AAPL"),
]


def relative(initial, values, benchmark_initial, benchmark_values):
    returns = pd.Series([initial, *values]).pct_change().iloc[1:]
    benchmark = pd.Series([benchmark_initial, *benchmark_values]).pct_change().iloc[1:]
    year = empyrical.stats.annualization_factor(empyrical.DAILY, None)
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "benchmark_return": number(empyrical.cum_returns_final(benchmark)),
            "excess_return": number(
                empyrical.cum_returns_final(returns) - empyrical.cum_returns_final(benchmark)
            ),
            "alpha": number(empyrical.alpha(returns, benchmark)),
            "beta": number(empyrical.beta(returns, benchmark)),
            # empyrical has no correlation: pandas'.
            "correlation": number(returns.corr(benchmark)),
            "tracking_error": number(empyrical.annual_volatility(returns - benchmark)),
            "information_ratio": number(empyrical.excess_sharpe(returns, benchmark) * math.sqrt(year)),
            "up_capture": number(empyrical.up_capture(returns, benchmark)),
            "down_capture": number(empyrical.down_capture(returns, benchmark)),
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("csv", nargs="*", help="further series of closing values")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    arguments = parser.parse_args()
    series = list(cases(arguments.csv))
    known = {name: (initial, values) for name, initial, values, _ in series}
    written = {
        "oracle": f"empyrical-reloaded {empyrical.__version__}",
        "cases": [
            {
                "name": name,
                "initial": f"{initial:.2f}",
                "risk_free_a_day": risk_free,
                "values": [f"{value:.2f}" for value in values],
                "expected": expected(initial, values, risk_free),
            }
            for name, initial, values, risk_free in series
        ],
        "pairs": [
            {
                "name": name,
                "benchmark": benchmark,
                "expected": relative(*known[name], *known[benchmark]),
            }
            for name, benchmark in PAIRS
        ],
    }
    text = json.dumps(written, indent=1) + "\n"
    # A series is one line: thousands of lines of numbers help nobody.
    lines, joined = [], None
    for line in text.splitlines():
        if joined is not None:
            joined.append(line.strip())
            if line.strip().startswith("]"):
                lines.append("".join(joined))
                joined = None
        elif line.strip() == '"values": [':
            joined = [line]
        else:
            lines.append(line)
    text = "\n".join(lines) + "\n"
    assert json.loads(text) == written
    if arguments.check:
        sys.exit(0 if FIXTURE.read_text(encoding="utf-8") == text else f"{FIXTURE} is out of date")
    FIXTURE.parent.mkdir(parents=True, exist_ok=True)
    FIXTURE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
