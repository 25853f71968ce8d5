"""Data frames from a server, a data directory and a bundle, each compared with the API."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import polars as pl
import pytest

import papertape
import papertape.polars
from tests.conftest import Record


@pytest.fixture(scope="session")
def api(server: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server, trust_env=False) as client:
        yield client


@pytest.fixture(params=["server", "directory", "bundle"])
def source(
    request: pytest.FixtureRequest, server: str, record: Record, bundle: Path
) -> papertape.Server | papertape.DataDirectory | papertape.Bundle:
    if request.param == "server":
        return papertape.Server(server)
    if request.param == "directory":
        # While the server owns it.
        return papertape.DataDirectory(record.path, config=record.config)
    return papertape.Bundle(bundle)


def get(api: httpx.Client, path: str, **query: Any) -> Any:
    return api.get(path, params=query).raise_for_status().json()


def values(frame: pd.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    """The rows, with `None` for what is missing, days as texts, and instants as they are."""
    plain = frame[list(columns)].copy()
    for column in columns:
        if column == "date":
            plain[column] = plain[column].dt.strftime("%Y-%m-%d")
    return [
        tuple(None if value is None or value is pd.NA or value != value else value for value in row)
        for row in plain.itertuples(index=False)
    ]


def test_sessions(api: httpx.Client, source: Any, record: Record) -> None:
    """Goal: a row per session with the values of `GET /reasoning`; a bundle has no IDs, summaries and times."""
    expected = get(api, "/reasoning", job_id=record.job, limit=200)["sessions"]
    frame = papertape.sessions_df(source, record.job)
    assert len(frame) == len(expected) > 50
    common = ["job_id", "date", "model", "status"]
    assert sorted(values(frame, *common)) == sorted(tuple(row[name] for name in common) for row in expected)
    if isinstance(source, papertape.Bundle):
        assert frame["session_id"].isna().all()
        return
    columns = [*common, "session_id", "is_llm", "error", "session_summary", "total_messages"]
    assert values(frame, *columns) == [tuple(row[name] for name in columns) for row in expected]
    assert list(frame["quality"]) == [row["quality"]["state"] for row in expected]
    assert list(frame["started_at"]) == [pd.Timestamp(row["started_at"]) for row in expected]


def test_messages(api: httpx.Client, source: Any, record: Record) -> None:
    """Goal: every message of every session, in order, with its text and its tool call."""
    expected = []
    cursor = None
    while True:
        query = {"cursor": cursor} if cursor else {}
        page = get(api, "/reasoning", job_id=record.job, include_full_conversation="true", limit=50, **query)
        expected += [(session, message) for session in page["sessions"] for message in session["conversation"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    columns = ["date", "model", "message_index", "role", "content", "path", "node", "tool_name", "tool_input"]
    frame = papertape.messages_df(source, record.job)
    found = sorted(values(frame, *columns), key=lambda row: row[:3])
    wanted = [
        (session["date"], session["model"], *(message.get(name) for name in columns[2:]))
        for session, message in expected
    ]
    assert found == sorted(wanted, key=lambda row: row[:3])
    assert len(found) > 500
    if not isinstance(source, papertape.Bundle):
        assert list(frame["session_id"]) == [session["session_id"] for session, _ in expected]


def test_orders(api: httpx.Client, source: Any, record: Record) -> None:
    """Goal: the fills, rejections and pending orders of every day of `GET /results`."""
    days = {
        value["date"]
        for result in get(api, "/results", job_id=record.job)["results"]
        for value in result["daily_portfolio_values"]
    }
    terms = ["price", "fee", "slippage", "realized_pnl", "stop", "target", "leverage"]
    expected = []
    for day in sorted(days):
        for result in get(api, "/results", job_id=record.job, date=day)["results"]:
            key = (record.job, day, result["model"])
            expected += [
                (
                    *key,
                    trade.get("order_id"),
                    trade["symbol"],
                    trade["action_type"],
                    trade["quantity"],
                    "filled",
                    None,
                    None,
                    *(trade.get(name) for name in terms),
                )
                for trade in result["trades"]
            ]
            expected += [
                (
                    *key,
                    order["order_id"],
                    order["symbol"],
                    order["side"],
                    order["quantity"],
                    order["status"],
                    order.get("code"),
                    order.get("message"),
                    *[None] * 7,
                )
                for order in result["rejections"]
            ]
            expected += [
                (
                    *key,
                    order["order_id"],
                    order["symbol"],
                    order["side"],
                    order["quantity"],
                    "pending",
                    None,
                    None,
                    *[None] * 7,
                )
                for order in result["pending_orders"]
                if order["placed_on"] == day
            ]
    frame = papertape.orders_df(source, record.job)
    columns = ["job_id", "date", "model", "order_id", "symbol", "side", "quantity", "status", "code", "message", *terms]
    assert values(frame, *columns) == expected
    assert {"filled", "pending"} == set(frame["status"]), "the record tests little"


def test_rejected_orders(api: httpx.Client, server: str, record: Record, tmp_path: Path) -> None:
    """Goal: a rejected order has its code and its reason, from every source."""
    directory = papertape.DataDirectory(record.path, config=record.config)
    file = tmp_path / "rejected.bundle"
    directory.command("bundle", record.rejected, "--no-audit", "--output", str(file))
    expected = []
    for day in sorted(papertape.equity_df(server, record.rejected)["date"].dt.strftime("%Y-%m-%d")):
        for result in get(api, "/results", job_id=record.rejected, date=day)["results"]:
            expected += [(day, order["order_id"], order["code"], order["message"]) for order in result["rejections"]]
    assert expected, "the record has no rejection"
    for source in (server, directory, file):
        frame = papertape.orders_df(source, record.rejected)
        rejected = frame[frame["status"] == "rejected"]
        assert values(rejected, "date", "order_id", "code", "message") == expected


def test_equity(api: httpx.Client, source: Any, record: Record) -> None:
    """Goal: value and cash of every day and agent, as in `GET /results` and in the chart's data."""
    expected = [
        (
            value["job_id"],
            value["date"],
            result["model"],
            value["portfolio_value"],
            value["cash"],
            value["status"],
            value["full_research"],
        )
        for result in get(api, "/results", job_id=record.job)["results"]
        for value in result["daily_portfolio_values"]
    ]
    frame = papertape.equity_df(source, record.job)
    assert values(frame, "job_id", "date", "model", "portfolio_value", "cash", "status", "full_research") == expected
    for curve in get(api, f"/jobs/{record.job}/curves")["agents"]:
        assert list(frame[frame["model"] == curve["model"]]["portfolio_value"]) == curve["portfolio_values"]


