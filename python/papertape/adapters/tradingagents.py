"""Runs TradingAgents, unchanged, as an agent of Papertape.

    [external_agents.tradingagents]
    command = ["python3", "-m", "papertape.adapters.tradingagents"]
    models = ["openai::gpt-5-mini", "openai::gpt-5"]

Its models are called through the session's endpoint, its data come from the session's market view, its ratings become
orders, and the reports of its roles are the decision of the day. See docs/tradingagents.md.
"""

from __future__ import annotations

import argparse
import copy
import importlib
import ipaddress
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from papertape.adapters._vendor import Vendor
from papertape.adapters.sizing import Sizing, trade
from papertape.sdk import Agent, Day, Order, SessionEndedError, serve

PACKAGE = "tradingagents"
# What TradingAgents fetches without its routing, by module: each is replaced while it runs.
SOCIAL = "The posts of this network are not in the dataset of this simulation."
# The roles of its state, as TradingAgents names them in its reports. Older versions have other keys.
ROLES: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    ("Market Analyst", (("market_report",),)),
    ("Sentiment Analyst", (("sentiment_report",),)),
    ("News Analyst", (("news_report",),)),
    ("Fundamentals Analyst", (("fundamentals_report",),)),
    ("Bull Researcher", (("investment_debate_state", "bull_history"),)),
    ("Bear Researcher", (("investment_debate_state", "bear_history"),)),
    ("Research Manager", (("investment_plan",), ("investment_debate_state", "judge_decision"))),
    ("Trader", (("trader_investment_plan",),)),
    ("Aggressive Analyst", (("risk_debate_state", "aggressive_history"), ("risk_debate_state", "risky_history"))),
    ("Conservative Analyst", (("risk_debate_state", "conservative_history"), ("risk_debate_state", "safe_history"))),
    ("Neutral Analyst", (("risk_debate_state", "neutral_history"),)),
    ("Portfolio Manager", (("final_trade_decision",), ("risk_debate_state", "judge_decision"))),
)
# A report that is longer is cut, so that all of them fit into one message.
MAX_REPORT_CHARS = 100_000
_RATING = re.compile(r"rating[^\n]*?[:\-][\s*]*(buy|overweight|hold|underweight|sell)\b", re.IGNORECASE)
_WORD = re.compile(r"\b(buy|overweight|hold|underweight|sell)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Settings:
    """How TradingAgents is run."""

    analysts: tuple[str, ...] = ("market", "social", "news", "fundamentals")
    debate_rounds: int = 1
    risk_rounds: int = 1
    quick_model: str | None = None
    deep_model: str | None = None
    benchmark: str | None = None
    asset_type: str | None = None
    memory_entries: int = 50
    keep_going: bool = False
    sizing: Sizing = field(default_factory=Sizing)


class TradingAgents:
    """The agent. `settings` are the same on every day; all that changes is in the session's state."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def __call__(self, day: Day) -> str:
        os.environ["OPENAI_API_KEY"] = day.token
        allow_host(day.openai_base_url)
        vendor = Vendor(day)
        ratings: dict[str, str] = {}
        reports: list[str] = []
        with tempfile.TemporaryDirectory(prefix="papertape-") as folder:
            memory = Path(folder) / "memory.md"
            memory.write_text(str((day.state or {}).get("memory_log", "")), encoding="utf-8")
            graph = build_graph(day, vendor, self.settings, Path(folder), memory)
            for symbol in day.symbols:
                rating, report = self.analyze(graph, day, symbol)
                reports.append(report)
                if rating is not None:
                    ratings[symbol] = rating
            log = memory.read_text(encoding="utf-8") if memory.is_file() else ""
        if log:
            day.state = {
                "memory_log": newest_entries(log, self.settings.memory_entries, day.limits.get("max_state_bytes"))
            }
        prices = {symbol: day.price(symbol) for symbol in ratings}
        orders = trade(day, ratings, prices, self.settings.sizing)
        return "\n\n".join([summary(day.symbols, ratings, orders), *reports])

    def analyze(self, graph: Any, day: Day, symbol: str) -> tuple[str | None, str]:
        """The rating of a symbol, and the reports of its roles."""
        more = {} if self.settings.asset_type is None else {"asset_type": self.settings.asset_type}
        try:
            state, _ = graph.propagate(symbol, day.date.isoformat(), **more)
        except SessionEndedError:
            raise
        except Exception as error:
            if not self.settings.keep_going:
                raise
            return None, f"# {symbol}: failed\n\n{type(error).__name__}: {error}"
        # Not the rating that `propagate` returns: it is Hold where no rating can be read.
        rating = parse_rating(str(state.get("final_trade_decision") or ""))
        return rating, f"# {symbol}: {rating or 'no rating could be read'}\n\n{role_reports(state)}"


def build_graph(day: Day, vendor: Vendor, settings: Settings, folder: Path, memory: Path) -> Any:
    """TradingAgents' graph with our model endpoint and our vendor. No file of TradingAgents is changed."""
    modules = import_package()
    install_vendor(vendor, modules)
    models = day.models
    if not models and not settings.quick_model:
        raise ValueError("TradingAgents needs a model: set `models` of this external agent in the configuration")
    quick = settings.quick_model or models[0]
    config = copy.deepcopy(modules["default_config"].DEFAULT_CONFIG)
    config |= {
        # Chat completions at a base URL of one's own.
        "llm_provider": "openai",
        "backend_url": day.openai_base_url,
        "quick_think_llm": quick,
        "deep_think_llm": settings.deep_model or (models[1] if len(models) > 1 else quick),
        "max_debate_rounds": settings.debate_rounds,
        "max_risk_discuss_rounds": settings.risk_rounds,
        "output_language": "Chinese" if day.language == "zh" else "English",
        "benchmark_ticker": settings.benchmark,
        "results_dir": str(folder / "results"),
        "data_cache_dir": str(folder / "cache"),
        "memory_log_path": str(memory),
        "checkpoint_enabled": False,
        "data_vendors": dict.fromkeys(modules["interface"].TOOLS_CATEGORIES, vendor.name),
        "tool_vendors": {},
    }
    graph_class = bounded(modules["trading_graph"].TradingAgentsGraph, vendor, settings)
    graph = graph_class(selected_analysts=list(settings.analysts), debug=False, config=config)
    # Tool calls of one turn run in parallel by default, so a resumed day could not repeat the order of its reads.
    graph.graph = graph.graph.with_config({"max_concurrency": 1})
    return graph


def bounded(graph_class: type[Any], vendor: Vendor, settings: Settings) -> type[Any]:
    """TradingAgents' graph class, where what it fetches by itself comes from the market view."""

    class BoundedGraph(graph_class):  # type: ignore[misc]
        def _fetch_returns(
            self, ticker: str, trade_date: str, holding_days: int = 5, benchmark: str = "SPY"
        ) -> tuple[float | None, float | None, int | None]:
            # The original reads prices of the present, which are the future of this day.
            ours = vendor.returns(ticker, str(trade_date), holding_days)
            theirs = vendor.returns(settings.benchmark or benchmark, str(trade_date), holding_days)
            if ours is None or theirs is None:
                return None, None, None
            return ours[0], ours[0] - theirs[0], ours[1]

        def resolve_instrument_context(self, ticker: str, asset_type: str = "stock") -> str:
            profile = vendor.read("get_profile", symbol=ticker)
            name = f" Resolved identity: {profile['name']}." if isinstance(profile, dict) else ""
            return f"The {asset_type} to analyze is `{ticker}`. Use this exact ticker everywhere.{name}"

    return BoundedGraph


def import_package() -> dict[str, ModuleType]:
    """TradingAgents' modules that the adapter uses. Raises with what to do if it is not installed."""
    try:
        return {
            "interface": importlib.import_module(f"{PACKAGE}.dataflows.interface"),
            "default_config": importlib.import_module(f"{PACKAGE}.default_config"),
            "trading_graph": importlib.import_module(f"{PACKAGE}.graph.trading_graph"),
        }
    except ModuleNotFoundError as error:
        if error.name and not error.name.startswith(PACKAGE):
            raise
        raise ModuleNotFoundError(
            f"TradingAgents is not installed in {sys.executable} ({error.name} is missing): install it from its "
            "repository; the project of this name on PyPI is another one",
            name=error.name,
        ) from None


def install_vendor(vendor: Vendor, modules: Mapping[str, ModuleType]) -> None:
    """Registers the vendor in TradingAgents' routing, and replaces what is fetched without it."""
    interface = modules["interface"]
    functions = vendor.functions()
    for method, implementations in interface.VENDOR_METHODS.items():
        implementations[vendor.name] = functions.get(method) or _nothing(vendor, method)
    vendors = getattr(interface, "VENDOR_LIST", None)
    if vendors is not None and vendor.name not in vendors:
        vendors.append(vendor.name)
    replacements: dict[str, Callable[..., Any]] = {
        "load_ohlcv": lambda symbol, curr_date: ohlcv(vendor, symbol, curr_date),
        "fetch_stocktwits_messages": lambda *_, **__: SOCIAL,
        "fetch_reddit_posts": lambda *_, **__: SOCIAL,
        "resolve_instrument_identity": lambda *_, **__: {},
    }
    for name, module in list(sys.modules.items()):
        if name == PACKAGE or name.startswith(f"{PACKAGE}."):
            for attribute, replacement in replacements.items():
                if hasattr(module, attribute):
                    setattr(module, attribute, replacement)
    # Whatever else asks Yahoo fails instead of reading the future.
    yahoo = sys.modules.get("yfinance")
    if yahoo is not None:
        for attribute in ("Ticker", "Tickers", "download", "Search"):
            if hasattr(yahoo, attribute):
                setattr(yahoo, attribute, _forbidden)


def _nothing(vendor: Vendor, method: str) -> Callable[..., str]:
    return lambda *_, **__: vendor.unavailable(method.removeprefix("get_").replace("_", " "))


def _forbidden(*_: object, **__: object) -> None:
    raise PermissionError("TradingAgents reads the market view of Papertape, and nothing else")


def ohlcv(vendor: Vendor, symbol: str, curr_date: str) -> Any:
    """The known bars as the frame that TradingAgents computes indicators from."""
    import pandas as pd

    bars = [bar for bar in vendor.bars(symbol) if bar["date"] <= str(curr_date)]
    frame = pd.DataFrame(
        {name.capitalize(): [bar[name] for bar in bars] for name in ("date", "open", "high", "low", "close", "volume")}
    )
    frame["Date"] = pd.to_datetime(frame["Date"])
    return frame


def parse_rating(decision: str) -> str | None:
    """The rating of the Portfolio Manager's decision; `None` if there is none. That is never a Hold."""
    found = _RATING.search(decision) or _WORD.search(decision)
    return None if found is None else found[1].capitalize()


def role_reports(state: Mapping[str, Any]) -> str:
    """What each role wrote, under its name."""
    parts = []
    for role, paths in ROLES:
        text = next(filter(None, (_text_at(state, path) for path in paths)), "")
        if text:
            cut = text[:MAX_REPORT_CHARS]
            mark = "" if cut == text else f"\n\n[{len(text) - len(cut)} more characters]"
            parts.append(f"## {role}\n\n{cut}{mark}")
    return "\n\n".join(parts)


def _text_at(state: Any, path: Iterable[str]) -> str:
    for name in path:
        state = state.get(name) if isinstance(state, Mapping) else None
    return str(state).strip() if state else ""


def summary(symbols: Sequence[str], ratings: Mapping[str, str], orders: Sequence[Order]) -> str:
    """Ratings and orders in a few lines, before the reports."""
    lines = [f"{symbol}: {ratings.get(symbol, 'no rating')}" for symbol in symbols]
    for order in orders:
        why = f" ({order.message})" if order.rejected else ""
        lines.append(f"{order.side} {order.quantity:g} {order.symbol}: {order.status}{why}")
    return "\n".join(lines)


def newest_entries(log: str, count: int, max_bytes: int | None) -> str:
    """The end of TradingAgents' memory log that fits into the state, in whole entries."""
    end = "<!-- ENTRY_END -->"
    entries = [entry for entry in log.split(end) if entry.strip()][-count:]
    # Half of the state, since text grows when it is written as JSON.
    limit = (max_bytes or 1_048_576) // 2
    while entries and sum(len(entry.encode()) + len(end) for entry in entries) > limit:
        entries.pop(0)
    return "".join(entry + end for entry in entries) + ("\n\n" if entries else "")


# --- The network: only the session's own endpoint.

_allowed_hosts: set[str] = set()


def allow_host(url: str) -> None:
    """Allows connections to the host of a URL."""
    host = urlsplit(url).hostname
    if host:
        _allowed_hosts.add(host)


def forbid_network() -> None:
    """Lets this process connect to loopback and to allowed hosts only. It cannot be undone.

    A safeguard against data from after the day, not a sandbox: that is `sandbox` of the configuration.
    """
    # For clients that do not use Python's sockets.
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        os.environ[name] = os.environ[name.lower()] = "http://127.0.0.1:9"
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1,localhost,::1"

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.getaddrinfo":
            check(arguments[0])
        elif event == "socket.connect" and isinstance(arguments[1], tuple):
            check(arguments[1][0])

    def check(host: object) -> None:
        name = host.decode() if isinstance(host, bytes) else str(host or "localhost")
        if name in _allowed_hosts or name == "localhost":
            return
        try:
            if ipaddress.ip_address(name).is_loopback:
                return
        except ValueError:
            pass
        raise PermissionError(f"no connection to {name}: TradingAgents reads the market view of Papertape")

    sys.addaudithook(watch)


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    defaults = Settings()
    options = argparse.ArgumentParser(
        prog="python -m papertape.adapters.tradingagents", description="Run TradingAgents as an agent of Papertape"
    )
    options.add_argument("--analysts", default=",".join(defaults.analysts), help="market, social, news, fundamentals")
    options.add_argument("--debate-rounds", type=int, default=defaults.debate_rounds)
    options.add_argument("--risk-rounds", type=int, default=defaults.risk_rounds)
    options.add_argument("--quick-model", help="default: the first of the agent's models")
    options.add_argument("--deep-model", help="default: the second of the agent's models, else the first")
    options.add_argument("--benchmark", help="symbol of the dataset that reflections compare with")
    options.add_argument("--asset-type", choices=("stock", "crypto"))
    options.add_argument("--memory-entries", type=int, default=defaults.memory_entries)
    options.add_argument(
        "--keep-going", action="store_true", help="trade the other symbols if the analysis of one fails"
    )
    options.add_argument("--allow-network", action="store_true", help="do not limit connections to Papertape")
    for name in ("symbol_cap", "gross_cap", "cash_reserve", "min_order", "lot"):
        options.add_argument(f"--{name.replace('_', '-')}", type=float, default=getattr(defaults.sizing, name))
    return options


def settings_of(arguments: argparse.Namespace) -> Settings:
    """The settings of parsed options."""
    return Settings(
        analysts=tuple(name.strip() for name in arguments.analysts.split(",") if name.strip()),
        debate_rounds=arguments.debate_rounds,
        risk_rounds=arguments.risk_rounds,
        quick_model=arguments.quick_model,
        deep_model=arguments.deep_model,
        benchmark=arguments.benchmark,
        asset_type=arguments.asset_type,
        memory_entries=arguments.memory_entries,
        keep_going=arguments.keep_going,
        sizing=Sizing(
            symbol_cap=arguments.symbol_cap,
            gross_cap=arguments.gross_cap,
            cash_reserve=arguments.cash_reserve,
            min_order=arguments.min_order,
            lot=arguments.lot,
        ),
    )


def main() -> None:
    arguments = parser().parse_args()
    if not arguments.allow_network:
        forbid_network()
    # Before the first day, so that a missing package is said at once.
    import_package()
    serve(Agent(TradingAgents(settings_of(arguments)), name="tradingagents"))


if __name__ == "__main__":
    main()
