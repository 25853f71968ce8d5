#!/usr/bin/env python3
"""Writes the expected values of the evidence tests, computed by arch, empyrical-reloaded and quantstats.

    pip install arch==8.0.0 empyrical-reloaded quantstats
    python3 scripts/evidence_oracle.py                # writes the two fixtures
    python3 scripts/evidence_oracle.py --check        # fails where a fixture is not what would be written

Series are made by a linear congruential generator, which the tests repeat, so that both read exactly the same numbers. A
value that a library gives as NaN or as an infinity is null.
"""

import argparse
import json
import math
import pathlib
import sys
from importlib.metadata import version

import empyrical
import numpy as np
import pandas as pd
import quantstats
from arch.bootstrap import SPA, StationaryBootstrap, optimal_block_length

CRATES = pathlib.Path(__file__).parent.parent / "crates"
EVIDENCE = CRATES / "evidence/tests/it/fixtures/arch.json"
METRICS = CRATES / "core/tests/it/fixtures/metrics_history.json"


def lcg(seed, count):
    """Uniform numbers on [0, 1)."""
    state, numbers = seed, []
    for _ in range(count):
        state = (1103515245 * state + 12345) % 2**31
        numbers.append(state / 2**31)
    return np.array(numbers)


def autoregressive(seed, count, phi):
    """x(t) = phi x(t-1) + (u - 0.5), from 0."""
    series, last = [], 0.0
    for u in lcg(seed, count):
        last = phi * last + (u - 0.5)
        series.append(last)
    return np.array(series)


def number(value):
    value = float(value)
    return value if math.isfinite(value) else None


def block_lengths():
    cases = []
    for seed, n, phi in [
        (1, 8, 0.0), (2, 9, 0.5), (3, 13, -0.3), (4, 20, 0.0), (5, 60, 0.2), (6, 60, 0.9), (7, 120, 0.4),
        (8, 250, 0.0), (9, 250, 0.7), (10, 500, -0.5), (11, 1250, 0.3),
    ]:
        lengths = optimal_block_length(autoregressive(seed, n, phi))
        cases.append({
            "seed": seed, "n": n, "phi": phi,
            "stationary": number(lengths["stationary"].iloc[0]),
            "circular": number(lengths["circular"].iloc[0]),
        })
    return cases


def superior_predictive_ability():
    """The unstudentized form: arch never divides its maximum by the deviation."""
    cases = []
    for n, block, reps, means in [
        (40, 4, 100, (0.002, 0.0, -0.02)),
        (60, 5, 100, (0.004, 0.001, -0.01)),
        (80, 6, 100, (0.001, -0.001, -0.004, 0.003)),
    ]:
        differences = np.column_stack(
            [mean + 0.04 * (lcg(10 + k, n) - 0.5) for k, mean in enumerate(means)]
        )
        test = SPA(np.zeros(n), -differences, block_size=block, reps=reps, studentize=False, seed=7)
        test.compute()
        # The same seed gives the same draws.
        draws = StationaryBootstrap(block, np.arange(n), seed=7).bootstrap(reps)
        cases.append({
            "n": n, "restart": 1 / block, "means": means,
            "counts": [round(p * reps) for p in test.pvalues],
            "variances": [float(v) for v in test._loss_diff_var],
            "indices": [" ".join(str(day) for day in data[0][0]) for data in draws],
        })
    return cases


def evidence():
    return {
        "oracle": f"arch {version('arch')}",
        "block_lengths": block_lengths(),
        "spa": superior_predictive_ability(),
    }


def history():
    cases = []
    # quantstats reports no drawdown of a series that never reaches its start again: there is none of these.
    for seed, n, drift in [(1, 100, 0.0005), (2, 101, -0.001), (3, 250, 0.001), (6, 500, 0.0)]:
        values = drift + 0.03 * (lcg(seed, n) - 0.5)
        returns = pd.Series(values, index=pd.date_range("2023-01-01", periods=n))
        rolling = empyrical.roll_sharpe_ratio(returns, window=60, annualization=252)
        prices = quantstats.stats.to_drawdown_series(returns)
        details = quantstats.stats.drawdown_details(prices).sort_values("start")
        months = empyrical.aggregate_returns(returns, "monthly")
        cases.append({
            "seed": seed, "n": n, "drift": drift,
            "value_at_risk": number(empyrical.value_at_risk(returns)),
            "conditional_value_at_risk": number(empyrical.conditional_value_at_risk(returns)),
            "tail_ratio": number(empyrical.tail_ratio(returns)),
            "profit_factor_days": number(quantstats.stats.profit_factor(returns)),
            "rolling_sharpe": [number(value) for value in rolling.dropna()],
            "drawdowns": [
                {"trough": str(row["valley"])[:10], "depth_pct": float(row["max drawdown"])}
                for _, row in details.iterrows()
            ],
            "months": [number(value) for value in months],
        })
    return {
        "oracle": f"empyrical-reloaded {empyrical.__version__}, quantstats {version('quantstats')}",
        "cases": cases,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    arguments = parser.parse_args()
    for path, written in [(EVIDENCE, evidence()), (METRICS, history())]:
        text = json.dumps(written, indent=1) + "\n"
        if arguments.check:
            if path.read_text(encoding="utf-8") != text:
                sys.exit(f"{path} is out of date")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
