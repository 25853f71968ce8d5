"""Results as polars data frames: the functions of `papertape.frames`, for polars."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from papertape import tables
from papertape.sources import Row, open_source

if TYPE_CHECKING:
    import polars as pl

    from papertape.frames import From


def sessions_df(source: From = None, job: str = "latest") -> pl.DataFrame:
    """A row per session: see `papertape.sessions_df`."""
    return frame(tables.sessions(open_source(source), job), tables.SESSIONS)


def messages_df(source: From = None, job: str = "latest") -> pl.DataFrame:
    """A row per message: see `papertape.messages_df`. `tool_input` is JSON text."""
    return frame(tables.messages(open_source(source), job), tables.MESSAGES)


def orders_df(source: From = None, job: str = "latest") -> pl.DataFrame:
    """A row per fill, rejected order and pending order: see `papertape.orders_df`."""
    return frame(tables.orders(open_source(source), job), tables.ORDERS)


def equity_df(source: From = None, job: str = "latest") -> pl.DataFrame:
    """A row per agent and day: see `papertape.equity_df`."""
    return frame(tables.equity(open_source(source), job), tables.EQUITY)


def compare_df(*items: str, source: From = None, against: str | None = None) -> pl.DataFrame:
    """A row per compared pair: see `papertape.compare_df`."""
    return frame(tables.compare(open_source(source), items, against), tables.COMPARE)


def frame(rows: list[Row], kinds: Mapping[str, tables.Kind]) -> pl.DataFrame:
    """Rows as a frame with these columns and types."""
    try:
        import polars as pl
    except ImportError:
        raise ImportError("these data frames need polars: run `pip install 'papertape[polars]'`") from None
    series = []
    for name, values in tables.columns(rows, kinds).items():
        match kinds[name]:
            case "text":
                series.append(pl.Series(name, values, dtype=pl.String))
            case "integer":
                series.append(pl.Series(name, values, dtype=pl.Int64))
            case "number":
                numbers = [None if value is None else float(value) for value in values]
                series.append(pl.Series(name, numbers, dtype=pl.Float64))
            case "boolean":
                series.append(pl.Series(name, values, dtype=pl.Boolean))
            case "date":
                series.append(pl.Series(name, values, dtype=pl.String).str.to_date("%Y-%m-%d"))
            case "time":
                text = pl.Series(name, values, dtype=pl.String)
                series.append(text.str.to_datetime(time_unit="us", time_zone="UTC"))
            case "json":
                texts = [None if value is None else json.dumps(value, ensure_ascii=False) for value in values]
                series.append(pl.Series(name, texts, dtype=pl.String))
    return pl.DataFrame(series)
