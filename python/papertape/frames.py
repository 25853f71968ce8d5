"""Results as pandas data frames.

Every function takes a source: the URL of a server, a data directory, the file of a bundle, or what `papertape.open`
returns. Without one, the server of `PAPERTAPE_URL`, else the data directory `papertape-data`. All sources give the same
frame; `papertape.polars` has the same functions for polars.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from papertape import tables
from papertape.sources import AnySource, Row, open_source

if TYPE_CHECKING:
    from os import PathLike

    import pandas as pd

    From: TypeAlias = str | PathLike[str] | AnySource | None


def sessions_df(source: From = None, job: str = "latest") -> pd.DataFrame:
    """A row per session: an agent's day, with its status, quality and summary."""
    return frame(tables.sessions(open_source(source), job), tables.SESSIONS)


def messages_df(source: From = None, job: str = "latest") -> pd.DataFrame:
    """A row per message of the sessions' conversations: what agents received, said and did."""
    return frame(tables.messages(open_source(source), job), tables.MESSAGES)


def orders_df(source: From = None, job: str = "latest") -> pd.DataFrame:
    """A row per fill, rejected order and order that was pending at the close of its day.

    `side` is the action for a fill without an order: `stop`, `target`, `liquidation` or `delisting`.
    """
    return frame(tables.orders(open_source(source), job), tables.ORDERS)


def equity_df(source: From = None, job: str = "latest") -> pd.DataFrame:
    """A row per agent and day, with the portfolio value and the cash at the close."""
    return frame(tables.equity(open_source(source), job), tables.EQUITY)


def compare_df(*items: str, source: From = None, against: str | None = None) -> pd.DataFrame:
    """A row per compared pair, with the difference per day, its interval and the verdict.

    `items` are jobs, experiments, `ID/AGENT`, `baseline:buy_and_hold` and others of docs/compare.md; without any, the
    agents of the newest job. A bundle has its own comparison.
    """
    return frame(tables.compare(open_source(source), items, against), tables.COMPARE)


def frame(rows: list[Row], kinds: Mapping[str, tables.Kind]) -> pd.DataFrame:
    """Rows as a frame with these columns and types."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("data frames need pandas: run `pip install 'papertape[pandas]'`") from None
    made: dict[str, pd.Series[Any]] = {}
    for name, values in tables.columns(rows, kinds).items():
        match kinds[name]:
            case "text":
                made[name] = pd.Series(values, dtype="string")
            case "integer":
                made[name] = pd.Series(values, dtype="Int64")
            case "number":
                made[name] = pd.Series(values, dtype="float64")
            case "boolean":
                made[name] = pd.Series(values, dtype="boolean")
            case "date":
                days = pd.to_datetime(pd.Series(values, dtype="string"), format="%Y-%m-%d")
                made[name] = days.dt.as_unit("us")
            case "time":
                times = pd.to_datetime(pd.Series(values, dtype="string"), format="ISO8601", utc=True)
                made[name] = times.dt.as_unit("us")
            case "json":
                made[name] = pd.Series(values, dtype="object")
    result: pd.DataFrame = pd.DataFrame(made)
    return result
