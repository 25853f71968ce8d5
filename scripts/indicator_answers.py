#!/usr/bin/env python3
"""Known answers for the indicators, computed with pandas and none of the project's code.

    pip install pandas
    python3 scripts/indicator_answers.py

Reads the bundled bars and splits and writes crates/market/tests/fixtures/indicator-answers.csv: the
indicators of two symbols, each over its whole history up to a day, in the share units of that day.
"""

import pathlib

import numpy as np
import pandas as pd

MARKET = pathlib.Path(__file__).resolve().parent.parent / "crates" / "market"
DATA = MARKET / "data"
CASES = [("AAPL", "2005-06-30"), ("MSFT", "2013-03-01")]


def main() -> None:
    bars = pd.read_csv(DATA / "us-daily-2000-2013.csv.gz", comment="#")
    actions = pd.read_csv(DATA / "us-daily-2000-2013.actions.csv", comment="#")
    splits = actions[actions.kind == "split"]
    out = []
    for symbol, last in CASES:
        frame = bars[(bars.symbol == symbol) & (bars.date <= last)].set_index("date")
        frame = frame.drop(columns="symbol").astype(float)
        near = np.zeros(len(frame), dtype=bool)
        for _, split in splits[(splits.symbol == symbol) & (splits.ex_date <= last)].iterrows():
            before = frame.index < split.ex_date
            frame.loc[before, ["open", "high", "low", "close"]] /= split.value
            frame.loc[before, "volume"] *= split.value
            at = int(before.sum())
            near[at - 2 : at + 3] = True
        answers = indicators(frame)
        rows = np.arange(len(frame))
        answers = answers[near | (rows < 40) | (rows % 100 == 0) | (rows >= len(frame) - 3)]
        answers.insert(0, "until", last)
        answers.insert(0, "symbol", symbol)
        out.append(answers)
    path = MARKET / "tests" / "fixtures" / "indicator-answers.csv"
    pd.concat(out).to_csv(path, sep=";", float_format="%.12g")


def indicators(frame: pd.DataFrame) -> pd.DataFrame:
    high, low, close, volume = frame.high, frame.low, frame.close, frame.volume
    out = pd.DataFrame(index=frame.index)
    out["sma(50)"] = close.rolling(50).mean()
    out["ema(10)"] = exponential(close, 10, 2 / 11)
    line = exponential(close, 12, 2 / 13) - exponential(close, 26, 2 / 27)
    signal = exponential(line, 9, 2 / 10)
    out["macd(12,26,9)"] = line
    out["macd_signal(12,26,9)"] = signal
    out["macd_histogram(12,26,9)"] = line - signal
    change = close.diff()
    gain = exponential(change.clip(lower=0), 14, 1 / 14)
    loss = exponential(-change.clip(upper=0), 14, 1 / 14)
    out["rsi(14)"] = 100 - 100 / (1 + gain / loss)
    middle, spread = close.rolling(20).mean(), close.rolling(20).std(ddof=0)
    out["bollinger_middle(20,2)"] = middle
    out["bollinger_upper(20,2)"] = middle + 2 * spread
    out["bollinger_lower(20,2)"] = middle - 2 * spread
    past = close.shift()
    ranges = pd.concat([high - low, (high - past).abs(), (low - past).abs()], axis=1)
    out["atr(14)"] = exponential(ranges.max(axis=1).where(past.notna()), 14, 1 / 14)
    out["vwma(20)"] = (close * volume).rolling(20).sum() / volume.rolling(20).sum()
    typical = (high + low + close) / 3
    flow, move = typical * volume, typical.diff()
    up = flow.where(move > 0, 0.0).where(move.notna()).rolling(14).sum()
    down = flow.where(move < 0, 0.0).where(move.notna()).rolling(14).sum()
    out["mfi(14)"] = 100 - 100 / (1 + up / down)
    return out


def exponential(series: pd.Series, window: int, weight: float) -> pd.Series:
    """An exponential average that begins with the simple one of the first `window` values."""
    known = series.dropna()
    begun = known.iloc[window - 1 :].copy()
    begun.iloc[0] = known.iloc[:window].mean()
    return begun.ewm(alpha=weight, adjust=False).mean().reindex(series.index)


if __name__ == "__main__":
    main()
