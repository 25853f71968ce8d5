"""Papertape's side of the turn protocol in Python, strict about every message: over pipes to a process, and over HTTP.

The market is a table of closes by symbol. Orders fill at the day's price, and one that costs more than the cash is
rejected, as the broker does.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jsonschema

Json = dict[str, Any]
DATES = ["2025-03-03", "2025-03-04", "2025-03-05", "2025-03-06"]
TOOLS = {
    "get_portfolio": (),
    "get_price": ("symbol",),
    "get_bars": ("symbol", "limit"),
    "get_indicators": ("symbol", "indicators"),
    "get_snapshot": ("symbol",),
    "get_news": ("symbol", "limit"),
    "get_statements": ("symbol", "limit"),
    "get_profile": ("symbol",),
    "get_macro": ("series", "limit"),
    "calculate": ("expression",),
}
LIMITS = {
    "session_secs": 60,
    "max_requests": 500,
    "max_orders": 100,
    "max_line_bytes": 4_194_304,
    "max_state_bytes": 4096,
}
TOKEN = "pts_test"

SCHEMA = Path(__file__).resolve().parents[2] / "docs" / "schemas" / "turn-protocol-1.json"
VALIDATORS: dict[str, jsonschema.Draft202012Validator] = {}
if SCHEMA.is_file():
    definitions = json.loads(SCHEMA.read_text())
    for name in ("fromAgent", "fromPapertape"):
        VALIDATORS[name] = jsonschema.Draft202012Validator({**definitions, "$ref": f"#/$defs/{name}"})


@dataclass
class Book:
    """An account that lives over days."""

    cash: float = 10_000.0
    held: dict[str, float] = field(default_factory=dict)


@dataclass
class Session:
    """One day of an agent: answers its requests and remembers what it did."""

    prices: dict[str, list[float]]
    book: Book
    date: str = DATES[0]
    state: Any = None
    doors: Json | None = None
    notices: list[str] = field(default_factory=list)
    news: list[Json] = field(default_factory=list)
    requests: list[Json] = field(default_factory=list)
    orders: list[Json] = field(default_factory=list)
    decision: str | None = None
    ended: str | None = None
    # Ends the session instead of the reply to this request, as a deadline does.
    deadline_at: int | None = None

    def price(self, symbol: str) -> float:
        return self.prices[symbol][-1] + DATES.index(self.date)

    def account(self) -> Json:
        positions = [
            {
                "symbol": symbol, "quantity": quantity, "avg_price": 90, "price": self.price(symbol),
                "market_value": quantity * self.price(symbol), "unrealised_pnl": 1.5, "stop": None, "target": None,
                "leverage": 1,
            }
            for symbol, quantity in self.book.held.items()
            if quantity
        ]  # fmt: skip
        value = self.book.cash + sum(position["market_value"] for position in positions)
        return {
            "date": self.date,
            "cash": self.book.cash,
            "equity": value,
            "positions": positions,
            "pending_orders": [],
        }

    def day(self) -> Json:
        return {
            "type": "day", "protocol": 1, "job": "job-1", "agent": "mine", "date": self.date,
            "instant": f"{self.date}T14:30:00Z", "language": "en", "account": self.account(), "pending_orders": [],
            "notices": self.notices, "symbols": list(self.prices), "universe": None,
            "tools": [
                {"name": name, "description": name, "parameters": {"type": "object", "properties": {a: {} for a in arguments}}}
                for name, arguments in TOOLS.items()
            ],
            "order_tools": [{"name": side, "description": side, "parameters": {"type": "object"}} for side in ("buy", "sell")],
            "limits": LIMITS, "doors": self.doors, "state": self.state,
        }  # fmt: skip

    def answer(self, raw: bytes) -> list[Json]:
        """The messages that answer a line."""
        assert len(raw) <= LIMITS["max_line_bytes"], "a line is too long"
        assert raw.endswith(b"\n"), "a line does not end"
        assert raw.count(b"\n") == 1, "a message has more than one line"
        message = json.loads(raw)
        check(message, "fromAgent")
        self.requests.append(message)
        if self.ended:
            # Over MCP, while the process did something else.
            return [{"type": "reply", "id": message["id"], **error("session_ended", "the session has ended")}]
        if self.deadline_at == len(self.requests):
            self.ended = "deadline"
            return [{"type": "end", "reason": "deadline"}]
        known: dict[str, Callable[[Json], Json]] = {"read": self.read, "order": self.order, "done": self.done}
        assert message["type"] in known, f"unknown type {message['type']}"
        assert isinstance(message.get("id"), str | int), "no id"
        answers = [{"type": "reply", "id": message["id"], **known[message["type"]](message)}]
        if self.ended:
            answers.append({"type": "end", "reason": self.ended})
        return answers

    def read(self, message: Json) -> Json:
        assert set(message) == {"type", "id", "tool", "arguments"}, message
        name, arguments = message["tool"], message["arguments"]
        if name not in TOOLS:
            return error("unknown_tool", f"unknown tool `{name}`", expected=list(TOOLS))
        for argument in arguments:
            if argument not in TOOLS[name]:
                return error("bad_arguments", f"`{name}` has no argument `{argument}`")
        if name == "get_portfolio":
            return ok(self.account())
        if name == "calculate":
            return ok({"result": 42})
        if name == "get_macro":
            return ok({"error": "DATA_UNAVAILABLE: no macroeconomic series is known"})
        symbol = arguments.get("symbol")
        if name == "get_news":
            return ok({"items": [one for one in self.news if symbol is None or symbol in one["symbols"]]})
        if symbol not in self.prices:
            return ok({"error": f"unknown symbol `{symbol}`"})
        if name == "get_price":
            return ok({"symbol": symbol, "price": self.price(symbol), "kind": "open", "date": self.date})
        if name == "get_bars":
            closes = self.prices[symbol][-int(arguments.get("limit", 30)) :]
            dates = [f"2025-02-{day:02}" for day in range(28 - len(closes) + 1, 29)]
            bars = [
                {"date": date, "open": close - 1, "high": close + 1, "low": close - 2, "close": close, "volume": 1000}
                for date, close in zip(dates, closes, strict=True)
            ]
            return ok({"symbol": symbol, "bars": bars})
        if name == "get_indicators":
            return ok(
                {"symbol": symbol, "as_of": "2025-02-28", "indicators": dict.fromkeys(arguments["indicators"], 55.5)}
            )
        if name == "get_profile":
            return ok(
                {
                    "symbol": symbol,
                    "name": f"{symbol} Inc.",
                    "currency": "USD",
                    "exchange_time_zone": "America/New_York",
                }
            )
        if name == "get_statements":
            figure = {
                "metric": "Revenue",
                "period_end": "2024-12-31",
                "value": 12.5,
                "unit": "USD",
                "published_at": "2025-02-01T00:00:00Z",
            }
            return ok({"symbol": symbol, "figures": [figure], "left_out": 0})
        return ok({"symbol": symbol, "price": self.price(symbol), "previous_close": self.prices[symbol][-1]})

    def order(self, message: Json) -> Json:
        allowed = {"type", "id", "side", "symbol", "quantity", "stop", "target", "leverage", "reason"}
        assert set(message) <= allowed, message
        self.orders.append(message)
        symbol, quantity = message["symbol"], float(message["quantity"])
        if symbol not in self.prices:
            return error("order_rejected", f"unknown symbol {symbol}", reason="unknown_symbol")
        cost = quantity * self.price(symbol)
        sign = 1 if message["side"] in ("buy", "cover") else -1
        if sign > 0 and cost > self.book.cash:
            return error("order_rejected", f"the order costs {cost}, more than the cash", reason="insufficient_funds")
        if sign < 0 and quantity > self.book.held.get(symbol, 0):
            return error("order_rejected", "more than is held", reason="insufficient_position")
        self.book.cash -= sign * cost
        self.book.held[symbol] = self.book.held.get(symbol, 0) + sign * quantity
        return ok({
            "order_id": str(len(self.orders)), "symbol": symbol, "side": message["side"], "quantity": quantity,
            "status": "filled", "cash": self.book.cash, "price": self.price(symbol), "fee": 1,
        })  # fmt: skip

    def done(self, message: Json) -> Json:
        assert set(message) <= {"type", "id", "decision", "state"}, message
        assert isinstance(message.get("decision", ""), str)
        self.decision = message.get("decision")
        if "state" in message:
            self.state = message["state"]
        self.ended = "completed"
        return ok({"state_stored": True})


def check(message: Json, side: str) -> None:
    """Holds a message against the published schema; `side` is `fromAgent` or `fromPapertape`."""
    if VALIDATORS:
        VALIDATORS[side].validate(message)


def ok(result: Json) -> Json:
    return {"ok": True, "result": result}


def error(code: str, message: str, **more: Any) -> Json:
    return {"ok": False, "error": {"code": code, "message": message, **more}}


def sessions(
    days: int = 1, book: Book | None = None, prices: dict[str, list[float]] | None = None, **more: Any
) -> list[Session]:
    """Sessions of days in a row, with one account."""
    book = book or Book()
    prices = prices or {"AAPL": [100.0 + step for step in range(20)], "IBM": [200.0 - step for step in range(20)]}
    return [Session(prices, book, date, **more) for date in DATES[:days]]


@dataclass
class Played:
    """What a process did over its days."""

    sessions: list[Session]
    stderr: str
    returncode: int


def play(
    command: Sequence[str | Path], days: list[Session], *, env: dict[str, str] | None = None, timeout_secs: float = 60
) -> Played:
    """Starts a process, serves it these days one after the other, and closes its stdin. State is handed on."""
    with subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        said: list[str] = []
        reader = threading.Thread(target=lambda: said.append(process.stderr.read().decode()))  # type: ignore[union-attr]
        reader.start()
        watchdog = threading.Timer(timeout_secs, process.kill)
        watchdog.start()
        try:
            state = None
            for session in days:
                session.state = session.state if session.state is not None else state
                send(process.stdin, session.day())
                while session.ended is None:
                    line = process.stdout.readline()
                    if not line:
                        break
                    for message in session.answer(line):
                        send(process.stdin, message)
                if session.ended is None:
                    break
                state = session.state
            with suppress(BrokenPipeError):
                process.stdin.close()
            rest = process.stdout.read()
            assert rest == b"", f"more on stdout than the protocol: {rest!r}"
            process.wait()
        finally:
            watchdog.cancel()
            process.kill()
            reader.join()
    return Played(days, "".join(said), process.returncode)


def send(pipe: Any, message: Json) -> None:
    check(message, "fromPapertape")
    with suppress(BrokenPipeError):
        pipe.write(json.dumps(message).encode() + b"\n")
        pipe.flush()


def python(*arguments: str | Path) -> list[str]:
    return [sys.executable, *(str(argument) for argument in arguments)]


@contextmanager
def doors(session: Session, replies: Callable[[Json], Any] | None = None):  # type: ignore[no-untyped-def]
    """The listener of a session: `/sessions/current`, `/v1/chat/completions`, and `/mcp`. Yields its URL.

    `replies` makes a model's message out of a request. Calls without the session's token get a 401, and so do all but
    tool calls once the session has ended.
    """
    model_requests: list[Json] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                self.respond(401, {"error": "unauthorized", "message": "unknown token"})
            elif session.ended and not (self.path == "/mcp" and json.loads(body)["method"] == "tools/call"):
                self.respond(401, {"error": "unauthorized", "message": "the session has ended"})
            elif self.path == "/sessions/current":
                self.respond(200, session.answer(body + b"\n")[0])
            elif self.path == "/v1/chat/completions":
                request = json.loads(body)
                model_requests.append(request)
                message = replies(request) if replies else "BUY"
                if isinstance(message, str):
                    message = {"role": "assistant", "content": message}
                usage = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
                choice = {
                    "index": 0,
                    "message": message,
                    "finish_reason": "tool_calls" if message.get("tool_calls") else "stop",
                }
                self.respond(200, {
                    "id": "c1", "object": "chat.completion", "created": 1, "model": request["model"], "choices": [choice],
                    "usage": usage,
                })  # fmt: skip
            elif self.path == "/mcp":
                self.mcp(json.loads(body))
            else:
                self.respond(404, {"error": "not_found", "message": self.path})

        def mcp(self, request: Json) -> None:
            if "id" not in request:
                self.respond(202, None)
                return
            method, given = request["method"], request.get("params", {})
            if method == "initialize":
                result = {
                    "protocolVersion": given["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "papertape", "version": "1"},
                }
            elif method == "tools/list":
                names = [*TOOLS, "buy", "sell", "finish_day"]
                result = {
                    "tools": [{"name": name, "description": name, "inputSchema": {"type": "object"}} for name in names]
                }
            else:
                result = self.call(given["name"], dict(given.get("arguments") or {}))
            self.respond(200, {"jsonrpc": "2.0", "id": request["id"], "result": result})

        def call(self, name: str, arguments: Json) -> Json:
            if name == "get_portfolio":
                reply = session.read({"type": "read", "id": 1, "tool": "get_portfolio", "arguments": {}})
            elif name in ("buy", "sell"):
                reply = session.order({"type": "order", "id": 1, "side": name, **arguments})
            elif name == "finish_day":
                reply = session.done({"type": "done", "id": 1, **arguments})
            else:
                reply = session.read({"type": "read", "id": 1, "tool": name, "arguments": arguments})
            value = reply["result"] if reply["ok"] else reply["error"]
            return {"content": [{"type": "text", "text": json.dumps(value)}], "isError": not reply["ok"]}

        def respond(self, status: int, value: Any) -> None:
            body = b"" if value is None else json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        session.doors = {
            "token": TOKEN, "session_url": f"{url}/sessions/current", "mcp_url": f"{url}/mcp",
            "model_base_url": f"{url}/v1", "models": ["test::model"],
        }  # fmt: skip
        try:
            yield model_requests
        finally:
            server.shutdown()
            thread.join()
