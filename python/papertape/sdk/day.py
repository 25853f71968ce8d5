"""A trading day, as an agent sees it."""

from __future__ import annotations

import copy
import itertools
import math
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal

import httpx

from papertape.sdk.channel import Channel, Message, encode
from papertape.sdk.errors import AgentError, DataUnavailableError, SessionEndedError

Side = Literal["buy", "sell", "short", "cover"]
Quantity = int | float | Decimal | str


@dataclass(frozen=True)
class Position:
    """A holding at the newest known price. `quantity` is above zero for a long and below zero for a short position."""

    symbol: str
    quantity: float
    avg_price: float
    price: float | None
    market_value: float | None
    unrealized_pnl: float | None
    stop: float | None
    target: float | None
    leverage: float
    raw: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Position:
        return cls(
            symbol=raw["symbol"],
            quantity=float(raw["quantity"]),
            avg_price=float(raw["avg_price"]),
            price=_optional(raw.get("price")),
            market_value=_optional(raw.get("market_value")),
            unrealized_pnl=_optional(raw.get("unrealised_pnl", raw.get("unrealized_pnl"))),
            stop=_optional(raw.get("stop")),
            target=_optional(raw.get("target")),
            leverage=float(raw.get("leverage") or 1),
            raw=raw,
        )


@dataclass(frozen=True)
class PendingOrder:
    """An order that fills later."""

    order_id: str
    symbol: str
    side: Side
    quantity: float

    @classmethod
    def of(cls, raw: dict[str, Any]) -> PendingOrder:
        return cls(str(raw["order_id"]), raw["symbol"], raw["side"], float(raw["quantity"]))


@dataclass(frozen=True)
class Account:
    """Cash, holdings and pending orders, in the account's currency."""

    cash: float
    equity: float
    positions: dict[str, Position]
    pending_orders: tuple[PendingOrder, ...]
    raw: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Account:
        positions = [Position.of(one) for one in raw.get("positions") or ()]
        return cls(
            cash=float(raw["cash"]),
            # Unknown for an account that cannot be valued.
            equity=float("nan") if raw.get("equity") is None else float(raw["equity"]),
            positions={one.symbol: one for one in positions},
            pending_orders=tuple(PendingOrder.of(one) for one in raw.get("pending_orders") or ()),
            raw=raw,
        )

    def quantity(self, symbol: str) -> float:
        """How much of a symbol is held; 0 if none."""
        held = self.positions.get(symbol)
        return held.quantity if held else 0.0


@dataclass(frozen=True)
class Order:
    """The outcome of an order. `code` is the broker's reason for a rejection, `message` the same in a sentence."""

    side: Side
    symbol: str
    quantity: float
    status: Literal["filled", "pending", "rejected"]
    order_id: str | None = None
    price: float | None = None
    fee: float | None = None
    realized_pnl: float | None = None
    code: str | None = None
    message: str | None = None
    raw: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def filled(self) -> bool:
        return self.status == "filled"

    @property
    def rejected(self) -> bool:
        return self.status == "rejected"