def test_compare(api: httpx.Client, source: Any, record: Record) -> None:
    """Goal: the pairs of `GET /compare`, with differences, intervals and verdicts."""
    bundled = isinstance(source, papertape.Bundle)
    items = () if bundled else (record.job, "baseline:buy_and_hold")
    frame = papertape.compare_df(*items, source=source)
    expected = get(api, "/compare", select=f"{record.job},baseline:buy_and_hold")["pairs"]
    assert len(frame) == len(expected) == 3
    found = {frozenset((row["a"], row["b"])): row for row in frame.to_dict("records")}
    for pair in expected:
        row = found[frozenset((pair["a"], pair["b"]))]
        assert (row["verdict"], row["words"], row["days"]) == (pair["verdict"], pair["words"], pair["days"])
        difference = pair["difference"]
        interval = difference["interval"]
        for name, value in (
            ("mean_daily", difference["mean_daily"]), ("total", difference["total"]), ("p_value", difference.get("p_value")),
            ("low", interval["low"]), ("high", interval["high"]), ("holm_p", pair.get("holm_p")), ("return_a", pair["return_a"]),
        ):  # fmt: skip
            assert row[name] == value, name


@pytest.mark.parametrize("table", ["sessions_df", "messages_df", "orders_df", "equity_df"])
def test_polars_has_the_same_rows(table: str, source: Any, record: Record) -> None:
    """Goal: `papertape.polars` gives the same columns and values as pandas."""
    pandas_frame = getattr(papertape, table)(source, record.job)
    frame = getattr(papertape.polars, table)(source, record.job)
    assert frame.columns == list(pandas_frame.columns)
    assert frame.height == len(pandas_frame)
    for name in frame.columns:
        if frame.schema[name] == pl.Date:
            assert [str(day) for day in frame[name]] == list(pandas_frame[name].dt.strftime("%Y-%m-%d"))
        elif name == "tool_input":
            assert [None if text is None else json.loads(text) for text in frame[name]] == [
                value if isinstance(value, dict) else None for value in pandas_frame[name]
            ]
        elif frame.schema[name] == pl.Float64:
            pd.testing.assert_series_equal(frame[name].to_pandas(), pandas_frame[name])
        else:
            assert frame[name].null_count() == int(pandas_frame[name].isna().sum()), name


def test_types_do_not_depend_on_the_rows(record: Record) -> None:
    """Goal: a frame without rows has the columns and types of any other."""
    from papertape import frames, tables

    full = papertape.messages_df(papertape.DataDirectory(record.path), record.desk)
    assert full.dtypes.equals(frames.frame([], tables.MESSAGES).dtypes)


def test_latest_is_the_newest_job(server: str, record: Record) -> None:
    """Goal: without a job, every source reads the newest one."""
    for source in (papertape.Server(server), papertape.DataDirectory(record.path)):
        assert set(papertape.equity_df(source)["job_id"]) == {record.job}


def test_sources_are_opened_by_what_they_are(
    server: str, record: Record, bundle: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Goal: a URL, a directory and a file become their source, and the environment names the default."""
    assert isinstance(papertape.open(server), papertape.Server)
    assert isinstance(papertape.open(record.path), papertape.DataDirectory)
    assert isinstance(papertape.open(bundle), papertape.Bundle)
    assert isinstance(papertape.open(), papertape.DataDirectory)
    monkeypatch.setenv("PAPERTAPE_URL", server)
    assert isinstance(papertape.open(), papertape.Server)
    with pytest.raises(FileNotFoundError, match="not a URL, a data directory or a bundle"):
        papertape.open(tmp_path / "nothing")


def test_a_forged_bundle_is_not_read(bundle: Path, tmp_path: Path) -> None:
    """Goal: a bundle is verified before its rows are used, and a missing tape is said."""
    forged = tmp_path / "forged.bundle"
    data = bytearray(bundle.read_bytes())
    data[len(data) // 2] ^= 1
    forged.write_bytes(data)
    with pytest.raises(papertape.BundleError, match="does not verify"):
        papertape.orders_df(forged)
    assert zipfile.is_zipfile(bundle)
    source = papertape.Bundle(bundle)
    source.manifest["tape"] = "none"
    with pytest.raises(papertape.BundleError, match="--tape full"):
        papertape.messages_df(source)
    with pytest.raises(papertape.NotFoundError, match="has no job nope"):
        papertape.equity_df(source, "nope")
    with pytest.raises(papertape.BundleError, match="and no other"):
        papertape.compare_df("baseline:buy_and_hold", source=source)
