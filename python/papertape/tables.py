"""The columns of the data frames, and the rows for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from papertape.sources import AnySource, Row

Kind = Literal["text", "integer", "number", "boolean", "date", "time", "json"]

_KEY: dict[str, Kind] = {"job_id": "text", "date": "date", "model": "text"}

SESSIONS: dict[str, Kind] = _KEY | {
    "session_id": "integer",
    "is_llm": "boolean",
    "status": "text",
    "error": "text",
    "quality": "text",
    "quality_reason": "text",
    "session_summary": "text",
    "total_messages": "integer",
    "started_at": "time",
    "completed_at": "time",
}
MESSAGES: dict[str, Kind] = _KEY | {
    "session_id": "integer",
    "message_index": "integer",
    "role": "text",
    "node": "text",
    "path": "text",
    "content": "text",
    "tool_name": "text",
    "tool_input": "json",
    "summary": "text",
    "timestamp": "time",
}
ORDERS: dict[str, Kind] = _KEY | {
    "order_id": "text",
    "symbol": "text",
    "side": "text",
    "quantity": "number",
    "status": "text",
    "code": "text",
    "message": "text",
    "price": "number",
    "fee": "number",
    "slippage": "number",
    "realized_pnl": "number",
    "stop": "number",
    "target": "number",
    "leverage": "number",
}
EQUITY: dict[str, Kind] = _KEY | {
    "portfolio_value": "number",
    "cash": "number",
    "status": "text",
    "full_research": "boolean",
}
COMPARE: dict[str, Kind] = {
    "a": "text",
    "b": "text",
    "verdict": "text",
    "words": "text",
    "days": "integer",
    "return_a": "number",
    "return_b": "number",
    "mean_daily": "number",
    "low": "number",
    "high": "number",
    "total": "number",
    "per_year": "number",
    "p_value": "number",
    "holm_p": "number",
    "days_needed": "integer",
}


def sessions(source: AnySource, job: str) -> list[Row]:
    return [_session(session) for session in source.sessions(job)]


def _session(session: Row) -> Row:
    quality = session.get("quality") or {}
    return session | {"quality": quality.get("state"), "quality_reason": quality.get("reason")}


def messages(source: AnySource, job: str) -> list[Row]:
    rows: list[Row] = []
    for session in source.conversations(job):
        common = {name: session.get(name) for name in (*_KEY, "session_id")}
        rows.extend(common | message for message in session.get("conversation") or ())
    return rows


def orders(source: AnySource, job: str) -> list[Row]:
    return source.orders(job)


def equity(source: AnySource, job: str) -> list[Row]:
    return [
        {"model": result["model"], **value}
        for result in source.results(job)["results"]
        for value in result["daily_portfolio_values"]
    ]


def compare(source: AnySource, items: Iterable[str], against: str | None) -> list[Row]:
    rows = []
    for pair in source.compare(*items, against=against)["pairs"]:
        difference: Mapping[str, Any] = pair.get("difference") or {}
        interval = difference.get("interval") or {}
        rows.append(
            dict(pair)
            | {name: difference.get(name) for name in ("mean_daily", "total", "per_year", "p_value")}
            | {"low": interval.get("low"), "high": interval.get("high")}
        )
    return rows


def columns(rows: list[Row], kinds: Mapping[str, Kind]) -> dict[str, list[Any]]:
    """The rows by column, in the columns' order. What a row does not have is `None`."""
    return {name: [row.get(name) for row in rows] for name in kinds}