class Day:
    """A session of an agent: one trading day, at its instant. Nothing later than `instant` can be read.

    `state` is what the agent stored on its previous day, `{}` on the first one. Change it, and it is stored when the
    day ends: at most `limits["max_state_bytes"]` of JSON. Everything else may be gone tomorrow, also the process.
    """

    def __init__(self, message: Message, channel: Channel) -> None:
        self.raw = message
        self.job: str = message["job"]
        self.agent: str = message["agent"]
        self.date: date = date.fromisoformat(message["date"])
        self.instant: datetime = datetime.fromisoformat(message["instant"].replace("Z", "+00:00"))
        self.language: str = message.get("language", "en")
        self.symbols: list[str] = list(message.get("symbols") or ())
        self.universe: str | None = message.get("universe")
        self.notices: list[str] = list(message.get("notices") or ())
        self.tools: dict[str, dict[str, Any]] = {tool["name"]: tool for tool in message.get("tools") or ()}
        self.order_tools: dict[str, dict[str, Any]] = {tool["name"]: tool for tool in message.get("order_tools") or ()}
        self.limits: dict[str, int] = dict(message.get("limits") or {})
        self.state: Any = copy.deepcopy(message.get("state"))
        if self.state is None:
            self.state = {}
        self._doors: dict[str, Any] | None = message.get("doors")
        self._channel = channel
        self._ids = itertools.count(1)
        self._account: Account | None = Account.of(message["account"])
        self.finished = False

    def __repr__(self) -> str:
        return f"Day({self.agent!r}, {self.date})"

    # --- Reads.

    def read(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Reads from the market view: `day.read("get_bars", symbol="AAPL", limit=20)`. `tools` lists what there is.

        Raises `DataUnavailableError` for what is not known on this day, and `AgentError` for a wrong request.
        """
        result = self._request({"type": "read", "tool": tool, "arguments": arguments})
        # A tool reports missing data and wrong arguments in its answer.
        error = result.get("error") if isinstance(result, dict) and len(result) == 1 else None
        if isinstance(error, str):
            if error.startswith("DATA_UNAVAILABLE"):
                raise DataUnavailableError("data_unavailable", error)
            raise AgentError("bad_arguments", error)
        return dict(result)

    def price(self, symbol: str) -> float:
        """The newest known price: the open of this day."""
        return float(self.read("get_price", symbol=symbol)["price"])

    def bars(self, symbol: str, limit: int = 30) -> list[dict[str, Any]]:
        """Daily bars up to the previous trading day, oldest first, adjusted for splits."""
        return list(self.read("get_bars", symbol=symbol, limit=limit)["bars"])

    def closes(self, symbol: str, limit: int = 30) -> list[float]:
        """The closes of `bars`."""
        return [float(bar["close"]) for bar in self.bars(symbol, limit)]

    @property
    def account(self) -> Account:
        """The account as it is now, with the orders of this day."""
        if self._account is None:
            self._account = Account.of(self.read("get_portfolio"))
        return self._account

    @property
    def pending_orders(self) -> tuple[PendingOrder, ...]:
        """Orders that fill later."""
        return self.account.pending_orders

    # --- Orders.

    def buy(self, symbol: str, quantity: Quantity, **terms: Any) -> Order:
        """Opens or adds to a long position. `terms` are `stop`, `target`, `leverage` and `reason`."""
        return self.order("buy", symbol, quantity, **terms)

    def sell(self, symbol: str, quantity: Quantity, **terms: Any) -> Order:
        """Reduces or closes a long position."""
        return self.order("sell", symbol, quantity, **terms)

    def short(self, symbol: str, quantity: Quantity, **terms: Any) -> Order:
        """Opens or adds to a short position, where the market allows it."""
        return self.order("short", symbol, quantity, **terms)

    def cover(self, symbol: str, quantity: Quantity, **terms: Any) -> Order:
        """Reduces or closes a short position."""
        return self.order("cover", symbol, quantity, **terms)

    def order(
        self,
        side: Side,
        symbol: str,
        quantity: Quantity,
        *,
        stop: Quantity | None = None,
        target: Quantity | None = None,
        leverage: Quantity | None = None,
        reason: str | None = None,
    ) -> Order:
        """Places an order, and returns its outcome. A rejection is returned, with its reason, and not raised."""
        terms = {"quantity": quantity, "stop": stop, "target": target, "leverage": leverage, "reason": reason}
        message: Message = {"type": "order", "side": side, "symbol": symbol}
        message |= {name: value for name, value in terms.items() if value is not None}
        for name, value in message.items():
            if isinstance(value, float) and not math.isfinite(value):
                raise AgentError("bad_arguments", f"`{name}` must be a finite number, not {value}")
        reply = self._reply(message)
        self._account = None
        if reply.get("ok"):
            result = dict(reply["result"])
        else:
            error = reply["error"]
            if error["code"] != "order_rejected":
                raise _error(error)
            detail = error.get("result") or error
            result = {**detail, "status": "rejected", "code": error.get("reason"), "message": error["message"]}
        return Order(
            side=side,
            symbol=str(result.get("symbol", symbol)),
            quantity=float(result.get("quantity", quantity)),
            status=result.get("status", "filled"),
            order_id=None if result.get("order_id") is None else str(result["order_id"]),
            price=_optional(result.get("price")),
            fee=_optional(result.get("fee")),
            realized_pnl=_optional(result.get("realised_pnl", result.get("realized_pnl"))),
            code=result.get("code"),
            message=result.get("message"),
            raw=result,
        )

    # --- Doors: a model, tools and HTTP for this session.

    @property
    def token(self) -> str:
        """The token of this session, the API key of its model endpoint and its MCP server. It ends with the day."""
        return str(self._door("token"))

    @property
    def openai_base_url(self) -> str:
        """The base URL for clients of OpenAI's API, with `token` as the key."""
        return str(self._door("model_base_url"))

    @property
    def anthropic_base_url(self) -> str:
        """The base URL for clients of Anthropic's API, with `token` as the key."""
        return self.openai_base_url.removesuffix("/").removesuffix("/v1")

    @property
    def mcp_url(self) -> str:
        """The URL of the MCP server (streamable HTTP) with this session's reads and orders."""
        return str(self._door("mcp_url"))

    @property
    def models(self) -> list[str]:
        """The models that the endpoint offers; the first is the default."""
        return list(self._door("models") or ())

    def chat(self, messages: str | list[dict[str, Any]], model: str | None = None, **options: Any) -> str:
        """Calls a model through the endpoint, and returns its text. `messages` is a prompt or a list of messages."""
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        if model is None:
            models = self.models
            if not models:
                raise AgentError("no_model", f"the agent `{self.agent}` has no `models` in the configuration")
            model = models[0]
        # Models take their time, and not through a proxy: the URL is one of Papertape's own machine.
        response = httpx.post(
            self.openai_base_url.rstrip("/") + "/chat/completions",
            content=encode({"model": model, "messages": messages, **options}),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
            timeout=float(self.limits.get("session_secs", 1800)),
            trust_env=False,
        )
        if not response.is_success:
            raise AgentError("model_error", f"{response.status_code}: {response.text[:500]}")
        return str(response.json()["choices"][0]["message"].get("content") or "")

    def _door(self, name: str) -> Any:
        if self._doors is None:
            raise AgentError("no_doors", "this run has no listener for models and MCP")
        return self._doors.get(name)

    # --- The end of the day.

    def done(self, decision: str | None = None) -> None:
        """Ends the day. Not needed: returning from the agent's function does it, with a returned text as `decision`."""
        if self.finished:
            return
        message: Message = {"type": "done"}
        if decision is not None:
            message["decision"] = str(decision)
        before = self.raw.get("state")
        if self.state != ({} if before is None else before):
            size = len(encode({"state": self.state}))
            most = self.limits.get("max_state_bytes", 1_048_576)
            if size > most + len('{"state": }'):
                raise AgentError("limit", f"the state has {size} bytes; at most {most} are allowed")
            message["state"] = self.state
        try:
            self._request(message)
        finally:
            self.finished = True

    def _request(self, message: Message) -> Any:
        reply = self._reply(message)
        if not reply.get("ok"):
            raise _error(reply["error"])
        return reply.get("result")

    def _reply(self, message: Message) -> Message:
        if self.finished:
            raise SessionEndedError("completed")
        return self._channel.request({**message, "id": next(self._ids)})


def _error(error: dict[str, Any]) -> AgentError:
    code, message = str(error["code"]), str(error["message"])
    if code == "session_ended":
        return SessionEndedError(str(error.get("reason", "stopped")))
    if message.startswith("DATA_UNAVAILABLE"):
        return DataUnavailableError(code, message, error.get("expected"))
    return AgentError(code, message, error.get("expected"))


def _optional(value: Any) -> float | None:
    return None if value is None else float(value)
